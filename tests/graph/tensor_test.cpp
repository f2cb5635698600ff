#include "weft/graph/tensor.h"

#include <gtest/gtest.h>

#include "must_fail.h"
#include "weft/graph/node.h"
#include "weft/graph/parameter.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"

namespace weft {
namespace {

using Floats = std::vector<float>;

TEST(Tensor, names_are_changed_never_what_others_hold) {
    Tensor x = Tensor::of<float>({1, 2, 3}), y = x;
    y = y + 1;
    x = x.at({0}).set(9);
    EXPECT_EQ(x.to_vector<float>(), (Floats{9, 2, 3}));
    EXPECT_EQ(y.to_vector<float>(), (Floats{2, 3, 4}));
}

TEST(Tensor, a_view_keeps_what_it_shows) {
    Tensor x = Tensor::of<float>({1, 2, 3, 4}, {2, 2});
    Tensor view = x.T();
    view.eval();
    EXPECT_EQ(view.node()->value().buffer, x.node()->value().buffer);
    x = Tensor();
    EXPECT_EQ(view.to_vector<float>(), (Floats{1, 3, 2, 4}));
}

TEST(Tensor, a_computed_node_lets_go_of_its_inputs) {
    Tensor x = Tensor::of<float>({1, 2});
    Tensor y = exp(x);
    EXPECT_EQ(x.node()->references.load(), 2u);
    EXPECT_FALSE(y.computed());
    y.eval();
    EXPECT_TRUE(y.computed());
    EXPECT_EQ(x.node()->references.load(), 1u);
}

TEST(Tensor, several_are_computed_at_once) {
    Tensor x = Tensor::of<float>({1, 2}), a = x + 1, b = a * 2;
    Tensor both[] = {a, b, x};
    eval(both);
    EXPECT_TRUE(a.computed() && b.computed());
    EXPECT_EQ(b.to_vector<float>(), (Floats{4, 6}));
}

TEST(Tensor, numbers_beside_tensors_are_weak) {
    EXPECT_EQ((Tensor::of<float>({1}) * 2.0).dtype(), DType::float32);
    EXPECT_EQ((Tensor::of<std::int8_t>({1}) + 1).dtype(), DType::int8);
    EXPECT_EQ((Tensor::of<std::int8_t>({1}) + 0.5).dtype(), DType::float32);
    EXPECT_EQ((Tensor(1.0f).astype(DType::float16) / 3).dtype(), DType::float16);
    EXPECT_EQ((Tensor::of<bool>({true}) + 1).dtype(), DType::int64);
    EXPECT_EQ((Tensor::of<float>({1}) + Tensor(2.0, DType::float64)).dtype(),
              DType::float64);  // 0-d tensors are not weak
    EXPECT_MESSAGE(ValueError, "add: the number 300 does not fit into int8; convert the tensor with astype first",
                   Tensor::of<std::int8_t>({1}) + 300);
}

TEST(Tensor, item_takes_one_element) {
    EXPECT_EQ(Tensor::of<float>({7}, {1, 1}).item<int>(), 7);
    EXPECT_PLAIN_MESSAGE(ShapeError, "item: the tensor of shape (2,) has 2 elements, not one",
                         Tensor::of<float>({1, 2}).item<float>());
    EXPECT_PLAIN_MESSAGE(DTypeError, "the array holds float32, not float64",
                         Tensor::of<float>({1, 2}).to_vector<double>());
}

TEST(Tensor, an_empty_one_is_refused_wherever_it_stands) {
    Tensor none, x = Tensor::of<float>({1});
    EXPECT_PLAIN_MESSAGE(ValueError, "an empty Tensor holds nothing: give it a value first", none.shape());
    EXPECT_PLAIN_MESSAGE(ValueError, "an empty Tensor holds nothing: give it a value first", none.eval());
    EXPECT_THROW(x + none, ValueError);
    EXPECT_THROW(sum(none), ValueError);
    EXPECT_THROW(reshape(none, {1}), ValueError);
    EXPECT_THROW(concatenate({x, none}), ValueError);
    EXPECT_THROW(matmul(none, x), ValueError);
    EXPECT_THROW(none.at({0}).set(1), ValueError);
    Tensor list[] = {none};
    EXPECT_THROW(eval(list), ValueError);
}

TEST(Parameter, takes_only_its_own_shape_and_dtype) {
    Parameter w(Tensor::of<float>({1, 2}), "w");
    w.set(Tensor::of<float>({3, 4}));
    EXPECT_EQ(w.value().to_vector<float>(), (Floats{3, 4}));
    EXPECT_MESSAGE(ShapeError, "set: the parameter 'w' has shape (2,), the new value (3,)",
                   (w.set(Tensor::of<float>({1, 2, 3})), 0));
    EXPECT_MESSAGE(DTypeError, "set: the parameter 'w' holds float32, the new value float64; convert it with astype",
                   (w.set(Tensor::of<double>({1, 2})), 0));
    EXPECT_EQ(w.value().to_vector<float>(), (Floats{3, 4}));
}

TEST(Parameter, copies_share_the_cell) {
    Parameter a(Tensor::of<float>({1}), "a"), b = a;
    b.set(Tensor::of<float>({5}));
    EXPECT_EQ(a.value().item<float>(), 5);
}

TEST(SymbolicSizes, go_through_operations) {
    Tensor x = input("x", {"batch", 784}), w = input("w", {784, 10}), b = input("b", {10});
    Tensor y = relu(matmul(x, w) + b);
    EXPECT_EQ(str(y.shape()), "(batch, 10)");
    EXPECT_EQ(str(sum(y, 1).shape()), "(batch,)");
    EXPECT_EQ(str(sum(y, 0, true).shape()), "(1, 10)");
    EXPECT_EQ(str(y.T().shape()), "(10, batch)");
    EXPECT_EQ(str(concatenate({x, x}).shape()), "(2*batch, 784)");
    EXPECT_EQ(str(reshape(x, {"batch", 28, 28}).shape()), "(batch, 28, 28)");
    EXPECT_EQ(str(reshape(x, {-1, 28, 28}).shape()), "(batch, 28, 28)");
    Tensor image = input("image", {"batch", 3, "height", 32});
    EXPECT_EQ(str(convolution(image, input("k", {8, 3, 3, 3}), {.padding = {1}}).shape()), "(batch, 8, height, 32)");
    EXPECT_EQ(str(max_pool(image, {2}).shape()), "(batch, 3, height//2, 16)");
}

TEST(SymbolicSizes, what_cannot_fit_is_refused_when_it_is_written) {
    Tensor x = input("x", {"batch", 784}), w = input("w", {785, 10});
    EXPECT_MESSAGE(ShapeError,
                   "matmul: shapes (batch, 784) and (785, 10) do not fit: 784 columns against 785 rows; the last size "
                   "of the first must be the second to last of the second",
                   matmul(x, w));
    EXPECT_MESSAGE(ShapeError,
                   "add: shapes (batch, 784) and (3,) do not broadcast: axis -1 has sizes 784 and 3, and neither is 1",
                   x + Tensor::of<float>({1, 2, 3}));
    EXPECT_MESSAGE(ShapeError, "reshape: (batch, 784) has 784*batch elements, (batch, 783) would have 783*batch",
                   reshape(x, {"batch", 783}));
}

TEST(SymbolicSizes, a_named_size_beside_another_is_taken_to_be_equal) {
    Tensor x = input("x", {"batch", 3}), y = input("y", {"rows", 3});
    EXPECT_NO_THROW(x + y);
}

TEST(ModuleScope, errors_name_the_module_and_the_line) {
    ModuleScope net("Mlp");
    ModuleScope layer("fc2");
    Tensor x = Tensor::of<float>({1, 2});
    int line = __LINE__ + 1;
    EXPECT_PLAIN_MESSAGE(ShapeError,
                         text("add: shapes (2,) and (3,) do not broadcast: axis -1 has sizes 2 and 3, and neither is "
                              "1\n  in Mlp / fc2\n  at ",
                              __FILE__, ":", line),
                         x + Tensor::of<float>({1, 2, 3}));
}

}  // namespace
}  // namespace weft
