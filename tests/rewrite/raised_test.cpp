// Zeros around gradients: what is made of one row's gradient is made of that row alone, wherever the zeros were laid.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "effort.h"
#include "rewrite/forms.h"
#include "weft/autodiff/derivative.h"
#include "weft/autodiff/transform.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;

/// Multiplications of all products of matrices.
double multiplications(const Tensors& tensors) {
    Graph graph = rewritten_graph(tensors);
    double all = 0;
    for (const Graph::Entry& entry : graph.entries) {
        if (entry.node->operation != &matmul_operation) continue;
        Dims shape = dims_of(entry.node->shape);
        all += static_cast<double>(element_count(shape) * entry.node->inputs[0]->shape.back().value());
    }
    return all;
}

constexpr std::int64_t batch = 2, words = 8, width = 6;

/// What a layer of a transformer is behind its attention: a normalisation, two products, what was there added.
Tensor layer(const Tensors& p) {
    Tensor centred = p[0] - mean(p[0], {-1}, true);
    Tensor h = centred * rsqrt(mean(square(centred), {-1}, true) + 0.1) * p[1];
    return p[0] + matmul(gelu(matmul(h, p[2]) + p[3]), p[4]);
}
Tensors parameters() {
    return {doubles("x", {batch, words, width}), doubles("scale", {width}), doubles("w", {width, 4 * width}),
            doubles("b", {4 * width}), doubles("v", {4 * width, width})};
}
Tensors slopes_of_one_word(std::int64_t word, std::int64_t count) {
    Tensors given;
    for (const Tensor& x : parameters()) given.push_back(fresh(x));
    Tensor read = slice(layer(given), {0, word, 0}, {batch, count, width});
    return gradient(sum(exp(read)), std::span<const Tensor>(given));
}

TEST(Raised, of_one_word_a_layers_derivative_multiplies_that_word_alone) {
    constexpr double one = batch * width * 4 * width;  // a product of one word of each example
    for (std::int64_t word : {0, 3, 7}) {
        Tensors slopes = slopes_of_one_word(word, 1);
        EXPECT_EQ(multiplications(slopes), 6 * one);  // two forward, two for each of them back
        expect_values(slopes);
    }
    Tensors most = slopes_of_one_word(1, 5);  // half of all and more: zeros cost less than what is cut
    EXPECT_GT(multiplications(most), 6 * 5 * one);
    expect_values(most);
}

TEST(Raised, attention_of_one_word_asks_for_one) {
    auto attended = [&](std::span<const Tensor> p, std::int64_t count) {
        Tensors heads;
        for (std::size_t i : {1, 2, 3})
            heads.push_back(permute_dims(reshape(matmul(p[0], p[i]), {batch, words, 2, width / 2}), {0, 2, 1, 3}));
        Tensor scores = matmul(heads[0], permute_dims(heads[1], {0, 1, 3, 2})),
               top = exp(scores - max(scores, {-1}, true));
        Tensor seen = matmul(top / sum(top, {-1}, true), heads[2]);
        return slice(reshape(permute_dims(seen, {0, 2, 1, 3}), {batch, words, width}), {0, 0, 0},
                     {batch, count, width});
    };
    auto slopes = [&](std::int64_t count) {
        Tensors given{fresh(doubles("x", {batch, words, width}))};
        for (const char* name : {"q", "k", "v"}) given.push_back(fresh(doubles(name, {width, width})));
        return gradient(sum(exp(attended(given, count))), std::span<const Tensor>(given));
    };
    // Keys and values of all words: two products forward, four back. Queries, scores and sums of one word; of six products with scores two are
    // of a column by a row then, which are no sums.
    constexpr double all = batch * words * width * width, one = all / words, scores = batch * words * width;
    Tensors of_one = slopes(1);
    EXPECT_EQ(multiplications(of_one), 6 * all + 3 * one + 4 * scores);
    expect_values(of_one);
}

