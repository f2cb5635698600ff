// The environment variables that weft reads, each looked up where it is used and named here only by its text.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace weft {

/// The variable's value; nothing if it is not set or empty.
inline std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    if (!value || !*value) return std::nullopt;
    return std::string(value);
}

}  // namespace weft
