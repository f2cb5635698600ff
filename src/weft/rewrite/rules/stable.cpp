// The stable form of formulas that overflow, cancel or lose small numbers as they are written.
#include <algorithm>

#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/product.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

using T = const Tensor&;
constexpr Phase stable = Phase::stable;

bool floating(DType d) { return is_floating(d); }
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// u and v where v = -u, written either way, or as sums of the same terms.
bool opposite(const Site& site, const Node& u, const Node& v) {
    auto negates = [](const Node& a, const Node& b) {
        return !opaque(a) && a.operation == &negative_operation && a.inputs[0] == &b;
    };
    // y - x and x - y are each other's negatives too.
    auto turned = [](const Node& a, const Node& b) {
        return !opaque(a) && !opaque(b) && a.operation == &subtract_operation && b.operation == &subtract_operation &&
               a.inputs[0] == b.inputs[1] && a.inputs[1] == b.inputs[0];
    };
    if (negates(u, v) || negates(v, u) || turned(u, v)) return true;
    Sum a(site, u, true), b(site, v, true);
    return a.terms.size() > 1 && a.terms.size() == b.terms.size() && a.number == -b.number &&
           std::all_of(a.terms.begin(), a.terms.end(), [&](const Term& term) {
               return std::any_of(b.terms.begin(), b.terms.end(), [&](const Term& other) {
                   return other.node == term.node && other.times == -term.times;
               });
           });
}

// The argument u of exp(u); of 1 + exp(u).
const Node* exponent(const Node& node) {
    return !opaque(node) && node.operation == &exp_operation ? node.inputs[0] : nullptr;
}
const Node* one_plus_exponent(const Node& node) {
    if (opaque(node) || node.operation != &add_operation) return nullptr;
    for (std::size_t i : {0, 1}) {
        const Node* u = exponent(*node.inputs[i]);
        if (u && u->dtype == node.dtype && is_number(*node.inputs[1 - i], 1)) return u;
    }
    return nullptr;
}

// Within one product: exp(u) / (1 + exp(u)) = sigmoid(u), 1 / (1 + exp(u)) = sigmoid(-u), exp(u) * sigmoid(-u) = sigmoid(u).
Tensor sigmoid_in_product(const Site& site) {
    if (!floating(site.node.dtype)) return {};
    Product product(site, site.node);
    bool changed = false;
    auto take_exponent = [&](auto&& fits) {
        for (Factor& factor : product.factors) {
            const Node* v = factor.power > 0 ? exponent(*factor.node) : nullptr;
            if (v && fits(*v)) return --factor.power, true;
        }
        return false;
    };
    for (std::size_t i = 0; i < product.factors.size(); ++i) {
        const Node* u = one_plus_exponent(*product.factors[i].node);
        while (u && product.factors[i].power < 0) {
            ++product.factors[i].power;
            Tensor x = handle(const_cast<Node*>(u));
            bool joins = take_exponent([&](const Node& v) { return &v == u; });
            product.multiply(joins ? sigmoid(x) : sigmoid(-x), 1);
            changed = true;
        }
    }
    for (std::size_t i = 0; i < product.factors.size(); ++i) {
        const Node& node = *product.factors[i].node;
        if (opaque(node) || node.operation != &sigmoid_operation) continue;
        const Node& v = *node.inputs[0];
        while (product.factors[i].power > 0 && take_exponent([&](const Node& u) { return opposite(site, u, v); })) {
            --product.factors[i].power;
            product.multiply(sigmoid(-handle(const_cast<Node*>(&v))), 1);
            changed = true;
        }
    }
    return changed ? product.build() : Tensor();
}

// exp(u) * (a * sigmoid(-u) - b * sigmoid(-u)): into the sum, where each term swallows it. (The derivative of a cross-entropy written
// with logarithms of a sigmoid.)
Tensor exponent_into_sum(const Site& site) {
    if (!floating(site.node.dtype)) return {};
    Product product(site, site.node);
    for (std::size_t i = 0; i < product.factors.size(); ++i) {
        const Factor& whole = product.factors[i];
        bool sums = !opaque(*whole.node) &&
                    (whole.node->operation == &add_operation || whole.node->operation == &subtract_operation);
        if (!sums || whole.power != 1 || !site.only_here(*whole.node)) continue;
        Sum sum(site, *whole.node);
        Product rest = product.without(i);
        if (sum.number != 0 || sum.terms.size() > 8) continue;
        std::vector<Product> parts;
        for (const Term& term : sum.terms) {
            Product part(site, *term.node, true);
            bool swallows = std::any_of(part.factors.begin(), part.factors.end(), [&](const Factor& f) {
                if (f.power <= 0 || opaque(*f.node) || f.node->operation != &sigmoid_operation) return false;
                return std::any_of(rest.factors.begin(), rest.factors.end(), [&](const Factor& other) {
                    const Node* u = other.power > 0 ? exponent(*other.node) : nullptr;
                    return u && opposite(site, *u, *f.node->inputs[0]);
                });
            });
            if (!swallows) break;
            for (Factor& inner : part.factors) inner.gate |= whole.gate;  // what gated as a sum gates as its terms
            part.multiply(rest);
            part.number *= term.times;
            parts.push_back(std::move(part));
        }
        if (parts.size() < sum.terms.size()) continue;
        Tensor result;
        for (const Product& part : parts) result = result ? result + part.build() : part.build();
        return result;
    }
    return {};
}

