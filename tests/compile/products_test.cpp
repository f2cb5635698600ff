// Products of matrices with what is made of their rows: one step, the values of the steps one by one.
#include <gtest/gtest.h>

#include <cstring>

#include "compile/programs.h"
#include "effort.h"
#include "weft/autodiff/derivative.h"
#include "weft/base/thread_pool.h"
#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/compile/plan_cache.h"
#include "weft/compile/work.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/rewrite/rewrite.h"
#include "weft/runtime/executor.h"
#include "weft/runtime/explain.h"
#include "weft/runtime/function.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

int contractions(const Graph& graph, const std::vector<Step>& steps) {
    int count = 0;
    for (const Step& step : steps) {
        if (step.kind == Step::library) count += graph.node(step.space).operation == &matmul_operation;
        count += contractions(graph, step.parts);
    }
    return count;
}

// What becomes of it: "steps/products".
std::string steps_and_products(const std::vector<Tensor>& outputs) {
    KeepPending keep;
    Graph graph = rewritten_graph(outputs);
    Plan plan = make_plan(graph);
    return text(plan.steps.size(), "/", contractions(graph, plan.steps));
}

struct Terms {
    Tensor a, b, X, Y, Z, turned;  // X Y and Z are (m, n), `turned` is (n, m)
};

using Form = Tensor (*)(const Terms&);
// Scaled sums around one product, in the ways in which people write them.
const std::vector<std::pair<const char*, Form>> scaled_sums{
    {"X Y + Z", [](const Terms& o) { return matmul(o.X, o.Y) + o.Z; }},
    {"Z + X Y", [](const Terms& o) { return o.Z + matmul(o.X, o.Y); }},
    {"X Y - Z", [](const Terms& o) { return matmul(o.X, o.Y) - o.Z; }},
    {"Z - X Y", [](const Terms& o) { return o.Z - matmul(o.X, o.Y); }},
    {"a X Y + b Z", [](const Terms& o) { return o.a * matmul(o.X, o.Y) + o.b * o.Z; }},
    {"X Y a + Z b", [](const Terms& o) { return matmul(o.X, o.Y) * o.a + o.Z * o.b; }},
    {"b Z + a X Y", [](const Terms& o) { return o.b * o.Z + o.a * matmul(o.X, o.Y); }},
    {"X Y a - Z b", [](const Terms& o) { return matmul(o.X, o.Y) * o.a - o.Z * o.b; }},
    {"b Z - a X Y", [](const Terms& o) { return o.b * o.Z - o.a * matmul(o.X, o.Y); }},
    {"b Z' - a Y' X'", [](const Terms& o) { return o.b * o.Z.T() - o.a * matmul(o.Y.T(), o.X.T()); }},
    {"b Z' + a b (X Y)'", [](const Terms& o) { return o.b * o.Z.T() + o.a * o.b * matmul(o.X, o.Y).T(); }},
    {"b T + a (X Y)'", [](const Terms& o) { return o.b * o.turned + o.a * matmul(o.X, o.Y).T(); }},
    {"Z + a b a X Y", [](const Terms& o) { return o.Z + o.a * o.b * o.a * matmul(o.X, o.Y); }},
    {"b b Z a + a a X Y b", [](const Terms& o) { return o.b * o.b * o.Z * o.a + o.a * o.a * matmul(o.X, o.Y) * o.b; }},
    {"Z + (X Y a + Z b)", [](const Terms& o) { return o.Z + (matmul(o.X, o.Y) * o.a + o.Z * o.b); }},
    {"b (Z + a X Y)", [](const Terms& o) { return o.b * (o.Z + o.a * matmul(o.X, o.Y)); }},
    {"-(Z - X Y) / a", [](const Terms& o) { return -(o.Z - matmul(o.X, o.Y)) / o.a; }},
    {"a X Y", [](const Terms& o) { return o.a * matmul(o.X, o.Y); }},
};

