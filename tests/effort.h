// How many random cases a test tries: fewer where a sanitizer makes each slow, many more in a nightly run (WEFT_NIGHTLY).
// Callers: tests.
#pragma once

#include <cstdint>

#include "weft/base/environment.h"

namespace weft {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t share_under_sanitizers = 20;
#else
inline constexpr std::uint64_t share_under_sanitizers = 1;
#endif

inline std::uint64_t cases(std::uint64_t usual, std::uint64_t nightly) {
    return environment("WEFT_NIGHTLY") ? nightly : usual / share_under_sanitizers;
}
inline std::uint64_t cases(std::uint64_t usual) { return cases(usual, usual); }

}  // namespace weft
