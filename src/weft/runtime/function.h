// A CompiledFunction is a traced program: the body runs once for each combination of argument shapes and dtypes, on placeholders, and is
// planned; every other call only runs the plan. Parameters that the body reads are read anew at each call; those that it sets get
// their new values, all together, when the outputs are computed (in place where nobody else holds the old value).
// Immutable but for its cache of programs, which is bounded (runtime/allowance.h); any thread may call it. Callers: compile(), train_step.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "weft/graph/parameter.h"
#include "weft/graph/tensor.h"
#include "weft/ops/matmul_precision.h"

namespace weft {

class Allowance;
struct Explanation;

struct CompileOptions {
    /// Of products of matrices of float32, those of derivatives too: bfloat16 for operands rounded to it, bfloat16x3 and bfloat16x6 for sums of
    /// several (ops/contraction.h says what that does to a product). Sums, all other operations and parameters stay as they are; so do convolutions, and products of
    /// fewer than 16 rows, columns, or numbers along the sum.
    MatmulPrecision matmul_precision = MatmulPrecision::float32;
};

class CompiledFunction {
  public:
    using Body = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
    /// `allowance`: what its programs may take, those of the other functions that share it included; left out: its own.
    explicit CompiledFunction(Body body, CompileOptions options = {}, std::shared_ptr<Allowance> allowance = {});
    ~CompiledFunction();
    CompiledFunction(CompiledFunction&&) noexcept;
    CompiledFunction& operator=(CompiledFunction&&) noexcept;

    std::vector<Tensor> operator()(std::span<const Tensor> arguments) const;
    /// The same with the outputs' memory reused: `results` of the last call are overwritten if nobody else holds them.
    void call(std::span<const Tensor> arguments, std::vector<Tensor>& results) const;
    /// How it runs for these arguments (runtime/explain.h). No cell gets a new value.
    Explanation explain(std::span<const Tensor> arguments) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// f compiled: a callable of Tensors that gives a Tensor (as f does) or a std::vector of them.
template <class F>
auto compile(F f, CompileOptions options = {}) {
    using Result = std::function<Tensor(std::span<const Tensor>)>;
    (void)sizeof(Result);
    return [f = std::move(f), options = std::move(options),
            function = std::shared_ptr<CompiledFunction>()](const auto&... arguments) mutable {
        std::array<Tensor, sizeof...(arguments)> xs{Operand(arguments).as_tensor()...};
        if (!function) {
            function = std::make_shared<CompiledFunction>(
                [f](std::span<const Tensor> inputs) {
                    auto at = [&]<std::size_t... I>(std::index_sequence<I...>) { return f(inputs[I]...); };
                    return std::vector<Tensor>{at(std::make_index_sequence<sizeof...(arguments)>())};
                },
                options);
        }
        std::vector<Tensor> results;
        function->call(xs, results);
        return results[0];
    };
}

}  // namespace weft
