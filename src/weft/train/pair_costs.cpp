// Costs of pairs of examples: what a network makes of examples of one class shall lie together, of different classes apart. The pairs are
// made from a labelled batch: every two of its examples, so that a batch runs through the network once and the two "branches" of a siamese
// network share their weights by being one.
#include "weft/base/error.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

/// Of every two examples of a batch (n, n): their distance, and whether they are two of one class, or of two.
struct Pairs {
    Tensor distance, same, different;
};

Pairs pairs_of(const Tensor& output, const Tensor& labels) {
    if (output.ndim() != 2)
        throw ShapeError(text("it measures distances between vectors, (batch, n); the network gives ", output.shape()));
    if (!is_integer(labels.dtype()) || labels.ndim() != 1)
        throw DTypeError(text("pairs are made by class numbers, (batch,); the targets are ", labels.dtype(),
                              " of shape ", labels.shape()));
    constexpr double eps = 1e-12;  // so that two examples in one place have a derivative, which is 0
    Tensor squares = sum(square(expand_dims(output, 1) - expand_dims(output, 0)), -1);
    Tensor alike = expand_dims(labels, 1) == expand_dims(labels, 0);
    Tensor number = iota(output.shape()[0]);
    Tensor same = alike & (expand_dims(number, 1) != expand_dims(number, 0));
    return {sqrt(squares + eps), same, ~alike};
}

/// The mean of the values where the condition holds; 0 where it never does.
Tensor mean_where(const Tensor& condition, const Tensor& values) {
    return sum(where(condition, values, 0.0)) / maximum(sum(astype(condition, values.dtype())), 1.0);
}

Tensor contrastive(const Tensor& output, const Tensor& labels, double margin) {
    Pairs pairs = pairs_of(output, labels);
    Tensor near = mean_where(pairs.same, square(pairs.distance));
    return (near + mean_where(pairs.different, square(maximum(margin - pairs.distance, 0.0)))) * 0.5;
}

Tensor triplet(const Tensor& output, const Tensor& labels, double margin) {
    Pairs pairs = pairs_of(output, labels);
    Tensor farthest = max(where(pairs.same, pairs.distance, 0.0), 1);
    Tensor nearest = min(where(pairs.different, pairs.distance, std::numeric_limits<double>::infinity()), 1);
    Tensor whole = any(pairs.same, 1) & any(pairs.different, 1);
    return mean_where(whole, maximum(farthest - where(whole, nearest, 0.0) + margin, 0.0));
}

Part<MakeCost> of_pairs(const char* name, const char* doc,
                        Tensor (*cost)(const Tensor& output, const Tensor& labels, double margin)) {
    Option margin{"margin", 1.0, "how far apart examples of different classes shall be at least"};
    margin.least = 0;
    auto make = [cost](const Json& o) {
        CostTerm term;
        term.of_output = [cost, margin = o.at("margin").as_number()](const Tensor& output, const Tensor& labels) {
            return cost(output, labels, margin);
        };
        term.factor = o.at("factor").as_number();
        return term;
    };
    return {{name, doc, {margin, {"factor", 1.0, "times the cost"}}, "margin"}, make};
}

}  // namespace

std::vector<Part<MakeCost>> costs_of_pairs() {
    return {
        of_pairs(
            "contrastive",
            "of every two examples of a batch: distance^2 if they are of one class, max(0, margin - distance)^2 if "
            "not; half of either mean (Hadsell, Chopra and LeCun, 2006)",
            contrastive),
        of_pairs(
            "triplet",
            "max(0, distance to the farthest of its class - distance to the nearest of another + margin), over the "
            "examples of a batch (Hermans, Beyer and Leibe, 2017)",
            triplet),
    };
}

}  // namespace weft::train
