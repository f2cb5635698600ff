#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backend/convolution_definition.h"
#include "weft/backend/cpu/isa.h"
#include "weft/core/buffer.h"

namespace weft::cpu::defined {
namespace {

constexpr Spatial unit{1, 1};

// Several blocks of tiles, so many that threads share them whole, and that sums are joined from parts; tiles that reach beyond the picture, at both ends; channels that fill no vector and no panel; padding of 0, 1, 2 and
// of another width at the end; so many channels that sums are cut, and that blocks of the gradient are shared out.
const Case tiled[] = {
    {"same", 2, 3, 32, 48, 1, {16, 16}, {3, 3}, unit, {1, 1}, {1, 1}, unit},
    {"odd sizes", 2, 5, 17, 33, 1, {11, 13}, {3, 3}, unit, {1, 1}, {1, 1}, unit},
    {"no padding", 2, 4, 16, 70, 1, {15, 12}, {3, 3}, unit, {0, 0}, {0, 0}, unit},
    {"wide padding", 2, 4, 40, 16, 1, {10, 14}, {3, 3}, unit, {2, 2}, {2, 2}, unit},
    {"padding at one end", 2, 4, 24, 24, 1, {12, 12}, {3, 3}, unit, {2, 0}, {0, 2}, unit},
    {"one picture", 2, 1, 20, 70, 1, {24, 23}, {3, 3}, unit, {1, 1}, {1, 1}, unit},
    {"many tiles", 2, 3, 40, 41, 1, {28, 26}, {3, 3}, unit, {1, 1}, {1, 1}, unit},
    {"long sums", 2, 3, 300, 18, 1, {14, 13}, {3, 3}, unit, {1, 1}, {1, 1}, unit},
};
const Case large_gradient = {"large", 2, 3, 160, 208, 1, {16, 14}, {3, 3}, unit, {1, 1}, {1, 1}, unit};

TEST(Winograd, computes_these_shapes_where_channels_lie_side_by_side) {
    for (const Case& c : tiled)
        for (ConvolutionKind kind : kinds) {
            EXPECT_EQ(name_of_way(c, kind, PictureLayout::channels_last), "weft, Winograd") << c.name;
            EXPECT_NE(name_of_way(c, kind, PictureLayout::channels_first), "weft, Winograd") << c.name;
        }
}

TEST(Winograd, leaves_to_others_what_does_not_pay_or_takes_much_memory) {
    for (Case c : {Case{"few channels", 2, 1, 8, 64, 1, {16, 16}, {3, 3}, unit, {1, 1}, {1, 1}, unit},
                   Case{"few pixels", 2, 4, 64, 64, 1, {4, 4}, {3, 3}, unit, {1, 1}, {1, 1}, unit},
                   Case{"strided", 2, 1, 64, 64, 1, {16, 16}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, unit},
                   Case{"dilated", 2, 1, 64, 64, 1, {16, 16}, {3, 3}, unit, {2, 2}, {2, 2}, {2, 2}},
                   Case{"groups", 2, 1, 64, 64, 2, {16, 16}, {3, 3}, unit, {1, 1}, {1, 1}, unit},
                   Case{"many channels", 2, 1, 1040, 1040, 1, {8, 8}, {3, 3}, unit, {1, 1}, {1, 1}, unit}})
        EXPECT_NE(name_of_way(c, ConvolutionKind::forward, PictureLayout::channels_last), "weft, Winograd") << c.name;
}

/// Whole numbers: exact, for weights are divided by four alone.
TEST(Winograd, is_the_convolution_by_its_definition) {
    for (const Case& c : tiled) check<float, double>(c, PictureLayout::channels_last);
    check<float, double>(large_gradient, PictureLayout::channels_last, std::span(kinds).last(1));
}

TEST(Winograd, gives_the_same_bits_on_every_instruction_set_and_number_of_threads) {
    std::vector<Case> all(std::begin(tiled), std::end(tiled));
    all.push_back(large_gradient);
    for (const Case& c : all)
        for (ConvolutionKind kind : kinds) expect_same_bits_everywhere(c, kind);
}

/// The errors that docs/performance.md tells of: 4e-6 of the result's root mean square at most, as those of sums in their order.
TEST(Winograd, errs_as_little_as_the_sum) {
    for (const Case& c : tiled)
        for (ConvolutionKind kind : kinds) {
            ConvolutionShape s = shape_of(c);
            Operands<float> operands(s, PictureLayout::channels_last);
            Operands<double> wide(s, PictureLayout::channels_last), narrow(s, PictureLayout::channels_last);
            fill_at_random(operands);
            std::vector<std::byte> bytes = run(kind, s, operands);
            auto* got = reinterpret_cast<const float*>(bytes.data());
            expected(kind, s, operands, wide);
            auto& sums = kind == ConvolutionKind::forward          ? wide.output
                         : kind == ConvolutionKind::backward_input ? wide.input
                                                                   : wide.weight;
            double square = 0, worst = 0;
            for (double sum : sums.memory) square += sum * sum;
            std::size_t count = static_cast<std::size_t>(sums.batch * sums.channels * sums.sizes[0] * sums.sizes[1]);
            for (std::size_t i = 0; i < count; ++i) worst = std::max(worst, std::abs(double(got[i]) - sums.memory[i]));
            EXPECT_LT(worst, 4e-6 * std::sqrt(square / static_cast<double>(count))) << c.name;
            EXPECT_GT(worst, 0) << c.name;
        }
}

TEST(Winograd, weights_that_are_packed_once_serve_blocks_of_any_size) {
    ConvolutionShape s = shape_of(tiled[1]), rest = s;
    rest.batch = 2;
    Operands<float> operands(s, PictureLayout::channels_last);
    fill_at_random(operands);
    for (ConvolutionKind kind : {ConvolutionKind::forward, ConvolutionKind::backward_input}) {
        std::vector<std::byte> want = run(kind, s, operands);
        auto& from = kind == ConvolutionKind::forward ? operands.input : operands.output;
        auto& to = kind == ConvolutionKind::forward ? operands.output : operands.input;
        std::fill(to.memory.begin(), to.memory.end(), 77.0f);
        Convolution::Use use{.block = true};
        ConvolutionShape three = s;
        three.batch = 3;
        Convolution first(float32, kind, three, operands.strides(), use);
        use.first = &first;
        Convolution second(float32, kind, rest, operands.strides(), use);
        ASSERT_EQ(first.packed_bytes(), second.packed_bytes());
        BufferHandle packed = Buffer::allocate(first.packed_bytes()),
                     scratch = Buffer::allocate(std::max(first.scratch_bytes(), second.scratch_bytes()));
        first.pack(operands.weight.memory.data(), packed->data());
        first.run(from.memory.data(), operands.weight.memory.data(), to.memory.data(), scratch->data(), packed->data());
        second.run(from.memory.data() + 3 * from.strides.batch, operands.weight.memory.data(),
                   to.memory.data() + 3 * to.strides.batch, scratch->data(), packed->data());
        EXPECT_EQ(std::memcmp(to.memory.data(), want.data(), want.size()), 0) << static_cast<int>(kind);
    }
}

/// An infinity, NaN, or number near the largest reaches the pixels whose windows see it, and no other of their tiles.
TEST(Winograd, what_is_not_finite_stays_where_it_belongs) {
    for (float odd : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 3e38f})
        for (ConvolutionKind kind : kinds) {
            ConvolutionShape s = shape_of(tiled[0]);
            Operands<float> operands(s, PictureLayout::channels_last);
            Operands<double> wide(s, PictureLayout::channels_last);
            operands.input.fill(1), operands.weight.fill(2), operands.output.fill(3);
            for (auto* value : {&operands.weight, &operands.output})
                for (float& x : value->memory) x = x / 8 + 0.125f;
            operands.input.at(1, 3, 5, 6, 0) = odd;
            operands.output.at(1, 3, 5, 6, 0) = odd / 2;
            std::vector<float> want = expected(kind, s, operands, wide);
            std::vector<std::byte> bytes = run(kind, s, operands);
            auto* got = reinterpret_cast<const float*>(bytes.data());
            for (std::size_t i = 0; i < want.size(); ++i)
                if (std::isnan(want[i]))
                    EXPECT_TRUE(std::isnan(got[i])) << i;
                else if (std::isinf(want[i]))
                    EXPECT_EQ(got[i], want[i]) << i;
                else
                    EXPECT_NEAR(got[i], want[i], std::abs(want[i]) * 1e-5f) << i;
        }
}

}  // namespace
}  // namespace weft::cpu::defined
