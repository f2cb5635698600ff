// What a batch costs: the network is run once, its costs are asked, what its layers add is collected. All of it as expressions, which a
// step, an evaluation and a dry run each compile or count. Callers: train/objective.cpp, train/network.cpp, train/dry_run.cpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weft/nn/notes.h"
#include "weft/train/network.h"

namespace weft::train {

struct Measured {
    Tensor cost;  // what is minimised: the loss and the penalties
    Tensor loss;  // without penalties, so that sets and runs can be compared
    Tensor
        losses;  // the loss of each example, (batch,), 0 for one without a target: `loss` is their mean over those that have one.
    // What only a whole batch has (pairs, what layers add) is the same for all
    Tensor error_rate;                  // of the first term that counts errors; 0 where none does
    std::vector<Tensor> further_rates;  // of the other terms that do
    Tensor present;                     // how many examples have a target (int64); empty: all have
    Tensor output;                      // what the network says to the first term that counts errors, or what it gives
    std::vector<Tensor> terms;  // each of them without its factor: by example where it has one, else of the whole batch
    std::vector<std::pair<std::string, Tensor>> added,
        told;  // what layers add and tell, by name, in the order of first mention
};

std::vector<CostTerm> cost_terms(const Phase& phase);

/// Of a batch (x, y), layers in the mode in which they are. `parameters` have their names.
Measured measure(const std::vector<CostTerm>& terms, const std::function<Tensor(const Tensor&)>& model, const Tensor& x,
                 const Tensor& y, std::span<const Parameter> parameters);

/// What a term is a cost of: what the network says, or what the layer that it names gave.
Tensor said_to(const CostTerm& term, const Tensor& output, const nn::Notes& notes);
/// What a term wants of a batch: the targets, the input, a field by its name (nn::Given), or what a layer gave, held constant.
Tensor wanted_by(const CostTerm& term, const Tensor& x, const Tensor& y, const nn::Notes& notes);

}  // namespace weft::train
