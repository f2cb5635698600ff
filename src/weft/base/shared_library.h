// A shared library that is opened at run time: drivers, and compilers of devices, which a machine may or may not have. Nothing is linked
// to them, so one binary serves machines with and without. Callers: backend/.
#pragma once

#include <span>
#include <string>

namespace weft {

class SharedLibrary {
  public:
    /// The first of the names that can be opened. If none can: not open, and why() says what the system said of each.
    explicit SharedLibrary(std::span<const std::string> names);
    ~SharedLibrary();
    SharedLibrary(SharedLibrary&& other) noexcept;
    SharedLibrary& operator=(SharedLibrary&&) = delete;

    bool open() const { return handle_ != nullptr; }
    void* handle() const { return handle_; }
    const std::string& why() const { return why_; }
    /// Null if the library has no such symbol, or is not open.
    void* symbol(const char* name) const;
    /// Sets a pointer to a function; false if the library has none of that name.
    template <class F>
    bool find(const char* name, F*& function) const {
        return (function = reinterpret_cast<F*>(symbol(name))) != nullptr;
    }

  private:
    void* handle_ = nullptr;
    std::string why_;
};

/// What a struct of a library's functions begins with; its constructor finds them. Callers get it by once_opened().
struct LibraryFunctions {
    explicit LibraryFunctions(const std::string& name) : shared(std::span(&name, 1)), lacks(!shared.open()) {}
    SharedLibrary shared;
    bool lacks;  // the library, or one of the functions
};

/// The process's one, made when it is first asked for and never closed: libraries put ends of their own among those of the program.
template <class Opened>
const Opened& once_opened() {
    static const auto* made = new Opened;
    return *made;
}

}  // namespace weft
