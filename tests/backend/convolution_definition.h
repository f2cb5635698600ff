// Convolutions by their definition, and operands to compare with it. Callers: tests/backend/*convolution_test.cpp, winograd_test.cpp.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include "backend/instruction_set.h"
#include "threads.h"
#include "weft/backend/cpu/convolution.h"
#include "weft/backend/cpu/isa.h"

namespace weft::cpu::defined {

struct Case {
    const char* name;
    int ndim;
    std::int64_t batch, in_channels, out_channels, groups;
    Spatial in, kernel, stride, pad_lo, pad_hi, dilation;
};

inline constexpr Spatial by_ones{1, 1, 1};

inline ConvolutionShape shape_of(const Case& c) {
    ConvolutionShape s;
    s.ndim = c.ndim, s.batch = c.batch, s.in_channels = c.in_channels, s.out_channels = c.out_channels,
    s.groups = c.groups;
    s.in = c.in, s.kernel = c.kernel, s.stride = c.stride, s.pad_lo = c.pad_lo, s.dilation = c.dilation;
    for (int axis = 0; axis < c.ndim; ++axis)
        s.out[axis] = convolution_output_size(c.in[axis], c.kernel[axis], c.stride[axis], c.pad_lo[axis],
                                              c.pad_hi[axis], c.dilation[axis]);
    return s;
}

enum class PictureLayout { channels_last, channels_first, strided };

inline WindowStrides strides_of(PictureLayout layout, std::int64_t channels, int ndim, const Spatial& sizes) {
    if (layout == PictureLayout::channels_last) return channels_last(channels, ndim, sizes);
    if (layout == PictureLayout::channels_first) return channels_first(channels, ndim, sizes);
    WindowStrides strides = channels_last(2 * channels + 1, ndim, sizes);  // gaps between channels and between pixels
    strides.channel = 2;
    return strides;
}

/// A logical (batch, channel, spatial) value in some layout; `at` calls f with the element's place and its logical
/// indices.
template <class T>
struct Value {
    Value(std::int64_t batch_, std::int64_t channels_, int ndim_, const Spatial& sizes_, PictureLayout layout)
        : batch(batch_), channels(channels_), ndim(ndim_), strides(strides_of(layout, channels_, ndim_, sizes_)) {
        sizes = {1, 1, 1};
        for (int axis = 0; axis < ndim; ++axis) sizes[axis] = sizes_[axis];
        for (int axis = ndim; axis < most_spatial; ++axis) strides.spatial[axis] = 0;
        std::int64_t all = batch * (2 * channels + 1);
        for (std::int64_t size : sizes) all *= size;
        memory.assign(static_cast<std::size_t>(all + 1), T(0.0f));
    }
    void fill(unsigned seed) {  // whole numbers, so that every type sums them exactly
        std::mt19937 generator(seed);
        for (T& element : memory) element = static_cast<T>(static_cast<float>(generator() % 4));
    }
    T& at(std::int64_t n, std::int64_t c, std::int64_t x, std::int64_t y, std::int64_t z) {
        return memory[static_cast<std::size_t>(n * strides.batch + c * strides.channel + x * strides.spatial[0] +
                                               y * strides.spatial[1] + z * strides.spatial[2])];
    }
    std::int64_t batch, channels;
    int ndim;
    Spatial sizes;
    WindowStrides strides;
    std::vector<T> memory;
};

template <class T>
struct Operands {
    Operands(const ConvolutionShape& s, PictureLayout layout)
        : input(s.batch, s.in_channels, s.ndim, s.in, layout),
          weight(s.out_channels, s.in_channels / s.groups, s.ndim, s.kernel,
                 layout == PictureLayout::channels_last ? PictureLayout::channels_first : layout),
          output(s.batch, s.out_channels, s.ndim, s.out, layout) {}
    ConvolutionStrides strides() const { return {input.strides, weight.strides, output.strides}; }
    Value<T> input, weight, output;
};

/// The definition: calls f(n, o, y, c within the group, k, x) for every product of the convolution.
template <class F>
void for_each_product(const ConvolutionShape& s, F&& f) {
    std::int64_t in_each = s.in_channels / s.groups, out_each = s.out_channels / s.groups;
    Spatial out{1, 1, 1}, in{1, 1, 1}, kernel{1, 1, 1}, y, k, x;
    for (int axis = 0; axis < s.ndim; ++axis)
        out[axis] = s.out[axis], in[axis] = s.in[axis], kernel[axis] = s.kernel[axis];
    for (std::int64_t n = 0; n < s.batch; ++n)
        for (std::int64_t o = 0; o < s.out_channels; ++o)
            for (y[0] = 0; y[0] < out[0]; ++y[0])
                for (y[1] = 0; y[1] < out[1]; ++y[1])
                    for (y[2] = 0; y[2] < out[2]; ++y[2])
                        for (k[0] = 0; k[0] < kernel[0]; ++k[0])
                            for (k[1] = 0; k[1] < kernel[1]; ++k[1])
                                for (k[2] = 0; k[2] < kernel[2]; ++k[2]) {
                                    bool inside = true;
                                    for (int axis = 0; axis < most_spatial; ++axis) {
                                        x[axis] = axis < s.ndim ? y[axis] * s.stride[axis] - s.pad_lo[axis] +
                                                                      k[axis] * s.dilation[axis]
                                                                : 0;
                                        inside = inside && x[axis] >= 0 && x[axis] < in[axis];
                                    }
                                    for (std::int64_t c = 0; inside && c < in_each; ++c)
                                        f(n, o, y, o / out_each * in_each + c, c, k, x);
                                }
}

template <class T>
std::vector<std::byte> run(ConvolutionKind kind, const ConvolutionShape& s, Operands<T>& operands) {
    Convolution convolution(dtype_of<T>, kind, s, operands.strides());
    std::vector<std::byte> scratch(convolution.scratch_bytes() + 64, std::byte{0xff});  // NaN
    void* aligned = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
    Value<T>& first = kind == ConvolutionKind::backward_input ? operands.output : operands.input;
    Value<T>& second = kind == ConvolutionKind::backward_weight ? operands.output : operands.weight;
    Value<T>& result = kind == ConvolutionKind::forward          ? operands.output
                       : kind == ConvolutionKind::backward_input ? operands.input
                                                                 : operands.weight;
    std::fill(result.memory.begin(), result.memory.end(), T(77.0f));
    convolution.run(first.memory.data(), second.memory.data(), result.memory.data(), aligned);
    auto bytes = std::as_bytes(std::span(result.memory));
    return {bytes.begin(), bytes.end()};
}

/// The sums in the wide type, in the result's layout; what is no element of the result stays 77.
template <class T, class Wide>
std::vector<T> expected(ConvolutionKind kind, const ConvolutionShape& s, Operands<T>& operands, Operands<Wide>& wide) {
    Value<Wide>& sums = kind == ConvolutionKind::forward          ? wide.output
                        : kind == ConvolutionKind::backward_input ? wide.input
                                                                  : wide.weight;
    for_each_product(s, [&](std::int64_t n, std::int64_t o, const Spatial& y, std::int64_t c, std::int64_t c_each,
                            const Spatial& k, const Spatial& x) {
        auto input = [&]() -> T& { return operands.input.at(n, c, x[0], x[1], x[2]); };
        auto weight = [&]() -> T& { return operands.weight.at(o, c_each, k[0], k[1], k[2]); };
        auto output = [&]() -> T& { return operands.output.at(n, o, y[0], y[1], y[2]); };
        if (kind == ConvolutionKind::forward) wide.output.at(n, o, y[0], y[1], y[2]) += Wide(input()) * Wide(weight());
        if (kind == ConvolutionKind::backward_input)
            wide.input.at(n, c, x[0], x[1], x[2]) += Wide(output()) * Wide(weight());
        if (kind == ConvolutionKind::backward_weight)
            wide.weight.at(o, c_each, k[0], k[1], k[2]) += Wide(input()) * Wide(output());
    });
    std::vector<T> values(sums.memory.size(), T(77.0f));
    for (std::int64_t n = 0; n < sums.batch; ++n)
        for (std::int64_t c = 0; c < sums.channels; ++c)
            for (std::int64_t x = 0; x < sums.sizes[0]; ++x)
                for (std::int64_t y = 0; y < sums.sizes[1]; ++y)
                    for (std::int64_t z = 0; z < sums.sizes[2]; ++z) {
                        Wide& sum = sums.at(n, c, x, y, z);
                        values[static_cast<std::size_t>(&sum - sums.memory.data())] = static_cast<T>(sum);
                    }
    return values;
}

/// By whom it is computed.
inline std::string name_of_way(const Case& c, ConvolutionKind kind, PictureLayout layout) {
    ConvolutionShape s = shape_of(c);
    return Convolution(float32, kind, s, Operands<float>(s, layout).strides()).implementation();
}

inline constexpr ConvolutionKind kinds[] = {ConvolutionKind::forward, ConvolutionKind::backward_input,
                                            ConvolutionKind::backward_weight};

template <class T, class Wide>
void check(const Case& c, PictureLayout layout, std::span<const ConvolutionKind> which = kinds) {
    ConvolutionShape s = shape_of(c);
    for (ConvolutionKind kind : which) {
        Operands<T> operands(s, layout);
        Operands<Wide> wide(s, layout);
        operands.input.fill(1), operands.weight.fill(2), operands.output.fill(3);
        std::vector<T> want = expected(kind, s, operands, wide);
        for (int threads : {1, 2}) {
            Threads guard(threads);
            std::vector<std::byte> got = run(kind, s, operands);
            ASSERT_EQ(got.size(), want.size() * sizeof(T));
            EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size()), 0)
                << c.name << ", kind " << static_cast<int>(kind) << ", layout " << static_cast<int>(layout) << ", "
                << threads << " threads";
        }
    }
}

