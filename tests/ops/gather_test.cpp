#include "weft/ops/gather.h"

#include <gtest/gtest.h>

#include "ops/refusal.h"
#include "weft/autodiff/derivative.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scatter.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using Floats = std::vector<float>;
using Numbers = std::vector<std::int64_t>;

Floats of_gradient(const Tensor& loss, const Tensor& x) { return gradient(loss, x).to_vector<float>(); }

TEST(Gather, shapes_put_the_indices_in_the_place_of_the_axis) {
    Tensor x = input("x", {2, 3, "n"}), i = input("i", {4, 5}, DType::int32);
    EXPECT_EQ(take(x, i, 1).shape(), (Shape{2, 4, 5, "n"}));
    EXPECT_EQ(take(x, i, -1).shape(), (Shape{2, 3, 4, 5}));
    EXPECT_EQ(take_along_axis(x, input("i", {2, 1, "n"}, DType::int64), 1).shape(), (Shape{2, 1, "n"}));
}

TEST(Gather, what_is_wrong_is_named) {
    Tensor x = zeros({2, 3});
    EXPECT_REFUSED(DTypeError, take(x, zeros({2})), "take: indices must be integers, not float32");
    EXPECT_REFUSED(AxisError, take(x, iota(2), 2),
                   "take: axis 2 is out of bounds for a value with 2 dimensions (axes go from -2 to 1)");
    EXPECT_REFUSED(ShapeError, take_along_axis(x, iota(2), 0),
                   "take_along_axis: indices of shape (2,) do not fit x of shape (2, 3): both need the same number of "
                   "axes, with sizes that broadcast, but for axis 0");
    EXPECT_REFUSED(ShapeError, scatter(x, iota(2), zeros({3, 3})),
                   "scatter: updates of shape (3, 3) do not broadcast to (2, 3), the shape of the places");
    EXPECT_REFUSED(IndexError, take(x, Tensor::of<std::int64_t>({0, 2})).eval(),
                   "take: index 2 is out of bounds for axis 0 of size 2");
    EXPECT_REFUSED(ValueError, topk(x, 4),
                   "topk: 4 of the 3 elements along axis 1 of shape (2, 3); k must lie between 0 and the size");
}

// Windows of every length, some of which begin where the one before them ends, from several rows.
template <class T>
void expect_windows() {
    constexpr std::int64_t rows = 5, length = 90;
    std::vector<T> x, expected;
    for (std::int64_t i = 0; i < rows * length; ++i) x.push_back(static_cast<T>(i % 127));
    for (std::int64_t window = 1; window < 45; ++window) {
        Numbers places;
        for (std::int64_t first : {0, 3, 44, 45, 1})
            for (std::int64_t k = 0; k < window; ++k) places.push_back(k % 2 ? first + k : first + k - length);
        expected.clear();
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t place : places)
                expected.push_back(x[static_cast<std::size_t>(row * length + (place + length) % length)]);
        Tensor indices = Tensor::of<std::int64_t>(places, {5, window});
        EXPECT_EQ(take(Tensor::of<T>(x, {rows, length}), indices, 1).template to_vector<T>(), expected) << window;
    }
}

TEST(Gather, windows_are_what_their_places_say) {
    expect_windows<std::int8_t>();
    expect_windows<std::int16_t>();
    expect_windows<float>();
    expect_windows<double>();
    expect_windows<std::complex<double>>();
}

TEST(Gather, indices_that_repeat_over_lanes_pick_from_each_and_are_checked) {
    Tensor x = reshape(iota(2 * 3 * 5), {2, 3, 5});
    for (std::int64_t wrong : {0, 5, -6}) {
        Tensor places = Tensor::of<std::int64_t>({4, -5, 1, -1, 0, wrong}, {2, 1, 3});
        Tensor picked = take_along_axis(x, broadcast_to(places, {2, 3, 3}), 2);
        if (wrong == 0)
            EXPECT_EQ(picked.to_vector<std::int64_t>(),
                      (Numbers{4, 0, 1, 9, 5, 6, 14, 10, 11, 19, 15, 15, 24, 20, 20, 29, 25, 25}));
        else
            EXPECT_REFUSED(IndexError, picked.eval(),
                           text("take_along_axis: index ", wrong, " is out of bounds for axis 2 of size 5"));
    }
}

