// Convolutions of few channels, each place's sum by itself.
#include "backend/convolution_definition.h"

namespace weft::cpu::defined {
namespace {

constexpr Case direct[] = {
    {"a picture of three", 2, 3, 3, 8, 1, {13, 28}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
    {"in twos", 2, 2, 3, 24, 1, {16, 17}, {3, 3}, {2, 2, 1}, {1, 1}, {1, 1}, by_ones},
    {"in threes, channels beside whole vectors", 2, 2, 4, 21, 1, {14, 23}, {5, 4}, {2, 3, 1}, {2, 1}, {0, 2}, by_ones},
    {"one channel, wide", 2, 2, 1, 32, 1, {9, 40}, {5, 5}, by_ones, {2, 2}, {2, 2}, by_ones},
    {"dilated", 2, 1, 2, 16, 1, {17, 19}, {3, 3}, by_ones, {2, 3}, {2, 3}, {2, 3, 1}},
    {"padded beyond the kernel", 2, 2, 3, 9, 1, {4, 3}, {2, 2}, by_ones, {3, 4}, {3, 4}, by_ones},
    {"the kernel beyond the picture", 2, 1, 3, 40, 1, {2, 2}, {5, 5}, by_ones, {3, 3}, {2, 2}, by_ones},
    {"no padding, one row", 2, 1, 5, 11, 1, {3, 9}, {3, 3}, by_ones, {0, 0}, {0, 0}, by_ones},
    {"many bands", 2, 1, 1, 8, 1, {40, 400}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
    {"many bands in twos", 2, 1, 3, 8, 1, {60, 200}, {3, 5}, {2, 2, 1}, {1, 2}, {1, 2}, by_ones},
    {"one axis", 1, 3, 4, 20, 1, {50}, {5}, by_ones, {2}, {2}, by_ones},
    {"a long line", 1, 2, 2, 8, 1, {2500}, {9}, by_ones, {4}, {4}, by_ones},
    {"a long line in twos, padded by more than a piece reads",
     1,
     1,
     3,
     9,
     1,
     {2200},
     {5},
     {2, 1, 1},
     {1500},
     {1400},
     {3, 1, 1}},
    {"steps past places", 2, 1, 3, 10, 1, {13, 31}, {3, 3}, {4, 5, 1}, {0, 0}, {0, 0}, by_ones}};

// Many products, of pixels that hold their channels.
constexpr Case in_steps[] = {
    {"in twos", 2, 2, 40, 24, 1, {9, 11}, {3, 3}, {2, 2, 1}, {1, 1}, {1, 1}, by_ones},
    {"in twos along one axis, no padding", 2, 1, 70, 9, 1, {7, 16}, {5, 2}, {1, 2, 1}, {0, 0}, {0, 0}, by_ones},
    {"patches", 2, 2, 33, 50, 1, {12, 20}, {4, 4}, {4, 4, 1}, {0, 0}, {0, 0}, by_ones},
    {"many bands", 2, 1, 64, 8, 1, {30, 40}, {3, 3}, {2, 2, 1}, {1, 1}, {1, 1}, by_ones},
    {"sequences", 1, 3, 48, 16, 1, {61}, {5}, {3, 1, 1}, {2}, {2}, by_ones}};

TEST(DirectConvolution, sums_are_chains_in_the_kernels_order) {
    if (!has_avx2()) GTEST_SKIP() << "needs AVX2, with which alone these convolutions are chosen";
    std::vector<Case> all(std::begin(direct), std::end(direct));
    all.insert(all.end(), std::begin(in_steps), std::end(in_steps));
    for (const Case& c : all)
        for (PictureLayout layout : {PictureLayout::channels_last, PictureLayout::channels_first}) {
            if (layout == PictureLayout::channels_first && c.in_channels > 8) continue;
            InstructionSet set(Isa::avx2);
            ConvolutionShape s = shape_of(c);
            Operands<float> operands(s, layout);
            operands.output = Value<float>(s.batch, s.out_channels, s.ndim, s.out, PictureLayout::channels_last);
            Convolution convolution(float32, ConvolutionKind::forward, s, operands.strides());
            EXPECT_EQ(convolution.implementation(), "weft, direct") << c.name;
            expect_chains_in_kernel_order(c, layout, Isa::avx2);
        }
}

TEST(DirectConvolution, rows_of_any_length_and_any_number_of_channels) {
    if (!has_avx2()) GTEST_SKIP() << "needs AVX2, with which alone these convolutions are chosen";
    for (std::int64_t width = 1; width <= 27; ++width)
        expect_chains_in_kernel_order(
            {"width", 2, 1, 3, 8 + width % 5 * 3, 1, {3, width}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
            PictureLayout::channels_first, Isa::avx2);
    for (std::int64_t channels = 8; channels <= 70; ++channels)
        expect_chains_in_kernel_order(
            {"channels", 2, 1, 3, channels, 1, {3, 7}, {3, 3}, {2, 2, 1}, {1, 1}, {1, 1}, by_ones},
            PictureLayout::channels_last, Isa::avx2);
}

TEST(DirectConvolution, reads_what_its_first_block_packed) {
    for (const Case& c : {direct[0], direct[2], direct[10], in_steps[0]}) check_packed_by_first_block(c);
}

TEST(DirectConvolution, leaves_what_others_are_faster_at) {
    if (!has_avx2()) GTEST_SKIP() << "needs AVX2, with which alone these convolutions are chosen";
    InstructionSet set(Isa::avx2);
    for (const Case& c : {Case{"many products", 2, 1, 16, 32, 1, {14, 14}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
                          Case{"many weights", 2, 1, 256, 300, 1, {6, 6}, {3, 3}, {2, 2, 1}, {1, 1}, {1, 1}, by_ones},
                          Case{"a place", 2, 1, 12, 32, 1, {14, 14}, {1, 1}, by_ones, {0, 0}, {0, 0}, by_ones},
                          Case{"few products", 1, 1, 1, 32, 1, {100}, {3}, by_ones, {1}, {1}, by_ones},
                          Case{"less than a vector", 2, 1, 3, 7, 1, {14, 14}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
                          Case{"groups", 2, 1, 6, 16, 2, {14, 14}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones}})
        EXPECT_NE(name_of_way(c, ConvolutionKind::forward, PictureLayout::channels_last), "weft, direct") << c.name;
}

}  // namespace
}  // namespace weft::cpu::defined
