// Philox4x32-10 (core/philox.h) over lanes side by side: plain loops that the compiler turns into vector code.
#include "weft/backend/cpu/isa/random_kernels.h"

namespace weft::cpu::WEFT_ISA {
namespace {

void blocks(std::uint32_t* to, std::uint64_t first, const std::uint32_t* key, std::uint32_t stream) {
    // 64-bit lanes hold 32-bit words: the multiplier of every instruction set takes them so.
    std::uint64_t c0[random_lanes], c1[random_lanes], c2[random_lanes], c3[random_lanes];
    for (int i = 0; i < random_lanes; ++i) {
        std::uint64_t block = first + static_cast<std::uint64_t>(i);
        c0[i] = block & 0xffffffffu, c1[i] = block >> 32, c2[i] = 0, c3[i] = stream;
    }
    std::uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        for (int i = 0; i < random_lanes; ++i) {
            std::uint64_t a = (c0[i] & 0xffffffffu) * 0xD2511F53u, b = (c2[i] & 0xffffffffu) * 0xCD9E8D57u;
            c0[i] = (b >> 32) ^ c1[i] ^ k0;
            c1[i] = b & 0xffffffffu;
            c2[i] = (a >> 32) ^ c3[i] ^ k1;
            c3[i] = a & 0xffffffffu;
        }
    }
    for (int i = 0; i < random_lanes; ++i) {
        to[4 * i] = static_cast<std::uint32_t>(c0[i]);
        to[4 * i + 1] = static_cast<std::uint32_t>(c1[i]);
        to[4 * i + 2] = static_cast<std::uint32_t>(c2[i]);
        to[4 * i + 3] = static_cast<std::uint32_t>(c3[i]);
    }
}

}  // namespace

const RandomBlocks random_blocks = blocks;

}  // namespace weft::cpu::WEFT_ISA
