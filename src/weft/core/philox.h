// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror & Shaw (Parallel Random Numbers: As Easy as 1, 2, 3, 2011):
// 128 bits that depend on a 128-bit counter and a 64-bit key alone, so any element of any stream is made without the others, in any
// order, on any device. Callers: ops/ and backend/ (random numbers), data/ (shuffling), nn/ (initialisers).
#pragma once

#include <array>
#include <cstdint>

namespace weft {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Ten rounds on four words in place; plain enough that a loop over counters is vectorised.
[[gnu::always_inline]] inline void philox_rounds(std::uint32_t& c0, std::uint32_t& c1, std::uint32_t& c2,
                                                 std::uint32_t& c3, std::uint32_t k0, std::uint32_t k1) {
    for (int round = 0; round < 10; ++round) {
        std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0, p1 = std::uint64_t{0xCD9E8D57u} * c2;
        std::uint32_t low0 = static_cast<std::uint32_t>(p0), low1 = static_cast<std::uint32_t>(p1);
        c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
        c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
        c1 = low1;
        c3 = low0;
        k0 += 0x9E3779B9u;  // Weyl steps: the golden ratio and sqrt(3) - 1
        k1 += 0xBB67AE85u;
    }
}

/// The block of four words at `counter` of the stream `key`.
inline PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
    philox_rounds(counter[0], counter[1], counter[2], counter[3], key[0], key[1]);
    return counter;
}

/// Words [0, 4 * blocks) of the counters first, first + 1, ... (128-bit little-endian: `high` above `first`): word j of block i at
/// to[4 * i + j].
inline void philox_fill(std::uint32_t* to, std::int64_t blocks, std::uint64_t first, std::uint64_t high,
                        PhiloxKey key) {
    for (std::int64_t i = 0; i < blocks; ++i) {
        std::uint64_t low = first + static_cast<std::uint64_t>(i), above = high + (low < first);
        std::uint32_t c0 = static_cast<std::uint32_t>(low), c1 = static_cast<std::uint32_t>(low >> 32);
        std::uint32_t c2 = static_cast<std::uint32_t>(above), c3 = static_cast<std::uint32_t>(above >> 32);
        philox_rounds(c0, c1, c2, c3, key[0], key[1]);
        to[4 * i] = c0;
        to[4 * i + 1] = c1;
        to[4 * i + 2] = c2;
        to[4 * i + 3] = c3;
    }
}

/// The upper 24 bits of a word as a float in [0, 1).
inline float unit_float(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
/// 53 bits of two words as a double in [0, 1).
inline double unit_double(std::uint32_t high, std::uint32_t low) {
    return static_cast<double>((std::uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

}  // namespace weft
