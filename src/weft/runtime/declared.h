// Declared expressions, compiled: inputs are declared with input(), sizes may be named, and everything is written before any number is
// known. Sizes are bound when the function is called; what could not be checked before is checked then.
//
//     Tensor x = input("x", {"batch", 784});
//     auto step = function({x}, {loss}, {{w, w.value() - 0.1 * gradient(loss, w.value())}});
//
// Callers: users.
#pragma once

#include <utility>
#include <vector>

#include "weft/graph/attributes.h"
#include "weft/runtime/function.h"

namespace weft {

struct FunctionOptions {
    /// Each first one is computed as the second one, of its shape and dtype: an input, a Parameter's value, any value on the way. All at once;
    /// only an input's replacement stands in the other replacements too.
    std::vector<std::pair<Tensor, Tensor>> givens = {};
    bool unused_inputs = false;  // may be declared and not used
    CompileOptions compile = {};
};

/// What a function declares, checked: how its outputs are made of what is given for its inputs.
class Declaration {
  public:
    /// ValueError for an input that is used but not among the inputs, or is not used, or for a Parameter with two updates; ShapeError or
    /// DTypeError for an update that its Parameter cannot hold, or a replacement that does not fit.
    Declaration(std::vector<Tensor> inputs, std::vector<Tensor> outputs,
                std::vector<std::pair<Parameter, Tensor>> updates, const FunctionOptions& options = {});
    /// The outputs for these arguments, as expressions; the updates are set. DTypeError, ShapeError for arguments that are not as declared.
    std::vector<Tensor> operator()(std::span<const Tensor> arguments) const;

    const std::vector<Tensor>& inputs() const { return inputs_; }
    std::size_t outputs() const { return count_; }
    std::size_t updates() const { return updates_.size(); }

  private:
    void replace(std::span<const std::pair<Tensor, Tensor>> givens);
    void check_updates() const;
    void check_inputs(bool unused_inputs) const;

    std::vector<Tensor> inputs_, expressions_;  // expressions_: outputs, then new values
    std::vector<Parameter> updates_;
    std::size_t count_;
};

/// Outputs as a function of inputs; all updates take effect together, after the outputs. Parameters read in the expressions are read
/// anew at each call. Errors as for a Declaration.
CompiledFunction function(std::vector<Tensor> inputs, std::vector<Tensor> outputs,
                          std::vector<std::pair<Parameter, Tensor>> updates = {}, const FunctionOptions& options = {});

/// The same expressions over other leaves: each node of `from` becomes its counterpart in `to`, named sizes become numbers.
std::vector<Tensor> substitute(std::span<const Tensor> expressions, std::span<const Tensor> from,
                               std::span<const Tensor> to, const SizeLookup& lookup);

}  // namespace weft
