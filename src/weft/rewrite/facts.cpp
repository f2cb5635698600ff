#include "weft/rewrite/facts.h"

#include <algorithm>
#include <cmath>

#include "weft/kernel/builder.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"
#include "weft/rewrite/exponentials.h"
#include "weft/rewrite/number.h"

namespace weft {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using Operands = SmallVector<const Fact*, 4>;  // facts of a node's inputs

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
const Bounded bounded[] = {{&exp_operation, 0, inf},
                           {&exp_of_negative_operation, 0, 1},
                           {&exp_raised_operation, 0, 0x1p61},
                           {&exp2_operation, 0, inf},
                           {&abs_operation, 0, inf},
                           {&square_operation, 0, inf},
                           {&sqrt_operation, 0, inf},
                           {&sigmoid_operation, 0, 1},
                           {&softplus_operation, 0, inf},
                           {&relu_operation, 0, inf},
                           {&log_sigmoid_operation, -inf, 0},
                           {&tanh_operation, -1, 1},
                           {&sin_operation, -1, 1},
                           {&cos_operation, -1, 1},
                           {&cosh_operation, 1, inf},
                           {&erf_operation, -1, 1},
                           {&erfc_operation, 0, 2},
                           {&expm1_operation, -1, inf},
                           {&hypot_operation, 0, inf},
                           {&sign_operation, -1, 1},
                           {&atan_operation, -2, 2}};
// Of these, no number gives NaN.
bool total(const Operation* operation) {
    return operation != &sqrt_operation && operation != &sin_operation && operation != &cos_operation;
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

// Results round, and so do the ends between which they lie: to infinity, to 0, to a neighbour.
Fact clamped(Fact fact, DType dtype) {
    if (!is_floating(dtype)) return fact;
    auto rounded = [&](double end) { return std::isfinite(end) ? literal_as(dtype, Literal(end)).as<double>() : end; };
    fact.low = rounded(fact.low), fact.high = rounded(fact.high);
    return fact;
}

Fact of_cast(const Node& node, const Fact& from) {
    if (is_complex(node.inputs[0]->dtype)) return of_dtype(node.dtype);
    Fact fact = from;
    fact.unique = false;
    if (is_floating(node.dtype)) return fact;
    if (!from.number) return of_dtype(node.dtype);
    fact.low = std::trunc(from.low), fact.high = std::trunc(from.high);
    return held(fact, node.dtype);
}

Fact of_sum(const Node& node, const Fact& a, const Fact& b) {
    bool adds = node.operation == &add_operation;
    Fact fact;
    fact.low = lowest({a.low + (adds ? b.low : -b.high)}), fact.high = highest({a.high + (adds ? b.high : -b.low)});
    fact.number = a.finite() && b.finite();
    fact.whole = a.whole && b.whole;
    if (!adds && is_largest_of(*node.inputs[0], without_infinity(*node.inputs[1])))
        fact.high = std::min(fact.high, 0.0);
    bool shifted = is_any_number(*node.inputs[0]) || is_any_number(*node.inputs[1]);
    fact.unique = shifted && (a.unique || b.unique) && is_integer(node.dtype);
    fact.symmetric = a.symmetric && b.symmetric && node.inputs[0]->shape == node.inputs[1]->shape;
    return held(fact, node.dtype);
}

Fact of_product(const Node& node, const Fact& a, const Fact& b) {
    Fact fact;
    fact.low = lowest({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    fact.high = highest({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    if (a.nonnegative() && b.nonnegative()) fact.low = std::isnan(a.low * b.low) ? 0 : a.low * b.low;
    fact.number = a.finite() && b.finite();
    fact.whole = a.whole && b.whole;
    fact.symmetric = a.symmetric && b.symmetric && node.inputs[0]->shape == node.inputs[1]->shape;
    return held(fact, node.dtype);
}

std::optional<Fact> of_bounded(const Node& node, const Operands& in) {
    const Operation* op = node.operation;
    auto found =
        std::find_if(std::begin(bounded), std::end(bounded), [&](const Bounded& b) { return b.operation == op; });
    if (found == std::end(bounded) || !is_inexact(node.dtype)) return std::nullopt;
    Fact fact;
    fact.low = found->low, fact.high = found->high;
    fact.number = total(op) && std::all_of(in.begin(), in.end(), [](const Fact* f) { return f->number; });
    fact.whole = op == &sign_operation || ((op == &abs_operation || op == &square_operation) && in[0]->whole);
    return fact;
}

Fact of_elementwise(const Node& node, const Operands& in) {
    const Operation* op = node.operation;
    Fact fact = of_dtype(node.dtype);
    if (is_complex(node.dtype)) return fact;
    if (op == &astype_operation) return of_cast(node, *in[0]);
    for (const Node* input : node.inputs)
        if (is_complex(input->dtype)) return fact;
    if (std::optional<Fact> known = of_bounded(node, in)) return *known;
    if (op == &negative_operation) {
        fact = *in[0];
        fact.low = -in[0]->high, fact.high = -in[0]->low;
        return held(fact, node.dtype);
    }
    if (op == &add_operation || op == &subtract_operation) return of_sum(node, *in[0], *in[1]);
    if (op == &multiply_operation || op == &gated_multiply_operation) return of_product(node, *in[0], *in[1]);
    // By a divisor that cannot be -0.
    bool proper = op == &divide_operation &&
                  (in[1]->positive() || is(*node.inputs[1], sum_operation) || is_exponential(*node.inputs[1]));
    if (proper && in[0]->nonnegative() && in[1]->nonnegative()) return fact.low = 0, fact;
    if (op == &maximum_operation || op == &minimum_operation) {
        fact = either(*in[0], *in[1]);
        if (op == &maximum_operation) fact.low = std::max(in[0]->low, in[1]->low);
        if (op == &minimum_operation) fact.high = std::min(in[0]->high, in[1]->high);
        return held(fact, node.dtype);
    }
    if (op == &where_operation) return held(either(*in[1], *in[2]), node.dtype);
    if (op == &stop_gradient_operation || op == &positive_operation) return *in[0];
    if (rounds(op)) {
        fact.low = std::floor(in[0]->low), fact.high = std::ceil(in[0]->high);
        fact.number = in[0]->number, fact.whole = true;
    }
    return fact;
}

Fact of_moved(const Node& node, const Operands& in) {
    const Operation* op = node.operation;
    Fact fact = *in[0];
    if (op == &concatenate_operation)
        for (const Fact* more : in) fact = either(fact, *more);
    fact.unique &=
        op == &permute_dims_operation || op == &flip_operation || op == &slice_operation || op == &reshape_operation;
    fact.symmetric &= op == &permute_dims_operation && node.shape.size() == 2;
    return fact;
}

Fact of_moved_or_joined(const Node& node, const Operands& in) {
    const Operation* op = node.operation;
    Fact fact = of_dtype(node.dtype);
    constexpr double largest_array = 0x1p52;
    if (op == &size_operation) return fact.low = 0, fact.high = largest_array, fact.number = fact.whole = true, fact;
    if (op == &iota_operation) return fact.low = 0, fact.high = largest_array, fact.unique = true, fact;
    if (op == &argsort_operation) return fact.low = 0, fact.unique = node.shape.size() == 1, fact;
    if (op == &argmax_operation || op == &argmin_operation) return fact.low = 0, fact;
    bool moves = op->family == Family::view || op->family == Family::gather || op == &concatenate_operation ||
                 op == &max_operation || op == &min_operation || op == &sort_operation;
    if (moves) return of_moved(node, in);
    if (op == &matmul_operation) {
        auto transposes = [](const Node& x, const Node& y) {
            return is(x, permute_dims_operation) && x.inputs[0] == &y && x.shape.size() == 2;
        };
        const Node &a = *node.inputs[0], &b = *node.inputs[1];
        fact.symmetric = transposes(a, b) || transposes(b, a);
        if (is_floating(node.dtype) && in[0]->nonnegative() && in[1]->nonnegative()) fact.low = 0;
    }
    if ((op == &sum_operation || op == &prod_operation) && is_floating(node.dtype)) {
        if (in[0]->nonnegative()) fact.low = 0;
        if (op == &sum_operation && in[0]->high <= 0) fact.high = 0;
        fact.whole = in[0]->whole;
    }
    return fact;
}

}  // namespace

const Fact* Facts::find(const Node& node) const {
    if (std::int32_t number = numbers_ ? numbers_->find(&node) : -1; number >= 0) {
        auto i = static_cast<std::size_t>(number);
        if (i < by_number_.size() && by_number_[i] >= 0) return &known_[static_cast<std::size_t>(by_number_[i])];
    }
    std::int32_t number = without_.size() > 0 ? without_.find(&node) : -1;
    return number < 0 ? nullptr : &known_[static_cast<std::size_t>(of_those_[static_cast<std::size_t>(number)])];
}

const Fact& Facts::keep(const Node& node, const Fact& fact) {
    auto place = static_cast<std::int32_t>(known_.size());
    known_.push_back(fact);
    if (std::int32_t number = numbers_ ? numbers_->find(&node) : -1; number >= 0) {
        if (numbers_->size() > by_number_.size()) by_number_.resize(numbers_->size(), -1);
        by_number_[static_cast<std::size_t>(number)] = place;
    } else {
        without_.number(&node);
        of_those_.push_back(place);
    }
    return known_.back();
}

const Fact& Facts::of(const Node& top) {
    if (const Fact* known = find(top)) return *known;
    const Fact* last = nullptr;
    stack_.assign(1, &top);
    while (!stack_.empty()) {
        const Node* node = stack_.back();
        if (node != &top && (last = find(*node))) {
            stack_.pop_back();
            continue;
        }
        Operands in;
        std::size_t before = stack_.size();
        if (!opaque(*node)) {
            for (const Node* input : node->inputs) {
                if (const Fact* known = find(*input))
                    in.push_back(known);
                else
                    stack_.push_back(input);
            }
        }
        if (stack_.size() > before) continue;
        stack_.pop_back();
        last = &keep(*node, derived(*node, in));
    }
    return *last;
}

Fact Facts::derived(const Node& node, const Operands& in) {
    if (opaque(node)) return of_dtype(node.dtype);
    if (std::optional<Literal> number = number_of(node)) return of_number(*number);
    Fact fact = node.operation->family == Family::elementwise ? of_elementwise(node, in) : of_moved_or_joined(node, in);
    return clamped(fact, node.dtype);
}

}  // namespace weft
