#include "weft/compile/pieces.h"

#include "compile/programs.h"
#include "effort.h"
#include "weft/autodiff/loop.h"
#include "weft/compile/work.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/indexing.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"
#include "weft/ops/scatter.h"
#include "weft/ops/sort.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

std::shared_ptr<const Binding> bound_with(const Graph& graph, BindOptions options = {}) {
    return weft::bind(std::make_shared<const Plan>(make_plan(graph)), graph, cpu_compiler(), options);
}

/// Of the pieces of all joins those that lie in the memory of the result.
int placed(const Binding& binding) {
    int count = 0;
    for (const BoundStep& step : binding.steps) {
        if (step.operation != &concatenate_operation && step.operation != &pad_operation) continue;
        const View& result = step.operands.back();
        bool arena = result.base.kind == Base::arena;
        std::int64_t first = result.offset,
                     end = first + result.layout.size() * static_cast<std::int64_t>(size_of(result.layout.dtype));
        for (std::size_t k = 0; k + 1 < step.operands.size(); ++k) {
            const View& piece = step.operands[k];
            count += piece.layout.size() > 0 && piece.base == result.base &&
                     (!arena || (piece.offset >= first && piece.offset < end));
        }
    }
    return count;
}

/// As many pieces are made where they belong; what is computed so has the bits of what is computed operation by operation, and of the interpreter.
void expect_placed(const std::vector<Tensor>& outputs, int pieces, bool exact = true, BindOptions options = {}) {
    Graph graph = graph_of(outputs);
    auto binding = bound_with(graph, options);
    EXPECT_EQ(placed(*binding), pieces) << binding->str();
    std::vector<Array> found = run_once(binding, graph), plain = run(graph, {.fuse = false}, 1);
    std::vector<Array> expected = interpret(outputs), two = run(graph, {}, 2);
    double bound = exact ? 0 : 1e-4;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        EXPECT_EQ(difference(found[i], two[i]), "");
        EXPECT_EQ(difference(plain[i], found[i], bound, bound), "");
        EXPECT_EQ(difference(expected[i], found[i], bound, bound), "");
    }
}

Tensor given(const char* seed, const Dims& dims) { return numbers(seed, dims); }

TEST(Pieces, maps_store_them_along_every_axis) {
    for (std::int64_t axis = 0; axis < 3; ++axis)
        for (std::int64_t size : {1, 2, 7, 33, 70}) {
            Dims one{5, 9, 37}, two = one;
            two[static_cast<std::size_t>(axis)] = size;
            Tensor x = given("x", one), y = given("y", one), z = given("z", two);
            expect_placed({concatenate({x * y, tanh(z), x + y}, axis)}, 3);
            expect_placed({exp(concatenate({x * y, z, x + y}, axis))}, 2);
            expect_placed({stack({x * y, exp(x), x - y}, axis)}, 3);
        }
}

TEST(Pieces, of_all_types) {
    for (DType dtype :
         {DType::float64, DType::float16, DType::int64, DType::int8, DType::complex64, DType::complex128}) {
        Tensor x = drawn({30, 70}, dtype), y = drawn({30, 50}, dtype), z = drawn({20, 70}, dtype);
        expect_placed({concatenate({x + x, y, y * y}, 1)}, 2);
        expect_placed({concatenate({x + x, z, z * z}, 0)}, 2);
    }
    Tensor x = drawn({40, 50}, DType::float32), y = drawn({40, 30}, DType::float64), b = less(x, 0);
    expect_placed({concatenate({x, y * 2}, 1)}, 2);
    expect_placed({concatenate({b, less(x, 1), greater(x, 0.5)}, 1)}, 3);
}

