// Counting: how many elements are equal, or lie in the same bin. Callers: users.
#pragma once

#include <utility>

#include "weft/graph/operation.h"

namespace weft {

/// How often each of 0, 1, ... comes among whole numbers (one axis, none negative), or the sum of their weights: int64, or the weights'
/// inexact type; of max(x) + 1 elements, at least minlength. Computes x: ValueError in a traced function, whose shapes are fixed.
Tensor bincount(const Operand& x, const Tensor& weights = {}, std::int64_t minlength = 0);

/// For each element of x the number of the bin that holds it, int64: i with bins[i-1] <= x < bins[i] (right: bins[i-1] < x <= bins[i]);
/// of falling bins i with bins[i-1] > x >= bins[i] (right: bins[i-1] >= x > bins[i]). ValueError if the bins neither rise nor fall, as far as their numbers are there.
Tensor digitize(const Operand& x, const Operand& bins, bool right = false);

struct HistogramOptions {
    std::optional<std::pair<double, double>> range =
        {};                ///< of the bins; from the least to the largest element where not said
    Tensor weights = {};   ///< of x's shape
    bool density = false;  ///< the integral over all bins is 1
};
/// `bins` bins of equal width between the ends of the range (one of no width: half to each side): bins + 1 edges.
Tensor histogram_bin_edges(const Operand& x, std::int64_t bins = 10, const HistogramOptions& options = {});
/// By a rule of how many: "sturges" (1926), "sqrt", "rice", "scott" (1979), "fd" (Freedman & Diaconis, 1981), "doane" (1976), "auto" (the
/// more of sturges and fd). Computes x.
Tensor histogram_bin_edges(const Operand& x, std::string_view rule, const HistogramOptions& options = {});
/// (counts, edges): how many elements lie in [edges[i], edges[i+1]), in the last bin its end too. Counts are int64, of the weights' type
/// with weights, floating as densities; what lies outside is not counted.
std::pair<Tensor, Tensor> histogram(const Operand& x, const Operand& edges, const HistogramOptions& options = {});
std::pair<Tensor, Tensor> histogram(const Operand& x, std::int64_t bins = 10, const HistogramOptions& options = {});
/// Of points in D dimensions (sample: (N, D)), given each dimension's edges: counts of shape (bins of the first, ...), float32 or the
/// type of the weights (N).
Tensor histogramdd(const Operand& sample, std::span<const Tensor> edges, const HistogramOptions& options = {});

}  // namespace weft