// Of the derivative of log(erfc(x)): exp(-x * x) / erfc(x).
Tensor erfc_in_product(const Site& site) {
    if (!floating(site.node.dtype)) return {};
    Product product(site, site.node);
    for (Factor& below : product.factors) {
        const Node& node = *below.node;
        if (below.power >= 0 || opaque(node) || node.operation != &erfc_operation) continue;
        const Node* x = node.inputs[0];
        for (Factor& above : product.factors) {
            const Node* u = above.power > 0 ? exponent(*above.node) : nullptr;
            bool negated = u && !opaque(*u) && u->operation == &negative_operation;
            const Node* squared = negated ? u->inputs[0] : nullptr;
            if (!squared || opaque(*squared) || squared->operation != &square_operation || squared->inputs[0] != x)
                continue;
            ++below.power, --above.power;
            product.multiply(exp(handle(const_cast<Node*>(u)) - log_erfc(handle(const_cast<Node*>(x)))), 1);
            return product.build();
        }
    }
    return {};
}

// 1 + tanh(z), 1 - tanh(z), and beside them 1 - tanh(z)^2, where nothing else is made of tanh(z): by s = sigmoid(2z) they are 2s,
// 2 sigmoid(-2z) and 4 (s - s^2). Near -1 the sum keeps its digits so, and a sigmoid takes two thirds of the time. (GELU's approximation,
// and its derivative.)
bool from_one(const Node& node) {
    return !opaque(node) && node.operation == &subtract_operation && is_number(*node.inputs[0], 1);
}
bool one_and(const Node& node) {
    return !opaque(node) && node.operation == &add_operation &&
           (is_number(*node.inputs[0], 1) || is_number(*node.inputs[1], 1));
}
bool squares(const Node& node) { return !opaque(node) && node.operation == &square_operation; }

bool beside_one_alone(const Site& site, const Node& tanh) {
    auto all_read = [&](const Node& node, auto fits) {
        auto readers = site.readers(node);
        return readers && std::all_of(readers->begin(), readers->end(),
                                      [&](const Node* reader) { return reader->dtype == node.dtype && fits(*reader); });
    };
    bool beside = false;
    return all_read(tanh,
                    [&](const Node& reader) {
                        if (squares(reader)) return all_read(reader, from_one);
                        bool one = one_and(reader) || from_one(reader);
                        beside |= one;
                        return one;
                    }) &&
           beside;
}

Tensor tanh_beside_one(const Site& site) {
    const Node& node = site.node;
    if (!floating(node.dtype) || !(one_and(node) || from_one(node))) return {};
    const Node& other = *node.inputs[is_number(*node.inputs[0], 1) ? 1 : 0];
    bool squared = from_one(node) && squares(other);
    const Node& tanh = squared ? *other.inputs[0] : other;
    bool fits = !opaque(tanh) && tanh.operation == &tanh_operation && tanh.inputs[0]->dtype == node.dtype;
    if (!fits || !beside_one_alone(site, tanh)) return {};
    Tensor twice = 2 * handle(tanh.inputs[0]);
    if (!squared) return 2 * sigmoid(one_and(node) ? twice : -twice);
    Tensor s = sigmoid(twice);
    return 4 * (s - square(s));
}

}  // namespace

