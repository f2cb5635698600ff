// Derivatives of declared expressions, as Theano's users know them. What they are taken with respect to is a Tensor that stands in the
// expression, or a Parameter: then every value of it that the expression read counts, also one read before the Parameter was given another.
//
//     auto [slope] = gradient(loss, {w}, {.consider_constant = {target}});
//
// Callers: users, beside function (runtime/declared.h).
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "weft/autodiff/derivative.h"
#include "weft/graph/parameter.h"

namespace weft {

class Variable {
  public:
    Variable(const Tensor& tensor) : value_(tensor) {}
    Variable(const Parameter& parameter) : value_(parameter.value()), cell_(parameter.cell()) {}
    const Tensor& value() const { return value_; }
    /// The Tensors that stand for it in the expressions; its value, if none does.
    std::vector<Tensor> among(std::span<const Tensor> expressions) const;

  private:
    Tensor value_;
    std::shared_ptr<Cell> cell_;
};

struct GradientOptions {
    std::vector<Variable> consider_constant = {};  // no derivative goes through these
    std::vector<std::pair<Variable, Tensor>> known_grads =
        {};  // d loss / d x, said: what the loss gives does not count
};

/// d loss / d wrt[i]; the loss may be empty where gradients are known. Errors are those of gradient(loss, wrt).
std::vector<Tensor> gradient(const Tensor& loss, std::span<const Variable> wrt, const GradientOptions& options);
inline std::vector<Tensor> gradient(const Tensor& loss, std::initializer_list<Variable> wrt,
                                    const GradientOptions& options) {
    return gradient(loss, std::span<const Variable>(wrt.begin(), wrt.size()), options);
}
/// The derivative of outputs in the direction `tangents` of wrt: Theano's R-operator.
std::vector<Tensor> rop(std::span<const Tensor> outputs, std::span<const Variable> wrt,
                        std::span<const Tensor> tangents);
/// The sum over outputs of cotangents[i] * d outputs[i] / d wrt[j]: Theano's L-operator.
std::vector<Tensor> lop(std::span<const Tensor> outputs, std::span<const Variable> wrt,
                        std::span<const Tensor> cotangents);

}  // namespace weft
