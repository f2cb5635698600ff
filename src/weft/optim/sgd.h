// Stochastic gradient descent, with momentum (Polyak, 1964) or Nesterov's (Sutskever et al., 2013). PyTorch's formulas and defaults.
// Callers: users, train/.
#pragma once

#include "weft/optim/optimizer.h"

namespace weft::optim {

struct SGDOptions {
    double lr = 1e-3;
    double momentum = 0;  ///< with 0 there is no velocity to keep, and the momentum can't be changed later
    double dampening = 0;
    double weight_decay = 0;
    bool nesterov = false;
    std::vector<Group> groups = {};
};

/// With momentum m, dampening d: velocity = m * velocity + (1 - d) * g (the first velocity is g), value -= lr * velocity;
/// nesterov: value -= lr * (g + m * velocity).
class SGD final : public Optimizer {
  public:
    explicit SGD(SGDOptions options = {});

  private:
    std::vector<SlotCell> slot_cells(const Parameter&) const override;
    void update(DType dtype, std::span<Slot*> slots) override;
    SGDOptions options_;
};

}  // namespace weft::optim
