// Views that strides can say take no kernel, and show what they should; results lie in the order in which they are read.
#include "compile/programs.h"
#include "weft/compile/dense_axes.h"
#include "weft/compile/plan.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

std::size_t steps_made(const std::vector<Tensor>& outputs, bool rows = true) {
    return make_plan(graph_of(outputs), {.rows = rows}).steps.size();
}

/// x[..., from:to] along the last axis.
Tensor columns(const Tensor& x, std::int64_t from, std::int64_t to) {
    Shape start(x.ndim(), 0), length = x.shape();
    start[x.ndim() - 1] = from, length[x.ndim() - 1] = to - from;
    return slice(x, start, length);
}

TEST(Views, an_axis_of_what_strides_show_is_taken_apart_without_a_copy) {
    Tensor x = drawn({3, 5, 12});
    EXPECT_EQ(steps_made({reshape(columns(x, 4, 8), {3, 5, 2, 2})}), 0u);
    EXPECT_EQ(steps_made({permute_dims(reshape(columns(x, 0, 6), {3, 5, 2, 3}), {0, 2, 1, 3})}), 0u);
    EXPECT_EQ(steps_made({reshape(x.T(), {2, 6, 5, 3})}), 0u);
    EXPECT_EQ(steps_made({reshape(flip(x, {2}), {3, 5, 3, 4})}), 0u);
    EXPECT_EQ(steps_made({reshape(slice(x, {0, 0, 0}, {3, 5, 6}, {1, 1, 2}), {3, 5, 2, 3})}), 0u);
}

TEST(Views, axes_that_follow_each_other_are_joined_without_a_copy) {
    Tensor x = drawn({3, 5, 7, 12});
    EXPECT_EQ(steps_made({reshape(columns(x, 4, 8), {105, 4})}), 0u);
    EXPECT_EQ(steps_made({reshape(slice(x, {1, 0, 0, 0}, {2, 5, 7, 12}), {840})}), 0u);
    EXPECT_EQ(steps_made({reshape(permute_dims(x, {0, 3, 1, 2}), {3, 12, 35})}), 0u);
    EXPECT_EQ(steps_made({reshape(slice(x, {0, 1, 0, 0}, {3, 4, 7, 12}), {3, 4, 84})}), 0u);
}

TEST(Views, what_strides_cannot_say_is_copied_once) {
    Tensor x = drawn({3, 5, 12});
    EXPECT_EQ(steps_made({reshape(columns(x, 0, 6), {3, 30})}), 1u);
    EXPECT_EQ(steps_made({reshape(flip(x, {2}), {3, 60})}), 1u);
    EXPECT_EQ(steps_made({reshape(slice(x, {0, 0, 0}, {3, 3, 12}, {1, 2, 1}), {3, 36})}), 1u);
    EXPECT_EQ(steps_made({reshape(slice(x, {0, 1, 0}, {3, 4, 12}), {12, 12})}), 1u);
    EXPECT_EQ(steps_made({reshape(broadcast_to(drawn({3, 1, 4}), {3, 5, 4}), {3, 20})}), 1u);
    Tensor turned = permute_dims(x, {1, 0, 2});
    EXPECT_EQ(steps_made({reshape(turned, {15, 12}), reshape(turned, {5, 36}), reshape(turned, {180})}), 1u);
    expect_values({reshape(turned, {15, 12}) + 1, reshape(turned, {5, 36}) + 2, reshape(turned, {180}) + 3}, 1);
}

// One plan serves sizes that split elsewhere, as long as the same of them are equal.
TEST(Views, a_plan_serves_sizes_whose_products_meet_elsewhere) {
    auto shown = [](const Dims& from, const Dims& to) {
        Shape order, length;
        Tensor x = slice(drawn(from), Shape(from.size(), 0), Shape(from.begin(), from.end()));
        return reshape(permute_dims(x, {1, 0, 3, 2}), Shape(to.begin(), to.end())) * 2;
    };
    Tensor first = shown({6, 4, 9, 10}, {8, 3, 15, 6}), second = shown({7, 2, 12, 5}, {4, 3, 10, 7});
    ASSERT_TRUE(graph_of({first}).structure == graph_of({second}).structure);
    expect_values({first}, 1);
    expect_values({second}, 1);
}

TEST(Views, nothing_stays_nothing) {
    Tensor x = drawn({3, 0, 12});
    expect_values({reshape(columns(x, 0, 6), {0, 18}) + 1, reshape(x.T(), {12, 0, 3}) + 1}, 1);
}

