// Adam (Kingma and Ba, 2015) and AdamW, which decays weights apart from the gradient (Loshchilov and Hutter, 2019).
// PyTorch's formulas and defaults. Callers: users, train/.
#pragma once

#include "weft/optim/optimizer.h"

namespace weft::optim {

struct AdamOptions {
    double lr = 1e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    std::vector<Group> groups = {};
};

struct AdamWOptions {
    double lr = 1e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 1e-2;
    std::vector<Group> groups = {};
};

/// m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g*g; in step t (from 1)
/// value -= lr * m / (1 - beta1**t) / (sqrt(v / (1 - beta2**t)) + eps).
class Adam : public Optimizer {
  public:
    explicit Adam(AdamOptions options = {});

  protected:
    Adam(std::string_view name, AdamOptions options, bool decoupled);

  private:
    std::vector<SlotCell> slot_cells() const override;
    void update(DType dtype, std::span<Slot*> slots) override;
    AdamOptions options_;
    bool decoupled_;  // value *= 1 - lr * weight_decay, in place of a term of the gradient
};

class AdamW final : public Adam {
  public:
    explicit AdamW(AdamWOptions options = {});
};

}  // namespace weft::optim