TEST(Raised, rows_of_other_places_are_not_added_up) {
    Tensor x = doubles("x", {2, 3}), y = doubles("y", {2, 3});
    for (std::int64_t first : {0, 1, 2}) {
        Tensor sum = pad(x, {1, 0}, {3, 0}) + pad(y, {first, 0}, {4 - first, 0});  // they meet: no join of pieces
        expect_values({&sum, 1});
    }
}

/// Something made of zeros around something, by operations drawn at random.
class Chain {
  public:
    explicit Chain(unsigned seed) : draw_(seed) {
        Dims shape;
        for (int i = 0; i < 3; ++i) shape.push_back(1 + pick(4));
        x_ = padded(shape, static_cast<std::size_t>(pick(3)));
        for (int i = 0; i < 6; ++i) grow();
    }
    const Tensor& result() const { return x_; }

  private:
    std::int64_t pick(std::int64_t below) { return std::uniform_int_distribution<std::int64_t>(0, below - 1)(draw_); }
    Tensor value(const Dims& dims) { return doubles(("v" + std::to_string(count_++)).c_str(), dims); }
    Tensor padded(const Dims& inside, std::size_t axis) {
        Dims before(inside.size(), 0), after(inside.size(), 0);
        before[axis] = pick(5), after[axis] = std::max<std::int64_t>(0, inside[axis] - before[axis]) + pick(2);
        return pad(value(inside), before, after);
    }
    void grow() {
        Dims shape = dims_of(x_.shape());
        auto axis = static_cast<std::size_t>(pick(static_cast<std::int64_t>(shape.size())));
        Dims other = shape;
        if (pick(3) == 0) other[axis] = 1;
        switch (pick(9)) {
            case 0:
                x_ = pick(2) ? x_ * value(other) : value(other) * x_;
                break;
            case 1:
                x_ = x_ / (square(value(other)) + 1.0);
                break;
            case 2:
                x_ = pick(2) ? x_ + x_ * value(other) : x_ - value(other);
                break;
            case 3:
                multiply(shape);
                break;
            case 4: {
                Axes axes(shape.size());
                std::iota(axes.begin(), axes.end(), 0);
                std::shuffle(axes.begin(), axes.end(), draw_);
                x_ = permute_dims(x_, axes);
                break;
            }
            case 5:
                rename(shape, axis);
                break;
            case 6:
                if (shape.size() > 2) x_ = sum(x_, {static_cast<std::int64_t>(axis)}, pick(2) == 1);
                break;
            case 7: {
                Shape start(shape.size(), 0), length = x_.shape();
                start[axis] = pick(shape[axis]), length[axis] = 1 + pick(shape[axis] - start[axis].value());
                x_ = slice(x_, start, length);
                break;
            }
            default:
                x_ = where(value(other) > 0, x_, 0.0);
                break;
        }
    }
    void multiply(const Dims& shape) {
        std::size_t last = shape.size() - 1;
        bool left = pick(2) == 0;
        Dims other{left ? 2 : shape[last], left ? shape[last - 1] : 2};
        if (shape.size() == 3 && pick(2)) other.insert(0, shape[0]);
        x_ = left ? matmul(value(other), x_) : matmul(x_, value(other));
    }
    // Neighbours become one, or one gets an axis of its own beside it.
    void rename(Dims shape, std::size_t axis) {
        if (axis + 1 < shape.size() && shape.size() > 2) {
            shape[axis] *= shape[axis + 1];
            shape.erase(axis + 1);
        } else if (shape.size() < 4) {
            shape.insert(axis, 1);
        }
        x_ = reshape(x_, Shape(shape.begin(), shape.end()));
    }

    std::mt19937 draw_;
    int count_ = 0;
    Tensor x_;
};

TEST(Raised, random_chains_keep_their_values) {
    for (unsigned seed = 0; seed < cases(2000); ++seed) {
        Tensor x = Chain(seed).result();
        SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << written(*x.node(), 30));
        expect_values({&x, 1});
        if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace weft
