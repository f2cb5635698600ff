#include "weft/backend/cpu/generic_convolution.h"

#include <algorithm>

#include "weft/backend/cpu/arithmetic.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

std::int64_t offset(const Spatial& strides, const Spatial& at) {
    return strides[0] * at[0] + strides[1] * at[1] + strides[2] * at[2];
}

template <class F>
void for_each_position(const Spatial& sizes, F&& f) {
    Spatial at;
    for (at[0] = 0; at[0] < sizes[0]; ++at[0])
        for (at[1] = 0; at[1] < sizes[1]; ++at[1])
            for (at[2] = 0; at[2] < sizes[2]; ++at[2]) f(at);
}

template <class T>
struct Loops {
    const ConvolutionShape& shape;  // three axes
    const ConvolutionStrides& strides;
    const T *first, *second;
    T* result;

    std::int64_t in_each() const { return shape.in_channels / shape.groups; }
    std::int64_t out_each() const { return shape.out_channels / shape.groups; }

    /// The input position that kernel position k reads for output position y; false if it lies outside.
    bool input_of(const Spatial& y, const Spatial& k, Spatial& x) const {
        for (int axis = 0; axis < most_spatial; ++axis) {
            x[axis] = y[axis] * shape.stride[axis] - shape.pad_lo[axis] + k[axis] * shape.dilation[axis];
            if (x[axis] < 0 || x[axis] >= shape.in[axis]) return false;
        }
        return true;
    }

    /// The output position that reads input position x through kernel position k; false if there is none.
    bool output_of(const Spatial& x, const Spatial& k, Spatial& y) const {
        for (int axis = 0; axis < most_spatial; ++axis) {
            std::int64_t scaled = x[axis] + shape.pad_lo[axis] - k[axis] * shape.dilation[axis];
            y[axis] = scaled / shape.stride[axis];
            if (scaled < 0 || scaled % shape.stride[axis] != 0 || y[axis] >= shape.out[axis]) return false;
        }
        return true;
    }

    void forward(std::int64_t n, std::int64_t o) const {
        std::int64_t group = o / out_each();
        const T* input = first + n * strides.input.batch + group * in_each() * strides.input.channel;
        const T* weight = second + o * strides.weight.batch;
        T* output = result + n * strides.output.batch + o * strides.output.channel;
        for_each_position(shape.out, [&](const Spatial& y) {
            Sum<T> sum(0);
            Spatial x;
            for_each_position(shape.kernel, [&](const Spatial& k) {
                if (!input_of(y, k, x)) return;
                add_products(sum, input + offset(strides.input.spatial, x), strides.input.channel,
                             weight + offset(strides.weight.spatial, k), strides.weight.channel, in_each());
            });
            output[offset(strides.output.spatial, y)] = static_cast<T>(sum);
        });
    }

    void backward_input(std::int64_t n, std::int64_t c) const {
        std::int64_t group = c / in_each();
        const T* output = first + n * strides.output.batch + group * out_each() * strides.output.channel;
        const T* weight = second + group * out_each() * strides.weight.batch + c % in_each() * strides.weight.channel;
        T* input = result + n * strides.input.batch + c * strides.input.channel;
        for_each_position(shape.in, [&](const Spatial& x) {
            Sum<T> sum(0);
            Spatial y;
            for_each_position(shape.kernel, [&](const Spatial& k) {
                if (!output_of(x, k, y)) return;
                add_products(sum, output + offset(strides.output.spatial, y), strides.output.channel,
                             weight + offset(strides.weight.spatial, k), strides.weight.batch, out_each());
            });
            input[offset(strides.input.spatial, x)] = static_cast<T>(sum);
        });
    }

    void backward_weight(std::int64_t o, std::int64_t c) const {
        std::int64_t group = o / out_each();
        const T* input = first + (group * in_each() + c) * strides.input.channel;
        const T* output = second + o * strides.output.channel;
        T* weight = result + o * strides.weight.batch + c * strides.weight.channel;
        for_each_position(shape.kernel, [&](const Spatial& k) {
            Sum<T> sum(0);
            Spatial x;
            for_each_position(shape.out, [&](const Spatial& y) {
                if (!input_of(y, k, x)) return;
                add_products(sum, input + offset(strides.input.spatial, x), strides.input.batch,
                             output + offset(strides.output.spatial, y), strides.output.batch, shape.batch);
            });
            weight[offset(strides.weight.spatial, k)] = static_cast<T>(sum);
        });
    }

    static void add_products(Sum<T>& sum, const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride,
                             std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i)
            multiply_add<T>(sum, widened(a[i * a_stride]), widened(b[i * b_stride]));
    }
};

}  // namespace

void generic_convolution(DType dtype, ConvolutionKind kind, const ConvolutionShape& shape,
                         const ConvolutionStrides& strides, const void* first, const void* second, void* result) {
    with_dtype(dtype, [&]<class T>(TypeTag<T>) {
        Loops<T> loops{shape, strides, static_cast<const T*>(first), static_cast<const T*>(second),
                       static_cast<T*>(result)};
        std::int64_t in_each = shape.in_channels / shape.groups;
        std::int64_t rows = kind == ConvolutionKind::backward_weight ? shape.out_channels : shape.batch;
        std::int64_t columns = kind == ConvolutionKind::forward          ? shape.out_channels
                               : kind == ConvolutionKind::backward_input ? shape.in_channels
                                                                         : in_each;
        parallel_for(rows * columns, [&](std::int64_t block) {
            std::int64_t row = block / columns, column = block % columns;
            if (kind == ConvolutionKind::forward) return loops.forward(row, column);
            if (kind == ConvolutionKind::backward_input) return loops.backward_input(row, column);
            loops.backward_weight(row, column);
        });
    });
}

}  // namespace weft::cpu
