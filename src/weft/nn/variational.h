// Layers that add to the cost while they run (nn/notes.h): a bottleneck that draws, a layer whose slope is held small, a penalty on
// activity. And the decoder that uses an encoder's weights turned round. Callers: users' models, train/.
#pragma once

#include <optional>
#include <string>

#include "weft/nn/linear.h"
#include "weft/nn/sequential.h"

namespace weft::nn {

/// What a variational layer writes into nn::Notes when it draws, for each example: log p(z) - log q(z | x), summed over units.
inline constexpr std::string_view log_ratio = "log p(z) - log q(z | x)";

struct VariationalOptions {
    double factor = 1;    ///< times the divergence (beta of Higgins et al., 2017)
    bool sampled = true;  ///< in evaluation too; false: then the mean is handed on
    Tensor key = {};      ///< of the first values, and of the draws of evaluation
};

/// A normal number for each unit, whose mean and logarithm of the variance are linear in x, drawn as mean + deviation * noise so that
/// derivatives go through (Kingma and Welling, 2014). Adds "divergence": that of these from standard normal numbers, in nats, summed over
/// units, the mean over the batch. In evaluation every batch sees the same noise, and the global generator is left alone.
class Variational {
  public:
    Variational(std::int64_t in_features, std::int64_t units, VariationalOptions options = {});
    Tensor operator()(const Operand& x) const;
    Linear mean, log_variance;
    template <class V>
    void members(V& visit) {
        visit("mean", mean), visit("log_variance", log_variance);
    }

  private:
    VariationalOptions options_;
};

/// activation(x W' + b), and adds "contraction": factor times the squared Frobenius norm of its derivative by x, the mean over the batch
/// (Rifai et al., 2011). `activation` works number by number, by the name that nn::activation() takes.
class Contractive {
  public:
    Contractive(Linear linear, std::string activation, double factor);
    Tensor operator()(const Operand& x) const;
    Linear linear;
    template <class V>
    void members(V& visit) {
        visit("", linear), visit("activation", name_), visit("factor", factor_);
    }

  private:
    std::string name_;
    Module activation_;
    double factor_;
};

struct ActivityOptions {
    double l1 = 0, l2 = 0;              ///< times the sum over units of |h|, of h^2 / 2; the mean over the batch
    std::optional<double> target = {};  ///< what each unit's mean over the batch should be, in (0, 1)
    double factor = 1;                  ///< times the divergence from it
};

/// Hands on what it is given, and adds "activity": penalties on it. With a target q, the divergence q log(q/p) + (1-q) log((1-q)/(1-p)) of
/// each unit's mean p over the batch, summed: for units between 0 and 1 (Lee, Ekanadham and Ng, 2008; Ng, 2011).
/// ValueError for a target outside of (0, 1), or factors below 0.
class ActivityPenalty {
  public:
    explicit ActivityPenalty(ActivityOptions options);
    Tensor operator()(const Operand& x) const;
    template <class V>
    void members(V& visit) {
        visit("l1", options_.l1), visit("l2", options_.l2);
    }

  private:
    ActivityOptions options_;
};

/// x W + b, where W is the weight of a linear layer, which goes from what this one gives to what it takes. The bias is its own, 0 at first.
class Tied {
  public:
    explicit Tied(const Linear& to);
    Tensor operator()(const Operand& x) const;
    Parameter bias;
    template <class V>
    void members(V& visit) {
        visit("bias", bias);
    }

  private:
    Parameter weight_;  // shown by the layer to which it belongs
};

}  // namespace weft::nn
