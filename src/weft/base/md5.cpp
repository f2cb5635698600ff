#include "weft/base/md5.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace weft {
namespace {

/// The integer part of 2^32 |sin(i + 1)|, as RFC 1321 defines its table T.
std::array<std::uint32_t, 64> sine_table() {
    std::array<std::uint32_t, 64> table{};
    for (int i = 0; i < 64; ++i)
        table[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(0x1p32 * std::abs(std::sin(i + 1.0)));
    return table;
}

using State = std::array<std::uint32_t, 4>;

void absorb(State& state, const unsigned char* block) {
    static const std::array<std::uint32_t, 64> sines = sine_table();
    static constexpr int shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    std::uint32_t words[16];
    for (unsigned i = 0; i < 16; ++i) {
        const unsigned char* b = block + 4 * i;
        words[i] = b[0] | static_cast<std::uint32_t>(b[1]) << 8 | static_cast<std::uint32_t>(b[2]) << 16 |
                   static_cast<std::uint32_t>(b[3]) << 24;
    }
    auto [a, b, c, d] = state;
    for (unsigned i = 0; i < 64; ++i) {
        unsigned round = i / 16, word = 0;
        std::uint32_t mixed = 0;
        switch (round) {
            case 0:
                mixed = (b & c) | (~b & d), word = i;
                break;
            case 1:
                mixed = (d & b) | (~d & c), word = 5 * i + 1;
                break;
            case 2:
                mixed = b ^ c ^ d, word = 3 * i + 5;
                break;
            default:
                mixed = c ^ (b | ~d), word = 7 * i;
                break;
        }
        std::uint32_t sum = a + mixed + sines[i] + words[word % 16];
        a = d, d = c, c = b;
        b += std::rotl(sum, shifts[round][i % 4]);
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

}  // namespace

std::string md5(std::string_view bytes) {
    State state{0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
    std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
    auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    std::size_t whole = bytes.size() / 64 * 64, rest = bytes.size() - whole;
    for (std::size_t i = 0; i < whole; i += 64) absorb(state, data + i);
    unsigned char tail[128] = {};  // what is left, a one bit, zeros, the length in bits
    if (rest) std::memcpy(tail, data + whole, rest);
    tail[rest] = 0x80;
    std::size_t length = rest < 56 ? 64 : 128;
    for (std::size_t i = 0; i < 8; ++i) tail[length - 8 + i] = static_cast<unsigned char>(bits >> (8 * i));
    for (std::size_t i = 0; i < length; i += 64) absorb(state, tail + i);
    std::string hex;
    for (std::uint32_t word : state) {
        for (unsigned i = 0; i < 8; ++i)
            hex.push_back("0123456789abcdef"[(word >> (8 * (i / 2) + (i % 2 ? 0 : 4))) & 15]);
    }
    return hex;
}

}  // namespace weft
