#include "weft/backend/cpu/line_products.h"

#include <algorithm>
#include <array>

#include "weft/backend/cpu/own_gemm.h"
#include "weft/base/integers.h"

namespace weft::cpu {
namespace {

// Lines of a block: about so many rows, which read the weights of a line of taps once from where they are kept.
constexpr std::int64_t some_rows = 128, most_lines = 64;

std::int64_t padding_before(const WindowAxis& axis) { return std::max<std::int64_t>(0, -axis.taps.front().offset); }
std::int64_t padding_behind(const WindowAxis& axis) {
    std::int64_t last = (axis.count - 1) * axis.source_step + axis.taps.back().offset;
    return std::max<std::int64_t>(0, last - (axis.source_size - 1));
}

bool inside(const WindowAxis& axis, std::int64_t x) { return x >= 0 && x < axis.source_size; }

}  // namespace

template <class T>
LineProducts<T>::LineProducts(const Windows& windows, std::int64_t made)
    : windows_(windows), made_(made), left_(padding_before(windows.axis[2])), right_(padding_behind(windows.axis[2])) {
    std::int64_t lines = windows.axis[1].count, pixels = windows.axis[2].count;
    of_image_ = divide_up(lines, std::clamp<std::int64_t>(some_rows / pixels, 1, most_lines));
    each_ = divide_up(lines, of_image_);
    of_image_ = divide_up(lines, each_);
    const auto& taps = windows.axis[1].taps;
    std::int64_t read = (each_ - 1) * windows.axis[1].source_step + taps.back().offset - taps.front().offset + 1;
    read = std::min(read, windows.axis[1].source_size);
    if (padded()) copied_ = read * (left_ + windows.axis[2].source_size + right_) * windows.channels;
    copied_ = divide_up(copied_, 16) * 16;
    auto side = static_cast<std::int64_t>(windows.axis[2].taps.size());
    products_ = divide_up(own_gemm_scratch<T>(pixels, made, side * windows.channels), 16) * 16;
}

template <class T>
bool LineProducts<T>::fit(const Windows& w, std::int64_t made) {
    constexpr std::int64_t least_pixels = 12, least_of_few = 5, few = 16, least_sum = 32;
    for (const WindowAxis& axis : w.axis) {
        if (axis.taps.empty() || axis.count == 0) return false;
        for (std::size_t i = 1; i < axis.taps.size(); ++i)
            if (axis.taps[i].offset < axis.taps[i - 1].offset) return false;
    }
    const WindowAxis& last = w.axis[2];
    auto taps = static_cast<std::int64_t>(last.taps.size());
    bool side_by_side = w.source.channel == 1 && w.destination.channel == 1 &&
                        (taps == 1 || (w.source.spatial[2] == w.channels &&
                                       last.taps.back().offset == last.taps.front().offset + taps - 1));
    return side_by_side && last.count >= (made <= few ? least_of_few : least_pixels) && taps * w.channels >= least_sum;
}

/// Lines of the source's plane that a line of the result reads, from the first to the last, as far as they are there.
template <class T>
std::int64_t LineProducts<T>::first_read(std::int64_t line) const {
    const WindowAxis& axis = windows_.axis[1];
    return std::clamp<std::int64_t>(line * axis.source_step + axis.taps.front().offset, 0, axis.source_size);
}
template <class T>
std::int64_t LineProducts<T>::last_read(std::int64_t line) const {
    const WindowAxis& axis = windows_.axis[1];
    return std::clamp<std::int64_t>(line * axis.source_step + axis.taps.back().offset + 1, 0, axis.source_size);
}

template <class T>
typename LineProducts<T>::Read LineProducts<T>::copied(const T* plane, const Lines& lines, T* to) const {
    const std::int64_t channels = windows_.channels, pixels = windows_.axis[2].source_size,
                       apart = windows_.source.spatial[2], width = (left_ + pixels + right_) * channels;
    std::int64_t first = first_read(lines.first), last = last_read(lines.first + lines.count - 1);
    for (std::int64_t line = first; line < last; ++line) {
        const T* from = plane + line * windows_.source.spatial[1];
        T* at = std::fill_n(to + (line - first) * width, left_ * channels, T(0));
        if (apart == channels)
            at = std::copy_n(from, pixels * channels, at);
        else
            for (std::int64_t x = 0; x < pixels; ++x) at = std::copy_n(from + x * apart, channels, at);
        std::fill_n(at, right_ * channels, T(0));
    }
    return {to - first * width + left_ * channels, width};
}

template <class T>
void LineProducts<T>::run(std::int64_t block, const T* source, const T* weights, T* destination, T* space) const {
    const Windows& w = windows_;
    const WindowAxis &planes = w.axis[0], &column = w.axis[1], &line = w.axis[2];
    std::int64_t image = block / of_image_, y0 = image % planes.count, n = image / planes.count;
    Lines lines{block % of_image_ * each_, 0, nullptr};
    lines.count = std::min(each_, column.count - lines.first);
    lines.to = destination + w.destination_offset((image * column.count + lines.first) * line.count);
    const std::int64_t next = w.destination.spatial[1] * column.step;
    const std::int64_t taps = static_cast<std::int64_t>(line.taps.size()), sums = taps * w.channels;

    GemmProblem<T> product{line.count, made_, sums};
    product.a_row = line.source_step * (padded() ? w.channels : w.source.spatial[2]), product.a_column = 1;
    product.b_row = made_, product.b_column = 1;
    product.c_row = w.destination_row();
    std::array<bool, most_lines> begun{};
    product.b = weights;
    for (const auto& tap0 : planes.taps) {
        std::int64_t x0 = y0 * planes.source_step + tap0.offset;
        bool there = inside(planes, x0);
        const T* plane = source + n * w.source.batch + (there ? x0 * w.source.spatial[0] : 0);
        Read read{plane, w.source.spatial[1]};
        if (there && padded()) read = copied(plane, lines, space);
        for (const auto& tap1 : column.taps) {
            for (std::int64_t i = 0; there && i < lines.count; ++i) {
                std::int64_t x1 = (lines.first + i) * column.source_step + tap1.offset;
                if (!inside(column, x1)) continue;
                product.a = read.plane + x1 * read.line + line.taps.front().offset * (product.a_row / line.source_step);
                product.c = lines.to + i * next;
                product.accumulate = begun[static_cast<std::size_t>(i)];
                begun[static_cast<std::size_t>(i)] = true;
                own_gemm(product, space + copied_);
            }
            product.b += sums * made_;
        }
    }
    for (std::int64_t i = 0; i < lines.count; ++i)
        for (std::int64_t y = 0; !begun[static_cast<std::size_t>(i)] && y < line.count; ++y)
            std::fill_n(lines.to + i * next + y * product.c_row, made_, T(0));
}

template class LineProducts<float>;
template class LineProducts<double>;

}  // namespace weft::cpu
