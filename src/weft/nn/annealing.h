// log Z of machines of units of 0 and 1 in two groups, of which the units of one depend on those of the other alone: estimated by
// annealed importance sampling (Neal, 2001; Salakhutdinov and Murray, 2008), with an interval, from below and from above, and exactly where
// one group is small. A restricted Boltzmann machine is such a machine, one of two hidden layers too: its middle layer against the rest.
// Callers: train/likelihood.cpp, users.
#pragma once

#include "weft/graph/tensor.h"

namespace weft::nn {

/// p(s, t) ~ exp(s.a + t.b + t.(W s)), s of (m,) and t of (n,) units.
struct TwoGroups {
    Tensor weight;            ///< W, (n, m)
    Tensor s_bias, t_bias;    ///< a (m,), b (n,)
    Tensor s_start, t_start;  ///< biases of the machine without weights at which annealing begins; empty: 0
};

struct AnnealingOptions {
    std::int64_t runs = 100, temperatures = 1000;
    std::int64_t burn_in = 200;  ///< of log_partition_from: steps of Gibbs sampling that the draws go on
    std::uint64_t seed = 1;
};

/// log Z, and between what it is with three standard errors of the runs' weights to either side.
struct LogPartition {
    double value = 0, low = 0, high = 0;
};

/// Runs begin where s and t are independent, and end at the machine. The mean of their weights is Z, so that what is found is as likely
/// too small as the runs miss what is probable: of more temperatures it is better. ValueError for fewer than 2 runs or temperatures.
LogPartition log_partition(const TwoGroups& machine, const AnnealingOptions& options = {});
/// The other way round: from draws of the machine, one a run, to where s and t are independent. Too large where the first is too small, if
/// the draws are the machine's (Grosse, Ghahramani and Adams, 2015). `draws`: s, (runs, m).
LogPartition log_partition_from(const TwoGroups& machine, const Tensor& draws, const AnnealingOptions& options = {});
/// By all states of the smaller group; ValueError if it has more than 25 units.
double exact_log_partition(const TwoGroups& machine);
/// How many units the smaller group has.
std::int64_t smaller_group(const TwoGroups& machine);

/// Biases of independent units that have these means, which are kept away from 0 and 1 by so much: logarithms of odds.
Tensor log_odds(const Tensor& means, double least = 0.001);

}  // namespace weft::nn
