// weft's own convolution (backend/cpu/own_convolution.h), which all of doubles are: by products of lines, and of windows that are gathered.
#include "weft/backend/cpu/own_convolution.h"

#include "backend/convolution_definition.h"
#include "backend/instruction_set.h"
#include "weft/backend/cpu/line_products.h"

namespace weft::cpu::defined {
namespace {

// The convolution and the gradient in its input are products of lines: what is read as it lies, or beside zeros; blocks of several lines, and a shorter last one; lines that read nothing.
const Case of_lines[] = {
    {"padded", 2, 2, 20, 16, 1, {9, 14}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
    {"as they lie", 2, 2, 20, 12, 1, {12, 20}, {2, 3}, by_ones, {0, 0}, {0, 0}, by_ones},
    {"padded beyond the kernel", 2, 2, 33, 16, 1, {3, 12}, {2, 2}, by_ones, {4, 1}, {3, 2}, by_ones},
    {"dilated across lines", 2, 2, 16, 20, 1, {11, 13}, {3, 3}, by_ones, {2, 1}, {2, 1}, {2, 1}},
    {"many lines", 2, 1, 16, 16, 1, {150, 16}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
    {"three axes", 3, 2, 12, 11, 1, {3, 4, 13}, {2, 2, 3}, by_ones, {1, 0, 1}, {0, 1, 1}, by_ones},
    {"one axis", 1, 3, 16, 16, 1, {40}, {9}, by_ones, {4}, {4}, by_ones},
    {"dilated lines of many channels", 2, 2, 32, 40, 1, {7, 17}, {3, 3}, by_ones, {1, 2}, {1, 2}, {1, 2}},
    {"a column", 2, 2, 64, 72, 2, {9, 13}, {3, 1}, by_ones, {1, 0}, {1, 0}, by_ones},
};
// Gradients of weights, too.
const Case of_long_lines[] = {
    {"long lines", 2, 2, 16, 20, 1, {4, 170}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
    {"a long line, dilated", 1, 3, 32, 24, 1, {190}, {5}, by_ones, {4}, {4}, {2}},
    {"a long line in twos", 1, 2, 12, 17, 1, {350}, {4}, {2}, {1}, {1}, by_ones},
    {"lines that read nothing", 2, 1, 32, 16, 1, {2, 165}, {2, 1}, by_ones, {2, 0}, {3, 0}, by_ones},
};
// The convolution itself; what steps over pixels has gradients that are gathered, or the other way round.
const Case forward_of_lines[] = {
    {"in twos", 2, 2, 16, 20, 1, {13, 29}, {3, 5}, {2, 2}, {1, 2}, {1, 2}, by_ones},
    {"in threes past the kernel", 2, 2, 32, 8, 1, {14, 40}, {2, 2}, {3, 3}, {0, 0}, {0, 0}, by_ones},
    {"few channels that are made", 2, 3, 20, 3, 1, {7, 7}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
};
// Taps some at a time, kernels of one place, groups, steps on one axis alone, dilated lines, lines that are short.
const Case gathered[] = {
    {"many channels", 2, 2, 100, 7, 1, {5, 4}, {5, 5}, by_ones, {2, 2}, {2, 2}, by_ones},
    {"groups", 2, 2, 24, 36, 3, {8, 13}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
    {"dilated lines", 2, 2, 16, 24, 1, {9, 17}, {3, 3}, by_ones, {1, 2}, {1, 2}, {1, 2}},
    {"few channels", 2, 3, 3, 20, 1, {9, 11}, {3, 3}, {2, 1}, {1, 1}, {1, 1}, by_ones},
    {"a place", 2, 2, 20, 30, 1, {7, 6}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, by_ones},
};

ConvolutionShape wide(const Case& c) {
    ConvolutionShape s = shape_of(c);
    for (Spatial* sizes : {&s.in, &s.out, &s.kernel, &s.stride, &s.dilation}) *sizes = three_axes(*sizes, s.ndim, 1);
    s.pad_lo = three_axes(s.pad_lo, s.ndim, 0);
    s.ndim = most_spatial;
    return s;
}
template <class T>
ConvolutionStrides wide(Operands<T>& operands, int ndim) {
    ConvolutionStrides lies = operands.strides();
    return {three_axes(lies.input, ndim), three_axes(lies.weight, ndim), three_axes(lies.output, ndim)};
}

bool by_lines(const Case& c, ConvolutionKind kind) {
    ConvolutionShape s = wide(c);
    Operands<double> operands(shape_of(c), PictureLayout::channels_last);
    ConvolutionStrides lies = wide(operands, c.ndim);
    if (kind == ConvolutionKind::backward_weight)
        return LineProducts<double>::gradient_fits(forward_windows(s, lies), s.out_channels / s.groups);
    if (kind == ConvolutionKind::forward)
        return LineProducts<double>::fit(forward_windows(s, lies), s.out_channels / s.groups);
    for (const Windows& windows : transposed_windows(s, lies))
        if (!LineProducts<double>::fit(windows, s.in_channels / s.groups)) return false;
    return true;
}

TEST(OwnConvolution, lines_are_read_as_they_lie_where_pixels_hold_their_channels) {
    for (const Case& c : of_lines)
        for (ConvolutionKind kind : {ConvolutionKind::forward, ConvolutionKind::backward_input})
            EXPECT_TRUE(by_lines(c, kind)) << c.name;
    for (const Case& c : forward_of_lines) EXPECT_TRUE(by_lines(c, ConvolutionKind::forward)) << c.name;
    for (const Case& c : of_long_lines) EXPECT_TRUE(by_lines(c, ConvolutionKind::backward_weight)) << c.name;
    for (const Case& c : gathered) EXPECT_FALSE(by_lines(c, ConvolutionKind::forward)) << c.name;
}

template <class F>
void for_all_cases(F&& f) {
    for (const Case& c : of_lines) f(c);
    for (const Case& c : of_long_lines) f(c);
    for (const Case& c : forward_of_lines) f(c);
    for (const Case& c : gathered) f(c);
}

TEST(OwnConvolution, is_its_definition) {
    for_all_cases([](const Case& c) {
        for (PictureLayout layout :
             {PictureLayout::channels_last, PictureLayout::channels_first, PictureLayout::strided})
            check<double, double>(c, layout);
    });
}

std::vector<float> computed(const Case& c, ConvolutionKind kind, int threads) {
    Threads guard(threads);
    Operands<float> operands(shape_of(c), PictureLayout::channels_last);
    fill_at_random(operands);
    OwnConvolution<float> own(kind, wide(c), wide(operands, c.ndim), threads);
    bool forward = kind == ConvolutionKind::forward, back = kind == ConvolutionKind::backward_input;
    auto& first = back ? operands.output : operands.input;
    auto& second = kind == ConvolutionKind::backward_weight ? operands.output : operands.weight;
    auto& result = forward ? operands.output : back ? operands.input : operands.weight;
    std::vector<float> scratch(static_cast<std::size_t>(own.scratch_elements()) + 16),
        packed(static_cast<std::size_t>(own.packed_elements()) + 16);
    if (own.packed_elements() > 0) own.pack(operands.weight.memory.data(), packed.data());
    std::fill(result.memory.begin(), result.memory.end(), 77.0F);
    own.run(first.memory.data(), second.memory.data(), packed.data(), result.memory.data(), scratch.data());
    return result.memory;
}

/// The other operands hold channels in pixels.
std::vector<double> of_planes(const Case& c, ConvolutionKind kind, PictureLayout input) {
    ConvolutionShape s = shape_of(c);
    Operands<double> operands(s, PictureLayout::channels_last);
    operands.input = Value<double>(s.batch, s.in_channels, s.ndim, s.in, input);
    std::mt19937 generator(3);
    auto random = [&](double& x) { x = std::uniform_real_distribution<double>(-1, 1)(generator); };
    Value<double>& x = operands.input;
    for (std::int64_t n = 0; n < s.batch; ++n)
        for (std::int64_t channel = 0; channel < s.in_channels; ++channel)
            for (std::int64_t i = 0; i < x.sizes[0]; ++i)
                for (std::int64_t j = 0; j < x.sizes[1]; ++j)
                    for (std::int64_t k = 0; k < x.sizes[2]; ++k) random(x.at(n, channel, i, j, k));
    for (double& weight : operands.weight.memory) random(weight);
    for (double& gradient : operands.output.memory) random(gradient);
    run(kind, s, operands);
    return kind == ConvolutionKind::forward ? operands.output.memory : operands.weight.memory;
}

TEST(OwnConvolution, has_the_same_bits_where_channels_lie_in_planes) {
    for_all_cases([](const Case& c) {
        for (ConvolutionKind kind : {ConvolutionKind::forward, ConvolutionKind::backward_weight}) {
            // Products of four columns and less are inner products where they lie so.
            if (kind == ConvolutionKind::backward_weight && c.out_channels <= 4) continue;
            EXPECT_EQ(of_planes(c, kind, PictureLayout::channels_first),
                      of_planes(c, kind, PictureLayout::channels_last))
                << c.name << ", kind " << static_cast<int>(kind);
        }
    });
}

TEST(OwnConvolution, has_the_same_bits_on_every_instruction_set_and_number_of_threads) {
    Isa before = best_isa();
    for_all_cases([](const Case& c) {
        for (ConvolutionKind kind : kinds) {
            std::vector<float> reference;
            for (Isa isa : usable_isas())
                for (int threads : {1, 2, 3}) {
                    use_isa(isa);
                    std::vector<float> got = computed(c, kind, threads);
                    if (reference.empty()) reference = got;
                    EXPECT_EQ(got, reference) << c.name << ", kind " << static_cast<int>(kind) << ", "
                                              << weft::cpu::name_of(isa) << ", " << threads << " threads";
                }
        }
    });
    use_isa(before);
}

TEST(OwnConvolution, makes_few_channels_without_vectors_of_64_bytes) {
    if (!has_avx2()) GTEST_SKIP() << "needs AVX2";
    InstructionSet guard(Isa::avx2);
    Case c{"eight channels", 2, 1, 32, 8, 1, {14, 14}, {5, 5}, by_ones, {2, 2}, {2, 2}, by_ones};
    EXPECT_EQ(name_of_way(c, ConvolutionKind::forward, PictureLayout::channels_last), "weft");
}

}  // namespace
}  // namespace weft::cpu::defined
