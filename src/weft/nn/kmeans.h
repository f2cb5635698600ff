// k-means: centroids of clusters (Lloyd, 1957), a pass over the data for each of their moves, so that data may be larger than memory. They
// begin at rows drawn by k-means++ (Arthur and Vassilvitskii, 2007). Callers: train/, users.
#pragma once

#include <string>

#include "weft/nn/own_rule.h"

namespace weft::nn {

struct KMeansOptions {
    enum class Gives : std::uint8_t {
        cluster,    ///< the number of the nearest centroid, (N,) int64; of two that are as near the first
        distances,  ///< to every centroid, (N, clusters)
        triangle,   ///< max(0, mean distance - distance), (N, clusters) (Coates, Ng and Lee, 2011)
    } gives = Gives::cluster;
    Tensor key = {};  ///< of the rows that are drawn
};

/// Of rows (N, features). While somebody listens to what layers add it reports "inertia": the mean squared distance to the nearest centroid.
/// A cluster that nothing was nearest to in a pass begins anew, at the example that was farthest from its own centroid.
class KMeans final : public OwnRule {
  public:
    KMeans(std::int64_t features, std::int64_t clusters, KMeansOptions options = {});
    std::string_view name() const override { return "KMeans"; }
    void members(Visitor& visit) override;
    /// k-means++: each is a row, drawn in proportion to its squared distance from the nearest one before. ValueError for fewer rows than
    /// clusters, or rows that are not finite.
    void begin(const Tensor& rows) override;
    std::string end_pass() override;
    bool has_learned() const override;
    /// (N,), int64.
    Tensor nearest(const Tensor& x) const;

    Parameter centroids;  ///< (clusters, features)
    Parameter restarted;  ///< 0-d, int64: how many clusters began anew since the first pass

  private:
    Tensor given(const Tensor& x) const override;
    void take_down(const Tensor& x) override;
    /// (N, clusters): squared distances less the square of x, which is the same for all.
    Tensor scores(const Tensor& x) const;
    /// (N,)
    Tensor squared_distance(const Tensor& x, const Tensor& cluster) const;

    KMeansOptions options_;
    Parameter passes_;
    // Of this pass, by cluster: sums and numbers of its examples, and its farthest one.
    Parameter sums_, counts_, farthest_, farthest_distance_;
};

}  // namespace weft::nn