std::vector<Terms> operands(DType dtype) {
    Tensor X = numbers("X", {5, 4}, dtype), Y = numbers("Y", {4, 6}, dtype), Z = numbers("Z", {5, 6}, dtype),
           turned = numbers("T", {6, 5}, dtype);
    Tensor a = numbers("a", {}, dtype), b = numbers("b", {}, dtype);
    return {{a, b, X, Y, Z, turned},
            {Tensor(0.3), Tensor(2), X, Y, Z, turned},
            {Tensor(Array::from<std::int32_t>(std::vector<std::int32_t>{3}, {})), b, X, Y, Z, turned}};
}

TEST(Products, a_scaled_sum_around_a_product_is_one_step_with_one_product) {
    for (DType dtype : {DType::float32, DType::float64, DType::float16}) {
        for (const Terms& o : operands(dtype)) {
            for (const auto& [name, form_of] : scaled_sums) {
                SCOPED_TRACE(text(name, " ", dtype, " a ", o.a.dtype()));
                KeepPending keep;
                Tensor result = form_of(o);
                // Half types are multiplied as float32: what turns the second matrix into it is a step of its own.
                EXPECT_EQ(steps_and_products({result}), is_half(dtype) ? "2/1" : "1/1");
                expect_values({result}, 16);
            }
        }
    }
}

TEST(Products, two_products_in_a_sum_are_one_step_of_two) {
    Tensor X = numbers("X", {5, 4}), Y = numbers("Y", {4, 6}), Z = numbers("Z", {5, 6}), R = numbers("R", {6, 3}),
           S = numbers("S", {3, 5}), a = numbers("a", {}), b = numbers("b", {}), c = numbers("c", {});
    KeepPending keep;
    Tensor result = Z * c + a * matmul(X, Y) + b * matmul(R, S).T();
    EXPECT_EQ(steps_and_products({result}), "1/2");
    expect_values({result}, 16);
    Tensor gated = matmul(X, Y) * sigmoid(matmul(X, exp(Y)));
    EXPECT_EQ(steps_and_products({gated}), "2/2");  // exp(Y) first
}

TEST(Products, a_matrix_and_a_vector_with_a_sum_are_one_step) {
    Tensor M = numbers("M", {7, 5}), v = numbers("v", {5}), w = numbers("w", {7}), b = numbers("b", {7}),
           c = numbers("c", {5});
    KeepPending keep;
    EXPECT_EQ(steps_and_products({matmul(M, v) + b}), "1/1");
    EXPECT_EQ(steps_and_products({tanh(matmul(w, M) * 0.5 + c)}), "1/1");
    EXPECT_EQ(steps_and_products({exp(matmul(v, c))}), "1/1");
    EXPECT_EQ(steps_and_products({1 + 2 * outer(w, v) + M}), "1/0");
    EXPECT_EQ(steps_and_products({M + 2 * matmul(expand_dims(w, 1), expand_dims(v, 0))}), "1/0");
    expect_values({matmul(M, v) + b, tanh(matmul(w, M) * 0.5 + c), exp(matmul(v, c))}, 8);
}

Tensor layer_norm(const Tensor& x) {
    Axes axis{-1};
    return (x - mean(x, axis, true)) * rsqrt(var(x, axis, 0, true) + 1e-5);
}

TEST(Products, what_is_made_of_their_rows_is_made_with_them) {
    Tensor x = numbers("x", {9, 8}), w = numbers("w", {8, 10}), b = numbers("b", {10}), r = numbers("r", {9, 10});
    Tensor q = numbers("q", {2, 3, 5, 4}), k = numbers("k", {2, 3, 7, 4});
    KeepPending keep;
    EXPECT_EQ(steps_and_products({relu(matmul(x, w) + b)}), "1/1");
    EXPECT_EQ(steps_and_products({softmax(matmul(q, swapaxes(k, -1, -2)) * 0.5f)}), "1/1");
    Tensor weights = softmax(matmul(q, swapaxes(k, -1, -2)) * 0.5f);
    EXPECT_EQ(steps_and_products({matmul(weights, k)}), "1/2");  // attention: each batch has its own second matrix
    EXPECT_EQ(steps_and_products({matmul(relu(matmul(x, w)), w.T())}), "2/2");  // layers are steps of their own
    EXPECT_EQ(steps_and_products({layer_norm(matmul(x, w) + r)}), "1/1");
    EXPECT_EQ(steps_and_products({argmax(matmul(x, w), 1)}), "1/1");
    EXPECT_EQ(steps_and_products({matmul(x, w), relu(matmul(x, w) + b)}), "1/1");  // the product leaves it, too
    EXPECT_EQ(steps_and_products({relu(tensordot(numbers("t", {2, 3, 8}), w, 1) + b)}), "1/1");
    EXPECT_EQ(steps_and_products({sum(matmul(x, w), 0)}), "2/1");  // over rows: another step
    EXPECT_EQ(steps_and_products({softmax(matmul(x, w), 0)}),
              steps_and_products({softmax(numbers("y", {9, 10}), 0), matmul(x, w)}));
    expect_values({relu(matmul(x, w) + b), softmax(matmul(q, swapaxes(k, -1, -2)) * 0.5f), layer_norm(matmul(x, w) + r),
                   softmax(matmul(x, w), 0), matmul(weights, k)},
                  100);
    Tensor many = numbers("many", {3, 5, 130, 16}), seen = numbers("seen", {3, 5, 70, 16});
    expect_values({matmul(softmax(matmul(many, swapaxes(seen, -1, -2))), seen)}, 300);
}

