// Units of 0 and 1, as Boltzmann machines have them. Callers: nn/rbm.cpp, nn/dbm.cpp, nn/annealing.cpp.
#pragma once

#include "weft/graph/parameter.h"

namespace weft::nn {

/// 1 with the probability sigmoid(logits): the global generator's draws, or the key's.
Tensor drawn_units(const Tensor& logits, const Tensor& key = {});
/// State (rows, units): each 1 with probability 1/2.
Parameter tossed_units(std::int64_t rows, std::int64_t units, const Tensor& key);
Parameter zero_bias(std::int64_t units);

}  // namespace weft::nn
