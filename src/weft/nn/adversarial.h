// Generator and discriminator, against each other (Goodfellow et al., 2014), as one module that adds both costs (nn/notes.h).
// Callers: users' models, train/.
#pragma once

#include <optional>

#include "weft/nn/sequential.h"

namespace weft::nn {

struct AdversarialOptions {
    std::int64_t latent = 100;          ///< standard normal numbers from which the generator makes an example
    std::optional<double> margin = {};  ///< of the rule below; nothing: both learn in every step
    Tensor key = {};                    ///< of the draws of evaluation
};

/// Gives the discriminator's logits of x, (N, 1): positive for what it takes for data. Reports "discriminator", the mean of the binary
/// cross-entropies of data and of what is generated, and "generator", -log of the probability that the discriminator gives to what is
/// generated. Each network's gradient is that of its own cost: the other one is held constant in it.
/// The margin rule: while either cross-entropy of the discriminator is below ln 2 - margin, the discriminator does not learn (its gradients
/// are 0); while either is above ln 2 + margin, the generator does not; if neither would, both do (Larsen et al., 2016).
class Adversarial {
  public:
    Adversarial(Module generator, Module discriminator, AdversarialOptions options);
    Tensor operator()(const Operand& x) const;
    /// So many examples from the generator: the global generator's draws, or the key's.
    Tensor generate(Size count, const Tensor& key = {}) const;
    std::int64_t latent() const { return options_.latent; }
    Module generator, discriminator;
    template <class V>
    void members(V& visit) {
        visit("generator", generator), visit("discriminator", discriminator);
    }

  private:
    void add_costs(const Tensor& of_data, Size count) const;
    AdversarialOptions options_;
};

}  // namespace weft::nn