TEST(Products, what_makes_their_rows_is_made_with_them) {
    Tensor x = numbers("x", {9, 8}), w = numbers("w", {8, 10}), b = numbers("b", {10}), s = numbers("s", {8});
    Tensor square = numbers("square", {90, 90}), image = numbers("image", {3, 5, 7, 8});
    KeepPending keep;
    EXPECT_EQ(steps_and_products({matmul(relu(x), w) + b}), "1/1");
    EXPECT_EQ(steps_and_products({matmul(layer_norm(x) * s, w)}), "1/1");
    EXPECT_EQ(steps_and_products({relu(matmul(layer_norm(image + 1), w) + b)}), "1/1");
    EXPECT_EQ(steps_and_products({matmul(relu(x), w), relu(x) * 2}), "1/1");       // others may have it, too
    EXPECT_EQ(steps_and_products({matmul(exp(square), exp(square) + 1)}), "2/1");  // the second matrix is read whole
    EXPECT_EQ(steps_and_products({matmul(exp(x - max(x, Axes{0}, true)), w)}), "2/1");  // which waits for all rows
    expect_values(
        {matmul(relu(x), w) + b, matmul(layer_norm(x) * s, w), relu(matmul(layer_norm(image + 1), w) + b), relu(x) * 2},
        100);
    expect_values({matmul(exp(square), exp(square) + 1), matmul(exp(square), exp(square)),
                   matmul(exp(square), matmul(exp(square), square))},
                  1e5);
    expect_values({matmul(layer_norm(square), square), sum(layer_norm(square), 0), layer_norm(square).T()}, 1e4);
}

// Who reads another row than its own is not of the group, however its axes' sizes agree.
TEST(Products, of_a_square_matrix_only_its_own_rows_are_handed_on) {
    const std::int64_t n = share_under_sanitizers == 1 ? 300 : 100;
    Tensor x = numbers("x", {n, n}), y = numbers("y", {n, n}), v = numbers("v", {n});
    KeepPending keep;
    Tensor product = matmul(x, y), p = matmul(x, v);
    expect_values({product + product.T()}, 1200);
    expect_values({exp(x / 100) * p}, 1200);    // p along the columns
    expect_values({x / sum(exp(x), 1)}, 1200);  // so too without a product
    expect_values({broadcast_to(tanh(p), {n, n}) * x}, 1200);
    expect_values({flip(product, {0}) + product}, 1200);
    expect_values({matmul(product + 1, product)}, 1e5);
}

