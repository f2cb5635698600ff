// Depthwise convolutions: sums of places that lie side by side, also where some of them read beyond the picture.

#include "backend/convolution_definition.h"

namespace weft::cpu::defined {
namespace {

void expect_chains(const Case& c) {
    for (Isa isa : usable_isas()) expect_chains_in_kernel_order(c, PictureLayout::channels_last, isa);
}

TEST(Depthwise, sums_are_chains_in_rows_of_any_width) {
    for (std::int64_t width = 1; width <= 30; ++width)
        for (std::int64_t kernel : {3, 5, 7}) {
            const std::int64_t half = kernel / 2;
            expect_chains({"same", 2, 1, 19, 19, 19, {6, width}, {3, kernel}, by_ones, {1, half}, {1, half}, by_ones});
        }
}

TEST(Depthwise, sums_are_chains_whatever_is_beyond_the_border) {
    constexpr Case cases[] = {
        {"padded by more than a block", 2, 1, 8, 8, 8, {4, 14}, {2, 9}, by_ones, {0, 8}, {1, 8}, by_ones},
        {"padding alone on the left", 2, 1, 16, 16, 16, {5, 9}, {3, 3}, by_ones, {2, 12}, {2, 12}, by_ones},
        {"in threes", 2, 1, 24, 24, 24, {9, 34}, {5, 5}, {2, 3, 1}, {2, 4}, {2, 2}, by_ones},
        {"steps as far as the kernel's places",
         2,
         1,
         24,
         24,
         24,
         {9, 41},
         {3, 3},
         {1, 2, 1},
         {2, 3},
         {2, 2},
         {1, 2, 1}},
        {"the kernel as wide as the picture", 2, 1, 40, 40, 40, {3, 7}, {3, 7}, by_ones, {1, 3}, {1, 3}, by_ones},
        {"far apart", 2, 1, 8, 8, 8, {3, 20}, {2, 3}, by_ones, {1, 7}, {1, 7}, {1, 7, 1}},
        {"no padding", 2, 2, 33, 33, 33, {7, 21}, {3, 3}, by_ones, {0, 0}, {0, 0}, by_ones},
        {"pixels of a kilobyte", 2, 1, 256, 256, 256, {4, 13}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
        {"few columns", 2, 1, 17, 17, 17, {23, 3}, {5, 3}, by_ones, {2, 1}, {2, 1}, by_ones},
        {"few columns, no row inside", 2, 1, 17, 17, 17, {2, 2}, {3, 3}, by_ones, {4, 1}, {4, 1}, by_ones},
        {"less than a vector", 2, 1, 5, 5, 5, {6, 15}, {3, 3}, {1, 2, 1}, {1, 1}, {1, 1}, by_ones},
        {"a large picture", 2, 1, 40, 40, 40, {31, 33}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones}};
    for (const Case& c : cases) {
        EXPECT_EQ(name_of_way(c, ConvolutionKind::forward, PictureLayout::channels_last), "weft, depthwise") << c.name;
        expect_chains(c);
    }
}

TEST(Depthwise, reads_what_its_first_block_packed) {
    check_packed_by_first_block({"same", 2, 5, 19, 19, 19, {6, 9}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones});
    check_packed_by_first_block({"in twos", 2, 5, 24, 24, 24, {7, 9}, {5, 3}, {2, 2, 1}, {2, 1}, {2, 1}, by_ones});
}

}  // namespace
}  // namespace weft::cpu::defined
