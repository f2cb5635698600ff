// How probable a model of data takes a set to be: for a Boltzmann machine by an estimate of its log Z, for a network with a variational layer
// by weighted draws (Burda, Grosse and Salakhutdinov, 2016). Caller: cli/evaluate.cpp.
#pragma once

#include "weft/nn/rbm.h"
#include "weft/train/network.h"

namespace weft::train {

struct LikelihoodOptions {
    std::int64_t draws = 100;  // of each example's code, of which a better bound is made
    nn::AisOptions annealing = {};
};

struct Likelihood {
    double mean = 0;  // nats an example: an estimate (rbm), or a bound from below (variational)
    bool bound = false;
    std::optional<double> log_partition = {};        // rbm
    std::optional<double> exact_log_partition = {};  // where few hidden units allow it
};

/// ConfigError if the model is neither.
Likelihood likelihood(const Phase& phase, const Network& network, const data::Dataset& set,
                      const LikelihoodOptions& options = {});

}  // namespace weft::train
