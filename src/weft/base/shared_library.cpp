#include "weft/base/shared_library.h"

#include <dlfcn.h>

#include <utility>

namespace weft {

SharedLibrary::SharedLibrary(std::span<const std::string> names) {
    for (const std::string& name : names) {
        handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_) return;
        const char* said = dlerror();
        why_ += (why_.empty() ? "" : "; ") + (said ? std::string(said) : name + " cannot be opened");
    }
}

SharedLibrary::~SharedLibrary() {
    if (handle_) dlclose(handle_);
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), why_(std::move(other.why_)) {}

void* SharedLibrary::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace weft
