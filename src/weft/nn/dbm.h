// A deep Boltzmann machine of two hidden layers (Salakhutdinov and Hinton, 2009): p(v, h, g) ~ exp(v.b + h.c + g.d + h.(W v) + g.(U h)), all
// units 0 and 1. What the hidden units are, given data, is approximated by independent ones (mean field); what the machine makes by chains
// that go on from step to step, which are state: a checkpoint holds them. Callers: users' models, train/.
#pragma once

#include <utility>

#include "weft/graph/parameter.h"
#include "weft/nn/annealing.h"

namespace weft::nn {

struct DBMOptions {
    std::int64_t steps = 5;  ///< Gibbs steps of each update of the chains
    std::int64_t chains = 100;
    std::int64_t mean_field = 10;  ///< rounds over both hidden layers
    Tensor key = {};               ///< of the first values
};

/// Gives the means of the last hidden layer, (N, second). While learning it adds "energy": the mean energy of the batch, hidden units at
/// their mean field, less that of what the chains make; both held constant, so that its gradient is that of minus the bound on the
/// log-likelihood, log Z's part by the chains. It reports "reconstruction": -log of the probability of the batch under what the first
/// layer's means give back, summed over units.
class DBM {
  public:
    DBM(std::int64_t visible, std::int64_t first, std::int64_t second, DBMOptions options = {});
    Tensor operator()(const Operand& x) const;

    struct Hidden {
        Tensor first, second;  // (N, first), (N, second)
    };
    /// Means of independent hidden units that are nearest to p(h, g | v): each round raises the bound (Saul, Jaakkola and Jordan, 1996).
    Hidden mean_field(const Tensor& v) const;
    /// (N,): a bound on log p(v) + log Z from below, the mean field's: minus the mean energy, and the entropy.
    Tensor bound(const Tensor& v) const;
    /// (N,): log of the sum over h of exp(...), of the visible and the last hidden units.
    Tensor log_weight(const Tensor& v, const Tensor& g) const;
    Tensor first_logits(const Tensor& v, const Tensor& g) const;
    Tensor second_logits(const Tensor& h) const;
    Tensor visible_logits(const Tensor& h) const;
    /// {v, g} so many times drawn given h, h given both; the global generator's draws.
    std::pair<Tensor, Tensor> gibbs(Tensor v, Tensor g, std::int64_t steps) const;
    /// For log Z (nn/annealing.h): h against v and g. Annealing begins at visible units of these means, or at the machine's visible biases.
    TwoGroups groups(const Tensor& visible_means = {}) const;

    // (first, visible), (second, first): as a machine of one layer calls its own, whose parameters can be handed on.
    Parameter first_weight, second_weight, visible_bias, first_bias, second_bias;
    Parameter chains, top_chains;  // v (chains, visible), g (chains, second)
    template <class V>
    void members(V& visit) {
        visit("first.weight", first_weight), visit("first.visible_bias", visible_bias);
        visit("first.hidden_bias", first_bias), visit("first.chains", chains);
        visit("second.weight", second_weight), visit("second.hidden_bias", second_bias);
        visit("second.chains", top_chains), visit("steps", options_.steps), visit("mean_field", options_.mean_field);
    }

  private:
    Tensor minus_energy(const Tensor& v, const Hidden& hidden) const;
    void add_costs(const Tensor& v, const Hidden& hidden) const;
    DBMOptions options_;
};

}  // namespace weft::nn
