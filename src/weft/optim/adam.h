// Adam (Kingma and Ba, 2015), AdamW, which decays weights apart from the gradient (Loshchilov and Hutter, 2019), and rules made of the
// same running means: NAdam (Dozat, 2016), RAdam (Liu et al., 2020), Adamax (Kingma and Ba, 2015, section 7).
// PyTorch's formulas and defaults. Callers: users, train/.
#pragma once

#include "weft/optim/moments.h"
#include "weft/optim/optimizer.h"

namespace weft::optim {

struct AdamOptions {
    double lr = 1e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    bool amsgrad = false;                 ///< divides by the largest mean of squares so far (Reddi et al., 2018)
    bool decoupled_weight_decay = false;  ///< value *= 1 - lr * weight_decay, in place of a term of the gradient
    std::vector<Group> groups = {};
};

struct AdamWOptions {
    double lr = 1e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 1e-2;
    bool amsgrad = false;
    std::vector<Group> groups = {};
};

struct NAdamOptions {
    double lr = 2e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    double momentum_decay = 4e-3;
    bool decoupled_weight_decay = false;
    std::vector<Group> groups = {};
};

struct RAdamOptions {
    double lr = 1e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    bool decoupled_weight_decay = false;
    std::vector<Group> groups = {};
};

struct AdamaxOptions {
    double lr = 2e-3;
    double beta1 = 0.9, beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    std::vector<Group> groups = {};
};

/// What the family keeps of gradients: m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g*g, and what makes up in step t
/// (from 1) for their start at zero.
struct AdamMoments {
    AdamMoments(double beta1, double beta2, double eps, const Tensor& t);
    /// Sets the two cells; the means, not made up for.
    std::pair<Tensor, Tensor> update(const Tensor& gradient, Parameter& average, Parameter& square) const;
    /// sqrt(v / (1 - beta2**t)) + eps
    Tensor divisor(const Tensor& v) const;

    RunningMean averages, squares;
    Tensor eps, correction1, root_correction2;  // 1 - beta1**t, 1 / sqrt(1 - beta2**t)
};

/// The rules' common part: options, checks, weight decay of either kind.
class AdamFamily : public Optimizer {
  protected:
    AdamFamily(std::string_view name, AdamOptions options);
    std::vector<SlotCell> slot_cells(const Parameter&) const override;
    /// The gradient and the value that a step begins with: one of them decayed.
    std::pair<Tensor, Tensor> begun(const Slot& slot, const Tensor& lr) const;
    AdamOptions options_;
};

/// value -= lr * m / (1 - beta1**t) / (sqrt(v / (1 - beta2**t)) + eps).
class Adam : public AdamFamily {
  public:
    explicit Adam(AdamOptions options = {});

  protected:
    Adam(std::string_view name, AdamOptions options) : AdamFamily(name, std::move(options)) {}

  private:
    std::vector<SlotCell> slot_cells(const Parameter&) const override;
    void update(DType dtype, std::span<Slot*> slots) override;
};

class AdamW final : public Adam {
  public:
    explicit AdamW(AdamWOptions options = {});
};

/// With mu(t) = beta1 * (1 - 0.96**(t * momentum_decay) / 2) and p their product so far:
/// value -= lr * ((1 - mu(t)) / (1 - p) * g + mu(t + 1) / (1 - p * mu(t + 1)) * m) / (sqrt(v / (1 - beta2**t)) + eps).
class NAdam final : public AdamFamily {
  public:
    explicit NAdam(NAdamOptions options = {});

  private:
    void advance() override;
    void update(DType dtype, std::span<Slot*> slots) override;
    Tensor momentum(const Tensor& t) const;
    double momentum_decay_;
};

/// Adam's step times r(t), which says how far v can be trusted; while it cannot (length of the approximated average <= 5): lr * m / (1 - beta1**t).
class RAdam final : public AdamFamily {
  public:
    explicit RAdam(RAdamOptions options = {});

  private:
    void update(DType dtype, std::span<Slot*> slots) override;
};

/// u = max(beta2 * u, |g| + eps); value -= lr / (1 - beta1**t) * m / u.
class Adamax final : public AdamFamily {
  public:
    explicit Adamax(AdamaxOptions options = {});

  private:
    std::vector<SlotCell> slot_cells(const Parameter&) const override;
    void update(DType dtype, std::span<Slot*> slots) override;
};

}  // namespace weft::optim
