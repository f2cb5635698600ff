// How many random cases a test tries: fewer where a sanitizer makes each slow or no vector instructions are used, many more in a nightly run
// (WEFT_NIGHTLY).
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

/// Whether tests run once more without vector instructions, where each takes longer.
inline bool without_vectors() { return environment("WEFT_ISA") == "baseline"; }

inline std::uint64_t cases(std::uint64_t usual, std::uint64_t nightly) {
    if (environment("WEFT_NIGHTLY")) return nightly;
    return usual / share_under_sanitizers / (without_vectors() ? 4 : 1);
}
inline std::uint64_t cases(std::uint64_t usual) { return cases(usual, usual); }

}  // namespace weft
