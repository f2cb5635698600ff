#include "weft/compile/parted_maps.h"

#include "compile/programs.h"
#include "weft/autodiff/derivative.h"
#include "weft/ops/arrange.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

int count_of(const Graph& graph, const Operation& operation) {
    return static_cast<int>(std::count_if(graph.entries.begin(), graph.entries.end(),
                                          [&](const Graph::Entry& e) { return e.node->operation == &operation; }));
}

/// Bytes that the plan's joins copy: of pieces that lie elsewhere.
std::int64_t copied(const Binding& binding) {
    std::int64_t bytes = 0;
    for (const BoundStep& step : binding.steps) {
        if (step.operation != &concatenate_operation && step.operation != &pad_operation) continue;
        for (std::size_t k = 0; k + 1 < step.operands.size(); ++k)
            if (!(step.operands[k].base == step.operands.back().base))
                bytes +=
                    step.operands[k].layout.size() * static_cast<std::int64_t>(size_of(step.operands[k].layout.dtype));
    }
    return bytes;
}

/// Computed in so many parts (0: left as it is), with the bits of the interpreter and of a kernel an operation.
void expect_parts(const std::vector<Tensor>& outputs, int joins_after) {
    Graph graph = rewritten_graph(outputs);
    std::optional<Graph> parted = parted_maps(graph);
    ASSERT_EQ(parted.has_value(), joins_after >= 0);
    if (!parted) return;
    EXPECT_EQ(count_of(*parted, concatenate_operation) + count_of(*parted, pad_operation), joins_after) << str(*parted);
    std::vector<Array> found = run(*parted, {}, 1), two = run(*parted, {}, 2), plain = run(graph, {.fuse = false}, 1),
                       expected = interpret(outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        EXPECT_EQ(difference(found[i], two[i]), "");
        EXPECT_EQ(difference(plain[i], found[i]), "");
        EXPECT_EQ(difference(expected[i], found[i]), "");
    }
}

Tensor laplace(const Tensor& x, std::int64_t axes) {
    Tensor sum = roll(x, 1, 0) + roll(x, -1, 0);
    for (std::int64_t axis = 1; axis < axes; ++axis) sum = sum + roll(x, 1, axis) + roll(x, -1, axis);
    return x + 0.1 * (sum - 2.0 * static_cast<double>(axes) * x);
}

TEST(PartedMaps, of_rolled_arrays_copy_nothing) {
    expect_parts({laplace(drawn({700}), 1)}, 1);
    expect_parts({laplace(drawn({61, 75}), 2)}, 4);
    expect_parts({laplace(drawn({39, 31, 83}), 3)}, 13);
    Graph graph = rewritten_graph({laplace(drawn({70, 80}), 2)});
    Graph parted = std::move(*parted_maps(graph));
    auto bound = [](const Graph& g) {
        return weft::bind(std::make_shared<const Plan>(make_plan(g)), g, cpu_compiler());
    };
    EXPECT_EQ(copied(*bound(parted)), 0);
    EXPECT_EQ(copied(*bound(graph)), 4 * 70 * 80 * 8);
}

TEST(PartedMaps, of_all_types_and_with_numbers_rows_and_columns) {
    for (DType dtype : {DType::float32, DType::float16, DType::int64, DType::int8, DType::complex64}) {
        Tensor x = drawn({150, 400}, dtype), row = drawn({400}, dtype), column = drawn({150, 1}, dtype);
        expect_parts({(x + row) * roll(x, 3, 1) + column * roll(x, -7, 0)}, 3);
    }
    Tensor x = drawn({150, 400}, DType::float32), y = drawn({150, 400});
    expect_parts({where(less(roll(x, 2, 0), 0), roll(y, 1, 1), x + 1)}, 3);
    expect_parts({roll(x, {3, 5}, {0, 1}) + y}, 3);  // a roll of a roll
    expect_parts({tanh(roll(numbers("t", {900}), 5, 0))}, 1);
}

TEST(PartedMaps, of_padded_arrays_have_numbers_beside_them) {
    Tensor x = drawn({140, 150}), y = drawn({141, 152});
    expect_parts({y * 2 - abs(pad(x, {1, 0}, {0, 2}, -3.0))}, 3);
    Tensor g = drawn({7000}), h = pad(g, {1}, {0}) - pad(g, {0}, {1});
    expect_parts({h}, 1);
    expect_parts({abs(pad(g, {300}, {300}, -1.0))}, 1);  // parts that are one number
    // What is padded is computed with what reads it.
    Tensor inside = slice(y, {1, 1}, {139, 150}) * 2 - slice(y, {0, 1}, {139, 150});
    expect_parts({y + pad(inside, {1, 1}, {1, 1})}, 4);
}

TEST(PartedMaps, what_others_read_is_laid_together) {
    Tensor x = drawn({150, 400}), rolled = roll(x, 1, 0), y = rolled * x, z = y + 1;
    expect_parts({y, z, exp(y) + roll(x, 2, 1)}, 9);
    expect_parts({exp(permute_dims(laplace(x, 2)))}, 4);
    expect_parts({y, rolled}, -1);  // it comes to memory anyway
    // A second map reads the first one's results rolled.
    Tensor first = laplace(x, 2);
    expect_parts({laplace(first, 2)}, 8);
}

TEST(PartedMaps, of_what_is_rolled_along_several_axes_copy_nothing) {
    Tensor x = drawn({90, 100}), sum = tanh(x);
    for (std::int64_t i : {-1, 0, 2})
        for (std::int64_t j : {-2, 1}) sum = sum + roll(x, {i, j}, {0, 1});
    expect_parts({sum}, 4);
    Tensor y = drawn({30, 40, 50}), z = roll(y, {1, -2, 3}, {0, 1, 2});
    expect_parts({y * z + roll(y, 3, 2)}, 7);
    expect_parts({roll(x, {3, 4}, {0, 0}) * x}, 1);  // twice along one
    Tensor once = roll(x, 1, 0), twice = roll(once, 1, 1);
    expect_parts({twice * x, once * 2 + exp(once), sort(once)}, 4);  // the first is wanted itself
}

TEST(PartedMaps, only_where_that_saves_something) {
    Tensor small = drawn({10, 10}), x = drawn({150, 400});
    expect_parts({laplace(small, 2)}, -1);
    expect_parts({sum(abs(x - roll(x, 1, 0)))}, -1);          // the sum would read what it now computes
    expect_parts({concatenate({x * 2, exp(x)}, 0) + 1}, -1);  // what is computed lies where it belongs
    // More parts than are worth a kernel each: axes in front alone.
    Tensor sum = x;
    for (std::int64_t shift : {1, 2, 3, 4, 5, 6, 7, 8}) sum = sum + roll(x, shift, 0) + roll(x, shift, 1);
    expect_parts({sum}, 9);
}

TEST(PartedMaps, gradients_are_of_them_too) {
    Tensor x = drawn({150, 400});
    Tensor cost = sum(square(laplace(x, 2)));
    std::vector<Tensor> outputs = {gradient(cost, x)};
    Graph parted = std::move(*parted_maps(rewritten_graph(outputs)));
    EXPECT_EQ(copied(*weft::bind(std::make_shared<const Plan>(make_plan(parted)), parted, cpu_compiler())), 0);
    EXPECT_EQ(difference(interpret(outputs)[0], run(parted, {}, 1)[0], 1e-12, 1e-12), "");
}

}  // namespace
}  // namespace weft
