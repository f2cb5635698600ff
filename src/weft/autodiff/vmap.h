// vmap: a function of one example becomes a function of a whole batch. The function runs once, on placeholders of one example's shapes;
// then every node that depends on them is made anew with the batch's axis in front (the record's `batch`, autodiff/batching.h), and
// what is the same for all examples stays one node. Maps nest, and compose with derivatives and compiled functions in any order.
// Random numbers drawn with one key are the same for every example; with a key for each, each has its own. Callers: users, jacobian.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "weft/autodiff/transform.h"

namespace weft {

/// Along which axis the examples of an argument (a result) lie, negative from the end; nothing: it is the same for all.
using ExampleAxis = std::optional<std::int64_t>;

/// One map, for who calls the function himself: f(examples()), then results(). KeepPending must live in between.
class Vmap {
  public:
    /// AxisError for an axis that is not there, ValueError if numbers of examples differ (both are named) or no argument is mapped.
    /// `names` say in errors which argument is which (empty: "argument 0", ...).
    Vmap(std::span<const Tensor> arguments, std::span<const ExampleAxis> axes, std::vector<std::string> names = {});

    /// What the function is given: a placeholder for each mapped argument, of one example's shape; the others as they are.
    const std::vector<Tensor>& examples() const { return examples_; }
    /// What it gave, for all examples, whose axis stands at axes[i] of result i. A result that is the same for all examples is repeated,
    /// or stays as it is where no axis is asked for. ValueError where none is asked for, but the result differs between examples.
    std::vector<Tensor> results(std::span<const Tensor> of_one, std::span<const ExampleAxis> axes) const;
    Size size() const { return size_; }

  private:
    std::vector<Tensor> examples_, placeholders_, values_;  // values_: of the placeholders, the examples' axis in front
    Size size_ = 0;
};

/// What `of_one` are for `size` examples at once, of which `of_all` hold what `leaves` are for one; the examples' axis in front. What depends on
/// none of these stays as it is.
std::vector<Tensor> of_all_examples(std::span<const Tensor> of_one, std::span<const Tensor> leaves,
                                    std::span<const Tensor> of_all, Size size);

struct VmapOptions {
    std::vector<ExampleAxis> in_axes = {0};  // one an argument, or one for all
    ExampleAxis out_axis = 0;
};

/// f for many examples at once: x, ... -> f of each, stacked along out_axis. f takes and returns Tensors.
template <class F>
auto vmap(F f, VmapOptions options = {}) {
    return [f = std::move(f), options = std::move(options)](const auto&... arguments) -> Tensor {
        KeepPending keep;
        std::array<Tensor, sizeof...(arguments)> given{Operand(arguments).as_tensor()...};
        std::vector<ExampleAxis> axes = options.in_axes;
        if (axes.size() == 1) axes.resize(given.size(), axes[0]);
        Vmap map(given, axes);
        auto call = [&]<std::size_t... I>(std::index_sequence<I...>) { return f(map.examples()[I]...); };
        Tensor results[] = {call(std::make_index_sequence<sizeof...(arguments)>())};
        return map.results(results, {&options.out_axis, 1})[0];
    };
}

/// d output / d wrt[i], each of the output's shape followed by wrt[i]'s: one reverse pass, mapped over the output's elements.
/// DTypeError if the output is not floating (or complex: of a holomorphic function then).
std::vector<Tensor> jacobian(const Tensor& output, std::span<const Tensor> wrt);
/// The same by a forward pass mapped over the elements of each of wrt: cheaper where these are fewer than the output's.
std::vector<Tensor> forward_jacobian(const Tensor& output, std::span<const Tensor> wrt);

/// The name of placeholders, by which an error knows that a mapped function asked for numbers.
inline constexpr std::string_view mapped_name = "an example of vmap";

}  // namespace weft