TEST(Products, gradients_become_updates_in_place) {
    Dims of_w{784, 1024};
    Tensor w = numbers("w", of_w), x = numbers("x", {128, 784}), g = numbers("g", {128, 1024}), v = numbers("v", of_w);
    KeepPending keep;
    Tensor moved = 0.9 * v + matmul(x.T(), g), stepped = w - 0.01 * moved;
    Graph graph = rewritten_graph({stepped, moved});
    BindOptions options;
    options.donors = {-1, -1};
    for (std::size_t leaf = 0; leaf < graph.leaves.size(); ++leaf)
        for (std::size_t i = 0; i < 2; ++i)
            if (graph.node(graph.leaves[leaf]).value().address() == (i ? v : w).array().address())
                options.donors[i] = static_cast<std::int32_t>(leaf);
    auto plan = std::make_shared<const Plan>(make_plan(graph));
    EXPECT_EQ(plan->steps.size(), 1u) << str(*plan, graph);
    ThreadPool& pool = ThreadPool::instance();
    int before = pool.threads();
    pool.set_threads(1);
    auto binding = weft::bind(plan, graph, cpu_compiler(), options);
    pool.set_threads(before);
    EXPECT_EQ(binding->outputs[0].donor, options.donors[0]);
    EXPECT_EQ(binding->outputs[1].donor, options.donors[1]);
    EXPECT_TRUE(binding->placements.empty());
    EXPECT_LT(binding->arena_bytes, 784u * 1024u * 4u);  // nothing of w's size
    EXPECT_EQ(work_of(binding->steps[0]).operations, 2.0 * 784 * 128 * 1024);
    if (share_under_sanitizers == 1) expect_values({stepped, moved}, 128);  // the oracle takes a second
}

TEST(Products, parameters_trained_in_place_have_the_values_of_those_that_are_not) {
    Tensor x = numbers("x", {40, 33}), y = numbers("y", {40, 17});
    for (bool donated : {true, false}) {
        Parameter w(numbers("w", {33, 17}) + 0);
        Tensor kept = donated ? Tensor() : w.value();
        CompiledFunction step([&](std::span<const Tensor> in) {
            Tensor loss = mean(square(tanh(matmul(in[0], w.value())) - in[1]));
            w.set(w.value() - 0.5 * gradient(loss, w.value()));
            return std::vector<Tensor>{loss};
        });
        Tensor in[] = {x, y}, expected = numbers("w", {33, 17});
        for (int i = 0; i < 4; ++i) {
            KeepPending keep;
            step(in);
            Tensor loss = mean(square(tanh(matmul(x, expected)) - y));
            expected = Tensor(interpret(expected - 0.5 * gradient(loss, expected)));
        }
        EXPECT_EQ(difference(expected.array(), w.value().array(), 1e-5, 1e-4), "");
    }
}

// A row that is read again after it was written over, or whole for every row, forbids writing in place.
TEST(Products, nothing_is_written_over_that_is_read_later) {
    const std::int64_t n = share_under_sanitizers == 1 ? 200 : 70;
    Tensor w = numbers("w", {n, n}), x = numbers("x", {n, n});
    for (auto body : {+[](const Tensor&w, const Tensor&x) { return w + 0.1 * tanh(matmul(w, x)); },
                      +[](const Tensor&w, const Tensor&x) { return w + 0.1 * tanh(matmul(x, w)); },
                      +[](const Tensor&w, const Tensor&x) { return w + 0.1 * tanh(matmul(w, w.T()) + x); },
                      +[](const Tensor&w, const Tensor&x) { return w + softmax(matmul(w, x) + w.T()); },
                      +[](const Tensor&w, const Tensor&x) {
                          Tensor p = matmul(w, x) + w;
                          return p / sum(exp(p + w), Axes{1}, true);
                      }}) {
        Parameter cell(w + 0);
        cell.value().eval();
        CompiledFunction step([&](std::span<const Tensor> in) {
            cell.set(body(cell.value(), in[0]));
            return std::vector<Tensor>{};
        });
        Tensor in[] = {x}, expected = w;
        for (int i = 0; i < 3; ++i) {
            step(in);
            KeepPending keep;
            expected = Tensor(interpret(body(expected, x)));
        }
        EXPECT_EQ(difference(expected.array(), cell.value().array(), 1e-3, 1e-3), "");
    }
}

