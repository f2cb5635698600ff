#include "weft/backend/cpu/own_convolution.h"

#include <algorithm>
#include <utility>

#include "weft/backend/cpu/added_copies.h"
#include "weft/backend/cpu/destination_rows.h"
#include "weft/backend/cpu/own_gemm.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t slot_alignment = 16;  // elements; slots of scratch begin on multiples of it
// Columns that are gathered, and multiplied, at a time; elements of them: half of a second-level cache.
constexpr std::int64_t some_columns = 256, gathered = 64 * 1024;
constexpr std::int64_t least_rows = 128, most_rows = 512;  // of a block: fewer repack weights too often
constexpr std::int64_t most_partials = 16;
constexpr std::int64_t most_partial_elements = 4 << 20;

std::int64_t round_up(std::int64_t a) { return divide_up(a, slot_alignment) * slot_alignment; }

/// Blocks of as many rows each as can be: a last one of few would be another kind of product.
std::int64_t rows_of_block(const Windows& windows, std::int64_t columns) {
    std::int64_t most = std::clamp(gathered / std::max<std::int64_t>(1, columns), least_rows, most_rows);
    return divide_up(windows.rows(), std::max<std::int64_t>(1, divide_up(windows.rows(), most)));
}

}  // namespace

template <class T>
OwnConvolution<T>::OwnConvolution(ConvolutionKind kind, const ConvolutionShape& shape,
                                  const ConvolutionStrides& strides, int slots)
    : kind_(kind), shape_(shape), strides_(strides), slots_(slots) {
    std::int64_t in_each = shape.in_channels / shape.groups, out_each = shape.out_channels / shape.groups;
    depthwise_ = in_each == 1 && out_each == 1 && shape.groups > 1;
    destination_channels_ = kind == ConvolutionKind::backward_input ? in_each : out_each;
    std::vector<Windows> all = kind == ConvolutionKind::backward_input ? transposed_windows(shape, strides)
                                                                       : std::vector{forward_windows(shape, strides)};
    for (const Windows& windows : all) {
        Part part{.windows = windows, .order = {kind, shape, strides.weight, windows, depthwise_}};
        part.weights = weights_, part.first_block = blocks_;
        std::int64_t channels = std::max<std::int64_t>(1, windows.channels), taps = windows.taps();
        part.taps_each = std::clamp<std::int64_t>(some_columns / channels, 1, std::max<std::int64_t>(1, taps));
        part.rows_each = rows_of_block(windows, part.taps_each * windows.channels);
        bool fits = gradient() ? LineProducts<T>::gradient_fits(windows, destination_channels_)
                               : LineProducts<T>::fit(windows, destination_channels_);
        if (fits && !depthwise_) part.lines.emplace(windows, destination_channels_);
        weights_ += part.order.size();
        blocks_ += part.lines            ? part.lines->blocks()
                   : windows.rows() == 0 ? 0
                                         : divide_up(windows.rows(), part.rows_each);
        parts_.push_back(std::move(part));
    }
    plan_scratch();
}

template <class T>
void OwnConvolution<T>::plan_scratch() {
    std::int64_t products = 0, lines = 0;
    for (const Part& part : parts_) {
        if (part.lines) {
            lines = std::max(lines, part.lines->scratch_elements());
            continue;
        }
        std::int64_t columns = part.taps_each * part.windows.channels, rows = part.rows_each;
        columns_ = std::max(columns_, round_up(rows * columns));
        tile_ = std::max(tile_, round_up(rows * destination_channels_));
        std::int64_t product = gradient() ? own_gemm_scratch<T>(columns, destination_channels_, rows)
                                          : own_gemm_scratch<T>(rows, destination_channels_, columns);
        products = std::max(products, round_up(product));
    }
    each_slot_ = std::max(columns_ + tile_ + products, lines);
    shared_ = round_up(weights_);
    if (gradient()) {
        std::int64_t most =
            std::clamp<std::int64_t>(most_partial_elements / std::max<std::int64_t>(1, weights_), 2, most_partials);
        partials_ = std::clamp<std::int64_t>(blocks_, 1, most);
        shared_ *= partials_;
    }
    if (depthwise_) each_slot_ = 0;
}

template <class T>
void OwnConvolution<T>::pack(const T* weights, T* packed) const {
    for (const Part& part : parts_) part.order.pack(weights, packed + part.weights);
}