TEST(Pieces, given_ones_are_copied_together) {
    for (DType dtype : {DType::float32, DType::float16, DType::uint8, DType::complex64, DType::complex128})
        for (std::int64_t width : {1, 3, 7, 8, 20, 600}) {
            // The widest are 94 of 100 numbers, and the interpreter copies each by itself. Under sanitizers still more than one block of
            // them, and of the largest type rows that lie pages apart.
            const std::int64_t few = dtype == DType::complex128 ? 260 : 64;
            const std::int64_t rows = width == 600 && share_under_sanitizers > 1 ? few : 400;
            Tensor x = drawn({rows, width}, dtype), y = drawn({width, rows}, dtype);
            std::vector<Tensor> pieces;
            for (int i = 0; i < 4; ++i) pieces.insert(pieces.end(), {x, flip(x), y.T(), flip(x, {0})});
            pieces.push_back(broadcast_to(x[{slice(), slice(0, 1)}], {rows, 3}));
            pieces.push_back(drawn({rows, 2}, dtype));
            expect_placed({concatenate(pieces, 1)}, 0);
            expect_placed({pad(x, {2, 3}, {0, 1}, 5), pad(flip(x), {0, 1}, {0, 0}, 5), pad(y.T(), {1, 1}, {1, 1}, 5)},
                          0);
        }
}

TEST(Pieces, others_read_them_too) {
    Tensor x = given("x", {40, 60}), y = given("y", {40, 60});
    Tensor a = x * y, b = x - y;
    expect_placed({concatenate({a, b}, 1), sum(a, 1), sum(b, 0)}, 2, false);
    expect_placed({concatenate({a, b}, 1), exp(sum(a, 1, true)) * a}, 2, false);
    expect_placed({concatenate({exp(a), b}, 0), matmul(exp(a), y.T())}, 2, false);
    expect_placed({concatenate({exp(a), b}, 1), matmul(exp(a), y.T())}, 1, false);
    expect_placed({concatenate({exp(a), b}, 1), sum(reshape(exp(a), {60, 40}), 0)}, 1, false);
    expect_placed({concatenate({exp(a), b}, 0), sum(reshape(exp(a), {60, 40}), 0)}, 2, false);
    expect_placed({sum(concatenate({a, b}, 1), 0), concatenate({b, a}, 0)}, 2, false);
}

