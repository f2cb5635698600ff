#include "weft/viz/picture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "weft/base/error.h"
#include "weft/io/gzip.h"

namespace weft::viz {
namespace {

std::uint8_t level(double share) {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0)));
}

void append_big(std::string& out, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift & 255));
}

void chunk(std::string& out, std::string_view type, std::string_view content) {
    append_big(out, static_cast<std::uint32_t>(content.size()));
    std::string body = std::string(type) + std::string(content);
    out += body;
    append_big(out, io::crc32(body));
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
    chunk(out, "IDAT", io::zlib_stream(rows));
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