/// Blocks of images whose weights were packed once, by the first: what blocks of rows do. A last one of fewer images.
inline void check_packed_by_first_block(const Case& c) {
    Case some = c;
    some.batch = 5;
    ConvolutionShape s = shape_of(some), three = s, two = s;
    three.batch = 3, two.batch = 2;
    Operands<float> operands(s, PictureLayout::channels_last);
    Operands<double> wide(s, PictureLayout::channels_last);
    operands.input.fill(1), operands.weight.fill(2);
    std::vector<float> want = expected(ConvolutionKind::forward, s, operands, wide);
    std::fill(operands.output.memory.begin(), operands.output.memory.end(), 77.0F);
    ConvolutionStrides strides = operands.strides();
    Convolution first(float32, ConvolutionKind::forward, three, strides, {.block = true});
    Convolution rest(float32, ConvolutionKind::forward, two, strides, {.block = true, .first = &first});
    const float* weights = operands.weight.memory.data();
    auto aligned = [](std::vector<float>& memory) {
        return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
    };
    std::vector<float> packed(first.packed_bytes() / sizeof(float) + 16),
        scratch(std::max(first.scratch_bytes(), rest.scratch_bytes()) / sizeof(float) + 16);
    if (first.packed_bytes() > 0) first.pack(weights, aligned(packed));
    first.run(operands.input.memory.data(), weights, operands.output.memory.data(), aligned(scratch), aligned(packed));
    rest.run(operands.input.memory.data() + 3 * operands.input.strides.batch, weights,
             operands.output.memory.data() + 3 * operands.output.strides.batch, aligned(scratch), aligned(packed));
    EXPECT_EQ(operands.output.memory, want) << c.name;
}

