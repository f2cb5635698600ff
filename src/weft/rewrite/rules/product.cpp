#include "weft/rewrite/rules/product.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/picked.h"

namespace weft {
namespace {

constexpr std::size_t cost_of_division = 2;  // in multiplications
// How much is taken apart at once: longer products are met in parts. Of what others read too, what is near.
constexpr std::size_t most_nodes = 32, most_shared_nodes = 6;

// A finite number other than 0 that the type holds; others stay factors.
std::optional<double> plain_number(const Node& node) {
    std::optional<Literal> literal = number_of(node);
    if (!literal || literal->kind == Kind::complex) return std::nullopt;
    double value = literal->as<double>();
    return std::isfinite(value) && value != 0 && std::abs(value) < 0x1p53 ? std::optional(value) : std::nullopt;
}

std::size_t cost_of_power(int k) {
    auto bits = static_cast<unsigned>(k);
    return static_cast<std::size_t>(std::bit_width(bits) - 1 + std::popcount(bits) - 1);
}

Tensor times_number(double number, const Tensor& x) {
    if (number == 1) return x;
    return number == -1 ? -x : constant(Literal(number), x.dtype()) * x;
}

// Smaller shapes first, so that numbers meet numbers before they meet arrays.
void order_by_axes(std::vector<Tensor>& tensors) {
    std::stable_sort(tensors.begin(), tensors.end(),
                     [](const Tensor& a, const Tensor& b) { return a.ndim() < b.ndim(); });
}

}  // namespace

Tensor raised(const Tensor& x, int k) {
    Tensor result, base = x;
    for (; k > 0; k >>= 1) {
        if (k & 1) result = result ? result * base : base;
        if (k > 1) base = square(base);
    }
    return result;
}

Product::Product(const Site& site, const Node& top, bool through) : dtype(top.dtype) {
    SmallVector<Factor, 16> stack{{const_cast<Node*>(&top), 1}};
    SmallVector<const Node*, 16> opened;  // to be counted once
    std::size_t visited = 0;
    while (!stack.empty()) {
        auto [node, power, gate] = stack.back();
        stack.pop_back();
        if (std::optional<double> value = node == &top ? std::nullopt : plain_number(*node)) {
            number *= power == 1 ? *value : power == -1 ? 1 / *value : std::pow(*value, power);
            continue;
        }
        const Operation* op = node->operation;
        bool gates = op == &gated_multiply_operation && power > 0;
        bool masks = op == &where_operation && power == 1 && !opaque(*node) && node->dtype == dtype &&
                     node->inputs[1]->dtype == dtype && is_number(*node->inputs[2], 0) &&
                     !is_number(*node->inputs[1], 1) && (node == &top || site.only_here(*node)) && visited < most_nodes;
        if (masks) {
            ++visited, ++before_;
            Tensor one = constant(Literal(1), dtype), none = constant(Literal(0), dtype);
            made_.push_back(where(handle(node->inputs[0]), one, none));
            add(made_.back().node(), 1, true);
            stack.push_back({node->inputs[1], 1, gate});
            continue;
        }
        bool joins = op == &multiply_operation || gates || op == &divide_operation || op == &negative_operation ||
                     op == &square_operation;
        bool mine = node == &top || site.only_here(*node);
        bool typed = !opaque(*node) && node->dtype == dtype;
        for (const Node* input : node->inputs) typed = typed && input->dtype == dtype;
        if (!joins || !typed || !(mine || through) || std::abs(power) > 64 ||
            ++visited > (through ? most_shared_nodes : most_nodes)) {
            complete = complete && !(joins && typed && !mine);
            add(node, power, gate);
            continue;
        }
        bool again = std::find(opened.begin(), opened.end(), node) != opened.end();
        if (!again) opened.push_back(node);
        if (mine && !again) before_ += op == &divide_operation ? cost_of_division : 1;
        if (op == &negative_operation) {
            if (power % 2 != 0) number = -number;
            stack.push_back({node->inputs[0], power, gate});
        } else if (op == &square_operation) {
            stack.push_back({node->inputs[0], 2 * power, gate});
        } else {
            stack.push_back({node->inputs[1], op == &divide_operation ? -power : power, gate});
            stack.push_back({node->inputs[0], power, gate || gates});
        }
    }
    complete = complete && visited <= most_shared_nodes;
}

void Product::add(Node* node, int power, bool gate) {
    auto at = std::find_if(factors.begin(), factors.end(), [&](const Factor& f) { return f.node == node; });
    if (at == factors.end())
        factors.push_back({node, power, gate});
    else
        at->power += power, at->gate |= gate;
}

void Product::multiply(const Tensor& factor, int power) {
    made_.push_back(factor);
    add(factor.node(), power, false);
}

void Product::multiply(const Product& other) {
    number *= other.number;
    for (const Factor& factor : other.factors) add(factor.node, factor.power, factor.gate);
    made_.insert(made_.end(), other.made_.begin(), other.made_.end());
}

bool Product::meet_masks(const Site& site) {
    bool met = false;
    for (std::size_t m = 0; m < factors.size(); ++m) {
        const Node& mask = *factors[m].node;
        if (opaque(mask) || mask.operation != &where_operation || factors[m].power < 1) continue;
        for (std::size_t i = 0; i < factors.size(); ++i) {
            if (factors[i].power >= 0) continue;
            Picked picked = picked_by_condition(*factors[i].node);
            if (!picked.from || picked.condition != mask.inputs[0]) continue;
            Product from(site, *picked.from, true);
            met = true;
            for (; factors[i].power < 0; ++factors[i].power) {
                number /= from.number;
                for (const Factor& factor : from.factors) add(factor.node, -factor.power, false);
            }
        }
    }
    return met;
}

Product Product::without(std::size_t factor) const {
    Product rest = *this;
    rest.factors.erase(factor);
    return rest;
}

bool Product::divides() const {
    return std::any_of(factors.begin(), factors.end(), [](const Factor& f) { return f.power < 0; });
}

std::size_t Product::cost() const {
    std::size_t above = 0, below = 0, gates = 0, cost = 0;
    for (const Factor& factor : factors) {
        if (factor.power == 0) continue;
        ++(factor.power > 0 ? above : below);
        gates += factor.power > 0 && factor.gate;
        cost += cost_of_power(std::abs(factor.power));
    }
    cost += (above ? above - 1 : 0) + (below ? below - 1 : 0) + (below ? cost_of_division : 0);
    if (below && above && gates == above) ++cost;  // gate * (1 / below)
    return cost + (above > 0 && number != 1 ? 1 : 0);
}

Tensor Product::build() const {
    std::vector<Tensor> gates, above, below;
    for (const Factor& factor : factors) {
        if (factor.power == 0) continue;
        auto& list = factor.power < 0 ? below : factor.gate ? gates : above;
        list.push_back(raised(handle(factor.node), std::abs(factor.power)));
    }
    auto joined = [](std::vector<Tensor>& tensors) {
        order_by_axes(tensors);
        Tensor result = tensors[0];
        for (std::size_t i = 1; i < tensors.size(); ++i) result = result * tensors[i];
        return result;
    };
    Tensor rest;
    if (!above.empty()) rest = below.empty() ? joined(above) : joined(above) / joined(below);
    if (gates.empty()) {
        if (rest) return times_number(number, rest);
        Tensor alone = constant(Literal(number), dtype);
        return below.empty() ? alone : alone / joined(below);
    }
    if (!rest && !below.empty()) rest = constant(Literal(1), dtype) / joined(below);
    Tensor gate = joined(gates);
    return times_number(number, rest ? gated_multiply(gate, rest) : gate);
}

Sum::Sum(const Site& site, const Node& top, bool through) : dtype(top.dtype) {
    std::vector<std::pair<Node*, double>> stack{{const_cast<Node*>(&top), 1}};
    std::size_t visited = 0;
    while (!stack.empty()) {
        auto [node, times] = stack.back();
        stack.pop_back();
        if (std::optional<double> value = node == &top ? std::nullopt : plain_number(*node)) {
            number += times * *value;
            continue;
        }
        const Operation* op = node->operation;
        bool mine = node == &top || site.only_here(*node);
        bool typed = !opaque(*node) && node->dtype == dtype;
        for (const Node* input : node->inputs) typed = typed && input->dtype == dtype;
        bool open = typed && (mine || through) && visited < (through ? most_shared_nodes : most_nodes);
        std::optional<double> scale;
        if (open && op == &multiply_operation) scale = plain_number(*node->inputs[0]);
        std::size_t scaled = scale ? 1 : 0;
        if (open && op == &multiply_operation && !scale) scale = plain_number(*node->inputs[1]);
        bool joins = op == &add_operation || op == &subtract_operation || op == &negative_operation || scale;
        if (!open || !joins) {
            add(node, times);
            continue;
        }
        ++visited;
        if (mine) ++before_;
        if (scale) {
            stack.push_back({node->inputs[scaled], times * *scale});
        } else if (op == &negative_operation) {
            stack.push_back({node->inputs[0], -times});
        } else {
            stack.push_back({node->inputs[1], op == &subtract_operation ? -times : times});
            stack.push_back({node->inputs[0], times});
        }
    }
}

void Sum::add(Node* node, double times) {
    auto at = std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return t.node == node; });
    if (at == terms.end())
        terms.push_back({node, times});
    else
        at->times += times;
}

std::size_t Sum::cost() const {
    std::size_t parts = number != 0, scaled = 0;
    bool plus = number != 0;
    for (const Term& term : terms) {
        if (term.times == 0) continue;
        ++parts;
        scaled += std::abs(term.times) != 1;
        plus |= term.times > 0 || std::abs(term.times) != 1;
    }
    return (parts ? parts - 1 : 0) + scaled + (parts > 0 && !plus ? 1 : 0);
}

Tensor Sum::build() const {
    Tensor sum;
    std::vector<Tensor> minus;
    if (number != 0) sum = constant(Literal(number), dtype);
    for (const Term& term : terms) {
        if (term.times == 0) continue;
        Tensor part = handle(term.node);
        if (term.times == -1) {
            minus.push_back(part);
            continue;
        }
        part = times_number(term.times, part);
        sum = sum ? sum + part : part;
    }
    for (const Tensor& part : minus) sum = sum ? sum - part : -part;
    return sum ? sum : constant(Literal(0), dtype);
}

}  // namespace weft