template <class T>
void OwnConvolution<T>::run(const T* first, const T* second, const T* packed, T* result, T* scratch) const {
    if (gradient()) return weight_gradient(first, second, result, scratch);
    if (blocks_ == 0) return;
    auto block = [&](std::int64_t index, int slot) {
        auto part = std::find_if(parts_.rbegin(), parts_.rend(), [&](const Part& p) { return p.first_block <= index; });
        convolve_block(*part, index - part->first_block, first, packed, result, scratch + slot * each_slot_);
    };
    parallel_for(blocks_, block, slots_);
}

/// The taps of a block's product, some at a time: f(taps). Of none once, for the product is zero then.
template <class F>
static void for_each_some(std::int64_t taps, std::int64_t each, F&& f) {
    std::int64_t first = 0;
    do f(TapRange{first, std::min(taps, first + each)});
    while ((first += each) < taps);
}

template <class T>
void OwnConvolution<T>::convolve_block(const Part& part, std::int64_t block, const T* source, const T* packed,
                                       T* destination, T* space) const {
    const Windows& w = part.windows;
    if (depthwise_) return convolve_depthwise(part, block, source, packed, destination);
    for (std::int64_t group = 0; group < shape_.groups; ++group) {
        const T* from = source + group * w.channels * w.source.channel;
        const T* weights = packed + part.weights + group * w.columns() * destination_channels_;
        T* to = destination + group * destination_channels_ * w.destination.channel;
        if (part.lines)
            part.lines->run(block, from, weights, to, space);
        else
            convolve_windows(part, part.rows_of(block), from, weights, to, space);
    }
}

template <class T>
void OwnConvolution<T>::convolve_windows(const Part& part, Rows of, const T* source, const T* weights, T* destination,
                                         T* space) const {
    const Windows& w = part.windows;
    const bool itself = w.is_source_itself(), direct = w.destination_is_even() && w.destination.channel == 1;
    const std::int64_t rows = of.end - of.begin;
    T* tile = direct ? destination + w.destination_offset(of.begin) : space + columns_;
    for_each_some(w.taps(), part.taps_each, [&](TapRange taps) {
        GemmProblem<T> product{rows, destination_channels_, taps.columns(w)};
        if (itself) {
            product.a = source + of.begin * w.source.spatial[2];
            product.a_row = w.source.spatial[2];
            product.a_column = w.source.channel;
        } else {
            gather(w, source, of.begin, of.end, taps, space);
            product.a = space;
            product.a_row = w.by_pixels() ? taps.columns(w) : 1;
            product.a_column = w.by_pixels() ? 1 : rows;
        }
        product.b = weights + taps.first * w.channels * destination_channels_;
        product.b_row = destination_channels_;
        product.b_column = 1;
        product.c = tile;
        product.c_row = direct ? w.destination_row() : destination_channels_;
        product.accumulate = taps.first > 0;
        own_gemm(product, space + columns_ + tile_);
    });
    if (!direct) store_rows(w, of.begin, of.end, destination_channels_, tile, destination);
}

/// Calls f(source pixel, tap) for each tap of the destination `row` that lies inside.
template <class T, class F>
static void for_each_tap(const Windows& w, const T* source, std::int64_t row, F&& f) {
    Windows::Position at = w.position_of(row);
    std::int64_t tap = 0;
    auto inside = [&](int axis, const WindowAxis::Tap& t, std::int64_t& x) {
        x = at.y[axis] * w.axis[axis].source_step + t.offset;
        return x >= 0 && x < w.axis[axis].source_size;
    };
    std::int64_t x0, x1, x2;
    for (const auto& t0 : w.axis[0].taps)
        for (const auto& t1 : w.axis[1].taps)
            for (const auto& t2 : w.axis[2].taps) {
                if (inside(0, t0, x0) && inside(1, t1, x1) && inside(2, t2, x2))
                    f(source + at.n * w.source.batch + x0 * w.source.spatial[0] + x1 * w.source.spatial[1] +
                          x2 * w.source.spatial[2],
                      tap);
                ++tap;
            }
}

template <class T>
static void multiply_add_channels(T* sums, std::int64_t sums_stride, const T* a, std::int64_t a_stride, const T* b,
                                  std::int64_t b_stride, std::int64_t count) {
    if (sums_stride == 1 && a_stride == 1 && b_stride == 1) {
        for (std::int64_t c = 0; c < count; ++c) sums[c] += a[c] * b[c];
    } else {
        for (std::int64_t c = 0; c < count; ++c) sums[c * sums_stride] += a[c * a_stride] * b[c * b_stride];
    }
}

