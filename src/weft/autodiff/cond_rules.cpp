#include "weft/autodiff/cond_rules.h"

#include <algorithm>

#include "weft/autodiff/between.h"
#include "weft/autodiff/derivative.h"
#include "weft/autodiff/vmap.h"
#include "weft/base/integers.h"
#include "weft/graph/made_nodes.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

const CondAttributes& cond_of(const Tensor& cond) { return cond.node()->attributes_as<CondAttributes>(); }

/// A conditional once more, as expressions over placeholders that both branches share, to make another one of.
class Opened {
  public:
    explicit Opened(const Tensor& cond) : cond_(cond) {
        const CondAttributes& a = cond_of(cond);
        for (std::size_t i = 0; i < a.branches[0]->inputs; ++i)
            stand_in(input_of(cond, i + 1), a.branches[0]->nodes[i]);
        inputs_ = placeholders_;
        for (std::size_t b : {0u, 1u}) {
            const Region& region = *a.branches[b];
            std::vector<Tensor> results;
            for (std::size_t i = 0; i < region.outputs.size(); ++i) results.push_back(region.output(i));
            own_.insert(own_.end(), region.nodes.begin(), region.nodes.end());
            outputs_[b] = replaced(results, {region.nodes.data(), region.inputs}, inputs_);
        }
    }
    const std::vector<Tensor>& inputs() const { return inputs_; }
    const std::vector<Tensor>& outputs(std::size_t branch) const { return outputs_[branch]; }

    /// A placeholder, of the shape and dtype of `like`, for what the new conditional reads as `given`.
    Tensor stand_in(const Tensor& given, const Tensor& like) {
        placeholders_.push_back(input(branch_value_name, like.shape(), like.dtype(), cond_.node()->where));
        given_.push_back(given);
        return placeholders_.back();
    }

    Tensor conditional(const Tensor& predicate, std::span<const Tensor> if_true, std::span<const Tensor> if_false) {
        own_.insert(own_.end(), made_.nodes().begin(), made_.nodes().end());
        return make_cond({predicate, {if_true, if_false}, own_, cond_.node()->where}, [&](const Tensor& x) {
            auto at =
                std::find_if(placeholders_.begin(), placeholders_.end(), [&](const Tensor& y) { return y.is(x); });
            return at == placeholders_.end() ? x : given_[static_cast<std::size_t>(at - placeholders_.begin())];
        });
    }

  private:
    MadeNodes made_;
    Tensor cond_;
    std::vector<Tensor> placeholders_, given_, own_, inputs_, outputs_[2];
};

std::vector<Tensor> inexact_of(const std::vector<Tensor>& all) {
    std::vector<Tensor> some;
    for (const Tensor& x : all)
        if (is_inexact(x.dtype())) some.push_back(x);
    return some;
}

}  // namespace

Tensor push_cond(const Tensor& cond, std::span<const Tensor> tangents) {
    Opened opened(cond);
    std::vector<Tensor> wrt, moves, pushed[2];
    for (std::size_t i = 0; i < opened.inputs().size(); ++i) {
        if (!tangents[i + 1]) continue;
        wrt.push_back(opened.inputs()[i]), moves.push_back(opened.stand_in(tangents[i + 1], wrt.back()));
    }
    for (std::size_t b : {0u, 1u}) pushed[b] = pushforward(inexact_of(opened.outputs(b)), wrt, moves);
    return opened.conditional(input_of(cond), pushed[0], pushed[1]);
}

Tensor push_cond_result(const Tensor& result, const Tensor& tangents) {
    const Region& region = *cond_of(input_of(result)).branches[0];
    std::size_t number = 0;  // among the results that have a tangent
    auto value = static_cast<std::size_t>(result.node()->attributes_as<LoopResultAttributes>().value);
    for (std::size_t i = 0; i < value; ++i) number += is_inexact(region.output(i).dtype());
    return cond_result(tangents, number);
}

