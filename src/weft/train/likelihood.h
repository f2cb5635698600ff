// How probable a model of data takes a set to be: for a Boltzmann machine by an estimate of its log Z, for a network with a variational layer
// by weighted draws (Burda, Grosse and Salakhutdinov, 2016). Caller: cli/evaluate.cpp.
#pragma once

#include <functional>

#include "weft/nn/annealing.h"
#include "weft/train/network.h"

namespace weft::train {

struct LikelihoodOptions {
    std::int64_t draws = 100;  // of each example's code, of which a better bound is made
    nn::AnnealingOptions annealing = {};
    bool reverse = false;  // log Z from above, too
    /// Annealing begins at the means of this set, and from above at its examples; the set itself if left out.
    std::function<data::Dataset()> train = {};
};

struct Likelihood {
    double mean =
        0;  // nats an example: an estimate (rbm), or a bound from below (variational; dbm, up to what log Z is)
    bool bound = false;
    // Of Boltzmann machines. The mean is by the exact one, where few units allow it, else by the first.
    std::optional<nn::LogPartition> log_partition = {}, log_partition_from_above = {};
    std::optional<double> exact_log_partition = {};
    bool black_and_white = true;  // else it is no probability
};

/// ConfigError if the model is none of these, or there are fewer than 1 draw, 2 chains or 2 temperatures.
Likelihood likelihood(const Phase& phase, const Network& network, const data::Dataset& set,
                      const LikelihoodOptions& options = {});

}  // namespace weft::train
