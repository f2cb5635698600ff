#include "weft/ops/indexing.h"

#include <gtest/gtest.h>

#include "ops/expected.h"
#include "ops/refusal.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Tensor counted(const Shape& shape) { return reshape(iota(element_count(shape)), shape); }
using Numbers = std::vector<std::int64_t>;
Numbers numbers(const Tensor& x) { return x.to_vector<std::int64_t>(); }

// Whole numbers alone are places; in NumPy a truth value means something else.
static_assert(std::is_convertible_v<int, Index> && std::is_convertible_v<std::uint8_t, Index>);
static_assert(!std::is_convertible_v<bool, Index> && !std::is_convertible_v<double, Index>);

TEST(Indexing, integers_drop_axes_and_count_from_the_end) {
    Tensor x = counted({3, 4});
    EXPECT_EQ(numbers(x[1]), (Numbers{4, 5, 6, 7}));
    EXPECT_EQ((x[{-1, -2}].item<std::int64_t>()), 10);
    EXPECT_EQ((x[{1, 2}].shape()), Shape());
}

// Expected values are NumPy's for x = np.arange(12).reshape(3, 4) and np.arange(24).reshape(2, 3, 4).
TEST(Indexing, slices_are_clipped_and_may_go_backwards) {
    Tensor x = counted({3, 4});
    EXPECT_EQ(numbers(x[{slice(), slice(1, 100, 2)}]), (Numbers{1, 3, 5, 7, 9, 11}));
    EXPECT_EQ(numbers(x[slice(std::nullopt, std::nullopt, -2)]), (Numbers{8, 9, 10, 11, 0, 1, 2, 3}));
    EXPECT_EQ(numbers(x[{0, slice(-1, 0, -1)}]), (Numbers{3, 2, 1}));
    EXPECT_EQ(numbers(x[{0, slice(-100, -1)}]), (Numbers{0, 1, 2}));
    EXPECT_EQ((x[{slice(2, 1), slice(5, 7)}].shape()), shape({0, 0}));
    EXPECT_EQ(numbers(x[{1, slice(10, std::nullopt, -3)}]), (Numbers{7, 4}));
}

TEST(Indexing, ellipsis_and_newaxis_stand_as_in_numpy) {
    Tensor x = counted({2, 3, 4});
    EXPECT_EQ(numbers(x[{ellipsis, 0}]), (Numbers{0, 4, 8, 12, 16, 20}));
    EXPECT_EQ((x[{newaxis, ellipsis, newaxis}].shape()), shape({1, 2, 3, 4, 1}));
    EXPECT_EQ((x[{slice(), newaxis, 1}].shape()), shape({2, 1, 4}));
    EXPECT_EQ((x[{ellipsis, slice(), slice(), slice()}].shape()), shape({2, 3, 4}));
}

TEST(Indexing, index_tensors_broadcast_and_take_the_place_of_their_axes) {
    Tensor x = counted({2, 3, 4});
    Tensor i = Tensor::of<std::int64_t>({1, 0}), j = Tensor::of<std::int64_t>({2, -1});
    EXPECT_EQ(numbers(x[{i, slice(), j}]), (Numbers{14, 18, 22, 3, 7, 11}));  // apart: in front
    EXPECT_EQ(numbers(x[{slice(0, 1), i, j}]), (Numbers{6, 3}));              // side by side: in place
    EXPECT_EQ((x[{slice(), i.reshape({2, 1}), j}].shape()), shape({2, 2, 2}));
    EXPECT_EQ((x[{0, slice(), j}].shape()), shape({2, 3}));  // the integer is one of them
    EXPECT_EQ((x[{slice(), 0, j}].shape()), shape({2, 2}));
    EXPECT_EQ((x[{i, newaxis, j}].shape()), shape({2, 1, 4}));
    EXPECT_EQ((x[{Tensor(std::int64_t{1}), slice(), slice(0, 2)}].shape()), shape({3, 2}));
}

TEST(Indexing, masks_pick_what_is_true_in_row_major_order) {
    Tensor x = counted({2, 3, 4});
    EXPECT_EQ(numbers(x[equal(remainder(x, 7), 0)]), (Numbers{0, 7, 14, 21}));
    Tensor rows = Tensor::of<bool>({false, true});
    EXPECT_EQ((x[rows].shape()), shape({1, 3, 4}));
    EXPECT_EQ(numbers(x[{slice(), Tensor::of<bool>({true, false, true}), 1}]), (Numbers{1, 9, 13, 21}));
    EXPECT_EQ((x[Tensor::of<bool>({false, false})].shape()), shape({0, 3, 4}));
}

