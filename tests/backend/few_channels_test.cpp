#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/convolution_definition.h"
#include "weft/backend/cpu/isa.h"

namespace weft::cpu::defined {
namespace {

// One to four channels; lines shorter and longer than vectors; bands of several lines and of all; more images than sums; kernels of an even
// width, dilated, padded by more than they reach, and on one side alone; one and three axes.
const Case outputs[] = {
    {"same", 2, 3, 32, 3, 1, {16, 19}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
    {"one channel, no padding", 2, 2, 40, 1, 1, {13, 40}, {3, 3}, by_ones, {0, 0}, {0, 0}, by_ones},
    {"a wide kernel", 2, 2, 33, 3, 1, {20, 21}, {9, 7}, by_ones, {4, 3}, {4, 3}, by_ones},
    {"dilated", 2, 2, 16, 4, 1, {12, 18}, {3, 3}, by_ones, {2, 3}, {2, 3}, {2, 3}},
    {"many pictures", 2, 37, 8, 2, 1, {5, 6}, {2, 4}, by_ones, {1, 2}, {0, 1}, by_ones},
    {"padding beyond the kernel", 2, 2, 35, 4, 1, {6, 5}, {2, 2}, by_ones, {3, 3}, {3, 3}, by_ones},
    {"a place", 2, 2, 48, 2, 1, {9, 21}, {1, 1}, by_ones, {0, 0}, {0, 0}, by_ones},
    {"one axis", 1, 3, 32, 4, 1, {50}, {5}, by_ones, {2}, {2}, by_ones},
    {"three axes", 3, 2, 16, 2, 1, {5, 6, 7}, {3, 2, 3}, by_ones, {1, 0, 1}, {1, 1, 1}, by_ones},
};
const Case inputs[] = {
    {"picture", 2, 3, 3, 20, 1, {15, 18}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
    {"in twos", 2, 2, 4, 16, 1, {21, 20}, {5, 7}, {2, 2}, {2, 3}, {2, 3}, by_ones},
    {"in twos and threes, dilated", 2, 2, 1, 9, 1, {30, 33}, {3, 4}, {2, 3}, {1, 4}, {1, 4}, {3, 2}},
    {"a wide kernel", 2, 1, 4, 20, 1, {30, 31}, {9, 9}, by_ones, {4, 4}, {4, 4}, by_ones},
};

template <class F>
void for_each_case(F&& f) {
    for (const Case& c : outputs) f(c, ConvolutionKind::forward), f(c, ConvolutionKind::backward_weight);
    for (const Case& c : inputs) f(c, ConvolutionKind::backward_input);
}

TEST(FewChannels, are_computed_so_however_pictures_lie) {
    for_each_case([](const Case& c, ConvolutionKind kind) {
        for (PictureLayout layout :
             {PictureLayout::channels_last, PictureLayout::channels_first, PictureLayout::strided}) {
            std::string name = name_of_way(c, kind, layout);
            EXPECT_EQ(name, kind == ConvolutionKind::backward_weight ? "weft, a product of moved pixels"
                                                                     : "weft, added from a product")
                << c.name;
            check<float, double>(c, layout, {&kind, 1});
        }
    });
}

TEST(FewChannels, leaves_to_others_what_does_not_pay) {
    for (Case c : {Case{"many", 2, 1, 64, 9, 1, {16, 16}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
                   Case{"few on both sides", 2, 1, 4, 4, 1, {16, 16}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
                   Case{"strided", 2, 1, 64, 3, 1, {16, 16}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, by_ones},
                   Case{"a long line", 1, 1, 32, 8, 1, {70000}, {9}, by_ones, {4}, {4}, by_ones},
                   Case{"groups", 2, 1, 64, 2, 2, {16, 16}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones}})
        for (ConvolutionKind kind : {ConvolutionKind::forward, ConvolutionKind::backward_weight}) {
            std::string name = name_of_way(c, kind, PictureLayout::channels_last);
            EXPECT_TRUE(name != "weft, added from a product" && name != "weft, a product of moved pixels") << c.name;
        }
}

TEST(FewChannels, give_the_same_bits_on_every_instruction_set_and_number_of_threads) {
    for_each_case(expect_same_bits_everywhere);
}

/// What is not finite reaches what it is a part of, and nothing else.
TEST(FewChannels, what_is_not_finite_stays_where_it_belongs) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for_each_case([](const Case& c, ConvolutionKind kind) {
        for (bool second : {false, true}) {
            ConvolutionShape s = shape_of(c);
            Operands<float> operands(s, PictureLayout::channels_last);
            Operands<double> wide(s, PictureLayout::channels_last);
            for (auto* value : {&operands.input, &operands.weight, &operands.output})
                std::fill(value->memory.begin(), value->memory.end(), 1.0F);
            auto& odd = second ? (kind == ConvolutionKind::backward_weight ? operands.output : operands.weight)
                               : (kind == ConvolutionKind::backward_input ? operands.output : operands.input);
            odd.memory[0] = infinity;
            std::vector<float> want = expected(kind, s, operands, wide);
            std::vector<std::byte> bytes = run(kind, s, operands);
            auto* got = reinterpret_cast<const float*>(bytes.data());
            for (std::size_t i = 0; i < want.size(); ++i) {
                if (want[i] == 77.0F) continue;
                EXPECT_EQ(got[i], want[i]) << c.name << ", " << static_cast<int>(kind) << ", " << second << ", " << i;
            }
        }
    });
}

}  // namespace
}  // namespace weft::cpu::defined
