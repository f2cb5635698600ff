#include "weft/backend/cpu/line_products.h"

#include <algorithm>
#include <array>
#include <utility>

#include "weft/backend/cpu/moved_matrix.h"
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

/// Taps of a line that are read as one: all, where each is a pixel behind the one before it; else one.
std::int64_t taps_together(const WindowAxis& line) {
    auto taps = static_cast<std::int64_t>(line.taps.size());
    return line.taps.back().offset == line.taps.front().offset + taps - 1 ? taps : 1;
}

}  // namespace

template <class T>
LineProducts<T>::LineProducts(const Windows& windows, std::int64_t made)
    : windows_(windows),
      made_(made),
      left_(padding_before(windows.axis[2])),
      right_(padding_behind(windows.axis[2])),
      together_(taps_together(windows.axis[2])) {
    bool follow = together_ == 1 || windows.source.spatial[2] == windows.channels;
    copies_ = left_ > 0 || right_ > 0 || windows.source.channel != 1 || !follow;
    std::int64_t lines = windows.axis[1].count, pixels = windows.axis[2].count;
    of_image_ = divide_up(lines, std::clamp<std::int64_t>(some_rows / pixels, 1, most_lines));
    each_ = divide_up(lines, of_image_);
    of_image_ = divide_up(lines, each_);
    const auto& taps = windows.axis[1].taps;
    std::int64_t read = (each_ - 1) * windows.axis[1].source_step + taps.back().offset - taps.front().offset + 1;
    read = std::min(read, windows.axis[1].source_size);
    if (copies_) copied_ = read * (left_ + windows.axis[2].source_size + right_) * windows.channels;
    copied_ = divide_up(copied_, 16) * 16;
    sums_ = together_ * windows.channels;
    std::int64_t products =
        std::max(own_gemm_scratch<T>(pixels, made, sums_), own_gemm_scratch<T>(sums_, made, pixels));
    products_ = divide_up(products, 16) * 16;
}

template <class T>
bool LineProducts<T>::gradient_fits(const Windows& w, std::int64_t made) {
    constexpr std::int64_t least_pixels = 160;  // of which each of its sums is made before it is stored again
    return w.axis[2].count >= least_pixels && fit(w, made);
}

template <class T>
bool LineProducts<T>::fit(const Windows& w, std::int64_t made) {
    constexpr std::int64_t least_pixels = 12, least_of_few = 5, few = 16, least_sum = 32;
    for (const WindowAxis& axis : w.axis) {
        if (axis.taps.empty() || axis.count == 0) return false;
        for (std::size_t i = 1; i < axis.taps.size(); ++i)
            if (axis.taps[i].offset < axis.taps[i - 1].offset) return false;
    }
    bool lie = (w.source.channel == 1 || w.source.spatial[2] == 1) && w.destination.channel == 1;
    return lie && w.axis[2].count >= (made <= few ? least_of_few : least_pixels) &&
           taps_together(w.axis[2]) * w.channels >= least_sum;
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
        move_matrix(at, {channels, 1}, from, {apart, windows_.source.channel}, pixels, channels);
        at += pixels * channels;
        std::fill_n(at, right_ * channels, T(0));
    }
    return {to - first * width + left_ * channels, width};
}

/// f(line of the block, first tap, where the first pixel lies that it reads there) of all that read something, each line's in the order of taps.
template <class T>
template <class F>
void LineProducts<T>::for_each_product(const Lines& lines, const T* source, T* space, F&& f) const {
    const Windows& w = windows_;
    const WindowAxis &planes = w.axis[0], &column = w.axis[1], &line = w.axis[2];
    const std::int64_t y0 = lines.image % planes.count, n = lines.image / planes.count;
    const auto together = static_cast<std::size_t>(together_);
    std::int64_t tap = 0;
    for (const auto& tap0 : planes.taps) {
        std::int64_t x0 = y0 * planes.source_step + tap0.offset;
        bool there = inside(planes, x0);
        const T* plane = source + n * w.source.batch + (there ? x0 * w.source.spatial[0] : 0);
        Read read{plane, w.source.spatial[1]};
        if (there && copies_) read = copied(plane, lines, space);
        for (const auto& tap1 : column.taps)
            for (std::size_t tap2 = 0; tap2 < line.taps.size(); tap2 += together) {
                for (std::int64_t i = 0; there && i < lines.count; ++i) {
                    std::int64_t x1 = (lines.first + i) * column.source_step + tap1.offset;
                    if (inside(column, x1)) f(i, tap, read.plane + x1 * read.line + line.taps[tap2].offset * pixel());
                }
                tap += static_cast<std::int64_t>(together);
            }
    }
}

template <class T>
typename LineProducts<T>::Lines LineProducts<T>::lines_of(std::int64_t block) const {
    Lines lines{block / of_image_, block % of_image_ * each_, 0, 0};
    lines.count = std::min(each_, windows_.axis[1].count - lines.first);
    lines.at =
        windows_.destination_offset((lines.image * windows_.axis[1].count + lines.first) * windows_.axis[2].count);
    return lines;
}

template <class T>
void LineProducts<T>::run(std::int64_t block, const T* source, const T* weights, T* destination, T* space) const {
    const Lines lines = lines_of(block);
    const std::int64_t pixels = windows_.axis[2].count;
    GemmProblem<T> product{pixels, made_, sums_};
    product.a_row = windows_.axis[2].source_step * pixel(), product.a_column = 1;
    product.b_row = made_, product.b_column = 1;
    product.c_row = windows_.destination_row();
    std::array<bool, most_lines> begun{};
    for_each_product(lines, source, space, [&](std::int64_t line, std::int64_t tap, const T* from) {
        product.a = from;
        product.b = weights + tap * windows_.channels * made_;
        product.c = destination + lines.at + line * next_line();
        product.accumulate = std::exchange(begun[static_cast<std::size_t>(line)], true);
        own_gemm(product, space + copied_);
    });
    for (std::int64_t line = 0; line < lines.count; ++line)
        for (std::int64_t y = 0; !begun[static_cast<std::size_t>(line)] && y < pixels; ++y)
            std::fill_n(destination + lines.at + line * next_line() + y * product.c_row, made_, T(0));
}

template <class T>
void LineProducts<T>::add_gradient(std::int64_t block, const T* source, const T* gradient, T* weights, T* space) const {
    const Lines lines = lines_of(block);
    GemmProblem<T> product{sums_, made_, windows_.axis[2].count};
    product.a_row = 1, product.a_column = windows_.axis[2].source_step * pixel();
    product.b_row = windows_.destination_row(), product.b_column = 1;
    product.c_row = made_;
    product.accumulate = true;
    for_each_product(lines, source, space, [&](std::int64_t line, std::int64_t tap, const T* from) {
        product.a = from;
        product.b = gradient + lines.at + line * next_line();
        product.c = weights + tap * windows_.channels * made_;
        own_gemm(product, space + copied_);
    });
}

template class LineProducts<float>;
template class LineProducts<double>;

}  // namespace weft::cpu