template <class T>
void OwnConvolution<T>::convolve_depthwise(const Part& part, std::int64_t block, const T* source, const T* packed,
                                           T* destination) const {
    const Windows& w = part.windows;
    const Rows of = part.rows_of(block);
    const T* weights = packed + part.weights;
    for (std::int64_t row = of.begin; row < of.end; ++row) {
        T* to = destination + w.destination_offset(row);
        for (std::int64_t c = 0; c < shape_.groups; ++c) to[c * w.destination.channel] = 0;
        for_each_tap(w, source, row, [&](const T* pixel, std::int64_t tap) {
            multiply_add_channels(to, w.destination.channel, pixel, w.source.channel, weights + tap * shape_.groups, 1,
                                  shape_.groups);
        });
    }
}

template <class T>
void OwnConvolution<T>::weight_gradient(const T* input, const T* output, T* result, T* scratch) const {
    std::int64_t each = round_up(weights_);
    auto copy = [&](std::int64_t partial, int slot) {
        T* sums = scratch + partial * each;
        std::fill(sums, sums + weights_, T(0));
        std::int64_t begin = partial * blocks_ / partials_, end = (partial + 1) * blocks_ / partials_;
        for (std::int64_t block = begin; block < end; ++block)
            accumulate_block(block, input, output, sums, scratch + shared_ + slot * each_slot_);
    };
    parallel_for(partials_, copy, slots_);
    add_copies(scratch, partials_, each, weights_);
    parts_[0].order.unpack(scratch, result);
}

template <class T>
void OwnConvolution<T>::accumulate_block(std::int64_t block, const T* input, const T* output, T* partial,
                                         T* space) const {
    const Part& part = parts_[0];
    const Windows& w = part.windows;
    if (depthwise_) return accumulate_depthwise(part, block, input, output, partial);
    for (std::int64_t group = 0; group < shape_.groups; ++group) {
        const T* read = input + group * w.channels * w.source.channel;
        const T* made = output + group * destination_channels_ * w.destination.channel;
        T* sums = partial + group * w.columns() * destination_channels_;
        if (part.lines)
            part.lines->add_gradient(block, read, made, sums, space);
        else
            accumulate_windows(part, part.rows_of(block), read, made, sums, space);
    }
}

template <class T>
void OwnConvolution<T>::accumulate_windows(const Part& part, Rows of, const T* input, const T* output, T* sums,
                                           T* space) const {
    const Windows& w = part.windows;
    const std::int64_t rows = of.end - of.begin;
    const bool even = w.destination_is_even();
    if (!even) load_rows(w, of.begin, of.end, destination_channels_, output, space + columns_);
    for_each_some(w.taps(), part.taps_each, [&](TapRange taps) {
        gather(w, input, of.begin, of.end, taps, space);
        GemmProblem<T> product{taps.columns(w), destination_channels_, rows};
        product.a = space;
        product.a_row = w.by_pixels() ? 1 : rows;
        product.a_column = w.by_pixels() ? taps.columns(w) : 1;
        product.b = even ? output + w.destination_offset(of.begin) : space + columns_;
        product.b_row = even ? w.destination_row() : destination_channels_;
        product.b_column = even ? w.destination.channel : 1;
        product.c = sums + taps.first * w.channels * destination_channels_;
        product.c_row = destination_channels_;
        product.accumulate = true;
        own_gemm(product, space + columns_ + tile_);
    });
}

template <class T>
void OwnConvolution<T>::accumulate_depthwise(const Part& part, std::int64_t block, const T* input, const T* output,
                                             T* partial) const {
    const Windows& w = part.windows;
    const Rows of = part.rows_of(block);
    for (std::int64_t row = of.begin; row < of.end; ++row) {
        const T* gradient = output + w.destination_offset(row);
        for_each_tap(w, input, row, [&](const T* pixel, std::int64_t tap) {
            multiply_add_channels(partial + tap * shape_.groups, 1, pixel, w.source.channel, gradient,
                                  w.destination.channel, shape_.groups);
        });
    }
}

template class OwnConvolution<float>;
template class OwnConvolution<double>;

}  // namespace weft::cpu
