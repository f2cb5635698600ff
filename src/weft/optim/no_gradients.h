// The optimizer of models that learn without gradients (nn/own_rule.h): it has no rate and makes no step, and refuses parameters that would
// wait for one in vain. Callers: train/.
#pragma once

#include "weft/optim/optimizer.h"

namespace weft::optim {

class NoGradients final : public Optimizer {
  public:
    NoGradients() : Optimizer("of_layers", 0, {}) {}
    /// ValueError if there are parameters to train.
    void check(std::span<const Parameter> parameters) const override;
    void prepare(std::span<const Parameter> parameters) override { check(parameters); }

  private:
    std::vector<SlotCell> slot_cells(const Parameter&) const override { return {}; }
    void update(DType, std::span<Slot*>) override {}
};

}  // namespace weft::optim
