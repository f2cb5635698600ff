#include "weft/rewrite/rules/product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/picked.h"

namespace weft {
namespace {

constexpr std::size_t cost_of_division = 2;   // in multiplications
constexpr std::size_t most_shared_nodes = 6;  // as most_nodes: of what others read too, what is near

// A finite number other than 0 that the type holds; others stay factors.
std::optional<double> plain_number(const Node& node) {
    if (!may_be_number(node)) return std::nullopt;
    std::optional<Literal> literal = number_of(node);
    if (!literal || literal->kind == Kind::complex) return std::nullopt;
    double value = literal->as<double>();
    return std::isfinite(value) && value != 0 && std::abs(value) < 0x1p53 ? std::optional(value) : std::nullopt;
}

std::size_t cost_of_power(int k) {
    auto bits = static_cast<unsigned>(k);
    return static_cast<std::size_t>(std::bit_width(bits) - 1 + std::popcount(bits) - 1);
}

// Of sums of whole numbers, which are added and multiplied modulo what the type holds: the number between -2^(bits - 1) and 2^(bits - 1) that
// is the same there; none if a double does not hold it (bool has none of these).
std::optional<double> held(DType dtype, double number) {
    if (!is_integer(dtype)) return number;
    if (std::abs(number) >= 0x1p53) return std::nullopt;  // it may have been rounded
    int unused = 64 - 8 * static_cast<int>(size_of(dtype));
    return static_cast<double>(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(static_cast<std::int64_t>(number)) << unused) >> unused);
}

// A number that held() gave, as its type has it.
Tensor constant_of(double number, DType dtype) {
    if (!is_integer(dtype)) return constant(Literal(number), dtype);
    auto whole = static_cast<std::int64_t>(number);
    if (!is_unsigned(dtype)) return constant(Literal(whole), dtype);
    int unused = 64 - 8 * static_cast<int>(size_of(dtype));
    return constant(Literal(static_cast<std::uint64_t>(whole) << unused >> unused), dtype);
}

Tensor times_number(double number, const Tensor& x) {
    if (number == 1) return x;
    return number == -1 ? -x : constant_of(number, x.dtype()) * x;
}

// How many axes it varies along.
std::size_t level_of(const Shape& shape) {
    return shape.size() - static_cast<std::size_t>(std::count(shape.begin(), shape.end(), Size(1)));
}
std::size_t level_of(const Tensor& x) { return level_of(x.shape()); }

// Smaller shapes first: numbers meet numbers, and what is one for each row meets its like, before they meet all elements.
void order_by_level(std::vector<Tensor>& tensors) {
    std::stable_sort(tensors.begin(), tensors.end(),
                     [](const Tensor& a, const Tensor& b) { return level_of(a) < level_of(b); });
}

Tensor joined(std::span<const Tensor> tensors) {
    Tensor result = tensors[0];
    for (const Tensor& x : tensors.subspan(1)) result = result * x;
    return result;
}

// 1 / x of an x that varies less than the product: in the last phase a rule may have put it there, since it takes fewer divisions.
bool inverts_less(const Node& node, const Node& top) {
    return is(node, divide_operation) && is_number(*node.inputs[0], 1) && level_of(node.shape) < level_of(top.shape);
}

// above / below, as what is then multiplied: of what is above, all that varies no more than what is below, and the rest by itself.
void divide(std::vector<Tensor>& above, const Tensor& below) {
    auto larger = [&](const Tensor& x) { return level_of(x) > level_of(below); };
    auto rest = std::find_if(above.begin(), above.end(), larger);
    if (rest == above.begin()) rest = above.end();  // nothing is that small: x / y stays what it is
    Tensor quotient = joined({above.begin(), rest}) / below;
    above.erase(above.begin(), rest);
    above.insert(above.begin(), quotient);
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
        bool multiplies = op == &multiply_operation || op == &gated_multiply_operation || op == &divide_operation ||
                          op == &negative_operation || op == &square_operation;
        if (!multiplies && op != &where_operation) {
            add(node, power, gate);
            continue;
        }
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
        bool joins = multiplies && (gates || op != &gated_multiply_operation);
        joins = joins && !(site.phase == Phase::special && node != &top && inverts_less(*node, top));
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
    // Of numbers only 0, infinities and NaN come here, and they do not cancel: 0 / 0 is no 1.
    if (at != factors.end() && (at->power > 0) != (power > 0) && is_any_number(*node)) at = factors.end();
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

bool Product::stays_in_range() const {
    constexpr int most_divisors = 3;
    int divisors = 0;
    std::size_t different = 0;
    for (const Factor& factor : factors)
        if (factor.power < 0) divisors -= factor.power, ++different;
    constexpr double most = 0x1p40;
    return (different < 2 || divisors <= most_divisors) && std::abs(number) < most && std::abs(number) > 1 / most;
}

std::size_t Product::cost() const {
    std::size_t above = 0, below = 0, cost = 0;
    for (const Factor& factor : factors) {
        if (factor.power == 0) continue;
        ++(factor.power > 0 ? above : below);
        cost += cost_of_power(std::abs(factor.power));
    }
    cost += (above ? above - 1 : 0) + (below ? below - 1 : 0) + (below ? cost_of_division : 0);
    if (below && above && divides_one()) ++cost;
    return cost + (above > 0 && number != 1 ? 1 : 0);
}

// Whether it is 1 that is divided, as gate * (1 / below) * above: there are gates, and nothing else varies as little as they and what
// is below.
bool Product::divides_one() const {
    constexpr std::size_t none = SIZE_MAX;
    std::size_t gate = none, least = none, below = 0;
    for (const Factor& factor : factors) {
        std::size_t level = level_of(factor.node->shape);
        if (factor.power < 0)
            below = std::max(below, level);
        else if (factor.power > 0)
            (factor.gate ? gate : least) = std::min(factor.gate ? gate : least, level);
    }
    return gate != none && (least == none || (gate <= below && below < least));
}

Tensor Product::build() const {
    std::vector<Tensor> gates, above, below;
    for (const Factor& factor : factors) {
        if (factor.power == 0) continue;
        auto& list = factor.power < 0 ? below : factor.gate ? gates : above;
        list.push_back(raised(handle(factor.node), std::abs(factor.power)));
    }
    for (auto* list : {&gates, &above, &below}) order_by_level(*list);
    if (!below.empty()) {
        if (above.empty() && gates.empty()) return constant(Literal(number), dtype) / joined(below);
        if (divides_one()) above.insert(above.begin(), constant(Literal(1), dtype));
        divide(above, joined(below));
    }
    Tensor result;
    bool gated = false;
    for (auto gate = gates.begin(), factor = above.begin(); gate != gates.end() || factor != above.end();) {
        bool gates_next = factor == above.end() || (gate != gates.end() && level_of(*gate) <= level_of(*factor));
        const Tensor& next = gates_next ? *gate++ : *factor++;
        if (!result)
            result = next;
        else if (gates_next)
            result = gated ? result * next : gated_multiply(next, result);
        else
            result = gated ? gated_multiply(result, next) : result * next;
        gated |= gates_next;
    }
    return result ? times_number(number, result) : constant(Literal(number), dtype);
}

Sum::Sum(const Site& site, const Node& top, bool through) : dtype(top.dtype) {
    SmallVector<Term, 16> stack{{const_cast<Node*>(&top), 1}};
    std::size_t visited = 0;
    while (!stack.empty()) {
        auto [node, times] = stack.back();
        stack.pop_back();
        if (std::optional<double> value = node == &top ? std::nullopt : plain_number(*node)) {
            std::optional<double> part = held(dtype, times * *value), sum = held(dtype, number + part.value_or(0));
            if (part && sum)
                number = *sum;
            else
                add(node, times);
            continue;
        }
        const Operation* op = node->operation;
        bool adds = op == &add_operation || op == &subtract_operation || op == &negative_operation;
        if (!adds && op != &multiply_operation) {
            add(node, times);
            continue;
        }
        bool mine = node == &top || site.only_here(*node);
        bool typed = !opaque(*node) && node->dtype == dtype;
        for (const Node* input : node->inputs) typed = typed && input->dtype == dtype;
        std::optional<double> scale;  // then what the term is multiplied by, all in all
        if (typed && op == &multiply_operation) scale = plain_number(*node->inputs[0]);
        std::size_t scaled = scale ? 1 : 0;
        if (typed && op == &multiply_operation && !scale) scale = plain_number(*node->inputs[1]);
        if (scale) scale = held(dtype, times * *scale);
        bool joins = typed && (adds || scale);
        if (!joins || !(mine || through) || visited >= (through ? most_shared_nodes : most_nodes)) {
            complete = complete && (!joins || mine);
            add(node, times);
            continue;
        }
        ++visited;
        if (mine) ++before_;
        if (scale) {
            stack.push_back({node->inputs[scaled], *scale});
        } else if (op == &negative_operation) {
            stack.push_back({node->inputs[0], *held(dtype, -times)});
        } else {
            stack.push_back({node->inputs[1], op == &subtract_operation ? *held(dtype, -times) : times});
            stack.push_back({node->inputs[0], times});
        }
    }
    complete = complete && visited <= most_shared_nodes;
}

void Sum::add(Node* node, double times) {
    auto at = std::find_if(terms.begin(), terms.end(), [&](const Term& t) { return t.node == node; });
    // Infinity minus itself is not 0 (finite numbers are summed before they come here).
    if (at != terms.end() && (at->times > 0) != (times > 0) && is_any_number(*node)) at = terms.end();
    std::optional<double> together = at == terms.end() ? std::nullopt : held(dtype, at->times + times);
    if (together)
        at->times = *together;
    else
        terms.push_back({node, times});
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
    if (number != 0) sum = constant_of(number, dtype);
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
