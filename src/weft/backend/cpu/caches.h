// What the system says of the processor's caches, and what is decided by it.
// Callers: backend/cpu/gemm_choices.h, compiler.cpp, scan.cpp, stored_reduction.cpp, emit/map_space.cpp.
#pragma once

#include <cstddef>

namespace weft::cpu {

/// Lines of the first-level cache that one place in memory may lie in; 8 where the system does not say.
int first_level_ways();
/// Bytes of an Intel's third-level cache; 0 of others, where some systems add up what each few cores have of their own, or where the system does not
/// say.
std::size_t third_level_bytes();

// Bytes of results from which on they are stored past the caches: little of them is found there afterwards, and a line that is written whole
// need not be read before. Measured with 64 MB: a copy 29 -> 42 GB/s. Blocks of rows, whose caches hold what other parts left, gain sooner:
// with 16 MB a softmax 2.7 -> 2.0 ms, a layer norm 2.6 -> 1.7; maps by themselves lost up to a fifth there.
inline constexpr std::size_t past_bytes = std::size_t{32} << 20, past_bytes_of_blocks = past_bytes / 2;

/// Whether results of blocks of rows, or running sums, of so many bytes, are stored past the caches; those that end beside the next block are from past_bytes_of_blocks on
/// (stored_reduction.cpp: logarithms of softmaxes through the caches 1.2 to 1.3). On an Intel of 480 MB of third-level cache 16 to 19 MB of
/// softmaxes, their gradients, layer norms and the gradients of these through the caches took 0.89 to 0.96, 0.81, 0.85 to 0.92 and 0.93 to 0.98 of the
/// time; 64 MB 1.2 to 1.7. On an Emerald Rapids 16 MB of a softmax took 1.3.
bool go_past_caches(std::size_t bytes_of_blocks, std::size_t third_level = third_level_bytes());

}  // namespace weft::cpu
