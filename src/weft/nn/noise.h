// Layers that spoil what they are given while learning, and hand it on in evaluation: for denoising autoencoders (Vincent et al., 2010) and
// as regularisers. Each draws from the global generator: a compiled step draws anew at each call. Callers: users' models, train/.
#pragma once

#include "weft/graph/tensor.h"

namespace weft::nn {

/// x + a normal number of mean 0 and this deviation. ValueError unless it is at least 0.
class GaussianNoise {
  public:
    explicit GaussianNoise(double deviation = 0.1);
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("deviation", deviation_);
    }

  private:
    double deviation_;
};

/// Each number becomes `low` or `high`, with probability p / 2 each. ValueError unless 0 <= p <= 1.
class SaltAndPepper {
  public:
    explicit SaltAndPepper(double p = 0.2, double low = 0, double high = 1);
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("p", p_), visit("low", low_), visit("high", high_);
    }

  private:
    double p_, low_, high_;
};

/// Each number becomes 0 with probability p, the others are multiplied by `scale`: Dropout whose scale is chosen. ValueError unless
/// 0 <= p <= 1.
class MaskingNoise {
  public:
    explicit MaskingNoise(double p = 0.25, double scale = 1);
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("p", p_), visit("scale", scale_);
    }

  private:
    double p_, scale_;
};

/// 1 where x is above `at`, else 0; while evaluating, too. No derivative goes through.
struct Binarize {
    double at = 0.5;
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("at", at);
    }
};

}  // namespace weft::nn