TEST(Gather, the_derivative_adds_up_where_indices_repeat) {
    Tensor x = Tensor::of<float>({1, 2, 3});
    EXPECT_EQ(of_gradient(sum(take(x, Tensor::of<std::int64_t>({2, 0, 2, -1}))), x), (Floats{1, 0, 3}));
    EXPECT_EQ(of_gradient(sum(square(take_along_axis(x, Tensor::of<std::int64_t>({1, 1})))), x), (Floats{0, 8, 0}));
}

TEST(Scatter, the_last_of_several_updates_stays_and_takes_the_derivative) {
    Tensor x = Tensor::of<float>({1, 2, 3}), u = Tensor::of<float>({10, 20, 30}),
           i = Tensor::of<std::int64_t>({2, 0, 2}), w = Tensor::of<float>({1, 10, 100});
    Tensor y = scatter(x, i, u);
    EXPECT_EQ(y.to_vector<float>(), (Floats{20, 2, 30}));
    Tensor again = scatter(x, i, u);
    EXPECT_EQ(of_gradient(sum(again * w), u), (Floats{0, 1, 100}));
    EXPECT_EQ(of_gradient(sum(scatter(x, i, u) * w), x), (Floats{0, 10, 0}));
    EXPECT_EQ(of_gradient(sum(scatter(x, i, u, 0, ScatterMode::add) * w), u), (Floats{100, 1, 100}));
}

TEST(Scatter, the_extreme_shares_its_derivative_among_all_that_reached_it) {
    Tensor x = Tensor::of<float>({5, 2, 9}), u = Tensor::of<float>({5, 7, 9, 9}),
           i = Tensor::of<std::int64_t>({0, 1, 2, 2});
    Tensor y = scatter(x, i, u, 0, ScatterMode::maximum);
    EXPECT_EQ(of_gradient(sum(y), u), (Floats{0.5f, 1, 1.0f / 3, 1.0f / 3}));
    EXPECT_EQ(of_gradient(sum(scatter(x, i, u, 0, ScatterMode::maximum)), x), (Floats{0.5f, 0, 1.0f / 3}));
    Tensor outputs[] = {scatter(x, i, u, 0, ScatterMode::maximum)}, wrt[] = {u},
           tangents[] = {Tensor::of<float>({1, 2, 3, 6})};
    EXPECT_EQ(pushforward(outputs, wrt, tangents)[0].to_vector<float>(), (Floats{0.5f, 2, 3}));
}

TEST(Sort, nan_stands_last_and_equal_ones_keep_their_order) {
    Tensor x = Tensor::of<float>({2, NAN, 1, 2, -0.0f, 0.0f});
    EXPECT_EQ(argsort(x).to_vector<std::int64_t>(), (Numbers{4, 5, 2, 0, 3, 1}));
    EXPECT_EQ(argsort(x, 0, true).to_vector<std::int64_t>(), (Numbers{0, 3, 2, 4, 5, 1}));
    auto [values, positions] = topk(Tensor::of<std::int64_t>({3, 9, 9, 1}), 3);
    EXPECT_EQ(values.to_vector<std::int64_t>(), (Numbers{9, 9, 3}));
    EXPECT_EQ(positions.to_vector<std::int64_t>(), (Numbers{1, 2, 0}));
}

TEST(Sort, the_derivative_follows_the_elements) {
    Tensor x = Tensor::of<float>({3, 1, 2}), w = Tensor::of<float>({1, 10, 100});
    EXPECT_EQ(of_gradient(sum(sort(x) * w), x), (Floats{100, 1, 10}));
}

TEST(Sort, searchsorted_places_before_or_behind_equal_ones) {
    Tensor row = Tensor::of<float>({1, 2, 2, 3}), values = Tensor::of<float>({0, 2, 4, NAN});
    EXPECT_EQ(searchsorted(row, values).to_vector<std::int64_t>(), (Numbers{0, 1, 4, 4}));
    EXPECT_EQ(searchsorted(row, values, true).to_vector<std::int64_t>(), (Numbers{0, 3, 4, 4}));
}

}  // namespace
}  // namespace weft
