// Muon (Jordan et al., 2024): the velocity of a matrix, made nearly orthogonal by Newton and Schulz's iteration. PyTorch's formula and
// defaults, computed in the parameter's own type (PyTorch iterates in bfloat16). Callers: users, train/.
#pragma once

#include "weft/optim/adam.h"

namespace weft::optim {

/// What trains parameters that are no matrices: AdamW, at a rate "others_lr", with the weight decay of the optimizer or the group.
struct MuonOthers {
    double lr = 1e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
};

struct MuonOptions {
    double lr = 1e-3;
    double weight_decay = 0.1;  ///< times the rate, taken off each weight
    double momentum = 0.95;
    bool nesterov = true;
    double a = 3.4445, b = -4.775, c = 2.0315;  ///< of the iteration X <- a X + b (X X') X + c (X X')^2 X
    double eps = 1e-7;                          ///< the norm is not divided by less
    std::int64_t ns_steps = 5;
    /// The rate is multiplied by sqrt(max(1, rows / columns)), or by 0.2 * sqrt(max(rows, columns)), whose steps are as large as AdamW's
    /// (Liu et al., 2025).
    bool match_rms_adamw = false;
    std::optional<MuonOthers> others = {};  ///< without it parameters that are no matrices are refused
    std::vector<Group> groups = {};
};

/// m = momentum * m + (1 - momentum) * g; value = (1 - lr * weight_decay) * value - lr' * orthogonal(m), with nesterov of
/// (1 - momentum) * g + momentum * m.
class Muon final : public Optimizer {
  public:
    explicit Muon(MuonOptions options = {});

  private:
    std::vector<SlotCell> slot_cells(const Parameter& parameter) const override;
    void update(DType dtype, std::span<Slot*> slots) override;
    void update_matrix(Slot& slot, const Tensor& lr);
    Tensor orthogonal(const Tensor& matrix) const;
    MuonOptions options_;
};

}  // namespace weft::optim