// As attention's gradient joins those of queries, keys and values, which one product made.
TEST(Pieces, heads_become_columns_of_a_result) {
    auto columns = [](const Tensor& y) {
        const Shape& shape = y.shape();
        return reshape(permute_dims(y, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
    };
    Tensor x = given("x", {2, 3, 5, 5}), q = given("q", {2, 3, 5, 4}), k = given("k", {2, 3, 5, 9});
    Tensor a = matmul(x, q), b = exp(matmul(x, k)), c = q * 2;
    expect_placed({concatenate({columns(a), columns(b), columns(c)}, 2)}, 3, false);
    expect_placed({stack({columns(a), columns(c)}, 1)}, 2, false);
    expect_placed({pad(columns(a), {0, 1, 2}, {1, 1, 3})}, 1, false);
    expect_placed({concatenate({columns(a), columns(b)}, 2), sum(columns(a), 1)}, 2, false);
    expect_placed({concatenate({columns(a), columns(b)}, 2), reshape(columns(a), {10, 12}) + 1}, 2, false);
    expect_placed({concatenate({columns(a), columns(b)}, 2), sum(reshape(columns(a), {120}), 0)}, 1, false);
}

// Its rows are those of one product where they lie evenly, whose sums are cut as its rows say.
TEST(Pieces, products_with_one_matrix_for_all_stay_even) {
    Tensor x = given("x", {2, 14, 25, 2048}), w = given("w", {2048, 100});
    Tensor y = matmul(x, broadcast_to(w, {2, 14, 2048, 100}));
    Tensor z = reshape(permute_dims(y, {0, 2, 1, 3}), {2, 25, 1400});
    for (const Tensor& output : {concatenate({z, z * 2}, 2), z + 1}) {
        Graph graph = graph_of({output});
        EXPECT_EQ(difference(run(graph, {.fuse = false}, 1)[0], run(graph, {}, 1)[0]), "");
    }
}

TEST(Pieces, outputs_stay_on_their_own) {
    Tensor x = given("x", {40, 60}), a = x * x, b = x + 1;
    expect_placed({concatenate({a, b}, 1), a}, 1);
    expect_placed({concatenate({a, b}, 1), reshape(a, {60, 40})}, 1);
    expect_placed({concatenate({a, b}, 0), a, b}, 0);
}

TEST(Pieces, the_same_one_twice) {
    Tensor x = given("x", {40, 60}), a = x * x;
    expect_placed({concatenate({a, x, a, a + 1}, 1)}, 3);  // once more it is copied within the result
    expect_placed({stack({a, a}, 0), stack({a, a}, 2)}, 2);
}

TEST(Pieces, empty_ones) {
    Tensor x = given("x", {40, 60}), none = given("none", {40, 0});
    expect_placed({concatenate({none * 2, x * x, none, x + 1, none + 1}, 1)}, 2);
    expect_placed({concatenate({none * 2, none + 1}, 1)}, 0);
}

TEST(Pieces, joins_of_joins) {
    Tensor x = given("x", {20, 30, 8}), y = given("y", {20, 30, 8});
    Tensor inner = concatenate({x * y, x + y}, 2), other = concatenate({x - y, exp(x)}, 2);
    expect_placed({concatenate({inner, other}, 0)}, 6);
    expect_placed({concatenate({inner, other}, 1)}, 6);
    expect_placed({concatenate({inner, flip(inner, {2}), other}, 2)}, 7);  // one of which is turned from another
    expect_placed({concatenate({inner, other}, 1), sum(inner, 1)}, 6, false);
    expect_placed({pad(inner, {1, 2, 3}, {3, 2, 1}, 7)}, 3);
    expect_placed({concatenate({pad(x * y, {0, 0, 3}, {0, 0, 1}, 7), pad(x, {0, 0, 2}, {0, 0, 2})}, 1)}, 3);
}

TEST(Pieces, pads_leave_what_lies_inside) {
    for (Dims dims : {Dims{3, 5, 70}, Dims{1, 1, 1}, Dims{2, 0, 3}, Dims{7, 200, 3}}) {
        Tensor x = given("x", dims);
        for (auto [before, after] :
             {std::pair(Dims{1, 2, 3}, Dims{3, 2, 1}), std::pair(Dims{0, 0, 1}, Dims{0, 0, 0}),
              std::pair(Dims{2, 0, 0}, Dims{1, 0, 0}), std::pair(Dims{0, 1, 0}, Dims{0, 0, 100})}) {
            bool many_short_rows = dims[1] == 200 && before[0] != 2;  // which are not written one by one
            int pieces = dims[1] == 0 || many_short_rows ? 0 : 1;
            expect_placed({pad(x * x, before, after, 3)}, pieces);
            expect_placed({pad(x, before, after, 3)}, 0);
            expect_placed({exp(pad(x + 1, before, after)) + 1, sum(x + 1, 0)}, pieces, false);
        }
        expect_placed({pad_interior(x * x, {1, 0, 2}, {0, 1, 0}, {1, 0, 2})}, 0);
    }
}

TEST(Pieces, products_write_rows_with_gaps) {
    Tensor x = given("x", {70, 40}), y = given("y", {40, 33}), z = given("z", {40, 60});
    expect_placed({concatenate({matmul(x, y), matmul(x, z)}, 1)}, 2, false);
    expect_placed({concatenate({matmul(x, y), matmul(x, z.T().T())}, 1), x * 2}, 2, false);
    expect_placed({concatenate({matmul(x, y), matmul(x * x, y)}, 0)}, 2, false);
    expect_placed({concatenate({tanh(matmul(x, y)), matmul(x, z) + 1}, 1)}, 2, false);
    Tensor a = given("a", {3, 20, 40}), b = given("b", {3, 40, 30});
    expect_placed({concatenate({matmul(a, b), matmul(a, b + 1)}, 2)}, 2, false);
    expect_placed({concatenate({matmul(a, b), matmul(a, b + 1)}, 0)}, 2, false);
    expect_placed({concatenate({matmul(a, b), matmul(a, b + 1)}, 1)}, 2, false);  // rows that lie unevenly,
    Tensor one = broadcast_to(given("one", {40, 30}), {3, 40, 30});  // and would lie evenly as those of one product
    expect_placed({concatenate({matmul(a, one), matmul(a + 1, one)}, 1)}, 0, false);
}

TEST(Pieces, reductions_and_running_sums) {
    for (Dims dims : {Dims{100, 37}, Dims{3, 500}, Dims{300, 2}}) {
        Tensor x = given("x", dims);
        for (std::int64_t axis : {0, 1}) {
            expect_placed({stack({sum(x, axis), max(x, axis), min(x + 1, axis)}, 0)}, 3, false);
            expect_placed({stack({sum(x, axis), max(x, axis), min(x + 1, axis)}, 1)}, 0, false);
            for (std::int64_t along : {0, 1}) {
                expect_placed({concatenate({cumulative_sum(x, axis), x}, along)}, 1);
                expect_placed({concatenate({cumulative_sum(x * x, axis), exp(x)}, along)}, 2);
            }
        }
    }
}

TEST(Pieces, steps_of_rows) {
    Tensor x = given("x", {200, 300}), y = given("y", {200, 50});
    for (std::int64_t axis : {0, 1}) {
        expect_placed({concatenate({softmax(x), x * x}, axis)}, 2, false);
        Tensor top = max(x, 1, true), lower = x - top;
        expect_placed({concatenate({lower, x}, axis), sum(exp(lower), 1)}, 1, false);
        expect_placed({concatenate({softmax(x), softmax(x + 1)}, axis)}, 2, false);
    }
    expect_placed({concatenate({sum(softmax(x), 1, true), y}, 1)}, 0, false);
    expect_placed({concatenate({sum(softmax(x), 1, true), y[{slice(), slice(0, 1)}]}, 0)}, 1, false);
    expect_placed({stack({sum(softmax(x), 0), sum(x, 0)}, 1)}, 0, false);
    expect_placed({stack({sum(softmax(x), 0), sum(x, 0)}, 0)}, 2, false);
    expect_placed({concatenate({tanh(matmul(x, given("w", {300, 64}))), y}, 1)}, 1, false);
}

TEST(Pieces, turned_ones) {
    Tensor x = given("x", {40, 60}), y = given("y", {40, 60});
    expect_placed({concatenate({(x * y).T(), x.T()}, 0)}, 1);
    expect_placed({concatenate({(x * y).T(), x.T()}, 1)}, 1);
    expect_placed({concatenate({flip(x * y), x}, 1)}, 0);
    expect_placed({concatenate({reshape(x * y, {60, 40}), y.T()}, 1)}, 0);
    expect_placed({stack({x * y, x}, 1)}, 1);
    // A reshape that copies runs over what it reads, whose axes are others.
    expect_placed({concatenate({reshape(x.T(), {40, 60}), y}, 1)}, 0);
    expect_placed({concatenate({reshape(x.T(), {40, 60}), y}, 0)}, 1);
}

TEST(Pieces, what_writes_over_a_result) {
    Tensor x = given("x", {40, 60}), y = given("y", {40, 60}), i = Tensor::of(std::vector<std::int64_t>{1, 3, 1}, {3});
    Tensor joined = concatenate({x * y, x + y}, 0), piece = x * y;
    expect_placed({exp(joined) * 2}, 2);
    expect_placed({scatter(joined, i, given("rows", {3, 60}), 0, ScatterMode::add)}, 2);
    expect_placed({scatter(exp(scatter(joined, i, given("rows", {3, 60}), 0, ScatterMode::add)), i,
                           given("rows", {3, 60}), 0, ScatterMode::set)},
                  2);
    // The first piece lies where the result begins: what is made over it is smaller.
    expect_placed({scatter(piece, i, given("rows", {3, 60}), 0, ScatterMode::add), sum(concatenate({piece, x + y}, 0))},
                  2, false);
    Tensor s = sum(concatenate({piece, x + y}, 0));
    expect_placed({scatter(piece, i, given("rows", {3, 60}) * s, 0, ScatterMode::add)}, 2, false);
    expect_placed({tanh(piece) + s, s}, 2, false);
}

TEST(Pieces, results_take_no_leafs_memory_over) {
    Tensor x = given("x", {40, 60}), y = given("y", {40, 60});
    Graph graph = graph_of({concatenate({x * x, y}, 0)});
    auto binding = bound_with(graph, {.donors = {0}});
    EXPECT_EQ(binding->outputs[0].donor, -1);
    EXPECT_EQ(placed(*binding), 1);
}

TEST(Pieces, what_lies_in_place_counts_as_no_memory_traffic) {
    Tensor x = given("x", {40, 60});
    auto bytes = [](const Tensor& joined) {
        auto binding = bound_with(graph_of({joined}));
        return work_of(binding->steps.back()).bytes;
    };
    EXPECT_EQ(bytes(concatenate({x * x, x + 1}, 1)), 0);
    EXPECT_EQ(bytes(concatenate({x * x, x}, 1)), 2 * 40 * 60 * 4);
    EXPECT_EQ(bytes(pad(x * x, {1, 0}, {0, 0})), 60 * 4);
}

TEST(Pieces, a_result_that_waits_long_is_made_late) {
    Tensor x = given("x", {64, 512}), early = exp(x * 2), h = sum(early, 0, true);
    h = sum(cumulative_sum(cumulative_sum(broadcast_to(h, {512, 512}), 0), 1), 0, true);  // when most lives
    std::vector<Tensor> outputs{sum(concatenate({early, x, x, x, x, x, x * h}, 0), 1)};
    Graph graph = graph_of(outputs);
    for (bool thrifty : {false, true}) {
        auto binding = bound_with(graph, {.thrift = thrifty ? Thrift{0, 0} : Thrift{}});
        EXPECT_EQ(placed(*binding), thrifty ? 0 : 2) << binding->str();
        EXPECT_EQ(difference(interpret(outputs)[0], run_once(binding, graph)[0], 1e-4, 1e-4), "");
    }
}

// A block of rows has no room for a result's gaps.
TEST(Pieces, what_stays_inside_a_step_of_rows_and_is_made_again_moves_nowhere) {
    Tensor x = given("x", {400, 64}), q = given("q", {400, 64});
    for (std::int64_t axis : {0, 1}) {
        Tensor y = exp(x * 2), s = sum(y, 1, true), t = cumulative_sum(x + s, 0) * 1e-5, z = t;
        for (int i = 0; i < 15; ++i) t = cumulative_sum(sin(t), 0) * 0.002, z = z * (t + 1);
        z = sum(z, 1, true);  // when most lives
        Tensor late = x[{slice(), slice(0, 1)}] * z;
        Tensor rest = axis == 1 ? sort(late, 1) : sort(broadcast_to(late, {400, 64}), 1);
        std::vector<Tensor> outputs{sum(sin(concatenate({y, rest, q}, axis)), 0), s};
        Graph graph = graph_of(outputs);
        auto binding = bound_with(graph, {.thrift = {0, 0}});
        bool inside = false;
        for (const Step& step : binding->plan->steps) inside |= !step.inside.empty();
        EXPECT_TRUE(inside) << str(*binding->plan, graph);
        std::vector<Array> expected = interpret(outputs), found = run_once(binding, graph);
        for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(difference(expected[i], found[i], 1e-3, 1e-3), "");
    }
}

TEST(Pieces, within_the_steps_of_loops) {
    Tensor xs = given("steps", {20, 30, 40}), w = given("weight", {80, 40}), first = given("first", {30, 40});
    for (std::int64_t axis : {0, 1}) {
        auto step = [&](std::span<const Tensor> c, std::span<const Tensor> x) -> ScanStep {
            Tensor joined = concatenate({tanh(c[0]), x[0] * 2}, 1), next = tanh(matmul(joined, w) * 0.1);
            return {{next}, {concatenate({next + x[0], c[0] * 2, x[0]}, axis), joined, stack({next * 2, c[0] + 1}, 2)}};
        };
        Scanned found = scan(step, {first}, {xs});
        std::vector<Tensor> outputs = found.ys;
        outputs.push_back(found.carry[0]);
        std::vector<Array> expected = interpret(outputs);
        Graph graph = graph_of(outputs);
        auto binding = bound_with(graph);
        std::vector<Array> one = run_once(binding, graph), two = run(graph, {}, 2);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            EXPECT_EQ(difference(expected[i], one[i], 1e-4, 1e-4), "");
            EXPECT_EQ(difference(one[i], two[i]), "");
        }
        auto loop = std::find_if(binding->steps.begin(), binding->steps.end(),
                                 [](const BoundStep& at) { return !at.kernel->bodies().empty(); });
        ASSERT_NE(loop, binding->steps.end());
        EXPECT_EQ(placed(*loop->kernel->bodies()[0].second), 6);
    }
}

}  // namespace
}  // namespace weft
