// Arithmetic of sizes and positions. Callers: base/thread_pool.cpp, compile/, backend/.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

/// a / b, rounded up; neither is negative.
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
/// Where part i of `parts` of [0, size) begins: parts as equal as can be.
constexpr std::int64_t begin_of(std::int64_t i, std::int64_t parts, std::int64_t size) { return i * size / parts; }
/// Rounded up to whole cache lines, which are whole registers too.
constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
/// A number that is never negative here, as what vectors are indexed by.
constexpr std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace weft
