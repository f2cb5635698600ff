// Principal components (Pearson, 1901) from the covariance of a pass over the data, which may be larger than memory. Callers: train/, users.
#pragma once

#include "weft/nn/own_rule.h"

namespace weft::nn {

/// Gives the places of rows (N, features) along the axes of most variance, (N, components), each over its deviation if `whiten`: 0 before
/// the first pass has ended. While somebody listens it reports "residual", the mean squared distance of rows from what their places say,
/// and tells "variance", their mean squared distance from the mean. A further pass learns anew.
class PCA final : public OwnRule {
  public:
    PCA(std::int64_t features, std::int64_t components, bool whiten = false);
    std::string_view name() const override { return "PCA"; }
    void members(Visitor& visit) override;
    void begin(const Tensor&) override {}
    /// Eigenvectors of the covariance, over the number of examples.
    std::string end_pass() override;
    bool has_learned() const override;

    Parameter components;  ///< (components, features), orthonormal; each one's largest part is positive
    Parameter mean;        ///< (features,)
    Parameter variances;   ///< (components,), descending

  private:
    Tensor given(const Tensor& x) const override;
    void take_down(const Tensor& x) override;

    bool whiten_;
    Parameter passes_;
    Parameter count_, mean_, scatter_;  // of this pass, float64: scatter is the sum of (x - mean) (x - mean)'
};

}  // namespace weft::nn
