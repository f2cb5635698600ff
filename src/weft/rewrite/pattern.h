// A pattern is an expression over variables, written in the user's own language and called once on placeholders:
//
//     Pattern p([](auto x) { return log(1 + x); });
//
// It matches a node whose operations are these. Shapes and dtypes are free; a number matches a constant of that value in any dress
// (broadcast, converted); operations whose operands may be swapped match both ways; a variable that stands twice must be the same node.
// Where it is asked to, a product matches gated_multiply too, with which derivatives are chained. Callers: rewrite/rule.h.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "weft/graph/node.h"

namespace weft {

/// What must stand somewhere in a graph for a rule to be worth a try there: of each list one operation, and each of the numbers.
struct Needs {
    std::vector<std::vector<const Operation*>> operations = {};
    std::vector<double> numbers = {};
};

/// Called with as many Tensors as it takes.
struct Expression {
    std::size_t arity = 0;
    std::function<Tensor(std::span<const Tensor>)> call;
};

namespace detail {
inline constexpr std::size_t most_variables = 6;

template <std::size_t>
using TensorAt = const Tensor&;
template <class F, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
    return std::is_invocable_v<F, TensorAt<I>...>;
}
template <class F, std::size_t N = 1>
constexpr std::size_t arity_of() {
    static_assert(N <= most_variables, "a pattern takes one to six Tensors");
    if constexpr (takes<F>(std::make_index_sequence<N>()))
        return N;
    else
        return arity_of<F, N + 1>();
}
template <class F, std::size_t... I>
auto spread(const F& f, std::span<const Tensor> xs, std::index_sequence<I...>) {
    return f(xs[I]...);
}
}  // namespace detail

template <class F>
Expression expression(F f) {
    constexpr std::size_t arity = detail::arity_of<F>();
    return {arity, [f](std::span<const Tensor> xs) -> Tensor {
                auto result = detail::spread(f, xs, std::make_index_sequence<arity>());
                if constexpr (std::is_arithmetic_v<decltype(result)>)
                    return Tensor(result);
                else
                    return result;
            }};
}

class Pattern {
  public:
    /// What the variables stand for: nodes, each with the type in which the pattern's operation reads it.
    struct Binding {
        std::array<Node*, detail::most_variables> nodes{};
        std::array<DType, detail::most_variables> dtypes{};
        std::array<bool, detail::most_variables> conditions{};  // read as the condition of a choice
    };

    explicit Pattern(const Expression& expression, bool gated = false);
    std::size_t variables() const { return variables_; }
    const Operation& root() const { return *parts_.back().operation; }
    /// "log(1 + a)", for messages and traces.
    std::optional<Binding> match(const Node& node) const;
    const std::string& str() const { return text_; }
    /// Its operations but the root, and its numbers.
    Needs needs() const;

  private:
    struct Part {
        const Operation* operation = nullptr;  // null: a variable or a number
        std::int32_t variable = -1;
        Literal number;
        AttributesHandle attributes;
        SmallVector<std::int32_t, 3> inputs;
        bool swaps = false;
    };
    bool may_match(const Node& node) const;
    bool fits(const Part& part, const Node& node) const;
    bool match(std::int32_t part, Node& node, DType read_as, Binding& binding) const;
    bool match_inputs(const Part& part, const Node& node, bool swapped, Binding& binding) const;

    std::vector<Part> parts_;  // inputs first, the root last
    std::size_t variables_;
    bool gated_;
    std::string text_;
};

/// An expression as one would write it, down to `depth` operations: "log(add(1, exp(%)))".
std::string written(const Node& node, int depth = 6);

}  // namespace weft
