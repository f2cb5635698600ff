// Cyclic redundancy checks of 32 bits, a table of one byte's remainders for each polynomial (ISO/IEC 15948, annex D).
// Callers: io/gzip.cpp (where the build has no zlib), train/event_file.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weft {

/// Polynomials with their bits reversed, lowest power first in the highest bit.
inline constexpr std::uint32_t crc32_polynomial = 0xedb88320u;   ///< of gzip, zip and PNG
inline constexpr std::uint32_t crc32c_polynomial = 0x82f63b78u;  ///< Castagnoli's (RFC 3720, appendix B.4)

template <std::uint32_t polynomial>
std::uint32_t crc(std::string_view bytes) {
    static constexpr auto table = [] {
        std::array<std::uint32_t, 256> all{};
        for (std::uint32_t n = 0; n < 256; ++n) {
            std::uint32_t c = n;
            for (int k = 0; k < 8; ++k) c = c & 1 ? polynomial ^ (c >> 1) : c >> 1;
            all[n] = c;
        }
        return all;
    }();
    std::uint32_t c = 0xffffffffu;
    for (char byte : bytes) c = table[(c ^ static_cast<std::uint8_t>(byte)) & 255] ^ (c >> 8);
    return c ^ 0xffffffffu;
}

}  // namespace weft
