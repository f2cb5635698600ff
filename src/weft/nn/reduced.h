// How the losses of single elements become one. Callers: the sources of losses in this folder.
#pragma once

#include "weft/nn/loss.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"

namespace weft::nn {

inline Tensor reduced(const Tensor& losses, LossReduction reduction) {
    if (reduction == LossReduction::mean) return mean(losses);
    return reduction == LossReduction::sum ? sum(losses) : losses;
}

}  // namespace weft::nn