void add_stable_rules(RuleList& rules) {
    auto add = [&](std::string name, auto pattern, auto replacement, PatternOptions options = {}) {
        if (options.assumes == Assumes::nothing) options.assumes = Assumes::exact;
        if (!options.takes) options.takes = floating;
        rules.push_back(rule(std::move(name), stable, pattern, replacement, std::move(options)));
    };
    Domain positive{0.01, 3}, negative{-3, -0.01}, inside{-0.9, 0.9};
    // clang-format off
    // Logarithms and exponentials near 0
    add("log1p", [](T x) { return log(1 + x); }, [](T x) { return log1p(x); }, {.mixed = true, .domain = positive});
    add("log1p_of_difference", [](T x) { return log(1 - x); }, [](T x) { return log1p(-x); }, {.mixed = true, .domain = inside});
    add("expm1", [](T x) { return exp(x) - 1; }, [](T x) { return expm1(x); });
    add("expm1_turned", [](T x) { return 1 - exp(x); }, [](T x) { return -expm1(x); });
    add("log_of_exp", [](T x) { return log(exp(x)); }, [](T x) { return x; });
    add("exp_of_log", [](T x) { return exp(log(x)); }, [](T x) { return where(x >= 0, x, nan); }, {.domain = positive});
    add("square_of_sqrt", [](T x) { return square(sqrt(x)); }, [](T x) { return where(x >= 0, x, nan); }, {.domain = positive});
    add("log_of_power_of_e", [](T x, T y) { return log(exp(x) * y); }, [](T x, T y) { return x + log(y); }, {.domain = positive});
    add("log_of_e_over", [](T x, T y) { return log(exp(x) / y); }, [](T x, T y) { return x - log(y); }, {.domain = positive});
    add("log_of_over_e", [](T x, T y) { return log(x / exp(y)); }, [](T x, T y) { return log(x) - y; }, {.domain = positive});
    add("log_of_reciprocal", [](T x) { return log(1 / x); }, [](T x) { return -log(x); }, {.domain = positive});
    add("log_of_sqrt", [](T x) { return log(sqrt(x)); }, [](T x) { return 0.5 * log(x); }, {.domain = positive});
    add("log1mexp", [](T x) { return log(-expm1(x)); }, [](T x) { return log1mexp(x); }, {.domain = negative});
    add("log1mexp_by_log1p", [](T x) { return log1p(-exp(x)); }, [](T x) { return log1mexp(x); }, {.domain = negative});
    add("logaddexp", [](T x, T y) { return log(exp(x) + exp(y)); }, [](T x, T y) { return logaddexp(x, y); });
    // Sigmoid and softplus
    add("softplus", [](T x) { return log1p(exp(x)); }, [](T x) { return softplus(x); });
    add("softplus_by_log_sigmoid", [](T x) { return -log_sigmoid(-x); }, [](T x) { return softplus(x); });
    add("log_sigmoid_by_softplus", [](T x) { return -softplus(-x); }, [](T x) { return log_sigmoid(x); });
    add("log_sigmoid", [](T x) { return log(sigmoid(x)); }, [](T x) { return log_sigmoid(x); });
    add("sigmoid_complement", [](T x) { return 1 - sigmoid(x); }, [](T x) { return sigmoid(-x); });
    add("log1p_of_sigmoid", [](T x) { return log1p(-sigmoid(x)); }, [](T x) { return log_sigmoid(-x); });
    add("exp_of_log_sigmoid", [](T x) { return exp(log_sigmoid(x)); }, [](T x) { return sigmoid(x); });
    // The error function
    add("erfc", [](T x) { return 1 - erf(x); }, [](T x) { return erfc(x); });
    add("erfc_of_negative", [](T x) { return 1 + erf(x); }, [](T x) { return erfc(-x); });
    add("erfc_complement", [](T x) { return 1 - erfc(x); }, [](T x) { return erf(x); });
    add("erf_minus_one", [](T x) { return erf(x) - 1; }, [](T x) { return -erfc(x); });
    add("log_erfc", [](T x) { return log(erfc(x)); }, [](T x) { return log_erfc(x); });
    // clang-format on
    std::vector<const Operation*> products{&multiply_operation, &gated_multiply_operation, &divide_operation};
    rules.push_back(rule_at("sigmoid", stable, products, sigmoid_in_product,
                            {.assumes = Assumes::exact,
                             .examples = {example([](T x) { return 1 / (1 + exp(-x)); }),
                                          example([](T x) { return exp(x) / (1 + exp(x)); }),
                                          example([](T x) { return exp(-x) / square(1 + exp(-x)); }),
                                          example([](T x, T y) { return y * exp(x) * sigmoid(-x); }),
                                          example([](T x) { return -exp(x) / ((1 + exp(x)) * (1 + exp(-x))); }),
                                          example([](T x, T y) { return gated_multiply(y / (1 + exp(x)), exp(x)); })},
                             .needs = {{{&exp_operation}}}}));
    rules.push_back(
        rule_at("exponent_into_sum", stable, products, exponent_into_sum,
                {.assumes = Assumes::exact,
                 .examples = {example([](T x, T y, T z) { return (y * sigmoid(x) - z * sigmoid(x)) * exp(-x); })},
                 .needs = {{{&exp_operation}, {&sigmoid_operation}}}}));
    rules.push_back(rule_at(
        "tanh_beside_one", stable, {&add_operation, &subtract_operation}, tanh_beside_one,
        {.assumes = Assumes::exact,
         .examples = {example([](T x) { return 1 + tanh(x); }), example([](T x, T y) { return y * (1 - tanh(x)); }),
                      example([](T x, T y) { return y * (1 + tanh(x)) + x * (1 - square(tanh(x))); })},
         .needs = {{{&tanh_operation}}}}));
    rules.push_back(rule_at("erfc_in_quotient", stable, products, erfc_in_product,
                            {.assumes = Assumes::exact,
                             .examples = {example([](T x, T y) { return y * exp(-square(x)) / erfc(x); })},
                             .needs = {{{&exp_operation}, {&erfc_operation}}}}));
}

}  // namespace weft
