// Each rule against its own examples (a pattern is its own): the expression as it was written and as the rule leaves it, both by the
// interpreter, on random numbers of every type it claims, on empty and broadcast arrays, on NaN and infinities unless the rule says
// that it changes them; and the derivatives of both.
#include <gtest/gtest.h>

#include <cmath>

#include "weft/autodiff/derivative.h"
#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/rewrite/rewrite.h"
#include "weft/runtime/oracle.h"

namespace weft {
namespace {

struct Rewritten {
    Tensor after;
    bool fired = false;
};

Rewritten rewritten(const Tensor& before, const Rule& rule, const RewriteOptions& options) {
    Node* outputs[] = {before.node()};
    std::vector<Rewrite> trace;
    Graph graph = rewrite(gather(outputs), options, &trace);
    Rewritten result{handle(graph.entries[static_cast<std::size_t>(graph.outputs[0])].node)};
    for (const Rewrite& one : trace) result.fired |= one.rule == rule.name;
    return result;
}

// By the rule alone; where its example needs others to come to its form, by all.
Rewritten rewritten(const Tensor& before, const Rule& rule) {
    RewriteOptions alone;
    alone.only = {rule.name};
    Rewritten result = rewritten(before, rule, alone);
    return result.fired ? result : rewritten(before, rule, RewriteOptions());
}

std::vector<std::vector<Shape>> shapes_of(const Example& example) {
    if (!example.shapes.empty()) return {example.shapes};
    std::vector<std::vector<Shape>> all;
    for (const std::vector<Shape>& cycle : std::vector<std::vector<Shape>>{
             {{7}}, {{}}, {{0}}, {{3, 4}}, {{1, 4}, {3, 1}, {3, 4}}, {{4}, {}, {2, 4}}, {{0, 2}, {1, 2}}}) {
        std::vector<Shape> shapes;
        for (std::size_t i = 0; i < example.expression.arity; ++i) shapes.push_back(cycle[i % cycle.size()]);
        all.push_back(shapes);
    }
    return all;
}

constexpr DType tried[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16,
                           DType::int32,   DType::uint8,   DType::int64,   DType::bool_};

std::vector<Tensor> inputs_of(const Example& example, const std::vector<Shape>& shapes, DType dtype, Draw& draw) {
    std::vector<Tensor> inputs;
    for (const Shape& shape : shapes) inputs.emplace_back(draw.array(dtype, dims_of(shape), &example.domain));
    return inputs;
}

// The expression on these inputs; empty if it is not defined for their type.
Tensor called(const Example& example, std::span<const Tensor> inputs) try {
    KeepPending keep;
    return example.expression.call(inputs);
} catch (const DTypeError&) {
    return {};
} catch (const ValueError&) {
    return {};
}

double largest(const Array& array) {
    double most = 0;
    for (double x : as_doubles(array))
        if (std::isfinite(x)) most = std::max(most, std::abs(x));
    return most;
}

// What the expression gives in float64, as the type of `like`: nearer to the truth than what is judged.
Array reference(const Example& example, std::span<const Tensor> inputs, const Array& like) {
    if (!is_inexact(like.dtype)) return interpret(called(example, inputs));
    std::vector<Tensor> wide;
    for (const Tensor& x : inputs) wide.push_back(is_floating(x.dtype()) ? astype(x, DType::float64) : x);
    Tensor value = called(example, wide);
    return interpret(value ? astype(value, like.dtype) : called(example, inputs));
}

std::string described(const Rule& rule, std::span<const Tensor> inputs, const Tensor& before) {
    std::string words = rule.name + " on";
    for (const Tensor& x : inputs) words += text(" ", x.dtype(), x.shape());
    return words + ": " + written(*before.node());
}

// Where the rule says that NaN and infinities may come out otherwise, they are not compared.
Array without_infinities(const Rule& rule, Array expected, const Array& found) {
    if (rule.assumes == Assumes::nothing || !is_floating(expected.dtype)) return expected;
    expected = contiguous(expected);
    Array dense = contiguous(found);
    std::vector<double> values = as_doubles(expected);
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::size_t bytes = size_of(expected.dtype);
        if (!std::isfinite(values[i]))
            std::memcpy(static_cast<std::byte*>(expected.address()) + i * bytes,
                        static_cast<const std::byte*>(dense.address()) + i * bytes, bytes);
    }
    return expected;
}

// How often the rule fired.
int check_values(const Rule& rule, const Example& example, Draw& draw) {
    int fired = 0;
    for (DType dtype : tried) {
        bool claimed = example.dtypes.empty() ||
                       std::find(example.dtypes.begin(), example.dtypes.end(), dtype) != example.dtypes.end();
        if (!claimed) continue;
        for (const std::vector<Shape>& shapes : shapes_of(example)) {
            std::vector<Tensor> inputs = inputs_of(example, shapes, dtype, draw);
            Tensor before = called(example, inputs);
            if (!before) continue;
            Rewritten result = rewritten(before, rule);
            fired += result.fired;
            Array found = interpret(result.after);
            Array expected = without_infinities(rule, reference(example, inputs, found), found);
            double epsilon = epsilon_of(found.dtype);
            EXPECT_EQ(difference(expected, found, 64 * epsilon * std::max(1.0, largest(expected)), 64 * epsilon), "")
                << described(rule, inputs, before);
        }
    }
    return fired;
}

// NaN, infinities, the ends of the type, zeros, against each other.
void check_specials(const Rule& rule, const Example& example) {
    if (rule.assumes != Assumes::nothing || !example.shapes.empty()) return;
    for (DType dtype : {DType::float32, DType::float64, DType::int32}) {
        Array special = special_values(dtype);
        std::int64_t n = special.size();
        for (std::int64_t shift = 0; shift < (example.expression.arity > 1 ? n : 1); ++shift) {
            std::vector<Tensor> inputs;
            for (std::size_t i = 0; i < example.expression.arity; ++i) {
                Array turned = Array::empty(dtype, {n});
                for (std::int64_t k = 0; k < n; ++k) {
                    std::int64_t from = (k + static_cast<std::int64_t>(i) * shift) % n;
                    std::memcpy(static_cast<std::byte*>(turned.address()) + k * size_of(dtype),
                                static_cast<std::byte*>(special.address()) + from * size_of(dtype), size_of(dtype));
                }
                inputs.emplace_back(turned);
            }
            Tensor before = called(example, inputs);
            if (!before) continue;
            Array found = interpret(rewritten(before, rule).after);
            EXPECT_EQ(difference(interpret(before), found, 0, 4 * epsilon_of(found.dtype)), "")
                << described(rule, inputs, before);
        }
    }
}

void check_gradient(const Rule& rule, const Example& example, Draw& draw) {
    bool floats = example.dtypes.empty() ||
                  std::find(example.dtypes.begin(), example.dtypes.end(), DType::float64) != example.dtypes.end();
    if (!floats || !example.gradient) return;
    std::vector<Tensor> inputs = inputs_of(example, shapes_of(example)[0], DType::float64, draw);
    Tensor before = called(example, inputs);
    if (!before || !is_floating(before.dtype())) return;
    Tensor after = rewritten(before, rule).after;
    auto weights = Tensor(draw.array(before.dtype(), dims_of(before.shape())));
    std::vector<Tensor> left, right;
    try {
        left = gradient(sum(before * weights), inputs);
    } catch (const NotDifferentiable&) {
        return;
    }
    right = gradient(sum(after * weights), inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        Array found = interpret(right[i]), expected = without_infinities(rule, interpret(left[i]), found);
        double allowed = 1e-9 * std::max(1.0, largest(expected));
        EXPECT_EQ(difference(expected, found, allowed, 1e-9), "")
            << described(rule, inputs, before) << " gradient " << i;
        // And the gradient as the user would take it, rewritten whole.
        found = interpret(rewritten(left[i], rule, RewriteOptions()).after);
        EXPECT_EQ(difference(expected, found, allowed, 1e-9), "")
            << described(rule, inputs, before) << " rewritten " << i;
    }
}

TEST(Rules, each_keeps_the_values_of_its_own_examples) {
    for (const Rule& rule : all_rules()) {
        EXPECT_FALSE(rule.examples.empty()) << rule.name << " has no example";
        for (const Example& example : rule.examples) {
            Draw draw(rule.name);
            EXPECT_GT(check_values(rule, example, draw), 0)
                << rule.name << " never applies to its example " << &example - rule.examples.data();
        }
    }
}

TEST(Rules, those_that_assume_nothing_keep_nan_and_infinities) {
    for (const Rule& rule : all_rules())
        for (const Example& example : rule.examples) check_specials(rule, example);
}

TEST(Rules, each_keeps_derivatives) {
    for (const Rule& rule : all_rules()) {
        for (const Example& example : rule.examples) {
            Draw draw(rule.name + " gradient");
            check_gradient(rule, example, draw);
        }
    }
}

}  // namespace
}  // namespace weft
