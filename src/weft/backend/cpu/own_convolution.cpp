#include "weft/backend/cpu/own_convolution.h"

#include <algorithm>

#include "weft/backend/cpu/own_gemm.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t slot_alignment = 16;   // elements; slots of scratch begin on multiples of it
constexpr std::int64_t gathered = 64 * 1024;  // elements of a block's windows: about the second-level cache
constexpr std::int64_t least_rows = 128, most_rows = 512;  // of a block: fewer repack weights too often
constexpr std::int64_t most_partials = 16;
constexpr std::int64_t most_partial_elements = 4 << 20;

std::int64_t round_up(std::int64_t a) { return divide_up(a, slot_alignment) * slot_alignment; }

std::int64_t rows_of_block(const Windows& windows) {
    std::int64_t rows = gathered / std::max<std::int64_t>(1, windows.columns());
    return std::clamp(rows, least_rows, most_rows);
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
        Part part{windows, weights_, blocks_, rows_of_block(windows)};
        weights_ += shape.groups * windows.columns() * destination_channels_;
        blocks_ += divide_up(windows.rows(), part.rows_each);
        parts_.push_back(part);
    }
    plan_scratch();
}

template <class T>
void OwnConvolution<T>::plan_scratch() {
    for (const Part& part : parts_) {
        std::int64_t columns = part.windows.columns(), rows = std::min(part.rows_each, part.windows.rows());
        columns_ = std::max(columns_, round_up(rows * columns));
        tile_ = std::max(tile_, round_up(rows * destination_channels_));
        std::int64_t product = kind_ == ConvolutionKind::backward_weight
                                   ? own_gemm_scratch<T>(columns, destination_channels_, rows)
                                   : own_gemm_scratch<T>(rows, destination_channels_, columns);
        each_slot_ = std::max(each_slot_, round_up(product));
    }
    each_slot_ += columns_ + tile_;
    shared_ = round_up(weights_);
    if (kind_ == ConvolutionKind::backward_weight) {
        std::int64_t most =
            std::clamp<std::int64_t>(most_partial_elements / std::max<std::int64_t>(1, weights_), 2, most_partials);
        partials_ = std::min(most, blocks_);
        shared_ *= partials_;
    }
    if (depthwise_) each_slot_ = 0;
}

/// Where the weight stands that joins channel `source` of the windows' source, through their tap, to channel
/// `destination`.
template <class T>
std::int64_t OwnConvolution<T>::weight_offset(const Windows& windows, std::int64_t group, std::int64_t tap,
                                              std::int64_t source, std::int64_t destination) const {
    bool transposed = kind_ == ConvolutionKind::backward_input;
    std::int64_t o = group * (shape_.out_channels / shape_.groups) + (transposed ? source : destination);
    std::int64_t offset = o * strides_.weight.batch + (transposed ? destination : source) * strides_.weight.channel;
    for (int axis = most_spatial - 1; axis >= 0; --axis) {
        auto taps = static_cast<std::int64_t>(windows.axis[axis].taps.size());
        offset += windows.axis[axis].taps[static_cast<std::size_t>(tap % taps)].kernel * strides_.weight.spatial[axis];
        tap /= taps;
    }
    return offset;
}

