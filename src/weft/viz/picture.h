// Small pictures for pages: RGBA pixels, written as PNG (ISO/IEC 15948) with the little compression that takes no library, and as a
// data: address that stands in a page itself. Callers: viz/report.cpp and what fills a report.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::viz {

struct Picture {
    std::int64_t width = 0, height = 0;
    std::vector<std::uint8_t> rgba;  // four bytes a pixel, row by row

    static Picture blank(std::int64_t width, std::int64_t height);
};

/// height x width numbers as grey: `low` black, `high` white.
Picture grey(std::span<const float> values, std::int64_t width, std::int64_t height, double low, double high);
/// Three planes (red, green, blue) of height x width numbers.
Picture colour(std::span<const float> planes, std::int64_t width, std::int64_t height, double low, double high);
/// Positive numbers blue, negative ones orange, the more opaque the greater: readable on light and on dark ground.
Picture signed_values(std::span<const float> values, std::int64_t width, std::int64_t height, double greatest);
/// Pictures of one size side by side, `columns` a row, a pixel apart.
Picture sheet(const std::vector<Picture>& pictures, std::int64_t columns);

std::string png(const Picture& picture);
std::string base64(std::string_view bytes);
/// "data:image/png;base64,..."
std::string data_address(const Picture& picture);

}  // namespace weft::viz
