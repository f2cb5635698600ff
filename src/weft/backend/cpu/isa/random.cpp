// Philox4x32-10 (core/philox.h) over lanes side by side: plain loops that the compiler turns into vector code.
#include <algorithm>

#include "weft/backend/cpu/isa/random_kernels.h"

namespace weft::cpu::WEFT_ISA {
namespace {

constexpr int lanes = 16;

/// The blocks of `lanes` counters. 64-bit lanes hold 32-bit words: the multiplier of every instruction set takes them so.
struct Lanes {
    std::uint64_t c0[lanes], c1[lanes], c2[lanes], c3[lanes];

    void draw(const std::uint32_t* key, std::uint32_t stream) {
        for (int i = 0; i < lanes; ++i) c1[i] = c0[i] >> 32, c0[i] &= 0xffffffffu, c2[i] = 0, c3[i] = stream;
        std::uint32_t k0 = key[0], k1 = key[1];
        for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
            for (int i = 0; i < lanes; ++i) {
                std::uint64_t a = (c0[i] & 0xffffffffu) * 0xD2511F53u, b = (c2[i] & 0xffffffffu) * 0xCD9E8D57u;
                c0[i] = (b >> 32) ^ c1[i] ^ k0;
                c1[i] = b & 0xffffffffu;
                c2[i] = (a >> 32) ^ c3[i] ^ k1;
                c3[i] = a & 0xffffffffu;
            }
        }
    }
};

void blocks(std::uint32_t* to, std::uint64_t first, const std::uint32_t* key, std::uint32_t stream) {
    for (int start = 0; start < random_blocks_at_once; start += lanes, to += 4 * lanes) {
        Lanes drawn;
        for (int i = 0; i < lanes; ++i) drawn.c0[i] = first + static_cast<std::uint64_t>(start + i);
        drawn.draw(key, stream);
        for (int i = 0; i < lanes; ++i) {
            to[4 * i] = static_cast<std::uint32_t>(drawn.c0[i]);
            to[4 * i + 1] = static_cast<std::uint32_t>(drawn.c1[i]);
            to[4 * i + 2] = static_cast<std::uint32_t>(drawn.c2[i]);
            to[4 * i + 3] = static_cast<std::uint32_t>(drawn.c3[i]);
        }
    }
}

void apart(std::uint32_t* to, std::uint64_t first, std::int64_t step, std::int64_t count, const std::uint32_t* key,
           std::uint32_t stream) {
    auto by = static_cast<std::uint64_t>(step);  // modulo 2^64: a step may be negative
    for (std::int64_t start = 0; start < count; start += lanes) {
        std::uint64_t word[lanes];
        Lanes drawn;
        for (int i = 0; i < lanes; ++i) word[i] = first + static_cast<std::uint64_t>(start + i) * by;
        for (int i = 0; i < lanes; ++i) drawn.c0[i] = word[i] / 4;
        drawn.draw(key, stream);
        std::uint32_t picked[lanes];
        for (int i = 0; i < lanes; ++i) {
            std::uint64_t even = word[i] & 1 ? drawn.c1[i] : drawn.c0[i], odd = word[i] & 1 ? drawn.c3[i] : drawn.c2[i];
            picked[i] = static_cast<std::uint32_t>(word[i] & 2 ? odd : even);
        }
        std::copy_n(picked, std::min<std::int64_t>(lanes, count - start), to + start);
    }
}

}  // namespace

const RandomBlocks random_blocks = blocks;
const RandomApart random_apart = apart;

}  // namespace weft::cpu::WEFT_ISA
