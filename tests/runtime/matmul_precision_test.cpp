// Functions whose products of float32 are made as bfloat16: what is rounded, what is not, and how far that goes.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/numbers.h"
#include "weft/autodiff/derivative.h"
#include "weft/base/error.h"
#include "weft/graph/node.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/runtime/explain.h"
#include "weft/runtime/function.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

constexpr CompileOptions lower{.matmul_precision = DType::bfloat16};

std::vector<float> run(CompiledFunction& f, std::vector<Tensor> arguments) {
    return f(arguments)[0].to_vector<float>();
}

void expect_near(const std::vector<float>& got, const std::vector<float>& wanted, double bound) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], bound) << i;
}

/// The root of the mean square of the difference, of that of what is wanted.
double relative(const std::vector<float>& got, const std::vector<float>& wanted) {
    double difference = 0, all = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
        difference += std::pow(got[i] - wanted[i], 2), all += std::pow(wanted[i], 2);
    return std::sqrt(difference / all);
}

TEST(MatmulPrecision, of_one_product_is_the_interpreters) {
    for (auto [a, b] : std::vector<std::pair<Tensor, Tensor>>{{numbers({20, 33}, 1), numbers({33, 17}, 2)},
                                                              {numbers({3, 20, 16}, 3), numbers({16, 40}, 4)},
                                                              {numbers({5, 17}, 5).T(), numbers({40, 5}, 6).T()},
                                                              {numbers({20}, 7), numbers({2, 20, 3}, 8)}}) {
        Tensor product = matmul(a, b, DType::bfloat16);
        expect_near(product.to_vector<float>(), Tensor(interpret(matmul(a, b, DType::bfloat16))).to_vector<float>(),
                    1e-4);
    }
    Tensor d = numbers({4, 4}, 9).astype(DType::float64);
    EXPECT_EQ(matmul(d, d, DType::bfloat16).to_vector<double>(), matmul(d, d).to_vector<double>());
    EXPECT_THROW(matmul(d, d, DType::float16), ValueError);
}

TEST(MatmulPrecision, a_compiled_function_rounds_what_its_products_read) {
    CompiledFunction f([](std::span<const Tensor> x) { return std::vector<Tensor>{matmul(tanh(x[0]), x[1]) + 1}; },
                       lower);
    std::vector<Tensor> arguments{numbers({64, 48}, 1), numbers({48, 32}, 2)};
    std::vector<float> wanted =
        (matmul(tanh(arguments[0]), arguments[1], DType::bfloat16) + 1).eval().to_vector<float>();
    expect_near(run(f, arguments), wanted, 1e-5);
    double error =
        relative(run(f, arguments), (matmul(tanh(arguments[0]), arguments[1]) + 1).eval().to_vector<float>());
    EXPECT_GT(error, 1e-4) << "not rounded";
    EXPECT_LT(error, 4e-3);
    auto rewrites = f.explain(arguments).str();
    EXPECT_NE(rewrites.find("bfloat16_products"), std::string::npos) << rewrites;
}

TEST(MatmulPrecision, derivatives_are_made_of_such_products_too) {
    Tensor x = numbers({40, 64}, 1), w = numbers({64, 32}, 2);
    auto slope = [](std::span<const Tensor> in) {
        return std::vector<Tensor>{gradient(sum(square(matmul(in[0], in[1]))), {in[1]})[0]};
    };
    CompiledFunction plain(slope), rounded(slope, lower);
    std::vector<float> wanted = run(plain, {x, w}), got = run(rounded, {x, w});
    EXPECT_GT(relative(got, wanted), 1e-4);
    EXPECT_LT(relative(got, wanted), 6e-3);
    // Of a product that is rounded as it is written, in whatever program.
    Tensor product = matmul(x, w, DType::bfloat16);
    Tensor by_hand = matmul(x.T(), 2.0f * product, DType::bfloat16);
    expect_near(gradient(sum(square(product)), {w})[0].eval().to_vector<float>(), by_hand.eval().to_vector<float>(),
                1e-3);
}

TEST(MatmulPrecision, narrow_products_and_other_types_stay) {
    Tensor w = numbers({64, 32}, 2), few = numbers({15, 64}, 3), wide = numbers({64, 64}, 4).astype(DType::float64);
    for (const Tensor& x : {few, wide}) {
        auto f = [](std::span<const Tensor> in) {
            return std::vector<Tensor>{matmul(in[0], in[1]).astype(DType::float32)};
        };
        CompiledFunction plain(f), rounded(f, lower);
        EXPECT_EQ(run(rounded, {x, w}), run(plain, {x, w}));
    }
}

