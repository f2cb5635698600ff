// The typed errors of weft. A user's mistake is one of the classes below InternalError; a broken promise of weft's own is
// InternalError, and says so. Nothing in weft aborts, and an operation that throws leaves its operands as they were.
// Callers: every floor. The command turns them into exit statuses (2: the input was wrong, 3: it failed while running).
#pragma once

#include <exception>
#include <memory>
#include <source_location>
#include <sstream>
#include <string>

namespace weft {

class Error : public std::exception {
  public:
    explicit Error(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }
    /// Adds to the message on its way out (the user's line, the module, the file), keeping the error's type.
    void add(const std::string& more) { message_ += more; }

    /// The user's line, where whoever throws knows it better than whoever runs it, who adds it to the message. None: line 0.
    std::source_location where = {};

  private:
    std::string message_;
};

// clang-format off
class ShapeError : public Error { using Error::Error; };           // sizes that do not fit together
class DTypeError : public Error { using Error::Error; };           // an element type that the operation does not take
class AxisError : public Error { using Error::Error; };            // an axis that the value does not have
class IndexError : public Error { using Error::Error; };           // an index outside its axis
class ValueError : public Error { using Error::Error; };           // an argument outside its range
class DeviceError : public Error { using Error::Error; };          // a device that is not there, and why
class CompileError : public Error { using Error::Error; };         // a kernel that could not be made
class OutOfMemory : public Error { using Error::Error; };          // memory that the machine refused
class NotDifferentiable : public Error { using Error::Error; };    // a derivative that does not exist, by name
class FileError : public Error { using Error::Error; };            // a file that is missing, cut short, or not what it says
class ConfigError : public Error { using Error::Error; };          // an experiment's description: file:line:column, what, did you mean
class InternalError : public Error { using Error::Error; };        // weft's own bug
// clang-format on

namespace detail {
/// How a part of a text is printed, whose address is given.
using PrintPart = void (*)(std::ostream& stream, const void* part);
std::string joined_text(const PrintPart* prints, const void* const* parts, std::size_t count);

template <class Part>
void print_part(std::ostream& stream, const void* part) {
    stream << *static_cast<const Part*>(part);
}
/// In the place of a type: characters up to a zero. However many they are, so that texts whose words alone differ are one function.
struct Characters;
template <>
void print_part<Characters>(std::ostream& stream, const void* part);

/// There are hundreds of these: a few instructions each, where a stream in each of them took 0.2 MB.
template <class... Parts>
[[gnu::noinline]] std::string text_of(const Parts*... parts) {
    static constexpr PrintPart prints[] = {print_part<Parts>...};
    const void* const at[] = {parts...};
    return joined_text(prints, at, sizeof...(Parts));
}

template <class Part>
const Part* part_at(const Part& part) {
    return std::addressof(part);
}
inline const Characters* part_at(const char* const& part) { return reinterpret_cast<const Characters*>(part); }
template <std::size_t size>
const Characters* part_at(const char (&part)[size]) {
    return reinterpret_cast<const Characters*>(part);
}
}  // namespace detail

/// The parts, printed one after another: the one way in which messages are put together.
template <class... Parts>
std::string text(const Parts&... parts) {
    return detail::text_of(detail::part_at(parts)...);
}

[[noreturn]] void refuse_broken_promise(const char* what);

/// Throws InternalError unless `holds`; for promises of weft's own, never for a user's input.
inline void promise(bool holds, const char* what) {
    if (!holds) refuse_broken_promise(what);
}

}  // namespace weft
