// Algebra: products and sums in their normal forms (what cancels is gone, numbers are gathered), products over sums where divisions
// vanish, powers.
#include <algorithm>
#include <cmath>

#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/product.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

using T = const Tensor&;

bool summable(DType d) { return full_width(d) || is_integer(d); }

bool is_product(const Node& node) {
    if (opaque(node)) return false;
    const Operation* op = node.operation;
    return op == &multiply_operation || op == &gated_multiply_operation || op == &divide_operation ||
           op == &negative_operation || op == &square_operation ||
           (op == &where_operation && is_number(*node.inputs[2], 0));
}
bool is_sum(const Node& node) {
    if (opaque(node)) return false;
    const Operation* op = node.operation;
    return op == &add_operation || op == &subtract_operation || op == &negative_operation;
}
bool scales(const Node& node) {
    return !opaque(node) && node.operation == &multiply_operation &&
           (is_any_number(*node.inputs[0]) || is_any_number(*node.inputs[1]));
}

// A product in fewer operations, or with its number outermost.
Tensor product_normal_form(const Site& site) {
    const Node& node = site.node;
    if (!full_width(node.dtype)) return {};
    const Node &a = *node.inputs[0], &b = *node.inputs[node.inputs.size() - 1];
    if (!is_product(a) && !is_product(b) && (&a != &b || node.inputs.size() == 1)) return {};
    for (bool through : {false, true}) {
        Product product(site, node, through);
        product.meet_masks(site);
        if (!product.stays_in_range()) return {};
        bool fewer = product.cost() < product.cost_before();
        bool number_inside = !through && node.inputs.size() == 2 && product.cost() == product.cost_before() &&
                             product.number != 1 && product.number != -1 && !is_any_number(a) && !is_any_number(b);
        bool turned =
            std::any_of(product.factors.begin(), product.factors.end(), [](const Factor& f) { return f.power > 0; });
        if (fewer || (number_inside && turned)) return product.build();
        if (product.complete) break;  // what others read too would be taken apart the same way
    }
    return {};
}

// where(here, e / s / picked, 0), picked = sum(where(here, e / s, 0)): the mask takes the quotient for 1.
Tensor masked_quotient(const Site& site) {
    const Node& node = site.node;
    if (!full_width(node.dtype) || !is_number(*node.inputs[2], 0) || !is_product(*node.inputs[1])) return {};
    Product product(site, node, true);
    std::size_t before = product.cost();
    return product.meet_masks(site) && product.cost() < before ? product.build() : Tensor();
}

// What a term is a multiple of.
const Node* base(const Node* term) {
    if (opaque(*term) || term->operation != &multiply_operation) return term;
    if (is_any_number(*term->inputs[0])) return term->inputs[1];
    return is_any_number(*term->inputs[1]) ? term->inputs[0] : term;
}

// Whether a single term joins a sum, in its normal form already, none of whose terms is a multiple of the same: nothing meets. As in the
// sum of a thousand gradients, each of whose additions would look at all before it.
bool meets_none(const Node& node) {
    if (node.inputs.size() != 2) return false;
    auto adds = [](const Node& x) { return is(x, add_operation) || is(x, subtract_operation); };
    for (std::size_t i : {0, 1}) {
        const Node &sum = *node.inputs[i], &term = *node.inputs[1 - i];
        if (!adds(sum) || is_sum(term) || is_any_number(term)) continue;
        const Node* of_term = base(&term);
        bool turns = of_term != &term && (is_number(*term.inputs[0], -1) || is_number(*term.inputs[1], -1));
        if (turns || is_sum(*of_term)) continue;  // x + (-1) y -> x - y; sums of sums are opened
        SmallVector<const Node*, 16> stack{&sum};
        for (std::size_t left = most_nodes; left > 0 && !stack.empty(); --left) {
            const Node& at = *stack.back();
            stack.pop_back();
            for (const Node* input : at.inputs) {
                if (adds(*input))
                    stack.push_back(input);
                else if (base(input) == of_term || is_sum(*base(input)))
                    return false;
            }
        }
        return true;
    }
    return false;
}

