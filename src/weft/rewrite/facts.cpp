#include "weft/rewrite/facts.h"

#include <algorithm>
#include <cmath>

#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"

namespace weft {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

Fact of_dtype(DType dtype) {
    Fact fact;
    if (is_inexact(dtype)) return fact;
    fact.number = fact.whole = true;
    with_dtype(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) {
            fact.low = static_cast<double>(std::numeric_limits<T>::lowest());
            fact.high = static_cast<double>(std::numeric_limits<T>::max());
        }
    });
    return fact;
}

Fact of_number(const Literal& literal) {
    Fact fact;
    if (literal.kind == Kind::complex) return fact;
    double value = literal.as<double>();
    if (std::isnan(value)) return fact;
    fact.low = fact.high = value;
    fact.number = true;
    fact.whole = std::floor(value) == value;
    fact.symmetric = true;
    return fact;
}

// The operations whose result lies in a fixed range, whatever real number comes in (NaN gives NaN), and those that never fall.
struct Bounded {
    const Operation* operation;
    double low, high;
};
const Bounded bounded[] = {{&exp_operation, 0, inf},          {&exp2_operation, 0, inf},     {&abs_operation, 0, inf},
                           {&square_operation, 0, inf},       {&sqrt_operation, 0, inf},     {&rsqrt_operation, 0, inf},
                           {&sigmoid_operation, 0, 1},        {&softplus_operation, 0, inf}, {&relu_operation, 0, inf},
                           {&log_sigmoid_operation, -inf, 0}, {&tanh_operation, -1, 1},      {&sin_operation, -1, 1},
                           {&cos_operation, -1, 1},           {&cosh_operation, 1, inf},     {&erf_operation, -1, 1},
                           {&erfc_operation, 0, 2},           {&expm1_operation, -1, inf},   {&hypot_operation, 0, inf},
                           {&sign_operation, -1, 1},          {&atan_operation, -2, 2}};
// Of these, no number gives NaN.
bool total(const Operation* operation) {
    return operation != &sqrt_operation && operation != &rsqrt_operation && operation != &sin_operation &&
           operation != &cos_operation;
}

bool rounds(const Operation* operation) {
    return operation == &floor_operation || operation == &ceil_operation || operation == &trunc_operation ||
           operation == &round_operation || operation == &sign_operation;
}

// Sums and products of ends; infinity less infinity and 0 times infinity say nothing.
double lowest(std::initializer_list<double> ends) {
    double low = inf;
    for (double end : ends) low = std::isnan(end) ? -inf : std::min(low, end);
    return low;
}
double highest(std::initializer_list<double> ends) {
    double high = -inf;
    for (double end : ends) high = std::isnan(end) ? inf : std::max(high, end);
    return high;
}

// Integers wrap: a range that leaves the type says nothing.
Fact held(Fact fact, DType dtype) {
    if (is_inexact(dtype)) return fact;
    Fact all = of_dtype(dtype);
    bool inside =
        fact.low >= all.low && fact.high <= all.high && std::abs(fact.low) < 0x1p53 && std::abs(fact.high) < 0x1p53;
    if (!inside) fact.low = all.low, fact.high = all.high;
    fact.number = fact.whole = true;
    return fact;
}

Fact either(const Fact& a, const Fact& b) {
    Fact fact;
    fact.low = std::min(a.low, b.low), fact.high = std::max(a.high, b.high);
    fact.number = a.number && b.number;
    fact.whole = a.whole && b.whole;
    return fact;
}

}  // namespace

const Fact& Facts::of(const Node& top) {
    std::vector<const Node*> stack{&top};
    while (!stack.empty()) {
        const Node* node = stack.back();
        if (known_.contains(node)) {
            stack.pop_back();
            continue;
        }
        std::size_t before = stack.size();
        if (!opaque(*node)) {
            for (const Node* input : node->inputs)
                if (!known_.contains(input)) stack.push_back(input);
        }
        if (stack.size() > before) continue;
        stack.pop_back();
        known_[node] = derived(*node);
    }
    return known_.at(&top);
}

