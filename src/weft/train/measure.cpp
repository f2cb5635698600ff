#include "weft/train/measure.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/nn/given.h"
#include "weft/nn/loss.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft::train {
namespace {

Tensor plus(const Tensor& sum, const Tensor& one) { return sum ? sum + one : one; }

/// Of sequences with lengths the mean over examples of each one's own rate, so that it does not depend on what stands beside them.
Tensor rate_of_errors(const CostTerm& term, const Tensor& output, const Tensor& labels) {
    if (Tensor lengths = nn::Given::lengths_for(labels)) {
        Tensor there = nn::filled(lengths, labels.shape()[1]);
        if (term.present) there = there & term.present(labels);
        Tensor wrong = sum(astype(nn::wrong(output, labels) & there, DType::float32), 1);
        return mean(wrong / maximum(sum(astype(there, DType::float32), 1), 1.0));
    }
    if (!term.present) return nn::error_rate(output, labels);
    Tensor present = term.present(labels);
    Tensor wrong = nn::wrong(output, labels) & present;
    return sum(astype(wrong, DType::float32)) / maximum(sum(astype(present, DType::float32)), 1.0);
}

/// Whether an example has a target at all, where it has room for several.
Tensor with_any(const Tensor& present) {
    Axes axes;
    for (std::size_t axis = 1; axis < present.ndim(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    return axes.empty() ? present : any(present, axes);
}

/// Of each example: what terms say of it, and its part in what only the batch as a whole has.
Tensor losses_of(const Tensor& by_example, const Tensor& of_batch, const Tensor& present, const Tensor& x) {
    Tensor each = by_example ? by_example : broadcast_to(Tensor(0.0f), {x.shape()[0]});
    if (!of_batch) return each;
    return each + (present ? where(present, of_batch, 0.0) : of_batch);
}

void add_layers(Measured& all, Tensor& of_batch, const nn::Notes& notes) {
    using Part = nn::AddedCost::Part;
    for (const nn::AddedCost& cost : notes.costs) {
        auto same = [&](const auto& one) { return one.first == cost.name; };
        auto& named = cost.part == Part::told ? all.told : all.added;
        auto known = std::find_if(named.begin(), named.end(), same);
        if (known == named.end())
            named.emplace_back(cost.name, cost.value);
        else
            known->second = known->second + cost.value;
        if (cost.part == Part::told) continue;
        if (cost.part != Part::penalty) all.loss = plus(all.loss, cost.value), of_batch = plus(of_batch, cost.value);
        if (cost.part != Part::reported) all.cost = plus(all.cost, cost.value);
    }
}

}  // namespace

std::vector<CostTerm> cost_terms(const Phase& phase) {
    std::vector<CostTerm> terms;
    for (const Chosen& chosen : phase.costs) terms.push_back(chosen.make<MakeCost>()(chosen.options));
    return terms;
}

Tensor said_to(const CostTerm& term, const Tensor& output, const nn::Notes& notes) {
    if (term.of.is_null()) return output;
    for (const auto& [path, value] : notes.values)
        if (path == term.of.as_string()) return value;
    term.of.refuse(text("no layer of the network has the path '", term.of.as_string(), "'; --dry-run shows them"));
}

Tensor wanted_by(const CostTerm& term, const Tensor& x, const Tensor& y, const nn::Notes& notes) {
    if (term.target.is_null()) return y;
    const std::string& name = term.target.as_string();
    if (name == "input") return x;
    if (nn::Given::has(name)) return nn::Given::named(name);
    for (const auto& [path, value] : notes.values) {
        if (path == name) return stop_gradient(value);
    }
    term.target.refuse(text("the data have no field '", name,
                            "', and no layer of the network has this path; --dry-run "
                            "shows paths"));
}

Measured measure(const std::vector<CostTerm>& terms, const std::function<Tensor(const Tensor&)>& model, const Tensor& x,
                 const Tensor& y, std::span<const Parameter> parameters) {
    Measured all;
    nn::Notes notes;
    Tensor output = model(x), by_example, of_batch, present;
    for (const CostTerm& term : terms) {
        if (!term.of_output) {
            all.terms.push_back(term.of_parameters ? term.of_parameters(parameters) : Tensor(0.0f));
            continue;
        }
        Tensor wanted = wanted_by(term, x, y, notes), said = said_to(term, output, notes);
        auto scaled = [&](const Tensor& one) { return term.factor == 1 ? one : one * term.factor; };
        Tensor one = scaled(term.of_output(said, wanted));
        all.loss = plus(all.loss, one);
        all.terms.push_back(term.of_examples ? term.of_examples(said, wanted) : term.of_output(said, wanted));
        if (term.of_examples)
            by_example = plus(by_example, scaled(term.of_examples(said, wanted)));
        else
            of_batch = plus(of_batch, one);
        if (term.counts_errors && all.error_rate) all.further_rates.push_back(rate_of_errors(term, said, wanted));
        if (term.counts_errors && !all.error_rate)
            all.error_rate = rate_of_errors(term, said, wanted), all.output = said;
        if (term.present && !present) present = with_any(term.present(wanted));
    }
    if (present) all.present = astype(present, DType::int64);
    all.cost = all.loss;
    if (!all.output) all.output = output;
    add_layers(all, of_batch, notes);
    all.losses = losses_of(by_example, of_batch, present, x);
    if (!all.loss) all.loss = Tensor(0.0f);
    if (!all.cost) all.cost = Tensor(0.0f);
    if (!all.error_rate) all.error_rate = Tensor(0.0f);
    for (const CostTerm& term : terms) {
        if (!term.of_parameters) continue;
        Tensor penalty = term.of_parameters(parameters);
        all.cost = all.cost + (term.factor == 1 ? penalty : penalty * term.factor);
    }
    return all;
}

}  // namespace weft::train
