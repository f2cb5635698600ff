#include "weft/viz/picture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "weft/base/error.h"

namespace weft::viz {
namespace {

std::uint8_t level(double share) {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0)));
}

void append_big(std::string& out, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift & 255));
}

std::uint32_t crc32(std::string_view bytes) {  // ISO/IEC 15948, annex D
    static const auto table = [] {
        std::array<std::uint32_t, 256> all{};
        for (std::uint32_t n = 0; n < 256; ++n) {
            std::uint32_t c = n;
            for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
            all[n] = c;
        }
        return all;
    }();
    std::uint32_t c = 0xffffffffu;
    for (char byte : bytes) c = table[(c ^ static_cast<std::uint8_t>(byte)) & 255] ^ (c >> 8);
    return c ^ 0xffffffffu;
}

std::uint32_t adler32(std::string_view bytes) {  // RFC 1950
    std::uint32_t a = 1, b = 0;
    for (char byte : bytes) {
        a = (a + static_cast<std::uint8_t>(byte)) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

void chunk(std::string& out, std::string_view type, std::string_view content) {
    append_big(out, static_cast<std::uint32_t>(content.size()));
    std::string body = std::string(type) + std::string(content);
    out += body;
    append_big(out, crc32(body));
}

/// Bits as RFC 1951 packs them: the lowest first, codes from their highest on.
class Bits {
  public:
    void number(std::uint32_t value, int count) {
        for (int i = 0; i < count; ++i) bit(value >> i & 1);
    }
    void code(std::uint32_t value, int count) {
        for (int i = count; i-- > 0;) bit(value >> i & 1);
    }
    /// A byte, the end (256), or a length in the code that is given once for all (3.2.6).
    void symbol(std::uint32_t s) {
        if (s < 144)
            code(0x30 + s, 8);
        else if (s < 256)
            code(0x190 + s - 144, 9);
        else if (s < 280)
            code(s - 256, 7);
        else
            code(0xc0 + s - 280, 8);
    }
    std::string take() {
        if (filled_) out_.push_back(static_cast<char>(byte_));
        return std::move(out_);
    }

  private:
    void bit(std::uint32_t one) {
        byte_ |= one << filled_;
        if (++filled_ < 8) return;
        out_.push_back(static_cast<char>(byte_));
        byte_ = 0, filled_ = 0;
    }
    std::string out_;
    std::uint32_t byte_ = 0;
    int filled_ = 0;
};

/// A zlib stream (RFC 1950, 1951) that knows one kind of repetition, "258 bytes as the pixel before has them": drawings are mostly that.
std::string packed(std::string_view bytes) {
    constexpr std::size_t back = 4, most = 258;
    Bits bits;
    bits.number(1, 1), bits.number(1, 2);  // the last block, in the given code
    for (std::size_t at = 0; at < bytes.size();) {
        std::size_t same = 0;
        while (at >= back && same < most && at + same < bytes.size() && bytes[at + same] == bytes[at + same - back])
            ++same;
        if (same == most) {
            bits.symbol(285), bits.code(3, 5);  // 258 bytes, 4 back
            at += most;
        } else {
            bits.symbol(static_cast<std::uint8_t>(bytes[at++]));
        }
    }
    bits.symbol(256);
    std::string out = "\x78\x01" + bits.take();
    append_big(out, adler32(bytes));
    return out;
}

void check_count(std::size_t values, std::int64_t width, std::int64_t height, std::int64_t planes) {
    if (width > 0 && height > 0 && static_cast<std::int64_t>(values) == width * height * planes) return;
    throw ShapeError(
        text("a picture of ", height, " x ", width, " takes ", width * height * planes, " numbers, found ", values));
}

}  // namespace

Picture Picture::blank(std::int64_t width, std::int64_t height) {
    return {width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height * 4))};
}

Picture colour(std::span<const float> planes, std::int64_t width, std::int64_t height, double low, double high) {
    check_count(planes.size(), width, height, 3);
    Picture picture = Picture::blank(width, height);
    auto count = static_cast<std::size_t>(width * height);
    double extent = high > low ? high - low : 1;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t c = 0; c < 3; ++c) picture.rgba[4 * i + c] = level((planes[c * count + i] - low) / extent);
        picture.rgba[4 * i + 3] = 255;
    }
    return picture;
}

Picture grey(std::span<const float> values, std::int64_t width, std::int64_t height, double low, double high) {
    check_count(values.size(), width, height, 1);
    Picture picture = Picture::blank(width, height);
    double extent = high > low ? high - low : 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t c = 0; c < 3; ++c) picture.rgba[4 * i + c] = level((values[i] - low) / extent);
        picture.rgba[4 * i + 3] = 255;
    }
    return picture;
}

Picture signed_values(std::span<const float> values, std::int64_t width, std::int64_t height, double greatest) {
    check_count(values.size(), width, height, 1);
    static constexpr std::array<std::uint8_t, 3> positive{42, 120, 214}, negative{235, 104, 52};
    Picture picture = Picture::blank(width, height);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto& ink = values[i] < 0 ? negative : positive;
        std::copy(ink.begin(), ink.end(), picture.rgba.begin() + static_cast<std::ptrdiff_t>(4 * i));
        picture.rgba[4 * i + 3] = level(greatest > 0 ? std::abs(values[i]) / greatest : 0);
    }
    return picture;
}

Picture sheet(const std::vector<Picture>& pictures, std::int64_t columns) {
    if (pictures.empty()) return Picture::blank(1, 1);
    auto count = static_cast<std::int64_t>(pictures.size());
    columns = std::min(columns, count);
    std::int64_t rows = (count + columns - 1) / columns, width = pictures[0].width, height = pictures[0].height;
    Picture all = Picture::blank(columns * (width + 1) - 1, rows * (height + 1) - 1);
    for (std::int64_t i = 0; i < count; ++i) {
        const Picture& one = pictures[static_cast<std::size_t>(i)];
        for (std::int64_t y = 0; y < std::min(height, one.height); ++y) {
            auto from = one.rgba.begin() + 4 * y * one.width;
            std::int64_t place = (i / columns * (height + 1) + y) * all.width + i % columns * (width + 1);
            std::copy(from, from + 4 * std::min(width, one.width), all.rgba.begin() + 4 * place);
        }
    }
    return all;
}

std::string png(const Picture& picture) {
    std::string header, rows;
    append_big(header, static_cast<std::uint32_t>(picture.width));
    append_big(header, static_cast<std::uint32_t>(picture.height));
    header += std::string("\x08\x06\x00\x00\x00", 5);  // 8 bits, RGBA, deflate, no filter method but 0, not interlaced
    auto stride = static_cast<std::size_t>(4 * picture.width);
    for (std::int64_t y = 0; y < picture.height; ++y) {
        rows.push_back(0);
        rows.append(reinterpret_cast<const char*>(picture.rgba.data()) + static_cast<std::size_t>(y) * stride, stride);
    }
    std::string out = "\x89PNG\r\n\x1a\n";
    chunk(out, "IHDR", header);
    chunk(out, "IDAT", packed(rows));
    chunk(out, "IEND", "");
    return out;
}

std::string base64(std::string_view bytes) {  // RFC 4648
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
        }
        for (std::size_t k = 0; k < 4; ++k)
            out.push_back(i + k <= bytes.size() ? digits[group >> (18 - 6 * k) & 63] : '=');
    }
    return out;
}

std::string data_address(const Picture& picture) { return "data:image/png;base64," + base64(png(picture)); }

}  // namespace weft::viz