Fact Facts::derived(const Node& node) {
    Fact fact = of_dtype(node.dtype);
    if (opaque(node)) return fact;
    if (std::optional<Literal> number = number_of(node)) return of_number(*number);
    const Operation* op = node.operation;
    auto in = [&](std::size_t i) -> const Fact& { return known_.at(node.inputs[i]); };

    if (op == &size_operation) return fact.low = 0, fact.number = fact.whole = true, fact;
    if (op == &iota_operation) return fact.low = 0, fact.unique = true, fact;
    if (op == &argsort_operation) return fact.low = 0, fact.unique = node.shape.size() == 1, fact;
    if (op == &matmul_operation) {
        const Node &a = *node.inputs[0], &b = *node.inputs[1];
        auto transposes = [](const Node& x, const Node& y) {
            return !opaque(x) && x.operation == &permute_dims_operation && x.inputs[0] == &y && x.shape.size() == 2;
        };
        fact.symmetric = transposes(a, b) || transposes(b, a);
        if (in(0).nonnegative() && in(1).nonnegative()) fact.low = std::max(fact.low, 0.0);
        return fact;
    }
    bool moves = op->family == Family::view || op->family == Family::gather || op == &concatenate_operation ||
                 op == &max_operation || op == &min_operation;
    if (moves) {
        fact = in(0);
        if (op == &concatenate_operation)
            for (std::size_t i = 1; i < node.inputs.size(); ++i) fact = either(fact, in(i));
        bool keeps = op == &permute_dims_operation || op == &flip_operation || op == &slice_operation ||
                     op == &reshape_operation;
        fact.unique &= keeps;
        fact.symmetric &= op == &permute_dims_operation && node.shape.size() == 2;
        return fact;
    }
    if (op == &sum_operation || op == &prod_operation) {
        if (in(0).nonnegative() && is_inexact(node.dtype)) fact.low = 0;
        if (op == &sum_operation && in(0).high <= 0 && is_inexact(node.dtype)) fact.high = 0;
        fact.whole |= in(0).whole;
        return fact;
    }
    if (op == &argmax_operation || op == &argmin_operation) return fact.low = 0, fact;
    if (op->family != Family::elementwise || is_complex(node.dtype)) return fact;

    if (op == &astype_operation) {
        Fact from = in(0);
        bool floats = is_floating(node.dtype) && !is_complex(node.inputs[0]->dtype);
        if (floats) {
            from.number = in(0).number, from.unique = false;
            return from;
        }
        return held(from.number ? from : fact, node.dtype);
    }
    for (const Bounded& b : bounded) {
        if (b.operation != op || !is_inexact(node.dtype)) continue;
        fact.low = b.low, fact.high = b.high;
        bool numbers = true;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) numbers &= in(i).number;
        fact.number = numbers && total(op);
        fact.whole = op == &sign_operation || ((op == &abs_operation || op == &square_operation) && in(0).whole);
        return fact;
    }
    if (op == &negative_operation) {
        fact = in(0);
        fact.low = -in(0).high, fact.high = -in(0).low;
        return held(fact, node.dtype);
    }
    if (op == &add_operation || op == &subtract_operation) {
        double sign = op == &add_operation ? 1 : -1;
        double low = sign > 0 ? in(1).low : -in(1).high, high = sign > 0 ? in(1).high : -in(1).low;
        fact.low = lowest({in(0).low + low}), fact.high = highest({in(0).high + high});
        fact.number = in(0).finite() && in(1).finite();
        fact.whole = in(0).whole && in(1).whole;
        bool shifted = number_of(*node.inputs[1]) || number_of(*node.inputs[0]);
        fact.unique = shifted && (in(0).unique || in(1).unique) && is_integer(node.dtype);
        fact.symmetric = in(0).symmetric && in(1).symmetric;
        return held(fact, node.dtype);
    }
    if (op == &multiply_operation || op == &gated_multiply_operation) {
        const Fact &a = in(0), &b = in(1);
        fact.low = lowest({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
        fact.high = highest({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
        if (a.nonnegative() && b.nonnegative()) fact.low = 0;
        fact.number = a.finite() && b.finite();
        fact.whole = a.whole && b.whole;
        fact.symmetric = a.symmetric && b.symmetric;
        return held(fact, node.dtype);
    }
    if (op == &divide_operation && in(0).nonnegative() && in(1).nonnegative()) return fact.low = 0, fact;
    if (op == &maximum_operation || op == &minimum_operation) {
        fact = either(in(0), in(1));
        if (op == &maximum_operation) fact.low = std::max(in(0).low, in(1).low);
        if (op == &minimum_operation) fact.high = std::min(in(0).high, in(1).high);
        return fact;
    }
    if (op == &where_operation) return either(in(1), in(2));
    if (op == &stop_gradient_operation || op == &positive_operation) return in(0);
    if (rounds(op)) {
        fact.low = std::floor(in(0).low), fact.high = std::ceil(in(0).high);
        fact.number = in(0).number, fact.whole = true;
    }
    return fact;
}

}  // namespace weft