/// A view drawn at random, or x itself where what was drawn cannot be.
Tensor random_view(const Tensor& x, Draw& draw) {
    auto axis = static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(x.ndim())));
    std::int64_t size = x.shape()[axis].value();
    Shape start(x.ndim(), 0), length = x.shape();
    Dims step(x.ndim(), 1);
    switch (draw.below(6)) {
        case 0: {
            std::int64_t from = draw.below(size), by = 1 + draw.below(2);
            start[axis] = from, step[axis] = by, length[axis] = 1 + draw.below((size - from + by - 1) / by);
            return slice(x, start, length, step);
        }
        case 1: {
            Axes axes = all_axes(x.ndim());
            std::swap(axes[axis], axes[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(x.ndim())))]);
            return permute_dims(x, axes);
        }
        case 2:
            return flip(x, {static_cast<std::int64_t>(axis)});
        case 3: {  // apart
            Shape shape;
            std::int64_t part = size % 2 == 0 ? 2 : size % 3 == 0 ? 3 : 1;
            for (std::size_t i = 0; i < x.ndim(); ++i) {
                if (i == axis) shape.push_back(part);
                shape.push_back(i == axis ? Size(size / part) : x.shape()[i]);
            }
            return shape.size() > 6 ? x : reshape(x, shape);
        }
        case 4: {  // together
            if (axis + 1 == x.ndim()) return x;
            Shape shape;
            for (std::size_t i = 0; i < x.ndim(); ++i)
                if (i != axis + 1) shape.push_back(i == axis ? x.shape()[i] * x.shape()[i + 1] : x.shape()[i]);
            return reshape(x, shape);
        }
        default: {
            if (x.size().value() > 2000) return x;
            Shape wider = x.shape();
            wider.insert(0, Size(2));
            return wider.size() > 6 ? x : broadcast_to(x, wider);
        }
    }
}

// The interpreter looks at one element after another, and knows no strides.
TEST(Views, chains_of_views_show_what_the_interpreter_sees) {
    for (int seed = 0; seed < 400; ++seed) {
        Draw draw(text("views ", seed));
        Tensor x = drawn({4, 6, 6}) + (seed % 2 == 0 ? 0.0 : 1.0),
               y = x;  // of a leaf that is rewritten away, of a result
        for (int i = 0; i < 7; ++i) y = random_view(y, draw);
        SCOPED_TRACE(seed);
        Graph graph = graph_of({y, y * 2});
        std::vector<Array> expected = interpret(std::vector<Tensor>{y, y * 2});
        for (bool fuse : {true, false}) {
            std::vector<Array> found = run(graph, {.fuse = fuse}, 1);
            EXPECT_EQ(difference(expected[0], found[0]), "");
            EXPECT_EQ(difference(expected[1], found[1]), "");
        }
    }
}

Tensor heads(const Tensor& x, std::int64_t count) {
    const Shape& shape = x.shape();
    return permute_dims(reshape(x, {shape[0], shape[1], count, shape[2] / Size(count)}), {0, 2, 1, 3});
}

Tensor columns_of_heads(const Tensor& y) {
    const Shape& shape = y.shape();
    return reshape(permute_dims(y, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

TEST(Views, heads_become_columns_again_without_a_copy) {
    Tensor p = drawn({2, 5, 36}), w = drawn({12, 4});
    Tensor q = heads(columns(p, 0, 12), 3), k = heads(columns(p, 12, 24), 3), v = heads(columns(p, 24, 36), 3);
    Tensor weights = matmul(q, permute_dims(k, {0, 1, 3, 2})), y = columns_of_heads(matmul(weights, v));
    EXPECT_EQ(steps_made({y}, false), 2u);
    EXPECT_EQ(steps_made({matmul(y, w)}, false), 3u);
    EXPECT_EQ(steps_made({columns_of_heads(exp(matmul(weights, v)))}, false), 3u);
    expect_values({y, matmul(y, w), columns_of_heads(exp(matmul(weights, v)) * 0.5)}, 5 * 5 * 12);
}

// Whatever else reads it: as it is, turned otherwise, as an output.
TEST(Views, a_result_with_other_readers_lies_as_it_did) {
    Tensor a = drawn({2, 3, 5, 4}), b = drawn({2, 3, 4, 6}), y = matmul(a, b), z = exp(y + 1);
    expect_values({columns_of_heads(y), y}, 4);
    expect_values({columns_of_heads(y), sum(y, 3)}, 24);
    expect_values({columns_of_heads(y), permute_dims(y, {3, 2, 1, 0}) * 2}, 4);
    expect_values({columns_of_heads(z), columns_of_heads(z) * 2, z}, 4);
    expect_values({columns_of_heads(matmul(a, drawn({2, 3, 4, 1})))}, 4);
}

// The innermost axis comes from the rows of a product: it is computed turned.
TEST(Views, a_product_whose_rows_become_innermost_is_turned) {
    Tensor a = drawn({2, 3, 5, 4}), b = drawn({2, 3, 4, 6});
    Tensor y = reshape(permute_dims(matmul(a, b), {0, 3, 1, 2}), {2, 6, 15});
    EXPECT_EQ(make_plan(rewritten_graph({y}), {.rows = false}).steps.size(), 1u);
    expect_values({y}, 4);
}

// Rows of a result that lie between those of others: blocks of rows write them where they belong.
TEST(Views, blocks_of_rows_write_rows_that_lie_apart) {
    Tensor q = numbers("q", {4, 6, 33, 16}), k = numbers("k", {4, 6, 16, 33}), v = numbers("v", {4, 6, 33, 16});
    Tensor scores = matmul(q, k), weights = exp(scores - max(scores, {3}, true));
    Tensor y = matmul(weights / sum(weights, {3}, true), v);
    expect_values({columns_of_heads(y)}, 33 * 16);
    expect_values({columns_of_heads(y * 0.5), columns_of_heads(y) + 1}, 33 * 16);
    expect_values({columns_of_heads(tanh(y)), sum(tanh(y), 3)}, 33 * 16);
}

}  // namespace
}  // namespace weft
