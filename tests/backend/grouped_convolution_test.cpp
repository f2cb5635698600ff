// Convolutions in groups that are computed as another's gradient (backend/cpu/grouped_convolution.h), where there is a library that is better at it.
#include "backend/convolution_definition.h"
#include "backend/instruction_set.h"
#include "weft/backend/cpu/late_library.h"

namespace weft::cpu::defined {
namespace {

// More and fewer channels than they read; dilated; padded on one side, and by all that a kernel reaches; one and three axes.
const Case in_groups[] = {
    {"four to four", 2, 5, 16, 16, 4, {9, 14}, {3, 3}, by_ones, {1, 1}, {1, 1}, by_ones},
    {"sixteen to four", 2, 3, 32, 8, 2, {8, 7}, {3, 2}, by_ones, {2, 0}, {0, 1}, by_ones},
    {"four to twelve, dilated", 2, 2, 8, 24, 2, {11, 13}, {3, 3}, by_ones, {4, 2}, {4, 2}, {2, 2}},
    {"one axis", 1, 2, 12, 12, 3, {40}, {5}, by_ones, {2}, {2}, by_ones},
    {"three axes", 3, 2, 8, 8, 2, {4, 5, 6}, {2, 3, 3}, by_ones, {0, 1, 1}, {1, 1, 1}, by_ones},
    {"no padding", 2, 2, 16, 16, 2, {9, 9}, {3, 3}, by_ones, {0, 0}, {0, 0}, by_ones},
};
// Not by ones; padded by more than a kernel reaches, before and behind.
const Case as_they_are[] = {
    {"in twos", 2, 2, 16, 16, 4, {9, 14}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, by_ones},
    {"padded beyond the kernel", 2, 2, 16, 16, 4, {5, 6}, {2, 2}, by_ones, {3, 1}, {1, 1}, by_ones},
    {"padded behind", 2, 2, 16, 16, 4, {5, 6}, {2, 2}, by_ones, {1, 1}, {4, 3}, by_ones},
};
constexpr ConvolutionKind forward[] = {ConvolutionKind::forward};

TEST(GroupedConvolution, is_its_definition) {
    for (const auto& c : in_groups)
        for (PictureLayout layout :
             {PictureLayout::channels_last, PictureLayout::channels_first, PictureLayout::strided})
            check<float, double>(c, layout, forward);
    for (const auto& c : as_they_are) check<float, double>(c, PictureLayout::channels_last, forward);
}

TEST(GroupedConvolution, turns_kernels_around_where_the_library_is_slow) {
    if (!has_avx2() || !is_there(LateLibrary::onednn)) GTEST_SKIP() << "needs AVX2, and oneDNN in the build and here";
    InstructionSet guard(Isa::avx2);
    auto turned = [](const Case& c) {
        return name_of_way(c, ConvolutionKind::forward, PictureLayout::channels_last).find("turned around") !=
               std::string::npos;
    };
    for (const Case& c : in_groups) EXPECT_TRUE(turned(c)) << c.name;
    for (const Case& c : {as_they_are[0], as_they_are[1]}) EXPECT_FALSE(turned(c)) << c.name;
}

TEST(GroupedConvolution, reads_what_its_first_block_packed) {
    for (const Case& c : in_groups) check_packed_by_first_block(c);
}

}  // namespace
}  // namespace weft::cpu::defined