TEST(Products, any_shapes_and_types_give_the_values_of_the_steps_one_by_one) {
    Draw draw("shapes");
    const std::int64_t sizes[] = {0, 1, 2, 3, 17, 64, 65, 130, 300};
    auto size = [&] { return sizes[draw.below(9)]; };
    for (int i = 0; i < static_cast<int>(cases(120)); ++i) {
        DType dtype = std::array{DType::float32, DType::float64, DType::float16}[static_cast<std::size_t>(i % 3)];
        std::int64_t m = size(), k = size(), n = size();
        Dims batch;
        for (std::int64_t axes = draw.below(3); axes-- > 0;) batch.push_back(draw.below(4));
        auto shaped = [&](std::initializer_list<std::int64_t> last, bool batches = true) {
            Dims dims = batches ? batch : Dims{};
            for (std::int64_t size : last) dims.push_back(size);
            return dims;
        };
        Form forms[] = {[](const Terms& o) { return relu(matmul(o.X, o.Y) + o.b); },
                        [](const Terms& o) { return o.a * matmul(o.X, o.Y) + 0.5 * o.Z; },
                        [](const Terms& o) { return o.Z - sum(square(matmul(o.X, o.Y)), Axes{-1}, true); },
                        [](const Terms& o) { return swapaxes(matmul(o.X, o.Y), -1, -2) + o.turned; },
                        [](const Terms& o) { return layer_norm(matmul(o.X, o.Y) + o.Z) * o.b; },
                        [](const Terms& o) { return matmul(relu(o.X) - 0.5, o.Y) + o.b; },
                        [](const Terms& o) { return matmul(softmax(o.X * o.a), o.Y) - o.Z; }};
        SCOPED_TRACE(text(batch, " ", m, " ", k, " ", n, " ", dtype, " form ", i % 7));
        KeepPending keep;
        Terms o{numbers("a", {}, dtype),
                numbers("b", {n}, dtype),
                Tensor(laid_out(numbers("X", shaped({m, k}), dtype).array(),
                                all_forms[static_cast<std::size_t>(draw.below(5))])),
                numbers("Y", shaped({k, n}, draw.below(2) == 0), dtype),
                numbers("Z", shaped({m, n}), dtype),
                numbers("T", shaped({n, m}), dtype)};
        expect_values({forms[i % 7](o)}, 100.0 * static_cast<double>(k + 1));
        if (HasFailure()) return;
    }
}

TEST(Products, what_dies_inside_makes_room_inside) {
    Tensor q = numbers("q", {100, 2}), k = numbers("k", {2, 100});
    KeepPending keep;
    Graph graph = rewritten_graph({softmax(matmul(q, k))});
    auto plan = std::make_shared<const Plan>(make_plan(graph));
    EXPECT_EQ(plan->steps.size(), 1u);
    auto binding = weft::bind(plan, graph, cpu_compiler());
    EXPECT_GE(binding->arena_bytes, 100u * 100u * 4u);
    EXPECT_LT(binding->arena_bytes, 2 * 100u * 100u * 4u);  // scores and their exponentials lie in one place
}

TEST(Products, one_plan_serves_every_batch_size) {
    Tensor w = numbers("w", {40, 40}), b = numbers("b", {40});
    auto f = compile([&](const Tensor& x) { return softmax(relu(matmul(x, w) + b)); });
    for (std::int64_t batch : {3, 40, 700, 1, 64, 0}) {
        Tensor x = numbers("x", {batch, 40});
        KeepPending keep;
        EXPECT_EQ(difference(interpret(softmax(relu(matmul(x, w) + b))), f(x).array(), 1e-5, 1e-4), "") << batch;
    }
}

TEST(Products, explain_shows_the_parts_and_counts_their_operations) {
    Tensor x = numbers("x", {64, 32}), w = numbers("w", {32, 16}), b = numbers("b", {16});
    Explanation e = explain(relu(matmul(x, w) + b));
    ASSERT_EQ(e.steps.size(), 1u);
    EXPECT_EQ(e.steps[0].what, "matmul");
    EXPECT_EQ(e.steps[0].work.operations, 2.0 * 64 * 32 * 16);
    EXPECT_EQ(e.steps[0].work.bytes, 4.0 * (64 * 32 + 32 * 16 + 16 + 64 * 16));
    EXPECT_NE(e.plan.find("| library of matmul"), std::string::npos) << e.plan;
    EXPECT_NE(e.plan.find("| map of add"), std::string::npos) << e.plan;
}

struct Regression {
    Tensor x, y, w, b, predicted, error;
    std::vector<Tensor> trained;  // prediction, error, w, b
};

