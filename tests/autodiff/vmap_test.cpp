#include "weft/autodiff/vmap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "autodiff/numbers_of.h"
#include "effort.h"
#include "message.h"
#include "must_fail.h"
#include "weft/ops/arrange.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"

namespace weft {
namespace {

Shape start_of(const Tensor& all, std::int64_t k) {
    Shape start(all.ndim(), 0);
    start[0] = k;
    return start;
}
Shape one_of(const Tensor& all) {
    Shape length = all.shape();
    length[0] = 1;
    return length;
}
Tensor matrix() { return Tensor::of<double>({1, 2, 3, 4, 5, 6}, {2, 3}); }

TEST(Vmap, maps_chosen_axes_of_arguments_and_results) {
    auto scaled = vmap([](const Tensor& column, const Tensor& s) { return column * s; },
                       {.in_axes = {-1, std::nullopt}, .out_axis = 1});
    Tensor found = scaled(matrix(), Tensor::of<double>({10, 100}));
    EXPECT_EQ(found.dims(), (Dims{2, 3}));
    EXPECT_EQ(values(found), (Doubles{10, 20, 30, 400, 500, 600}));
}

TEST(Vmap, what_is_the_same_for_all_examples_stays_one_node) {
    Tensor weight = input("w", {3}, DType::float64), shared = exp(weight);
    KeepPending keep;
    Tensor given[] = {matrix()};
    ExampleAxis front = 0, none;
    Vmap map(given, {&front, 1});
    Tensor of_one[] = {map.examples()[0] * shared};
    EXPECT_EQ(map.results(of_one, {&front, 1})[0].node()->inputs[1], shared.node());
    Tensor same[] = {shared};
    EXPECT_TRUE(map.results(same, {&none, 1})[0].is(shared));
}

TEST(Vmap, a_chain_of_a_million_nodes_is_mapped_on_a_small_stack) {
    constexpr std::uint32_t links = share_under_sanitizers == 1 ? 1'000'000 : 20'000;
    auto chain = vmap([](Tensor x) {
        for (std::uint32_t i = 0; i < links; ++i) x = -x;
        return x;
    });
    KeepPending keep;
    Tensor found = chain(matrix());
    EXPECT_EQ(found.node()->depth, links);
    EXPECT_EQ(found.dims(), (Dims{2, 3}));
}

TEST(Vmap, a_number_of_examples_may_be_named) {
    Tensor x = input("x", {"batch", 3}, DType::float64);
    Tensor found = vmap(grad([](const Tensor& row) { return sum(sin(row) * sort(row)); }))(x);
    EXPECT_EQ(found.shape(), (Shape{"batch", 3}));
}

TEST(Vmap, says_which_operation_needs_the_number_of_examples) {
    Tensor rows = input("rows", {"batch", "length"});
    EXPECT_THAT(
        message<ShapeError>([&] { (void)vmap([](const Tensor& row) { return searchsorted(row, ones({3})); })(rows); }),
        testing::StartsWith("vmap: searchsorted is computed example by example, for which the number of "
                            "examples must be known, not 'batch'"));
}

TEST(Vmap, keys_of_their_own_draw_the_words_that_each_draws_alone) {
    Tensor keys = random::split(random::key(3), 4);
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{3, 4}, Shape{0}}) {
        for (DType dtype : {DType::float32, DType::float64}) {  // of 32 and of 64 bits
            auto f = [&](const Tensor& key) {
                return astype(random::uniform(shape, 0, 1, key, dtype), DType::float64);
            };
            Tensor together = vmap(f)(keys);
            for (std::int64_t k = 0; k < 4; ++k)
                EXPECT_EQ(values(reshape(slice(together, start_of(together, k), one_of(together)), shape)),
                          values(f(reshape(slice(keys, {k, 0}, {1, 2}), {2}))));
        }
    }
    Tensor named = input("keys", {"batch", 2}, DType::uint32);
    EXPECT_EQ(vmap([](const Tensor& key) { return random::split(key, 3); })(named).shape(), (Shape{"batch", 3, 2}));
}

