#include "weft/data/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft::data {
namespace {

/// What one new pixel is made of: weights of the old ones from `first` on.
struct Mix {
    std::int64_t first = 0;
    std::vector<double> weights;
};

std::vector<Mix> mixes(std::int64_t from, std::int64_t to) {
    double step = static_cast<double>(from) / static_cast<double>(to), reach = std::max(step, 1.0);
    std::vector<Mix> all(static_cast<std::size_t>(to));
    for (std::int64_t i = 0; i < to; ++i) {
        double middle = (static_cast<double>(i) + 0.5) * step, sum = 0;
        Mix& mix = all[static_cast<std::size_t>(i)];
        mix.first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(middle - reach)));
        std::int64_t end = std::min(from, static_cast<std::int64_t>(std::ceil(middle + reach)));
        for (std::int64_t k = mix.first; k < end; ++k) {
            double far = std::abs(static_cast<double>(k) + 0.5 - middle) / reach;
            mix.weights.push_back(std::max(0.0, 1 - far));
            sum += mix.weights.back();
        }
        for (double& weight : mix.weights) weight /= sum;
    }
    return all;
}

}  // namespace

Array resized(const Array& picture, std::int64_t to_height, std::int64_t to_width) {
    std::int64_t channels = picture.dims[0], height = picture.dims[1], width = picture.dims[2];
    if (height == to_height && width == to_width) return picture;
    std::vector<Mix> rows = mixes(height, to_height), columns = mixes(width, to_width);
    Array result = Array::empty(DType::uint8, {channels, to_height, to_width});
    std::vector<double> line(static_cast<std::size_t>(width));
    const auto* from = picture.data<std::uint8_t>();
    auto* to = result.data<std::uint8_t>();
    for (std::int64_t channel = 0; channel < channels; ++channel, from += height * width) {
        for (const Mix& row : rows) {
            std::fill(line.begin(), line.end(), 0.0);
            for (std::size_t k = 0; k < row.weights.size(); ++k) {
                const auto* old = from + (row.first + static_cast<std::int64_t>(k)) * width;
                for (std::size_t x = 0; x < line.size(); ++x) line[x] += row.weights[k] * old[x];
            }
            for (const Mix& column : columns) {
                double value = 0;
                for (std::size_t k = 0; k < column.weights.size(); ++k)
                    value += column.weights[k] * line[static_cast<std::size_t>(column.first) + k];
                *to++ = static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
            }
        }
    }
    return result;
}

Array grey_bytes(const Array& picture) {
    if (picture.dims[0] == 1) return picture;
    std::int64_t plane = picture.dims[1] * picture.dims[2];
    Array result = Array::empty(DType::uint8, {1, picture.dims[1], picture.dims[2]});
    const auto* from = picture.data<std::uint8_t>();
    for (std::int64_t i = 0; i < plane; ++i) {
        int thousandths = 299 * from[i] + 587 * from[plane + i] + 114 * from[2 * plane + i];
        result.data<std::uint8_t>()[i] = static_cast<std::uint8_t>((thousandths + 500) / 1000);
    }
    return result;
}

}  // namespace weft::data
