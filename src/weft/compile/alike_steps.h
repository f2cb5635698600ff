// Steps that are alike, as those of a network's layers are: the same loops and products of operands that lie alike, wherever they lie. A kernel
// knows nothing else of a step, so one serves them all. Callers: compile/binding.cpp.
#pragma once

#include <functional>
#include <optional>

#include "weft/base/hash.h"
#include "weft/compile/binding.h"

namespace weft {

class AlikeSteps {
  public:
    /// As StepKernels has them; `output_of`: the output that each slot is (or -1), of `outputs`.
    AlikeSteps(const Plan& plan, const Graph& graph, const Views& views, const std::vector<std::int32_t>& output_of,
               const std::vector<BoundOutput>& outputs, const std::vector<bool>& steady)
        : plan_(plan), graph_(graph), views_(views), output_of_(output_of), outputs_(outputs), steady_(steady) {}

    /// Steps with the same key have the same kernel. Nothing of one whose kernel knows more: the lines of the user's that its indices come
    /// from, how a loop's step is made, a key that numbers are drawn with. `owns`: StepKernels' `own`.
    std::optional<Hash128> key(const Step& step, const std::function<bool(std::int32_t slot)>& owns) const;

  private:
    class Key;

    const Plan& plan_;
    const Graph& graph_;
    const Views& views_;
    const std::vector<std::int32_t>& output_of_;
    const std::vector<BoundOutput>& outputs_;
    const std::vector<bool>& steady_;
};

}  // namespace weft
