// Examples that a model that a run has kept makes up: from the generator of an adversarial pair, from the decoder behind a variational layer,
// from the chains of a Boltzmann machine. Callers: cli/sample.cpp, users.
#pragma once

#include "weft/train/network.h"
#include "weft/train/run.h"

namespace weft::train {

struct SampleOptions {
    std::int64_t count = 100;
    std::uint64_t seed = 1;     ///< of the global generator, which draws
    std::int64_t steps = 1000;  ///< rbm, dbm: v, h, v, ... drawn so many times, from its chains on, or from random bits
    std::int64_t walk = 0;   ///< above 0: so many steps from one draw of the code to the next, along a circle about 0
    double temperature = 1;  ///< the deviation of the numbers of a code: below 1 examples are surer and more alike
};

/// What the network makes, (count, ...), in the form in which it meets data: of a variational layer's decoder what the cost says its outputs
/// stand for (of `bernoulli` the probabilities), of a Boltzmann machine the means of the visible units. ConfigError if the model is none of
/// these, or a walk or a temperature is asked of a Boltzmann machine, which has no code; or if a layer behind the code does not take
/// what is drawn.
Tensor sample(const Phase& phase, const Network& network, const SampleOptions& options = {});

/// Whether the model is one of these.
bool makes_examples(const Network& network);

/// The same of a run's kept model, as data were before they were prepared (float32). ValueError names a step of preparation that has no
/// inverse.
Array sample(const Run& run, const SampleOptions& options = {});

}  // namespace weft::train