/// packed[part][group][tap][source channel][destination channel]; depthwise: [part][tap][group].
template <class T>
void OwnConvolution<T>::pack(const T* weights, T* packed) const {
    for (const Part& part : parts_) {
        std::int64_t taps = part.windows.taps(), channels = part.windows.channels, width = destination_channels_;
        parallel_for(shape_.groups * taps > 64 ? shape_.groups : shape_.groups * taps, [&](std::int64_t block) {
            std::int64_t group = shape_.groups * taps > 64 ? block : block / taps;
            std::int64_t begin = shape_.groups * taps > 64 ? 0 : block % taps,
                         end = shape_.groups * taps > 64 ? taps : begin + 1;
            for (std::int64_t tap = begin; tap < end; ++tap) {
                T* to = packed + part.weights +
                        (depthwise_ ? tap * shape_.groups + group : (group * taps + tap) * channels * width);
                const T* from = weights + weight_offset(part.windows, group, tap, 0, 0);
                bool transposed = kind_ == ConvolutionKind::backward_input;
                std::int64_t row = transposed ? strides_.weight.batch : strides_.weight.channel;
                std::int64_t column = transposed ? strides_.weight.channel : strides_.weight.batch;
                for (std::int64_t c = 0; c < channels; ++c)
                    for (std::int64_t j = 0; j < width; ++j) to[c * width + j] = from[c * row + j * column];
            }
        });
    }
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

template <class T>
void OwnConvolution<T>::convolve_block(const Part& part, std::int64_t block, const T* source, const T* packed,
                                       T* destination, T* space) const {
    const Windows& w = part.windows;
    std::int64_t begin = block * part.rows_each, end = std::min(w.rows(), begin + part.rows_each), rows = end - begin;
    if (depthwise_) return convolve_depthwise(part, begin, end, source, packed, destination);
    bool itself = w.is_source_itself(), direct = w.destination_is_even() && w.destination.channel == 1;
    for (std::int64_t group = 0; group < shape_.groups; ++group) {
        const T* from = source + group * w.channels * w.source.channel;
        T* to = destination + group * destination_channels_ * w.destination.channel;
        GemmProblem<T> product{rows, destination_channels_, w.columns()};
        if (itself) {
            product.a = from + begin * w.source.spatial[2];
            product.a_row = w.source.spatial[2];
            product.a_column = w.source.channel;
        } else {
            gather(w, from, begin, end, space);
            product.a = space;
            product.a_row = w.by_pixels() ? w.columns() : 1;
            product.a_column = w.by_pixels() ? 1 : rows;
        }
        product.b = packed + part.weights + group * w.columns() * destination_channels_;
        product.b_row = destination_channels_;
        product.b_column = 1;
        product.c = direct ? to + w.destination_offset(begin) : space + columns_;
        product.c_row = direct ? w.destination_row() : destination_channels_;
        own_gemm(product, space + columns_ + tile_);
        if (!direct) store(w, begin, end, space + columns_, to);
    }
}

template <class T>
void OwnConvolution<T>::store(const Windows& w, std::int64_t begin, std::int64_t end, const T* tile,
                              T* destination) const {
    for (std::int64_t row = begin; row < end;) {
        std::int64_t count = std::min(end - row, w.axis[2].count - row % w.axis[2].count);
        T* to = destination + w.destination_offset(row);
        const T* from = tile + (row - begin) * destination_channels_;
        if (w.destination.channel == 1) {
            for (std::int64_t i = 0; i < count; ++i)
                for (std::int64_t c = 0; c < destination_channels_; ++c)
                    to[i * w.destination_row() + c] = from[i * destination_channels_ + c];
        } else {
            for (std::int64_t c = 0; c < destination_channels_; ++c)
                for (std::int64_t i = 0; i < count; ++i)
                    to[i * w.destination_row() + c * w.destination.channel] = from[i * destination_channels_ + c];
        }
        row += count;
    }
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
void OwnConvolution<T>::convolve_depthwise(const Part& part, std::int64_t begin, std::int64_t end, const T* source,
                                           const T* packed, T* destination) const {
    const Windows& w = part.windows;
    const T* weights = packed + part.weights;
    for (std::int64_t row = begin; row < end; ++row) {
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
    const Part& part = parts_[0];
    std::int64_t each = round_up(weights_), rows = part.windows.rows();
    parallel_for(
        partials_,
        [&](std::int64_t partial, int slot) {
            T* sums = scratch + partial * each;
            std::fill(sums, sums + weights_, T(0));
            std::int64_t begin = partial * blocks_ / partials_, end = (partial + 1) * blocks_ / partials_;
            for (std::int64_t block = begin; block < end; ++block)
                accumulate_rows(input, output, block * part.rows_each, std::min(rows, (block + 1) * part.rows_each),
                                sums, scratch + shared_ + slot * each_slot_);
        },
        slots_);
    std::int64_t taps = part.windows.taps(), channels = part.windows.channels, width = destination_channels_;
    parallel_for(shape_.groups, [&](std::int64_t group) {
        for (std::int64_t tap = 0; tap < taps; ++tap)
            for (std::int64_t c = 0; c < channels; ++c)
                for (std::int64_t j = 0; j < width; ++j) {
                    std::int64_t at =
                        depthwise_ ? tap * shape_.groups + group : ((group * taps + tap) * channels + c) * width + j;
                    T sum = 0;
                    for (std::int64_t partial = 0; partial < partials_; ++partial) sum += scratch[partial * each + at];
                    result[weight_offset(part.windows, group, tap, c, j)] = sum;
                }
    });
}

template <class T>
void OwnConvolution<T>::accumulate_rows(const T* input, const T* output, std::int64_t begin, std::int64_t end,
                                        T* partial, T* space) const {
    const Windows& w = parts_[0].windows;
    if (depthwise_) return accumulate_depthwise(input, output, begin, end, partial);
    std::int64_t rows = end - begin;
    bool even = w.destination_is_even();
    for (std::int64_t group = 0; group < shape_.groups; ++group) {
        const T* from = output + group * destination_channels_ * w.destination.channel;
        gather(w, input + group * w.channels * w.source.channel, begin, end, space);
        GemmProblem<T> product{w.columns(), destination_channels_, rows};
        product.a = space;
        product.a_row = w.by_pixels() ? 1 : rows;
        product.a_column = w.by_pixels() ? w.columns() : 1;
        product.b = even ? from + w.destination_offset(begin) : space + columns_;
        product.b_row = even ? w.destination_row() : destination_channels_;
        product.b_column = even ? w.destination.channel : 1;
        if (!even)
            for (std::int64_t row = begin; row < end; ++row)
                for (std::int64_t c = 0; c < destination_channels_; ++c)
                    space[columns_ + (row - begin) * destination_channels_ + c] =
                        from[w.destination_offset(row) + c * w.destination.channel];
        product.c = partial + group * w.columns() * destination_channels_;
        product.c_row = destination_channels_;
        product.accumulate = true;
        own_gemm(product, space + columns_ + tile_);
    }
}

template <class T>
void OwnConvolution<T>::accumulate_depthwise(const T* input, const T* output, std::int64_t begin, std::int64_t end,
                                             T* partial) const {
    const Windows& w = parts_[0].windows;
    for (std::int64_t row = begin; row < end; ++row) {
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
