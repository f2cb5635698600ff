// What is added to products and scaled behind them, as a bias and a normalisation by running statistics are: two operations on each of many
// numbers, instead of five.
#include "weft/core/shape.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"
#include "weft/rewrite/number.h"
#include "weft/rewrite/rules/product.h"
#include "weft/rewrite/rules/rules.h"

namespace weft {
namespace {

using T = const Tensor&;

// Whether a node is a sum of products. Rounding has left in it as much as x s + (b s + t) loses where x and b cancel; of another x, which may be
// exact, the digits that (x + b) s keeps may be what is wanted: of years less their mean, say.
bool sums_products(const Node& x) {
    const Node* from = &x;
    for (std::size_t i : {0, 1})
        if (is(x, multiply_operation) && is_any_number(*x.inputs[i])) from = x.inputs[1 - i];
    if (is(*from, reshape_operation)) from = from->inputs[0];
    return is(*from, convolution_operation) || is(*from, convolution_input_gradient_operation) ||
           is(*from, matmul_operation);
}

/// A value as x * scale + shift, where x is a sum of products, and scale and shift are small beside it. They are another step: of a few numbers
/// it takes longer than is saved.
class ScaledAndShifted {
  public:
    explicit ScaledAndShifted(const Site& site) : site_(site), whole_(site.node.shape), x_(&site.node) {
        for (; steps_.size() < most_nodes; x_ = x_->inputs[1 - steps_.back().second]) {
            std::optional<std::size_t> smaller = smaller_operand(*x_);
            if (!smaller) break;
            steps_.emplace_back(x_, *smaller);
        }
    }

    /// Empty: it is none, or takes no more operations as it is written.
    Tensor made() {
        if (steps_.size() < 3 || !sums_products(*x_) || !all_are_small()) return {};
        for (; !steps_.empty(); steps_.pop_back())
            apply(*steps_.back().first, in(*steps_.back().first, steps_.back().second));
        Tensor result = handle(const_cast<Node*>(x_));
        if (scale_) result = result * scale_;
        if (!shift_) return result;
        return minus_ ? result - shift_ : result + shift_;
    }

  private:
    // Which operand of an operation of a scale or a shift is smaller than the other, which is the whole value. A number stands outermost in the
    // normal form of products, and would be taken out of a scale again.
    std::optional<std::size_t> smaller_operand(const Node& node) {
        if (opaque(node) || (&node != &site_.node && !site_.only_here(node))) return {};
        bool either = node.operation == &add_operation || node.operation == &multiply_operation;
        if (!either && node.operation != &subtract_operation) return {};
        if (node.operation == &multiply_operation && (is_any_number(*node.inputs[0]) || is_any_number(*node.inputs[1])))
            return {};
        const Shape &first = node.inputs[0]->shape, &second = node.inputs[1]->shape;
        if (first == whole_ && !(second == whole_)) return 1;
        if (either && second == whole_ && !(first == whole_)) return 0;
        return {};
    }

    // Together, for a row and a column make a matrix.
    bool all_are_small() const {
        constexpr std::int64_t least_numbers = 1024, times_smaller = 4;
        Shape small;
        for (auto [node, operand] : steps_) small = *broadcast(small, node->inputs[operand]->shape);
        if (!known(whole_) || !known(small)) return false;
        std::int64_t numbers = element_count(whole_).value();
        return numbers >= least_numbers && times_smaller * element_count(small).value() <= numbers;
    }

    // What is taken from x alone stays to be taken: a sum with a negative is put in order again.
    void apply(const Node& node, const Tensor& by) {
        if (node.operation == &multiply_operation) {
            scale_ = scale_ ? scale_ * by : by;
            if (shift_) shift_ = shift_ * by;
            return;
        }
        const bool takes = node.operation == &subtract_operation;
        if (!shift_)
            shift_ = by, minus_ = takes;
        else if (minus_ == takes)
            shift_ = shift_ + by;
        else if (takes)
            shift_ = shift_ - by;
        else
            shift_ = by - shift_, minus_ = false;
    }

    const Site& site_;
    const Shape& whole_;
    std::vector<std::pair<const Node*, std::size_t>>
        steps_;  // from the last on, with the number of the smaller operand
    const Node* x_;
    Tensor scale_, shift_;
    bool minus_ = false;
};

// ((x + b) - m) * s + t -> x * s + ((b - m) * s + t)
Tensor scale_then_shift(const Site& site) {
    return full_width(site.node.dtype) ? ScaledAndShifted(site).made() : Tensor();
}

}  // namespace

void add_shift_rules(RuleList& rules) {
    AtOptions options;
    options.assumes = Assumes::finite;
    auto with = [](auto f, std::vector<Shape> shapes) { return example_of_floats(f, std::move(shapes)); };
    options.examples = {with([](T x, T w, T b, T s, T t) { return (matmul(x, w) + b) * s + t; },
                             {{64, 2}, {2, 16}, {16}, {16}, {1, 16}}),
                        with(
                            [](T x, T w, T b, T s, T t) {
                                return t + s * (reshape(matmul(x, w), {8, 16, 8}) - b);
                            },
                            {{128, 2}, {2, 8}, {8}, {}, {1, 1, 8}}),
                        with([](T x, T w, T b, T s, T t) { return (convolution(x, w) + b) * (s * s + 1) - t; },
                             {{4, 1, 65}, {4, 1, 2}, {4, 1}, {1, 4, 1}, {4, 1}})};
    options.needs.operations = {{&convolution_operation, &convolution_input_gradient_operation, &matmul_operation}};
    rules.push_back(rule_at("scale_then_shift", Phase::special,
                            {&add_operation, &subtract_operation, &multiply_operation}, scale_then_shift,
                            std::move(options)));
}

}  // namespace weft