std::vector<Tensor> pull_cond(const Tensor& cond, const Tensor& cotangent, const std::vector<bool>& wanted) {
    Opened opened(cond);
    const std::vector<LoopResultAttributes>& results = region_results(cotangent);
    std::vector<Tensor> seeds, wrt, grads[2], all(wanted.size());
    for (std::size_t i = 0; i < results.size(); ++i)
        seeds.push_back(opened.stand_in(input_of(cotangent, i), opened.outputs(0)[at(results[i].value)]));
    auto differentiated = [&](std::size_t i) { return wanted[i + 1] && is_inexact(opened.inputs()[i].dtype()); };
    for (std::size_t i = 0; i < opened.inputs().size(); ++i)
        if (differentiated(i)) wrt.push_back(opened.inputs()[i]);
    for (std::size_t b : {0u, 1u}) {
        std::vector<Tensor> outputs;
        for (const LoopResultAttributes& result : results) outputs.push_back(opened.outputs(b)[at(result.value)]);
        grads[b] = pullback(outputs, seeds, wrt);
    }
    Tensor made = opened.conditional(input_of(cond), grads[0], grads[1]);
    for (std::size_t i = 0, k = 0; i < opened.inputs().size(); ++i)
        if (differentiated(i)) all[i + 1] = cond_result(made, k++);
    return all;
}

namespace {

/// What stands for a conditional whose predicate differs between examples: its results, of both branches each example's own.
Meta infer_chosen(const Operation&, std::span<const Tensor>, const Attributes*) { return {{}, DType::float32}; }
const Operation chosen_operation{.name = "chosen",
                                 .family = Family::region,
                                 .arity = -1,
                                 .doc = "The results of a conditional whose predicate differs between examples.",
                                 .infer = infer_chosen};

// The outputs of a branch for all examples, whose axis stands in front; `inputs` are those of the branch, for all where `batched`.
std::vector<Tensor> of_all_examples(const std::vector<Tensor>& of_one, std::span<const Tensor> placeholders,
                                    std::span<const Tensor> inputs, const std::vector<bool>& batched,
                                    const Batch& batch) {
    std::vector<Tensor> given(inputs.begin(), inputs.end()), wide;
    std::vector<ExampleAxis> front(of_one.size(), 0), axes;
    for (bool one : batched) axes.push_back(one ? ExampleAxis(0) : ExampleAxis());
    if (std::find(batched.begin(), batched.end(), true) != batched.end()) {
        Vmap map(given, axes);
        return map.results(replaced(of_one, placeholders, map.examples()), front);
    }
    for (const Tensor& x : replaced(of_one, placeholders, inputs))
        wide.push_back(broadcast_to(x, batch.shape(x.shape())));
    return wide;
}

}  // namespace

Tensor batch_cond(const Tensor& cond, const Batch& batch) {
    Opened opened(cond);
    std::vector<bool> batched(batch.batched.begin() + 1, batch.batched.end());
    std::vector<Tensor> inputs(batch.inputs.begin() + 1, batch.inputs.end()), wide[2];
    if (!batch.batched[0])
        for (Tensor& x : inputs) x = opened.stand_in(x, x);
    for (std::size_t b : {0u, 1u})
        wide[b] = of_all_examples(opened.outputs(b), opened.inputs(), inputs, batched, batch);
    if (!batch.batched[0]) return opened.conditional(batch.inputs[0], wide[0], wide[1]);
    std::vector<Tensor> chosen;
    for (std::size_t i = 0; i < wide[0].size(); ++i) {
        Shape shape = batch.inputs[0].shape();
        shape.resize(wide[0][i].ndim(), 1);
        chosen.push_back(where(reshape(batch.inputs[0], shape), wide[0][i], wide[1][i]));
    }
    return make_node(chosen_operation, chosen, nullptr, cond.node()->where);
}

Tensor batch_cond_result(const Tensor& result, const Batch& batch) {
    const Tensor& made = batch.inputs[0];
    auto value = static_cast<std::size_t>(result.node()->attributes_as<LoopResultAttributes>().value);
    return made.node()->operation == &cond_operation ? cond_result(made, value) : input_of(made, value);
}

}  // namespace weft
