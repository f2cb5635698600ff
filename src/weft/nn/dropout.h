// Dropout (Srivastava et al., 2014) and Flatten: layers that keep nothing. Callers: users' models.
#pragma once

#include "weft/graph/tensor.h"

namespace weft::nn {

/// In training each number becomes 0 with probability p and the others are divided by 1 - p; in evaluation x is handed on. Draws from
/// the global generator: a compiled step draws anew at each call. ValueError unless 0 <= p <= 1.
class Dropout {
  public:
    explicit Dropout(double p = 0.5);
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("p", p_);
    }

  private:
    double p_;
};

/// Axes start_dim .. end_dim become one.
struct Flatten {
    std::int64_t start_dim = 1, end_dim = -1;
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V&) {}
};

}  // namespace weft::nn
