// MaxPieces: the greatest of each few numbers, so that a linear layer or a convolution in front becomes a maxout unit (Goodfellow et al., 2013).
// Callers: users' models, train/.
#pragma once

#include "weft/graph/tensor.h"

namespace weft::nn {

/// (N, units * pieces, ...) becomes (N, units, ...): unit u is the greatest of the numbers u * pieces ... (u + 1) * pieces - 1 of axis 1.
/// Over the last axis of vectors with `last`, whatever their number of axes. ShapeError unless the axis holds a multiple of the pieces.
class MaxPieces {
  public:
    explicit MaxPieces(std::int64_t pieces, bool last = false);
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("pieces", pieces_);
    }

  private:
    std::int64_t pieces_;
    bool last_;
};

}  // namespace weft::nn
