// UTF-8, the one encoding of weft's texts: how many bytes the next character takes, and how a code point is written.
// Callers: base/json*.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

/// Bytes of the character that `bytes` begins with; 0 if these are no valid UTF-8 (RFC 3629: no overlong forms, no
/// surrogates).
inline std::size_t utf8_length(std::string_view bytes) {
    auto at = [&](std::size_t i) -> unsigned { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
    auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return at(i) >= low && at(i) <= high;
    };
    unsigned first = at(0);
    if (bytes.empty() || (first >= 0x80 && first < 0xc2) || first > 0xf4) return 0;
    if (first < 0x80) return 1;
    if (first < 0xe0) return follows(1) ? 2 : 0;
    if (first < 0xf0) return follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
    return follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
}

inline void append_utf8(std::string& out, std::uint32_t code) {
    auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
        put(0xc0 | (code >> 6));
    } else if (code < 0x10000) {
        put(0xe0 | (code >> 12));
        put(0x80 | ((code >> 6) & 0x3f));
    } else {
        put(0xf0 | (code >> 18));
        put(0x80 | ((code >> 12) & 0x3f));
        put(0x80 | ((code >> 6) & 0x3f));
    }
    put(0x80 | (code & 0x3f));
}

}  // namespace weft
