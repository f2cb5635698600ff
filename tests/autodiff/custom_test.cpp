#include "weft/autodiff/custom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "autodiff/numbers_of.h"
#include "message.h"
#include "weft/autodiff/vmap.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/runtime/explain.h"
#include "weft/runtime/function.h"

namespace weft {
namespace {

// x * x, whose derivative says 10 x.
auto odd_square() {
    return custom_vjp(
        [](const Tensor& x) { return x * x; },
        [](std::span<const Tensor> x, const Tensor& cotangent) { return std::vector<Tensor>{10 * x[0] * cotangent}; },
        "odd_square");
}

TEST(CustomVjp, its_rule_is_the_derivative) {
    auto f = odd_square();
    EXPECT_EQ(values(f(row({1, 2}))), (Doubles{1, 4}));
    EXPECT_EQ(values(grad([&](const Tensor& x) { return sum(f(x) * 3); })(row({1, 2}))), (Doubles{30, 60}));
}

TEST(CustomVjp, the_rule_is_differentiated_in_its_turn) {
    auto first = grad([f = odd_square()](const Tensor& x) { return sum(f(x)); });
    EXPECT_EQ(values(grad([&](const Tensor& x) { return sum(first(x) * x); })(row({1, 2}))), (Doubles{20, 40}));
}

TEST(CustomVjp, its_rule_holds_under_a_map_either_way) {
    auto f = odd_square();
    auto loss = [&](const Tensor& x) { return sum(f(x)); };
    Tensor x = Tensor::of<double>({1, 2, 3, 4}, {2, 2});
    EXPECT_EQ(values(vmap(grad(loss))(x)), (Doubles{10, 20, 30, 40}));
    EXPECT_EQ(values(grad([&](const Tensor& t) { return sum(vmap(loss)(t)); })(x)), (Doubles{10, 20, 30, 40}));
    // What the examples share collects from all of them.
    auto scaled = custom_vjp([](const Tensor& a, const Tensor& b) { return a * b; },
                             [](std::span<const Tensor> in, const Tensor& c) {
                                 return std::vector<Tensor>{in[1] * c, 2 * in[0] * c};
                             });
    auto shared = [&](const Tensor& b) { return sum(vmap(scaled, {.in_axes = {0, std::nullopt}})(x, b)); };
    EXPECT_EQ(values(grad(shared)(row({1, 1}))), (Doubles{8, 12}));
}

TEST(CustomVjp, refuses_forward_mode_and_what_its_rule_does_not_know) {
    auto f = odd_square();
    EXPECT_THAT(message<NotDifferentiable>([&] { (void)jvp(f, row({1}), row({1})); }),
                testing::StartsWith("odd_square: its derivative is known in reverse mode alone"));
    Tensor outside = fresh(row({2}));
    auto g = custom_vjp([&](const Tensor& x) { return x * outside; },
                        [](std::span<const Tensor>, const Tensor& c) { return std::vector<Tensor>{c}; }, "leaky");
    EXPECT_THAT(message<NotDifferentiable>([&] { (void)gradient(sum(g(row({1}))), outside); }),
                testing::HasSubstr("leaky: its rule knows its arguments alone"));
    auto wrong = custom_vjp([](const Tensor& x) { return x; },
                            [](std::span<const Tensor>, const Tensor& c) { return std::vector<Tensor>{sum(c)}; });
    EXPECT_THAT(message<ShapeError>([&] {
                    (void)grad([&](const Tensor& x) { return sum(wrong(x)); })(row({1, 2}));
                }),
                testing::HasSubstr("the rule gave a cotangent float64 () for input 0, which is float64 (2,)"));
}

// Layers of a network, in blocks of four.
struct Blocks {
    std::vector<Tensor> weights;
    bool checkpointed;
    Tensor block(const Tensor& x, std::size_t first) const {
        Tensor y = x;
        for (std::size_t i = first; i < first + 4; ++i) y = tanh(matmul(y, weights[i]));
        return y;
    }
    Tensor loss(const Tensor& x) const {
        Tensor y = x;
        for (std::size_t i = 0; i < weights.size(); i += 4) {
            auto of_block = [&](const Tensor& t) { return block(t, i); };
            y = checkpointed ? checkpoint(of_block)(y) : of_block(y);
        }
        return sum(square(y));
    }
};

CompiledFunction gradients_of(bool checkpointed) {
    return CompiledFunction([=](std::span<const Tensor> inputs) {
        Blocks blocks{{inputs.begin() + 1, inputs.end()}, checkpointed};
        return gradient(blocks.loss(inputs[0]), blocks.weights);
    });
}

TEST(Checkpoint, gives_the_same_gradients_also_of_what_is_read_from_outside_and_takes_less_memory) {
    std::vector<Tensor> inputs{cos(reshape(iota(1024 * 32).astype(DType::float32), {1024, 32}))};
    for (int i = 0; i < 16; ++i)
        inputs.push_back(sin(reshape(iota(32 * 32).astype(DType::float32) + 7.0f * static_cast<float>(i), {32, 32})) *
                         0.3f);
    eval(inputs);
    CompiledFunction plain = gradients_of(false), again = gradients_of(true);
    std::vector<Tensor> expected = plain(inputs), found = again(inputs);
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(expected[i].to_vector<float>(), found[i].to_vector<float>()) << i;
    std::size_t kept = plain.explain(inputs).arena_bytes, less = again.explain(inputs).arena_bytes;
    // 16 layers of 128 KB are kept; or 4 blocks' inputs and the layers of one block.
    EXPECT_LT(static_cast<double>(less), 0.7 * static_cast<double>(kept)) << less << " against " << kept;
}

TEST(Checkpoint, a_value_inside_that_was_computed_and_let_go_is_refused_rather_than_partly_zero) {
    Tensor inner;
    auto f = checkpoint([&](const Tensor& x) {
        inner = sin(x);
        return sum(inner * x);
    });
    auto [value, pull] = vjp(f, row({1, 2}));
    inner.eval();
    EXPECT_THAT(message<ValueError>([&] { (void)pull(Tensor(1.0, DType::float64)); }),
                testing::StartsWith("pullback: a value on the way, sin float64 (2,), was computed before"));
}

TEST(Checkpoint, composes_with_maps_forward_mode_and_itself) {
    auto f = [](const Tensor& x) { return sum(sin(x) * exp(x)); };
    auto c = checkpoint(checkpoint(f));
    Tensor x = Tensor::of<double>({.1, .2, .3, .4}, {2, 2});
    EXPECT_EQ(values(vmap(grad(c))(x)), values(vmap(grad(f))(x)));
    EXPECT_EQ(values(jvp(c, x, x).second), values(jvp(f, x, x).second));
    auto twice = [](auto g) { return grad([g](const Tensor& t) { return sum(grad(g)(t) * t); }); };
    EXPECT_EQ(values(twice(c)(x)), values(twice(f)(x)));
}

}  // namespace
}  // namespace weft