Tensor sum_normal_form(const Site& site) {
    const Node& node = site.node;
    if (!summable(node.dtype)) return {};
    bool nested = false;
    for (const Node* input : node.inputs) nested |= is_sum(*input) || scales(*input);
    if (!nested && (node.inputs.size() < 2 || node.inputs[0] != node.inputs[1])) return {};
    if (meets_none(node)) return {};
    for (bool through : {false, true}) {
        Sum sum(site, node, through);
        if (sum.cost() < sum.cost_before()) return sum.build();
        if (sum.complete) break;
    }
    return {};
}

// (a / x + b) * x -> a + b * x: the factor goes into the sum where that takes fewer operations and fewer divisions.
Tensor distributed(const Site& site, const Product& product, std::size_t at, bool through) {
    const Factor& factor = product.factors[at];
    Sum sum(site, *factor.node);
    if (sum.terms.size() > 8 || sum.number != 0) return {};
    Product rest = product.without(at);
    std::size_t before = product.cost_before() + sum.cost_before(), after = sum.cost();
    bool divides = false, met = false;
    std::vector<Product> parts;
    for (const Term& term : sum.terms) {
        bool mine = is_product(*term.node) && site.only_here(*term.node);
        Product part(site, *term.node, through);
        before += mine ? part.cost_before() : 0;
        divides |= part.divides();
        for (Factor& inner : part.factors) inner.gate |= factor.gate;  // what gated as a sum gates as its terms
        part.multiply(rest);
        met |= part.meet_masks(site);
        after += part.cost();
        part.number *= term.times;
        parts.push_back(std::move(part));
    }
    // A division by what a mask picks gives way to none: that is worth some multiplications.
    if (!divides || after >= before + (met ? 4 : 0)) return {};
    Tensor result;
    for (const Product& part : parts) result = result ? result + part.build() : part.build();
    return result;
}

Tensor product_into_sum(const Site& site) {
    const Node& node = site.node;
    auto may_hold_sum = [](const Node* input) { return is_sum(*input) || is_product(*input); };
    if (!full_width(node.dtype) || std::none_of(node.inputs.begin(), node.inputs.end(), may_hold_sum)) return {};
    Product product(site, node);
    if (!product.stays_in_range()) return {};
    for (std::size_t i = 0; i < product.factors.size(); ++i) {
        const Factor& factor = product.factors[i];
        if (factor.power != 1 || !is_sum(*factor.node) || !site.only_here(*factor.node)) continue;
        for (bool through : {false, true})
            if (Tensor result = distributed(site, product, i, through)) return result;
    }
    return {};
}

// x ** k of a number k, by squarings where they are few: k = 16 takes 4, k = 15 takes 6.
constexpr int most_power = 64;

Tensor number_power(const Site& site) {
    const Node& node = site.node;
    std::optional<Literal> exponent = number_of(*node.inputs[1]);
    if (!exponent || is_complex(node.dtype) || exponent->kind == Kind::complex) return {};
    double k = exponent->as<double>();
    Tensor x = astype(site.input(), meeting_dtype(node));
    if (k == 0) return ones({}, node.dtype);
    if (k == 1) return x;
    if (k == 2) return square(x);
    if (k == -1 && is_floating(node.dtype)) return 1 / x;
    return {};
}

Tensor power_by_squarings(const Site& site) {
    const Node& node = site.node;
    std::optional<Literal> exponent = number_of(*node.inputs[1]);
    if (!exponent || is_complex(node.dtype) || is_half(node.dtype) || node.dtype == DType::bool_) return {};
    double k = exponent->as<double>();
    bool floats = is_floating(node.dtype);
    if (k != std::floor(k) || std::abs(k) > most_power || (k < 0 && !floats) || k == 0) return {};
    Tensor x = astype(site.input(), meeting_dtype(node));
    Tensor power = raised(x, static_cast<int>(std::abs(k)));
    return k < 0 ? 1 / power : power;
}