Regression logistic(std::int64_t examples, std::int64_t features, DType dtype) {
    Regression r{numbers("x", {examples, features}, dtype),
                 numbers("y", {examples}, dtype) > 0,
                 numbers("w", {features}, dtype),
                 numbers("b", {}, dtype),
                 {},
                 {},
                 {}};
    Tensor p = 1 / (1 + exp(-matmul(r.x, r.w) - r.b)), y = astype(r.y, dtype);
    r.predicted = p > 0.5;
    r.error = -y * log(p) - (1 - y) * log(1 - p);
    Tensor cost = mean(r.error) + 0.01 * sum(square(r.w));
    std::vector<Tensor> wrt{r.w, r.b}, slopes = gradient(cost, wrt);
    r.trained = {r.predicted, r.error, r.w - 0.1 * slopes[0], r.b - 0.1 * slopes[1]};
    return r;
}

TEST(Products, a_logistic_regression_is_two_products_and_what_is_made_with_them) {
    KeepPending keep;
    for (DType dtype : {DType::float64, DType::float32}) {
        Regression r = logistic(400, 784, dtype);
        EXPECT_EQ(steps_and_products({r.predicted}), "1/1");
        Graph graph = rewritten_graph(r.trained);
        Plan plan = make_plan(graph);
        EXPECT_EQ(contractions(graph, plan.steps), 2);
        EXPECT_EQ(plan.steps.size(), 3u) << str(plan, graph);  // forward and error; w; the sum for b
        for (const Graph::Entry& entry : graph.entries) {
            if (entry.leaf) continue;
            std::string_view name = entry.node->operation->name;
            EXPECT_TRUE(name != "log" && name != "exp") << str(graph);
        }
        BindOptions options;
        options.donors.assign(4, -1);
        for (std::size_t leaf = 0; leaf < graph.leaves.size(); ++leaf)
            if (graph.node(graph.leaves[leaf]).value().address() == r.w.array().address())
                options.donors[2] = static_cast<std::int32_t>(leaf);
        auto binding = weft::bind(std::make_shared<const Plan>(plan), graph, cpu_compiler(), options);
        EXPECT_EQ(binding->outputs[2].donor, options.donors[2]);
        for (const Placement& placement : binding->placements)
            EXPECT_LT(placement.bytes, 784 * size_of(dtype)) << str(plan, graph);
        std::vector<Array> blocks = run(graph, {}, 1), two = run(graph, {}, 2), plain = run(graph, {.rows = false}, 1);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            EXPECT_EQ(difference(blocks[i], two[i]), "");
            EXPECT_EQ(difference(plain[i], blocks[i], 1e4 * epsilon_of(dtype), 1e4 * epsilon_of(dtype)), "");
        }
    }
}

/// Sequences turned to (time, sequence, numbers) by one matrix: rows that do not follow each other evenly.
TEST(TurnedSequences, products_have_the_values_of_their_definition) {
    for (DType dtype : {DType::float32, DType::float64, DType::complex64, DType::int32})
        for (auto [sequences, times] :
             {std::array<std::int64_t, 2>{2, 40}, {3, 17}, {15, 16}, {5, 3}, {16, 20}, {1, 30}}) {
            SCOPED_TRACE(text(dtype, " ", sequences, " ", times));
            auto drawn = [&](const char* name, const Dims& dims) { return Tensor(Draw(name).array(dtype, dims)); };
            Tensor x = drawn("x", {sequences, times, 24}), w = drawn("w", {24, 20}), b = drawn("b", {20});
            Tensor deep = drawn("deep", {4, sequences, times, 24});
            std::vector<Tensor> all{
                matmul(permute_dims(x, {1, 0, 2}), w), matmul(permute_dims(x, {1, 0, 2}), w) * 2 + b,
                matmul(permute_dims(deep, {2, 0, 1, 3}), w),
                matmul(permute_dims(deep, {0, 2, 1, 3}), permute_dims(drawn("turned", {20, 24}), {1, 0})),
                permute_dims(matmul(x, w), {1, 0, 2})};
            expect_values(all, 24);
        }
}

}  // namespace
}  // namespace weft
