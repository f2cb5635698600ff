// Optimizers that divide by the size of past gradients, each number for itself, without momentum of Adam's kind:
// RMSprop (Tieleman and Hinton, 2012), Adagrad (Duchi et al., 2011) and Adadelta (Zeiler, 2012). PyTorch's formulas and defaults. Callers: users, train/.
#pragma once

#include "weft/optim/optimizer.h"

namespace weft::optim {

struct RMSpropOptions {
    double lr = 1e-2;
    double alpha = 0.99;  ///< how much of the past is kept
    double eps = 1e-8;
    double weight_decay = 0;
    double momentum = 0;    ///< with 0 there is no velocity to keep, and the momentum can't be changed later
    bool centered = false;  ///< divides by the deviation rather than the root of the mean square (Graves, 2013)
    std::vector<Group> groups = {};
};

/// s = alpha * s + (1 - alpha) * g*g; value -= lr * g / (sqrt(s) + eps).
class RMSprop final : public Optimizer {
  public:
    explicit RMSprop(RMSpropOptions options = {});

  private:
    std::vector<SlotCell> slot_cells(const Parameter&) const override;
    void update(DType dtype, std::span<Slot*> slots) override;
    RMSpropOptions options_;
};

struct AdagradOptions {
    double lr = 1e-2;
    double lr_decay = 0;  ///< the rate of step t (from 1) is lr / (1 + (t - 1) * lr_decay)
    double weight_decay = 0;
    double initial_accumulator_value = 0;
    double eps = 1e-10;
    std::vector<Group> groups = {};
};

/// s += g*g; value -= lr * g / (sqrt(s) + eps).
class Adagrad final : public Optimizer {
  public:
    explicit Adagrad(AdagradOptions options = {});

  private:
    std::vector<SlotCell> slot_cells(const Parameter&) const override;
    void update(DType dtype, std::span<Slot*> slots) override;
    AdagradOptions options_;
};

struct AdadeltaOptions {
    double lr = 1;
    double rho = 0.9;  ///< how much of the past is kept
    double eps = 1e-6;
    double weight_decay = 0;
    std::vector<Group> groups = {};
};

/// s = rho * s + (1 - rho) * g*g; d = sqrt(a + eps) / sqrt(s + eps) * g; a = rho * a + (1 - rho) * d*d; value -= lr * d.
class Adadelta final : public Optimizer {
  public:
    explicit Adadelta(AdadeltaOptions options = {});

  private:
    std::vector<SlotCell> slot_cells(const Parameter&) const override;
    void update(DType dtype, std::span<Slot*> slots) override;
    AdadeltaOptions options_;
};

}  // namespace weft::optim
