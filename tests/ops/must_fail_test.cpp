// Programs that must fail, each with its exact message: the operation, the rule, the values, a way out, the user's line.
#include "must_fail.h"

#include <gtest/gtest.h>

#include "weft/ops/arrange.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/einsum.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"
#include "weft/ops/scatter.h"
#include "weft/ops/sort.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"

namespace weft {
namespace {

Tensor f(const Dims& dims) { return Tensor(Array::zeros(DType::float32, dims)); }
Tensor i(const Dims& dims) { return Tensor(Array::zeros(DType::int64, dims)); }
Tensor b(const Dims& dims) { return Tensor(Array::zeros(DType::bool_, dims)); }
Tensor c(const Dims& dims) { return Tensor(Array::zeros(DType::complex64, dims)); }

// clang-format off
TEST(MustFail, elementwise) {
    EXPECT_MESSAGE(ShapeError, "add: shapes (3, 4) and (3,) do not broadcast: axis -1 has sizes 4 and 3, and neither is 1", f({3, 4}) + f({3}));
    EXPECT_MESSAGE(ShapeError, "where: shapes (2,) and (3,) and (2,) do not broadcast: axis -1 has sizes 2 and 3, and neither is 1", where(b({2}), f({3}), f({2})));
    EXPECT_MESSAGE(DTypeError, "subtract: not defined for bool and bool", b({2}) - b({2}));
    EXPECT_MESSAGE(DTypeError, "negative: not defined for bool", -b({2}));
    EXPECT_MESSAGE(DTypeError, "bitwise_and: not defined for float32 and int64", f({2}) & i({2}));
    EXPECT_MESSAGE(DTypeError, "less: not defined for complex64 and float32", c({2}) < f({2}));
    EXPECT_MESSAGE(ValueError, "add: the number 256 does not fit into uint8; convert the tensor with astype first", Tensor(1, DType::uint8) + 256);
    EXPECT_MESSAGE(ValueError, "multiply: the number -1 does not fit into uint16; convert the tensor with astype first", Tensor(1, DType::uint16) * -1);
    EXPECT_MESSAGE(DTypeError, "astype: complex64 to float32 would drop the imaginary part; take real(x) first", c({2}).astype(DType::float32));
}

TEST(MustFail, reductions) {
    EXPECT_MESSAGE(AxisError, "sum: axis 2 is out of bounds for a value with 2 dimensions (axes go from -2 to 1)", sum(f({3, 4}), 2));
    EXPECT_MESSAGE(AxisError, "max: axis -3 is out of bounds for a value with 2 dimensions (axes go from -2 to 1)", max(f({3, 4}), -3));
    EXPECT_MESSAGE(AxisError, "sum: axis 1 stands twice in (1, -1)", sum(f({3, 4}), {1, -1}));
    EXPECT_MESSAGE(ValueError, "max: axis 0 of shape (0, 4) has no elements, so there is none to choose", max(f({0, 4}), 0));
    EXPECT_MESSAGE(DTypeError, "argmin: complex numbers have no order (complex64)", argmin(c({3})));
    EXPECT_MESSAGE(AxisError, "cumulative_sum: axis 1 is out of bounds for a value with 1 dimension (axes go from -1 to 0)", cumulative_sum(f({3}), 1));
}

TEST(MustFail, views) {
    EXPECT_MESSAGE(ShapeError, "reshape: (3, 4) has 12 elements, (5, 2) would have 10", reshape(f({3, 4}), {5, 2}));
    EXPECT_MESSAGE(ShapeError, "reshape: the 12 elements of (3, 4) cannot be arranged as (5, -1)", reshape(f({3, 4}), {5, -1}));
    EXPECT_MESSAGE(ShapeError, "reshape: only one size of (-1, -1) may be -1", reshape(f({3, 4}), {-1, -1}));
    EXPECT_MESSAGE(ShapeError, "reshape: the size -2 in (-2, 6) is negative", reshape(f({3, 4}), {-2, 6}));
    EXPECT_MESSAGE(AxisError, "permute_dims: axes (0, 0) must name each of the 2 axes of (3, 4) once", permute_dims(f({3, 4}), {0, 0}));
    EXPECT_MESSAGE(ShapeError, "broadcast_to: (3, 4) does not broadcast to (3, 5)", broadcast_to(f({3, 4}), {3, 5}));
    EXPECT_MESSAGE(IndexError, "slice: 4 elements from 0 in steps of 1 leave axis 0 of size 3", slice(f({3}), {0}, {4}));
    EXPECT_MESSAGE(ValueError, "slice: step 0 on axis 0 is not positive; use flip for backwards", slice(f({3}), {0}, {2}, {0}));
    EXPECT_MESSAGE(ShapeError, "squeeze: axis 0 of (3, 1) has size 3, not 1", squeeze(f({3, 1}), {0}));
    EXPECT_MESSAGE(AxisError, "flip: axis 1 is out of bounds for a value with 1 dimension (axes go from -1 to 0)", flip(f({3}), {1}));
}

TEST(MustFail, joins) {
    EXPECT_MESSAGE(ShapeError, "concatenate: piece 1 has shape (2, 4), piece 0 has (2, 3); all sizes but that of axis 0 must agree", concatenate({f({2, 3}), f({2, 4})}));
    EXPECT_MESSAGE(ValueError, "concatenate: there is nothing to join; give at least one tensor", concatenate({}));
    EXPECT_MESSAGE(AxisError, "concatenate: axis 0 is out of bounds: the value has no axes (0-d)", concatenate({f({}), f({})}));
    EXPECT_MESSAGE(ShapeError, "stack: shapes (2,) and (3,) differ; all must be the same", stack({f({2}), f({3})}));
    EXPECT_MESSAGE(ShapeError, "pad: before (1,) and after (1, 1) need one entry for each axis of (2, 3)", pad(f({2, 3}), {1}, {1, 1}));
    EXPECT_MESSAGE(ValueError, "pad: widths (-1,) and (0,) must not be negative; slice instead", pad(f({2}), {-1}, {0}));
}

TEST(MustFail, products) {
    EXPECT_MESSAGE(ShapeError, "matmul: shapes (2, 3) and (4, 5) do not fit: 3 columns against 4 rows; the last size of the first must be the second to last of the second", matmul(f({2, 3}), f({4, 5})));
    EXPECT_MESSAGE(ShapeError, "matmul: shapes () and (3,) do not fit: a 0-d value has no rows and columns; multiply with *", matmul(f({}), f({3})));
    EXPECT_MESSAGE(ShapeError, "matmul: the batches (2,) of (2, 3, 4) and (3,) of (3, 4, 5) do not broadcast", matmul(f({2, 3, 4}), f({3, 4, 5})));
    EXPECT_MESSAGE(ValueError, "einsum: 'ij,jk' describes 2 operands, but 1 are given", einsum("ij,jk", {f({2, 3})}));
}

TEST(MustFail, indexing) {
    EXPECT_MESSAGE(IndexError, "index: 3 is out of bounds for axis 0 of size 3 of shape (3,)", f({3})[{3}]);
    EXPECT_MESSAGE(IndexError, "index: -4 is out of bounds for axis 0 of size 3 of shape (3,)", f({3})[{-4}]);
    EXPECT_MESSAGE(IndexError, "index: 2 indices for a tensor of shape (3,), which has 1 axis", f({3})[{0, 0}]);
    EXPECT_MESSAGE(DTypeError, "take: indices must be integers, not float32", take(f({3}), f({2})));
    EXPECT_MESSAGE(AxisError, "take: axis 1 is out of bounds for a value with 1 dimension (axes go from -1 to 0)", take(f({3}), i({2}), 1));
    EXPECT_MESSAGE(IndexError, "take: index 5 is out of bounds for axis 0 of size 3", take(f({3}), Tensor::of<std::int64_t>({1, 5})).eval());
    EXPECT_MESSAGE(ShapeError, "scatter: updates of shape (3,) do not broadcast to (2,), the shape of the places", scatter(f({4}), i({2}), f({3})));
}

TEST(MustFail, order) {
    EXPECT_MESSAGE(ValueError, "topk: 4 of the 3 elements along axis 0 of shape (3,); k must lie between 0 and the size", topk(f({3}), 4));
    EXPECT_MESSAGE(ShapeError, "searchsorted: the sorted values have shape (2, 2); they must be one row (1-d)", searchsorted(f({2, 2}), f({3})));
    EXPECT_MESSAGE(AxisError, "argsort: axis 1 is out of bounds for a value with 1 dimension (axes go from -1 to 0)", argsort(f({3}), 1));
}

TEST(MustFail, windows) {
    EXPECT_MESSAGE(ShapeError, "convolution: x of shape (1, 3, 8) has 3 channels, weights of shape (4, 2, 3) in 1 group take 2", convolution(f({1, 3, 8}), f({4, 2, 3})));
    EXPECT_MESSAGE(ShapeError, "convolution: along spatial axis 0 the kernel covers 5 elements, the padded input of shape (1, 3, 4) has only 4", convolution(f({1, 3, 4}), f({4, 3, 5})));
    EXPECT_MESSAGE(ValueError, "convolution: stride (0,) must not be below 1", convolution(f({1, 3, 4}), f({4, 3, 3}), {.stride = {0}}));
    EXPECT_MESSAGE(ShapeError, "conv2d: x has shape (1, 3, 8); it needs 4 axes (N, C, 2 spatial)", conv2d(f({1, 3, 8}), f({4, 3, 3})));
}

TEST(MustFail, creation) {
    EXPECT_PLAIN_MESSAGE(ShapeError, "a shape has a negative size: (2, -1)", zeros({2, -1}));
    EXPECT_PLAIN_MESSAGE(ValueError, "arange: the step is 0; give a step that leads from start to stop", arange(0, 3, 0));
    EXPECT_PLAIN_MESSAGE(ValueError, "linspace: the count -1 is negative", linspace(0, 1, -1));
    EXPECT_MESSAGE(DTypeError, "one_hot: labels must be integers, not float32", one_hot(f({3}), 4));
    EXPECT_MESSAGE(ShapeError, "tril: needs an axis, not shape ()", tril(f({})));
    EXPECT_PLAIN_MESSAGE(ValueError, "random::randint: no integer lies in [3, 3)", random::randint(3, 3, {2}));
}
// clang-format on

TEST(MustFail, what_no_memory_holds_is_refused_by_name) {
    Tensor huge = broadcast_to(f({1}), {std::int64_t{1} << 40}) + 1;  // 4 TiB
    EXPECT_THROW(huge.eval(), OutOfMemory);
    EXPECT_THROW(broadcast_to(f({1}), {std::int64_t{1} << 40, std::int64_t{1} << 40}), ShapeError);
    EXPECT_EQ((f({2}) + 1).to_vector<float>(), (std::vector<float>{1, 1}));  // and weft goes on
}

}  // namespace
}  // namespace weft
