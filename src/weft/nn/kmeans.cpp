#include "weft/nn/kmeans.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "weft/nn/check.h"
#include "weft/nn/keys.h"
#include "weft/nn/module.h"
#include "weft/nn/notes.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft::nn {

KMeans::KMeans(std::int64_t features, std::int64_t clusters, KMeansOptions options) : options_(std::move(options)) {
    check_positive("KMeans", "features", features);
    check_positive("KMeans", "clusters", clusters);
    if (!options_.key) options_.key = random::next_key();
    centroids = zero_state(DType::float32, {clusters, features});
    restarted = zero_state(DType::int64, {}), passes_ = zero_state(DType::int64, {});
    sums_ = zero_state(DType::float64, {clusters, features}), counts_ = zero_state(DType::float64, {clusters});
    farthest_ = zero_state(DType::float32, {clusters, features});
    farthest_distance_ = zero_state(DType::float32, {clusters});
}

void KMeans::members(Visitor& visit) {
    visit("centroids", centroids), visit("restarted", restarted), visit("passes", passes_);
    if (held()) return;
    visit("pass.sums", sums_), visit("pass.counts", counts_);
    visit("pass.farthest", farthest_), visit("pass.farthest_distance", farthest_distance_);
}

bool KMeans::has_learned() const { return passes_.value().item<std::int64_t>() > 0; }

Tensor KMeans::scores(const Tensor& x) const {
    Tensor to = centroids.value();
    return sum(square(to), 1) - matmul(x, to.T()) * 2.0;
}

Tensor KMeans::nearest(const Tensor& x) const { return argmin(scores(astype(x, DType::float32)), 1); }

Tensor KMeans::squared_distance(const Tensor& x, const Tensor& cluster) const {
    return sum(square(x - take(centroids.value(), cluster, 0)), 1);
}

Tensor KMeans::given(const Tensor& rows) const {
    check_axis("KMeans", rows, 2, -1, centroids.shape()[1].value(), "features");
    Tensor x = astype(rows, DType::float32);
    using Gives = KMeansOptions::Gives;
    Tensor cluster = nearest(x);
    if (Notes::current()) add_cost("inertia", mean(squared_distance(x, cluster)), AddedCost::Part::reported);
    if (options_.gives == Gives::cluster) return cluster;
    Tensor distances = sqrt(maximum(scores(x) + sum(square(x), 1, true), 0.0));
    if (options_.gives == Gives::distances) return distances;
    return relu(mean(distances, 1, true) - distances);
}

void KMeans::take_down(const Tensor& rows) {
    Tensor x = astype(rows, DType::float32);
    Tensor cluster = nearest(x), squared = squared_distance(x, cluster);
    Size clusters = centroids.shape()[0];
    Tensor member = one_hot(cluster, clusters, DType::float64);
    sums_.set(sums_.value() + matmul(member.T(), astype(x, DType::float64)));
    counts_.set(counts_.value() + sum(member, 0));
    Tensor far = expand_dims(squared, 1) * astype(member, DType::float32);  // 0 where it is another's
    Tensor most = max(far, 0), further = most > farthest_distance_;
    Tensor farther = take(x, argmax(far, 0), 0);
    farthest_.set(where(expand_dims(further, 1), farther, farthest_));
    farthest_distance_.set(maximum(farthest_distance_, most));
}

void KMeans::begin(const Tensor& rows) {
    std::int64_t clusters = centroids.shape()[0].value(), count = rows.shape()[0].value();
    if (count < clusters)
        throw ValueError(text("KMeans: ", clusters, " clusters begin at as many rows, there are ", count));
    std::vector<double> draws = random::uniform({clusters}, 0, 1, options_.key, DType::float64).to_vector<double>();
    std::vector<Tensor> chosen;
    std::vector<double> squared(static_cast<std::size_t>(count), 1.0);  // the first is any
    for (double draw : draws) {
        std::vector<double> upto(squared.size());
        std::partial_sum(squared.begin(), squared.end(), upto.begin());
        if (!std::isfinite(upto.back())) throw ValueError("KMeans: there are rows with numbers that are not finite");
        auto found = std::upper_bound(upto.begin(), upto.end(), draw * upto.back());
        std::int64_t row = upto.back() > 0 ? std::min<std::int64_t>(found - upto.begin(), count - 1)
                                           : static_cast<std::int64_t>(chosen.size());  // all rows stand on centroids
        chosen.push_back(slice(rows, {row, 0}, {Size(1), rows.shape()[1]}).eval());
        std::vector<double> distance = sum(astype(square(rows - chosen.back()), DType::float64), 1).to_vector<double>();
        for (std::size_t i = 0; i < squared.size(); ++i)
            squared[i] = chosen.size() == 1 ? distance[i] : std::min(squared[i], distance[i]);
    }
    centroids.set(astype(concatenate(chosen, 0), DType::float32).eval());
}

std::string KMeans::end_pass() {
    std::vector<double> counts = counts_.value().to_vector<double>();
    std::vector<float> distance = farthest_distance_.value().to_vector<float>();
    if (std::all_of(counts.begin(), counts.end(), [](double count) { return count == 0; })) return {};
    Array moved = contiguous(centroids.value().array()), sums = contiguous(sums_.value().array()),
          far = contiguous(farthest_.value().array());
    moved = Array::from(std::vector<float>(moved.data<float>(), moved.data<float>() + moved.size()), moved.dims);
    std::int64_t width = moved.dims[1];
    auto row = [width](auto* numbers, std::size_t cluster) {
        return numbers + static_cast<std::int64_t>(cluster) * width;
    };
    std::vector<std::size_t> by_distance;  // whose farthest example is not all that they have
    for (std::size_t cluster = 0; cluster < counts.size(); ++cluster)
        if (counts[cluster] > 1 && distance[cluster] > 0) by_distance.push_back(cluster);
    std::stable_sort(by_distance.begin(), by_distance.end(), [&](auto a, auto b) { return distance[a] > distance[b]; });
    std::int64_t anew = 0;
    auto next = by_distance.begin();
    for (std::size_t cluster = 0; cluster < counts.size(); ++cluster) {
        if (counts[cluster] > 0) {
            for (std::int64_t i = 0; i < width; ++i)
                row(moved.data<float>(), cluster)[i] =
                    static_cast<float>(row(sums.data<double>(), cluster)[i] / counts[cluster]);
        } else if (next != by_distance.end()) {
            std::copy_n(row(far.data<float>(), *next++), width, row(moved.data<float>(), cluster));
            ++anew;
        }
    }
    centroids.set(Tensor(moved));
    restarted.set((restarted.value() + anew).eval()), passes_.set((passes_.value() + 1).eval());
    for (Parameter* cell : {&sums_, &counts_, &farthest_, &farthest_distance_}) clear(*cell);
    if (anew == 0) return {};
    return text(anew, " of ", counts.size(),
                " clusters had no example nearest to them and begin anew at the farthest ones");
}

}  // namespace weft::nn