template <class T>
void fill_at_random(Operands<T>& operands) {
    std::mt19937 generator(5);
    for (auto* value : {&operands.input, &operands.weight, &operands.output})
        for (T& x : value->memory) x = std::uniform_real_distribution<T>(-1, 1)(generator);
}

/// Each number of a forward convolution is one chain of fused multiply-adds from 0 on, in the order of the kernel's lines, within one of the channels,
/// then of its places; for any number of threads.
inline void expect_chains_in_kernel_order(const Case& c, PictureLayout layout, Isa isa) {
    ConvolutionShape s = shape_of(c);
    if (std::min(s.out[0], s.ndim > 1 ? s.out[1] : 1) < 1) return;
    Operands<float> operands(s, layout);
    operands.output = Value<float>(s.batch, s.out_channels, s.ndim, s.out, PictureLayout::channels_last);
    fill_at_random(operands);
    std::vector<float> want(operands.output.memory.size(), 77.0F);
    auto place = [&](std::int64_t n, std::int64_t o, const Spatial& y) {
        return static_cast<std::size_t>(&operands.output.at(n, o, y[0], y[1], y[2]) - operands.output.memory.data());
    };
    using Factors = std::tuple<std::int64_t, std::int64_t, std::int64_t, float, float>;
    std::map<std::size_t, std::vector<Factors>> products;
    const int last = s.ndim - 1;  // lines of the kernel lie along the last axis
    for_each_product(s, [&](std::int64_t n, std::int64_t o, const Spatial& y, std::int64_t channel, std::int64_t c_each,
                            const Spatial& k, const Spatial& x) {
        products[place(n, o, y)].emplace_back(last > 0 ? k[0] : 0, c_each, k[last],
                                              operands.weight.at(o, c_each, k[0], k[1], k[2]),
                                              operands.input.at(n, channel, x[0], x[1], x[2]));
    });
    for (std::int64_t n = 0; n < s.batch; ++n)
        for (std::int64_t o = 0; o < s.out_channels; ++o)
            for (Spatial y{0, 0, 0}; y[0] < s.out[0]; ++y[0])
                for (y[1] = 0; y[1] < (s.ndim > 1 ? s.out[1] : 1); ++y[1]) {
                    std::vector<Factors>& all = products[place(n, o, y)];
                    std::stable_sort(all.begin(), all.end());
                    float& sum = want[place(n, o, y)] = 0;
                    for (auto [k1, channel, k2, weight, input] : all) sum = std::fma(weight, input, sum);
                }
    InstructionSet set(isa);
    for (int threads : {1, 2, 3}) {
        Threads guard(threads);
        std::vector<std::byte> got = run(ConvolutionKind::forward, s, operands);
        EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size()), 0)
            << c.name << ", " << weft::cpu::name_of(isa) << ", width " << c.in[s.ndim - 1] << ", " << threads
            << " threads";
    }
}

/// On every instruction set and for any number of threads, channels last.
inline void expect_same_bits_everywhere(const Case& c, ConvolutionKind kind) {
    Isa before = best_isa();
    ConvolutionShape s = shape_of(c);
    std::vector<std::byte> reference;
    for (Isa isa : usable_isas())
        for (int threads : {1, 2, 3}) {
            use_isa(isa);
            Threads guard(threads);
            Operands<float> operands(s, PictureLayout::channels_last);
            fill_at_random(operands);
            std::vector<std::byte> got = run(kind, s, operands);
            if (reference.empty()) reference = got;
            EXPECT_EQ(got, reference) << c.name << ", " << weft::cpu::name_of(isa) << ", " << threads;
        }
    use_isa(before);
}

}  // namespace weft::cpu::defined
