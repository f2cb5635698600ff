// Loops whose rows know nothing of each other, which threads share: the same bits for any number of them, whatever the sizes of products.
#include "weft/compile/loop_rows.h"

#include <gtest/gtest.h>

#include <cstring>

#include "autodiff/numbers_of.h"
#include "effort.h"
#include "message.h"
#include "threads.h"
#include "unrolled.h"
#include "weft/autodiff/transform.h"
#include "weft/compile/plan_cache.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using Tensors = std::vector<Tensor>;

Tensor row_numbers(const Shape& shape, std::int64_t seed, DType dtype = DType::float32) {
    return random::normal(shape, 0, 1, random::key(seed), dtype);
}

// What each row is made of, by steps whose rows are independent (a thread each runs some of them), or seem so.
struct RowCase {
    const char* name;
    StepFunction step;
    bool independent;
};
std::vector<RowCase> row_cases(const Tensors& w) {
    auto with = [w](auto make) -> StepFunction {
        return [w, make](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
            Tensor h = make(c[0], x[0]);
            return {{h}, {h * x[0]}};
        };
    };
    auto product = [w](const Tensor& h) { return matmul(h, w[0]); };
    return {{"product", with([=](const Tensor& h, const Tensor& x) { return tanh(product(h) + x); }), true},
            {"parts", with([=](const Tensor& h, const Tensor& x) {
                 Tensor all = product(h);
                 Shape start{0, 0}, half{h.shape()[0], 16}, later{0, 16};
                 return tanh(concatenate({slice(all, later, half), slice(all, start, half)}, 1) + x);
             }),
             true},
            {"softmax", with([=](const Tensor& h, const Tensor& x) {
                 Tensor e = exp(product(h) * 0.1f);
                 return e / sum(e, Axes{1}, true) + x;
             }),
             true},
            {"over rows",
             with([=](const Tensor& h, const Tensor& x) { return tanh(product(h) + sum(x, Axes{0}, true)); }), false},
            {"turned", with([=](const Tensor& h, const Tensor& x) { return tanh(product(h) + flip(x, {0})); }), false},
            {"as long as rows", with([=](const Tensor& h, const Tensor& x) { return tanh(product(h) + w[1] * x); }),
             false}};
}

TEST(LoopRows, rows_that_know_nothing_of_each_other_have_the_same_bits_on_any_number_of_threads) {
    for (std::int64_t rows : {16, 37, 50}) {
        Tensors w{row_numbers({32, 32}, 1, DType::float32) * 0.2f, row_numbers({rows, 1}, 2, DType::float32)};
        Tensor begin = row_numbers({rows, 32}, 3, DType::float32), x = row_numbers({21, rows, 32}, 4, DType::float32);
        for (const RowCase& c : row_cases(w)) {
            auto results = [&](bool loop) {
                KeepPending keep;
                Tensors at{fresh(begin), fresh(x)};
                Scanned found = loop ? scan(c.step, {at[0]}, {at[1]}) : unrolled(c.step, {at[0]}, {at[1]});
                Tensors all = gradient(sum(found.ys[0] * found.ys[0]), at);
                all.push_back(found.carry[0]), all.push_back(found.ys[0]);
                eval(all);
                return all;
            };
            Tensors expected = results(false), first;
            for (int threads : {1, 2, 3}) {
                Threads with(threads);
                clear_caches();
                Tensors found = results(true);
                if (first.empty()) first = found;
                for (std::size_t i = 0; i < found.size(); ++i) {
                    SCOPED_TRACE(text(c.name, ", ", rows, " rows, ", threads, " threads, value ", i));
                    expect_near(found[i], expected[i], 2e-4);
                    EXPECT_EQ(numbers(found[i]), numbers(first[i]));
                }
            }
            Tensor loop = scan(c.step, {begin}, {x}).carry[0];
            const LoopAttributes& a = handle(loop.node()->inputs[0]).node()->attributes_as<LoopAttributes>();
            EXPECT_EQ(independent_rows(a, std::vector<bool>(a.step->nodes.size(), false)), c.independent ? rows : 0)
                << c.name;
        }
    }
    clear_caches();
}

// Which of its ways a product takes (inner products, pieces of a long sum, a library) depends on how many rows it has; rows of a loop must not notice.
struct ProductSizes {
    std::int64_t rows, width, inner;
    bool turned = true;
    DType dtype = DType::float32;
};

TEST(LoopRows, products_are_summed_alike_however_many_rows_a_thread_has) {
    std::vector<ProductSizes> sizes{{20, 256, 1024},
                                    {18, 300, 900},
                                    {33, 128, 512},
                                    {11, 700, 2000},
                                    {40, 3000, 4, false},
                                    {40, 2048, 60},
                                    {17, 256, 4, true, DType::float64},
                                    {20, 128, 300, true, DType::complex64}};
    if (share_under_sanitizers == 1 && !without_vectors())
        sizes.insert(sizes.end(), {{140, 2048, 500}, {1000, 2048, 200}, {512, 512, 1024}});
    for (const ProductSizes& s : sizes) {
        Tensors w{row_numbers(s.turned ? Shape{s.inner, s.width} : Shape{s.width, s.inner}, 1) * 0.05f,
                  row_numbers({s.inner, s.width}, 2) * 0.05f};
        Tensor begin = row_numbers({s.rows, s.width}, 3), x = row_numbers({2, s.rows, s.width}, 4);
        if (s.dtype != DType::float32) {
            for (Tensor& weights : w) weights = astype(weights, s.dtype);
            begin = astype(begin, s.dtype), x = astype(x, s.dtype);
        }
        StepFunction step = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
            Tensor h = matmul(sin(matmul(c[0], s.turned ? matrix_transpose(w[0]) : w[0])), w[1]) + x[0];
            return {{h}, {h}};
        };
        Tensor first;
        for (int threads : {1, 2, 3}) {
            Threads with(threads);
            clear_caches();
            Tensor found = scan(step, {begin}, {x}).ys[0];
            if (threads == 1) first = found;
            Array a = contiguous(found.array()), b = contiguous(first.array());
            EXPECT_EQ(std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * size_of(a.dtype)), 0)
                << text(s.rows, " rows of ", s.width, ", ", s.inner, ", ", name_of(s.dtype), ", ", threads, " threads");
        }
    }
    clear_caches();
}

}  // namespace
}  // namespace weft
