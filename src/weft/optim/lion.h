// Lion (Chen et al., 2023, "Symbolic discovery of optimization algorithms"): every number moves by the rate, up or down. Callers: users, train/.
#pragma once

#include "weft/optim/optimizer.h"

namespace weft::optim {

struct LionOptions {
    double lr = 1e-4;
    double beta1 = 0.9, beta2 = 0.99;
    double weight_decay = 0;  ///< times the rate, taken off each weight
    std::vector<Group> groups = {};
};

/// value -= lr * (sign(beta1 * m + (1 - beta1) * g) + weight_decay * value), then m = beta2 * m + (1 - beta2) * g.
class Lion final : public Optimizer {
  public:
    explicit Lion(LionOptions options = {});

  private:
    std::vector<SlotCell> slot_cells(const Parameter&) const override;
    void update(DType dtype, std::span<Slot*> slots) override;
    LionOptions options_;
};

}  // namespace weft::optim
