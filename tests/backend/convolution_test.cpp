#include "weft/backend/cpu/convolution.h"

#include <gtest/gtest.h>

#include <span>
#include <thread>
#include <vector>

#include "backend/convolution_definition.h"
#include "weft/backend/cpu/isa.h"
#include "weft/base/error.h"
#include "weft/core/buffer.h"

namespace weft::cpu::defined {
namespace {

const Case cases[] = {
    {"one pixel", 2, 1, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"plain", 2, 2, 3, 4, 1, {6, 7}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"same", 2, 3, 8, 16, 1, {9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"many rows", 2, 5, 1, 32, 1, {28, 28}, {5, 5}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"second layer", 2, 2, 16, 24, 1, {12, 12}, {5, 5}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"strided", 2, 2, 9, 5, 1, {11, 12}, {3, 4}, {2, 3}, {1, 2}, {0, 1}, {1, 1}},
    {"strided, many channels", 2, 2, 66, 18, 1, {9, 8}, {3, 3}, {2, 2}, {1, 1}, {0, 1}, {1, 1}},
    {"stride above kernel", 2, 2, 3, 2, 1, {10, 9}, {1, 2}, {3, 3}, {0, 0}, {0, 0}, {1, 1}},
    {"dilated", 2, 2, 4, 3, 1, {12, 13}, {3, 2}, {1, 2}, {2, 1}, {2, 3}, {2, 3}},
    {"wide padding", 2, 1, 2, 2, 1, {2, 2}, {2, 2}, {1, 1}, {4, 3}, {3, 4}, {1, 1}},
    {"groups", 2, 2, 18, 12, 2, {7, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"many groups", 2, 2, 12, 6, 6, {5, 6}, {2, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"one place, strided", 2, 3, 5, 6, 1, {9, 8}, {1, 1}, {2, 3}, {0, 0}, {0, 0}, {1, 1}},
    {"one place, strided along an axis", 2, 2, 16, 18, 2, {7, 5}, {1, 1}, {1, 2}, {0, 0}, {0, 0}, {1, 1}},
    {"one place, strided, padded", 2, 2, 4, 4, 1, {6, 7}, {1, 1}, {2, 2}, {1, 0}, {1, 0}, {1, 1}},
    {"depthwise", 2, 2, 20, 20, 20, {8, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise strided", 2, 2, 5, 5, 5, {8, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 2}},
    {"depthwise multiplied", 2, 2, 4, 8, 4, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise, several vectors", 2, 3, 70, 70, 70, {9, 11}, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}},
    {"depthwise, long kernel", 2, 2, 33, 33, 33, {4, 20}, {1, 9}, {1, 1}, {0, 4}, {0, 4}, {1, 1}},
    {"depthwise, one axis", 1, 2, 17, 17, 17, {30}, {7}, {2}, {3}, {3}, {2}},
    {"depthwise, kernel beyond the picture", 2, 1, 8, 8, 8, {3, 2}, {5, 6}, {1, 1}, {3, 4}, {3, 4}, {1, 1}},
    {"depthwise, padding beyond the kernel", 2, 1, 4, 4, 4, {3, 3}, {2, 2}, {1, 1}, {3, 3}, {2, 2}, {1, 1}},
    {"depthwise, many rows", 2, 9, 6, 6, 6, {40, 3}, {3, 2}, {1, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise, rows of seven", 2, 2, 100, 100, 100, {19, 23}, {7, 7}, {1, 1}, {3, 3}, {3, 3}, {1, 1}},
    {"depthwise, less than a vector", 2, 2, 6, 6, 6, {9, 14}, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}},
    {"depthwise, the last vector again", 2, 1, 27, 27, 27, {9, 17}, {3, 7}, {1, 1}, {1, 3}, {1, 3}, {1, 1}},
    {"depthwise, columns at the border", 2, 1, 96, 96, 96, {33, 9}, {5, 5}, {2, 1}, {2, 2}, {2, 2}, {2, 1}},
    {"pointwise", 2, 3, 16, 24, 1, {5, 4}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"pointwise strided", 2, 3, 16, 8, 1, {7, 6}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
    {"one axis", 1, 3, 5, 7, 1, {20}, {4}, {2}, {3}, {1}, {1}},
    {"one axis, long", 1, 1, 8, 8, 1, {700}, {3}, {1}, {1}, {1}, {1}},
    {"three axes", 3, 2, 3, 4, 1, {5, 4, 6}, {2, 3, 2}, {1, 2, 1}, {1, 1, 0}, {0, 1, 1}, {1, 1, 2}},
    {"three axes, groups", 3, 1, 16, 4, 2, {4, 4, 4}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {"three axes, padding beyond the stride",
     3,
     2,
     16,
     16,
     1,
     {5, 9, 9},
     {7, 7, 7},
     {2, 2, 2},
     {3, 3, 3},
     {3, 3, 3},
     {1, 1, 1}},
    {"few channels", 2, 3, 3, 8, 1, {12, 11}, {5, 3}, {2, 3}, {2, 0}, {1, 2}, {1, 2}},
    {"few channels, three axes", 3, 2, 2, 9, 1, {5, 4, 6}, {2, 3, 2}, {1, 2, 1}, {1, 1, 0}, {0, 1, 1}, {1, 1, 2}},
    {"empty batch", 2, 0, 2, 3, 1, {4, 4}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"no output", 2, 2, 2, 3, 1, {2, 2}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"no input channels", 2, 2, 0, 3, 1, {4, 4}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
};

// Enough work for several blocks of the batch, the last one smaller.
const Case several_blocks = {"several blocks", 2, 5, 32, 64, 1, {12, 12}, {5, 5}, {1, 1}, {0, 0}, {0, 0}, {1, 1}};
// Enough work for several parts of the only picture: of rows that differ by one, of strided ones, along one axis alone.
const Case pictures[] = {
    {"two parts", 2, 1, 64, 72, 1, {15, 16}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"two parts, of one place in twos", 2, 1, 64, 96, 1, {56, 55}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
    {"four parts, strided", 2, 1, 96, 104, 1, {57, 14}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"four parts of one axis, dilated", 1, 1, 64, 80, 1, {1200}, {3}, {1}, {2}, {2}, {2}},
};

template <class T, class Wide>
void check_all() {
    for (const Case& c : cases)
        for (PictureLayout layout :
             {PictureLayout::channels_last, PictureLayout::channels_first, PictureLayout::strided})
            check<T, Wide>(c, layout);
}

TEST(Convolution, float32_is_its_definition) { check_all<float, double>(); }
TEST(Convolution, float64_is_its_definition) { check_all<double, double>(); }
TEST(Convolution, bfloat16_is_its_definition) { check_all<BFloat16, float>(); }
TEST(Convolution, int32_is_its_definition) { check_all<std::int32_t, std::int64_t>(); }

TEST(Convolution, blocks_of_the_batch_join_to_the_whole) {
    check<float, double>(several_blocks, PictureLayout::channels_last);
    check<float, double>(several_blocks, PictureLayout::channels_first);
}

TEST(Convolution, parts_of_a_single_picture_join_to_the_whole) {
    const ConvolutionKind cut[] = {ConvolutionKind::forward, ConvolutionKind::backward_weight};
    for (const Case& c : pictures)
        for (PictureLayout layout : {PictureLayout::channels_last, PictureLayout::channels_first})
            check<float, double>(c, layout, cut);
}

TEST(Convolution, own_kernels_run_on_every_instruction_set) {
    Isa before = best_isa();
    for (Isa isa : usable_isas()) {
        use_isa(isa);
        for (int i : {2, 3, 5, 10}) check<double, double>(cases[i], PictureLayout::channels_last);
    }
    use_isa(before);
}

TEST(Convolution, depthwise_ones_are_the_same_bits_on_every_instruction_set) {
    Isa before = best_isa();
    for (const Case& c : cases) {
        if (c.groups < 2 || c.groups != c.in_channels || c.groups != c.out_channels) continue;
        ConvolutionShape s = shape_of(c);
        for (PictureLayout layout : {PictureLayout::channels_last, PictureLayout::channels_first})
            for (ConvolutionKind kind : {ConvolutionKind::forward, ConvolutionKind::backward_weight}) {
                if (kind != ConvolutionKind::forward && layout != PictureLayout::channels_last)
                    continue;  // the library's
                Operands<float> operands(s, layout);
                fill_at_random(operands);
                std::vector<std::byte> reference;
                for (Isa isa : usable_isas()) {
                    use_isa(isa);
                    check<float, double>(c, layout);
                    std::vector<std::byte> got = run(kind, s, operands);
                    if (reference.empty()) reference = got;
                    EXPECT_EQ(got, reference) << c.name << ", " << name_of(isa);
                }
            }
    }
    use_isa(before);
}

/// What goes past the caches because it is large (17 MB, of pictures of 8) is what comes of each picture by itself, on each instruction set.
TEST(Convolution, large_depthwise_results_are_those_of_their_pictures) {
    const Case c = {"large", 2, 2, 32, 32, 32, {260, 261}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    ConvolutionShape whole = shape_of(c), one = whole;
    one.batch = 1;
    Operands<float> operands(whole, PictureLayout::channels_last);
    fill_at_random(operands);
    Convolution of_one(DType::float32, ConvolutionKind::forward, one, operands.strides());
    auto picture = static_cast<std::size_t>(operands.strides().output.batch);
    Isa before = best_isa();
    for (Isa isa : usable_isas()) {
        use_isa(isa);
        Convolution of_all(DType::float32, ConvolutionKind::forward, whole, operands.strides());
        auto large = Buffer::allocate(2 * picture * sizeof(float)), small = Buffer::allocate(picture * sizeof(float));
        auto scratch = Buffer::allocate(std::max(of_all.scratch_bytes(), of_one.scratch_bytes()) + 64);
        of_all.run(operands.input.memory.data(), operands.weight.memory.data(), large->data(), scratch->data());
        for (std::size_t n : {0, 1}) {
            of_one.run(operands.input.memory.data() + n * static_cast<std::size_t>(operands.strides().input.batch),
                       operands.weight.memory.data(), small->data(), scratch->data());
            EXPECT_EQ(std::memcmp(large->data() + n * picture * sizeof(float), small->data(), picture * sizeof(float)),
                      0)
                << name_of(isa) << ", picture " << n;
        }
    }
    use_isa(before);
}

/// Random values: not exact, so the order of sums shows.
TEST(Convolution, results_are_the_same_bits_for_any_number_of_threads) {
    std::vector<Case> all(std::begin(cases), std::end(cases));
    all.push_back(several_blocks);
    all.insert(all.end(), std::begin(pictures), std::end(pictures));
    for (const Case& c : all)
        for (PictureLayout layout : {PictureLayout::channels_last, PictureLayout::channels_first})
            for (ConvolutionKind kind : kinds) {
                ConvolutionShape s = shape_of(c);
                std::vector<std::byte> reference;
                for (int threads : {1, 2, 3}) {
                    Threads guard(threads);
                    Operands<float> operands(s, layout);
                    fill_at_random(operands);
                    std::vector<std::byte> got = run(kind, s, operands);
                    if (threads == 1) reference = got;
                    EXPECT_EQ(got, reference)
                        << c.name << ", kind " << static_cast<int>(kind) << ", " << threads << " threads";
                }
            }
}

TEST(Convolution, one_may_be_run_by_several_threads_at_once) {
    ConvolutionShape s = shape_of(several_blocks);
    Operands<float> operands(s, PictureLayout::channels_last);
    operands.input.fill(1), operands.weight.fill(2);
    Convolution convolution(float32, ConvolutionKind::forward, s, operands.strides());
    std::vector<std::vector<float>> results(3, std::vector<float>(operands.output.memory.size()));
    auto use = [&](std::vector<float>& result) {
        BufferHandle scratch = Buffer::allocate(convolution.scratch_bytes());
        for (int i = 0; i < 10; ++i)
            convolution.run(operands.input.memory.data(), operands.weight.memory.data(), result.data(),
                            scratch->data());
    };
    std::thread first(use, std::ref(results[0])), second(use, std::ref(results[1]));
    first.join(), second.join();
    use(results[2]);
    EXPECT_EQ(results[0], results[2]);
    EXPECT_EQ(results[1], results[2]);
}

// Of what takes tens of microseconds already; large ones keep large blocks, whose calls cost nothing.
TEST(Convolution, of_several_images_is_cut_into_blocks_that_threads_share) {
    auto blocks = [](std::int64_t batch, std::int64_t channels, std::int64_t places) {
        ConvolutionShape s{.batch = batch, .in_channels = channels, .out_channels = channels};
        s.in[0] = s.in[1] = s.out[0] = s.out[1] = places;
        return (batch + convolution_images(s) - 1) / convolution_images(s);
    };
    for (std::int64_t batch : {2, 4, 8, 32})
        for (std::int64_t channels : {48, 96, 200})
            for (std::int64_t places : {16, 32, 56}) EXPECT_GE(blocks(batch, channels, places), 2) << batch << channels;
    EXPECT_EQ(blocks(4, 4, 8), 1);  // a microsecond
    EXPECT_EQ(blocks(8, 48, 16), 4);
    EXPECT_EQ(blocks(64, 64, 16), 16);  // of 4 million multiplications each
}

void expect_refusal(ConvolutionShape s, const std::string& message) {
    try {
        Convolution(float32, ConvolutionKind::forward, s,
                    {channels_last(s.in_channels, 2, s.in), channels_first(1, 2, s.kernel),
                     channels_last(s.out_channels, 2, s.out)});
        FAIL() << message;
    } catch (const ShapeError& error) {
        EXPECT_EQ(error.what(), message);
    }
}

TEST(Convolution, refuses_sizes_that_do_not_fit) {
    ConvolutionShape s = shape_of(cases[1]);
    s.stride[1] = 0;
    expect_refusal(s, "convolution: a stride must be at least 1, but it is 0");
    s = shape_of(cases[1]);
    s.pad_lo[0] = -1;
    expect_refusal(s, "convolution: padding must not be negative, but it is -1");
    s = shape_of(cases[1]);
    s.groups = 2;
    expect_refusal(s, "convolution: 2 groups must divide the channels, but there are 3 in and 4 out");
}

}  // namespace
}  // namespace weft::cpu::defined
