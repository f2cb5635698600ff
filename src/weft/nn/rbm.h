// A restricted Boltzmann machine (Smolensky, 1986): p(v, h) ~ exp(v.b + h.c + h.(W v)), h of 0 and 1, v of 0 and 1 or real (Gaussian, of
// deviation 1: then -|v - b|^2 / 2 in place of v.b). It adds to the cost what contrastive divergence minimises (nn/notes.h), and its chains
// are state, as running statistics are: a checkpoint holds them. Callers: users' models, train/, cli/evaluate.cpp.
#pragma once

#include <optional>

#include "weft/graph/parameter.h"
#include "weft/nn/annealing.h"

namespace weft::nn {

struct RBMOptions {
    std::int64_t steps = 1;   ///< Gibbs steps: of CD-k (Hinton, 2002), or of each update of the chains
    std::int64_t chains = 0;  ///< above 0: so many chains go on from step to step (PCD; Tieleman, 2008)
    bool gaussian = false;    ///< visible units are real numbers
    Tensor key = {};          ///< of the first values
};

/// Gives the probabilities of the hidden units, (N, hidden). While learning it adds "energy": the mean free energy of the batch less that of
/// what the chains make, which is held constant, so that its gradient is contrastive divergence's. It reports "reconstruction": -log of the
/// probability of the batch under what its hidden probabilities give back (Gaussian: half the squared difference), summed over units.
class RBM {
  public:
    RBM(std::int64_t visible, std::int64_t hidden, RBMOptions options = {});
    Tensor operator()(const Operand& x) const;
    /// -log of the sum over h of exp(...), (N,).
    Tensor free_energy(const Tensor& v) const;
    /// Logits of the hidden units (N, hidden), and of the visible ones (Gaussian: their means).
    Tensor hidden_logits(const Tensor& v) const;
    Tensor visible_logits(const Tensor& h) const;
    /// For log Z (nn/annealing.h): v against h. Annealing begins at visible units of these means, or at the machine's visible biases.
    /// ValueError for a Gaussian machine.
    TwoGroups groups(const Tensor& visible_means = {}) const;
    /// v, h, v, ... drawn so many times, each from the one before; the global generator's draws.
    Tensor gibbs(Tensor v, std::int64_t steps) const;

    Parameter weight, visible_bias, hidden_bias;  // weight: (hidden, visible)
    std::optional<Parameter> chains;              // (chains, visible)
    bool gaussian() const { return options_.gaussian; }
    template <class V>
    void members(V& visit) {
        visit("weight", weight), visit("visible_bias", visible_bias), visit("hidden_bias", hidden_bias);
        visit("chains", chains), visit("steps", options_.steps);
    }

  private:
    void add_costs(const Tensor& v) const;
    RBMOptions options_;
};

}  // namespace weft::nn