TEST(MatmulPrecision, products_of_float16_and_those_that_ask_for_float32_keep_their_bits) {
    Tensor x = numbers({40, 48}, 1), w = numbers({48, 32}, 2);
    auto of_halves = [](std::span<const Tensor> in) {
        return std::vector<Tensor>{
            matmul(in[0].astype(DType::float16), in[1].astype(DType::float16)).astype(DType::float32)};
    };
    auto asked = [](std::span<const Tensor> in) { return std::vector<Tensor>{matmul(in[0], in[1], DType::float32)}; };
    for (CompiledFunction::Body f : {CompiledFunction::Body(of_halves), CompiledFunction::Body(asked)}) {
        CompiledFunction plain(f), rounded(f, lower);
        EXPECT_EQ(run(rounded, {x, w}), run(plain, {x, w}));
    }
}

TEST(MatmulPrecision, kept_weights_are_read_anew_when_they_change) {
    Parameter w(numbers({96, 64}, 1));
    CompiledFunction f([&](std::span<const Tensor> x) { return std::vector<Tensor>{matmul(x[0], w.value())}; }, lower);
    Tensor x = numbers({40, 96}, 2);
    for (std::uint64_t seed : {1, 1, 3, 4, 4}) {
        if (seed > 1) w.set(numbers({96, 64}, seed));
        EXPECT_EQ(run(f, {x}), matmul(x, w.value(), DType::bfloat16).eval().to_vector<float>());
    }
}

TEST(MatmulPrecision, has_four_names) {
    auto f = [](std::span<const Tensor> x) { return std::vector<Tensor>{x[0]}; };
    EXPECT_THROW(CompiledFunction(f, {.matmul_precision = DType::float16}), ValueError);
    EXPECT_NO_THROW(CompiledFunction(f, {.matmul_precision = DType::float32}));
    for (std::string_view name : MatmulPrecision::names) EXPECT_EQ(name_of(MatmulPrecision(name)), name);
    EXPECT_THROW(MatmulPrecision("bfloat16x9"), ValueError);
    EXPECT_THROW(MatmulPrecision(DType::int8), ValueError);
}

// Where tiles of bfloat16 are multiplied; elsewhere they are products of float32, of which the same holds.
TEST(MatmulPrecision, of_several_parts_comes_as_near_as_it_says_in_derivatives_too) {
    Tensor x = numbers({70, 96}, 1), w = numbers({96, 48}, 2);
    auto f = [](std::span<const Tensor> in) {
        Tensor y = matmul(tanh(in[0]), in[1]);
        return std::vector<Tensor>{concatenate({ravel(y), ravel(gradient(sum(square(y)), {in[1]})[0])})};
    };
    std::vector<double> wanted =
        f(std::vector<Tensor>{x.astype(DType::float64), w.astype(DType::float64)})[0].eval().to_vector<double>();
    for (auto [precision, most] :
         {std::pair(MatmulPrecision::bfloat16x3, 2e-5), std::pair(MatmulPrecision::bfloat16x6, 5e-7)}) {
        CompiledFunction g(f, {.matmul_precision = precision});
        EXPECT_LT(relative(run(g, {x, w}), std::vector<float>(wanted.begin(), wanted.end())), most);
        auto rewrites = g.explain(std::vector<Tensor>{x, w}).str();
        EXPECT_NE(rewrites.find(text("precision=", name_of(precision))), std::string::npos) << rewrites;
    }
}

TEST(MatmulPrecision, is_part_of_what_a_program_is_known_by) {
    Tensor x = numbers({40, 64}, 1), w = numbers({64, 32}, 2);
    std::vector<float> plain = matmul(x, w).eval().to_vector<float>(),
                       rounded = matmul(x, w, DType::bfloat16).eval().to_vector<float>(),
                       again = matmul(x, w, MatmulPrecision::bfloat16x6).eval().to_vector<float>();
    EXPECT_GT(relative(rounded, plain), 1e-4);
    EXPECT_LT(relative(again, plain), 1e-6);
}

TEST(MatmulPrecision, vmap_keeps_it) {
    Tensor x = numbers({3, 20, 32}, 1), w = numbers({32, 24}, 2);
    Tensor product = matmul(x, w, DType::bfloat16);
    for (std::int64_t i = 0; i < 3; ++i) {
        Tensor one = reshape(slice(x, {i, 0, 0}, {1, 20, 32}), {20, 32});
        expect_near(reshape(slice(product, {i, 0, 0}, {1, 20, 24}), {20, 24}).eval().to_vector<float>(),
                    matmul(one, w, DType::bfloat16).eval().to_vector<float>(), 1e-5);
    }
}

}  // namespace
}  // namespace weft