TEST(Indexing, nonzero_gives_positions_by_axis) {
    auto positions = nonzero(Tensor::of<float>({0, 2, 0, 0, 0, 5}, {2, 3}));
    ASSERT_EQ(positions.size(), 2u);
    EXPECT_EQ(numbers(positions[0]), (Numbers{0, 1}));
    EXPECT_EQ(numbers(positions[1]), (Numbers{1, 2}));
}

TEST(Indexing, set_and_add_write_into_a_copy) {
    Tensor x = zeros({2, 3}, DType::int64);
    EXPECT_EQ(numbers(x.at({1, slice(std::nullopt, std::nullopt, -2)}).set(Tensor::of<std::int64_t>({7, 8}))),
              (Numbers{0, 0, 0, 8, 0, 7}));
    EXPECT_EQ(numbers(x.at({ellipsis, 1}).add(5)), (Numbers{0, 5, 0, 0, 5, 0}));
    EXPECT_EQ(numbers(x.at({slice()}).set(3)), (Numbers{3, 3, 3, 3, 3, 3}));
    EXPECT_EQ(numbers(x), Numbers(6, 0));
    Tensor i = Tensor::of<std::int64_t>({2, 0, 2});
    EXPECT_EQ(numbers(x.at({0, i}).add(Tensor::of<std::int64_t>({1, 2, 4}))), (Numbers{2, 0, 5, 0, 0, 0}));
    EXPECT_EQ(numbers(x.at({0, i}).set(Tensor::of<std::int64_t>({1, 2, 4}))), (Numbers{2, 0, 4, 0, 0, 0}));
    EXPECT_EQ(numbers(x.at({slice(), i}).add(1)), (Numbers{1, 0, 2, 1, 0, 2}));
    EXPECT_EQ(numbers(x.at({Tensor::of<bool>({true, false})}).set(9)), (Numbers{9, 9, 9, 0, 0, 0}));
    EXPECT_EQ(numbers(x.at({Tensor::of<std::int32_t>({0, -2}), slice(0, 2)}).set(4).at({0, 0}).add(1)),
              (Numbers{5, 4, 0, 0, 0, 0}));
}

TEST(Indexing, symbolic_sizes_take_what_needs_no_clipping) {
    Tensor x = input("x", {"batch", 5});
    EXPECT_EQ((x[slice(1, std::nullopt)].shape()), shape({Size("batch") - 1, 5}));
    EXPECT_EQ((x[slice(-2, std::nullopt)].shape()[0]), Size("batch") - (Size("batch") - 2));
    EXPECT_EQ((x[slice(std::nullopt, -1)].shape()), shape({Size("batch") - 1, 5}));
    EXPECT_EQ((x[{-1, slice(0, 2)}].shape()), shape({2}));
    EXPECT_EQ((x.at({slice(), 2}).set(1.0).shape()), x.shape());
}

TEST(Indexing, what_is_wrong_is_named) {
    Tensor x = counted({3, 4});
    EXPECT_REFUSED(IndexError, x[3], "index: 3 is out of bounds for axis 0 of size 3 of shape (3, 4)");
    EXPECT_REFUSED(IndexError, (x[{0, -5}]), "index: -5 is out of bounds for axis 1 of size 4 of shape (3, 4)");
    EXPECT_REFUSED(IndexError, (x[{0, 1, 2}]), "index: 3 indices for a tensor of shape (3, 4), which has 2 axes");
    EXPECT_REFUSED(IndexError, (x[{ellipsis, ellipsis}]), "index: only one ellipsis may stand in an index");
    EXPECT_REFUSED(ValueError, x[slice(0, 1, 0)], "index: the step of the slice of axis 0 is 0");
    EXPECT_REFUSED(IndexError, x[ones({2})], "index: tensors of integers or bool pick elements, not of float32");
    EXPECT_REFUSED(IndexError, (x[{slice(), Tensor::of<bool>({true})}]),
                   "index: the mask has shape (1,), but axis 1 of (3, 4) has size 4, not 1");
    EXPECT_REFUSED(ShapeError, x.at({0}).set(ones({3})),
                   "at: a value of shape (3,) does not broadcast to (4,), the shape of the places");
    Tensor mask = input("mask", {3}, DType::bool_);
    EXPECT_REFUSED(ValueError, x[mask],
                   "nonzero: how many elements are not 0 is not known before the value of shape (3,) is computed, and "
                   "here it is only declared "
                   "(inside a traced function, or below an input); use where(mask, x, y) instead");
    Tensor batch = input("x", {"batch"});
    EXPECT_REFUSED(ShapeError, batch[slice(0, 10)],
                   "index: a slice of axis 0 cannot be clipped to its size batch, which is not known yet; give the "
                   "number of elements with slice(x, start, length)");
}

}  // namespace
}  // namespace weft