TEST(Vmap, each_row_is_searched_for_its_own_values) {
    double nan = std::numeric_limits<double>::quiet_NaN();
    for (std::int64_t length : {0, 1, 2, 3, 7, 8, 9}) {
        std::vector<double> numbers;
        for (std::int64_t i = 0; i < 3 * length; ++i) numbers.push_back(i % 5 == 4 ? nan : static_cast<double>(i % 4));
        Tensor rows = sort(Tensor::of<double>(numbers, {3, length}));
        Tensor wanted = Tensor::of<double>({-1, 0, 1, 2.5, 3, nan, 1, 1, 2, 9, 0, -1}, {3, 4});
        for (bool right : {false, true}) {
            auto f = [right](const Tensor& row, const Tensor& x) { return searchsorted(row, x, right); };
            auto found = vmap(f)(rows, wanted).to_vector<std::int64_t>();
            for (std::int64_t k = 0; k < 3; ++k) {
                Tensor row = reshape(slice(rows, {k, 0}, {1, length}), {length});
                auto alone = f(row, reshape(slice(wanted, {k, 0}, {1, 4}), {4})).to_vector<std::int64_t>();
                EXPECT_EQ(std::vector<std::int64_t>(found.begin() + 4 * k, found.begin() + 4 * k + 4), alone) << length;
            }
        }
    }
}

TEST(Vmap, one_matrix_for_all_examples_is_one_product) {
    Tensor w = input("w", {3, 4}, DType::float64), x = input("x", {5, 2, 3}, DType::float64);
    Tensor found = vmap([&](const Tensor& example) { return matmul(example, w); })(x);
    EXPECT_EQ(found.node()->operation->name, "reshape");
    EXPECT_EQ(found.node()->inputs[0]->shape, (Shape{10, 4}));
}

TEST(Vmap, a_compiled_function_is_part_of_the_map) {
    auto f = compile([](const Tensor& x) { return sum(x * x); });
    EXPECT_EQ(values(vmap([&f](const Tensor& x) { return f(x); })(matrix())), (Doubles{14, 77}));
}

TEST(Vmap, refuses_what_has_no_meaning) {
    auto both = vmap([](const Tensor& a, const Tensor& b) { return a + b; });
    EXPECT_EQ(message<ValueError>([&] {
                  (void)both(matrix(), Tensor::of<double>({1, 2, 3}));
              }),
              "vmap: argument 0 has 2 examples (axis 0 of shape (2, 3)), but argument 1 has 3 (axis 0 of shape (3,)); "
              "give in_axes None to what is the same for all examples");
    EXPECT_EQ(message<ValueError>(
                  [&] { (void)vmap([](const Tensor& x) { return x; }, {.in_axes = {std::nullopt}})(matrix()); }),
              "vmap: in_axes maps no argument, so there is no number of examples; give an axis to one");
    EXPECT_EQ(message<ValueError>(
                  [&] { (void)vmap([](const Tensor& x) { return x; }, {.out_axis = std::nullopt})(matrix()); }),
              "vmap: out_axes is None for result 0, float64 (3,), which differs between examples; give it an axis, or "
              "reduce over them");
    EXPECT_EQ(message<AxisError>([&] { (void)vmap([](const Tensor& x) { return x; }, {.in_axes = {2}})(matrix()); }),
              "vmap: in_axes of argument 0: axis 2 is out of bounds for a value with 2 dimensions (axes go from -2 to "
              "1)");
    EXPECT_THAT(
        message<ValueError>([&] { (void)vmap([](const Tensor& x) { return x * sum(x).item<double>(); })(matrix()); }),
        testing::StartsWith("vmap: a number is asked for that depends on an example, float64 (3,), which stands "
                            "for all examples at once."));
}

TEST(Jacobian, is_the_matrix_of_derivatives_either_way) {
    Tensor x = fresh(Tensor::of<double>({1, 2})), wrt[] = {x};
    KeepPending keep;
    Tensor y = stack({x * sum(x), square(x), x}, 0);
    Doubles expected{4, 1, 2, 5, 2, 0, 0, 4, 1, 0, 0, 1};
    EXPECT_EQ(jacobian(y, wrt)[0].dims(), (Dims{3, 2, 2}));
    EXPECT_EQ(values(jacobian(y, wrt)[0]), expected);
    EXPECT_EQ(values(forward_jacobian(y, wrt)[0]), expected);
    EXPECT_EQ(message<DTypeError>([&] { (void)jacobian(argmax(x), wrt); }),
              "jacobian: the result must be floating, not int64 ()");
}

}  // namespace
}  // namespace weft