Tensor root_power(const Site& site) {
    const Node& node = site.node;
    if (!is_floating(node.dtype)) return {};
    Tensor x = astype(site.input(), node.dtype);
    if (is_number(*node.inputs[1], 0.5)) return sqrt(x);
    if (is_number(*node.inputs[1], -0.5)) return rsqrt(x);
    return {};
}

}  // namespace

void add_algebra_rules(RuleList& rules) {
    auto add = [&](Rule rule) { rules.push_back(std::move(rule)); };
    std::vector<const Operation*> products{&multiply_operation, &gated_multiply_operation, &divide_operation};
    auto floats = [](auto f) { return Example{expression(f), {}, {DType::float32, DType::float64}, {0.3, 3}, true}; };
    // clang-format off
    std::vector<const Operation*> signed_products = products;
    signed_products.push_back(&negative_operation);
    add(rule_at("product", Phase::canonical, signed_products, product_normal_form, {.assumes = Assumes::finite, .examples = {
        floats([](T x) { return x / x; }), floats([](T x, T y) { return x * y / x; }), floats([](T x, T y, T z) { return x / y / z; }),
        floats([](T x, T y) { return (2 * x) / (4 * y); }), floats([](T x, T y, T z) { return -x / y / (-2 * z); }),
        floats([](T a, T b, T c, T d) { return (a / b) * (b / c) * (c / d); }), floats([](T x, T y) { return x / y / x; }),
        floats([](T x, T y) { return (3 * x) * y; })}}));
    static const Tensor labels = Tensor::of<std::int64_t>({2, 0, 3});
    auto quotient_by_picked = [](T x, T s) {
        Tensor here = iota(4) == expand_dims(labels, 1), e = exp(x), p = e / s;
        return where(here, e / s / sum(where(here, p, 0), 1, true) * x, 0);
    };
    add(rule_at("masked_quotient", Phase::canonical, {&where_operation}, masked_quotient, {.assumes = Assumes::finite, .examples = {
        example(quotient_by_picked, {{3, 4}, {3, 1}}, {DType::float64})}}));
    add(rule_at("sum", Phase::canonical, {&add_operation, &subtract_operation}, sum_normal_form, {.assumes = Assumes::finite, .examples = {
        floats([](T x) { return x - x; }), floats([](T a, T b, T c, T d) { return a + b - (c - d) - b; }),
        floats([](T x) { return (x + 1) + 2; }), floats([](T x) { return 2 * x + 3 * x; }),
        example([](T x, T y) { return x + y - x; }, {}, {DType::int32, DType::uint8})}}));
    add(rule_at("product_into_sum", Phase::canonical, products, product_into_sum, {.assumes = Assumes::finite, .examples = {
        floats([](T a, T b, T x) { return (a / x + b) * x; }), floats([](T a, T b, T x, T z) { return (a / z + b / x) * x * z; })},
        .needs = {{{&divide_operation}}}}));
    add(rule_at("power_of_0_1_2", Phase::canonical, {&pow_operation}, number_power, {.examples = {
        example([](T x) { return pow(x, 0); }), example([](T x) { return pow(x, 1); }), example([](T x) { return pow(x, 2); }),
        example([](T x) { return pow(x, -1.0); }, {}, {DType::float32, DType::float64})}}));
    add(rule_at("power_of_halves", Phase::canonical, {&pow_operation}, root_power, {.assumes = Assumes::finite, .examples = {
        floats([](T x) { return pow(x, 0.5); }), floats([](T x) { return pow(x, -0.5); })}}));
    add(rule_at("power_by_squarings", Phase::special, {&pow_operation}, power_by_squarings, {.assumes = Assumes::exact, .examples = {
        floats([](T x) { return pow(x, 10); }), floats([](T x) { return pow(x, -16); }), floats([](T x) { return pow(x, 15); }),
        example([](T x) { return pow(x, 5); }, {}, {DType::int32, DType::uint8})}}));
    add(rule("rsqrt", Phase::canonical, [](T x) { return 1 / sqrt(x); }, [](T x) { return rsqrt(x); }, {.takes = full_width, .domain = {0.3, 3}}));
    // clang-format on
}

}  // namespace weft
