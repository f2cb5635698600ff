// Layers that learn by rules of their own, without gradients: clusters, principal components.
#include "weft/base/error.h"
#include "weft/nn/kmeans.h"
#include "weft/nn/pca.h"
#include "weft/ops/random.h"
#include "weft/train/builder.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

std::int64_t features(const LayerPlace& place, std::string_view layer) {
    if (place.input.size() == 1) return place.input[0];
    throw ShapeError(text(layer, " takes vectors, what reaches it has shape ", place.input, "; flatten makes them"));
}

nn::Module learner(const LayerPlace& place, std::shared_ptr<nn::OwnRule> rule) {
    place.builder->learners.push_back(rule);
    return nn::Learner(std::move(rule));
}

nn::Module make_kmeans(const Json& o, const LayerPlace& place) {
    using Gives = nn::KMeansOptions::Gives;
    const std::string& gives = o.at("gives").as_string();
    Gives what = gives == "cluster" ? Gives::cluster : gives == "distances" ? Gives::distances : Gives::triangle;
    return learner(place, std::make_shared<nn::KMeans>(features(place, "kmeans"), o.at("clusters").as_integer(),
                                                       nn::KMeansOptions{what, random::key(place.seed)}));
}

nn::Module make_pca(const Json& o, const LayerPlace& place) {
    return learner(place, std::make_shared<nn::PCA>(features(place, "pca"), o.at("components").as_integer(),
                                                    o.at("whiten").as_bool()));
}

}  // namespace

std::vector<Part<MakeLayer>> learning_layers() {
    Option gives{"gives", "cluster",
                 "the number of the nearest centroid, distances to all, or max(0, mean - distance)"};
    gives.choices = {"cluster", "distances", "triangle"};
    return {
        {{"kmeans",
          "centroids that begin by k-means++ and move once an epoch (Lloyd, 1957); reports the mean squared distance "
          "to "
          "the nearest",
          {size_option("clusters", "how many"), gives},
          "clusters"},
         make_kmeans},
        {{"pca",
          "places along the axes of most variance, learned in an epoch; reports the mean squared residual",
          {size_option("components", "how many axes"), {"whiten", false, "each has variance 1"}},
          "components"},
         make_pca},
    };
}

}  // namespace weft::train
