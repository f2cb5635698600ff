// How much a network computes, counted over the nodes of its graph without computing them: two operations for each pair that a product of
// matrices or a convolution multiplies and adds, one a number for what is elementwise or joined along axes, none for what moves numbers.
// Callers: train/builder.cpp, train/network.cpp.
#pragma once

#include <span>

#include "weft/nn/sequential.h"
#include "weft/train/parts.h"

namespace weft::train {

/// Of the nodes from which `results` are made, each once, down to leaves and to what is computed already.
double operations(std::span<const Tensor> results);
/// Of a module's value for one example.
double forward_operations(const nn::Module& module, const LayerPlace& place);

}  // namespace weft::train
