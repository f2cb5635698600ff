#include "weft/train/reconstruct.h"

#include "weft/nn/dbm.h"
#include "weft/nn/notes.h"
#include "weft/nn/rbm.h"
#include "weft/nn/sequential.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/linalg.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/train/measure.h"

namespace weft::train {
namespace {

std::int64_t numbers_of_example(const Tensor& x) {
    std::int64_t count = 1;
    for (std::size_t axis = 1; axis < x.ndim(); ++axis) count *= x.shape()[axis].value();
    return count;
}

/// Of a Boltzmann machine alone, with the means of its units: up, and down again.
Tensor back_of_machine(nn::Module model, const Tensor& v) {
    if (auto* list = model.get<nn::Sequential>(); list && list->size() == 1) model = (*list)[0];
    if (auto* rbm = model.get<nn::RBM>()) {
        Tensor logits = rbm->visible_logits(sigmoid(rbm->hidden_logits(v)));
        return rbm->gaussian() ? logits : sigmoid(logits);
    }
    if (auto* dbm = model.get<nn::DBM>()) return sigmoid(dbm->visible_logits(dbm->mean_field(v).first));
    return {};
}

Reconstruction computed(const Tensor& wanted, const Tensor& given) {
    return {contiguous(astype(wanted, DType::float32).array()), contiguous(astype(given, DType::float32).array())};
}

}  // namespace

std::optional<Reconstruction> reconstructed(const Phase& phase, const Network& network, const data::Dataset& examples) {
    data::Batches batches(examples, examples.size(), {.prefetch = 0});
    const std::vector<Tensor> arguments = Feed::arguments(*batches.begin());
    const Tensor& x = arguments[0];
    if (Tensor back = back_of_machine(network.model, x)) return computed(x, back);
    nn::Given given = network.feed.given(arguments);
    nn::Notes notes;
    Tensor output;
    for (const CostTerm& term : cost_terms(phase)) {
        if (!term.of_output || term.target.is_null()) continue;
        if (!output) output = network.model(x);
        Tensor wanted = wanted_by(term, x, arguments[1], notes), said = said_to(term, output, notes);
        if (numbers_of_example(wanted) != numbers_of_example(x) || numbers_of_example(said) != numbers_of_example(x))
            continue;
        return computed(wanted, term.expected ? term.expected(said) : said);
    }
    return std::nullopt;
}

Array in_the_plane(const Array& codes) {
    Tensor points(codes);
    if (codes.dims[1] > 2) {
        linalg::Svd parts = linalg::svd(points - mean(points, {0}), false);
        points = slice(parts.u, {0, 0}, {codes.dims[0], 2}) * slice(parts.s, {0}, {2});
    }
    return contiguous(points.array());
}

}  // namespace weft::train
