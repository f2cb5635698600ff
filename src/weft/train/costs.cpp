// The costs that a file can name: losses of nn/, and penalties on the parameters. Losses are means over the batch.
#include "weft/base/error.h"
#include "weft/nn/loss.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

using nn::LossReduction;

const Option factor{"factor", 1.0, "times the cost"};

/// Scores of one number an example, (batch, 1), beside targets (batch): the same shape is meant.
Tensor as_target(const Tensor& output, const Tensor& target) {
    if (output.ndim() != target.ndim() + 1 || !(output.shape().back() == Size(1))) return output;
    return reshape(output, target.shape());
}

/// A number an example: its mean over what an example has several of.
Tensor of_each(const Tensor& losses) {
    if (losses.ndim() <= 1) return losses;
    std::vector<std::int64_t> inner;
    for (std::size_t axis = 1; axis < losses.ndim(); ++axis) inner.push_back(static_cast<std::int64_t>(axis));
    return mean(losses, Axes(inner.begin(), inner.end()));
}

/// `loss` gives the mean over a batch, or with LossReduction::none the numbers it is the mean of.
template <class F>
CostTerm term_of(F loss, const Json& options, bool counts_errors) {
    auto of_output = [loss, options](const Tensor& output, const Tensor& target) -> Tensor {
        return loss(output, target, options, LossReduction::mean);
    };
    auto of_examples = [loss, options](const Tensor& output, const Tensor& target) {
        return of_each(loss(output, target, options, LossReduction::none));
    };
    return {of_output, of_examples, {}, counts_errors, options.at("factor").as_number()};
}

template <class F>
Part<MakeCost> quantities(const char* name, const char* doc, std::vector<Option> options, F loss) {
    options.push_back(factor);
    auto make = [loss](const Json& o) {
        auto of_numbers = [loss](const Tensor& output, const Tensor& target, const Json& options, LossReduction how) {
            Tensor y = is_floating(target.dtype()) ? target : target.astype(output.dtype());
            return loss(as_target(output, y), y, options, how);
        };
        return term_of(of_numbers, o, false);
    };
    return {{name, doc, std::move(options)}, make};
}

template <class F>
Part<MakeCost> classes(const char* name, const char* doc, std::vector<Option> options, F loss) {
    options.push_back(factor);
    return {{name, doc, std::move(options)}, [loss](const Json& o) { return term_of(loss, o, true); }};
}

/// Penalties are on weights, not on biases and other vectors, as is usual.
template <class F>
Part<MakeCost> penalty(const char* name, const char* doc, F of_weight) {
    auto make = [of_weight](const Json& o) {
        auto of_parameters = [of_weight](std::span<const Parameter> parameters) -> Tensor {
            Tensor total(0.0f);
            for (const Parameter& parameter : parameters) {
                if (parameter.shape().size() >= 2) total = total + of_weight(parameter.value());
            }
            return total;
        };
        return CostTerm{{}, {}, of_parameters, false, o.at("factor").as_number()};
    };
    Option size{"factor", Json(), "times the penalty", true, Json::Kind::number};
    size.least = 0;
    return {{name, doc, {size}, "factor"}, make};
}

Option positive(const char* name, double fallback, const char* doc) {
    Option option{name, fallback, doc};
    option.least = 0;
    return option;
}

}  // namespace

const std::vector<Part<MakeCost>>& costs() {
    static const Option smoothing = [] {
        Option option = positive("label_smoothing", 0, "this part of the target is spread over all classes");
        option.most = 1;
        return option;
    }();
    static const std::vector<Part<MakeCost>> all{
        classes("cross_entropy", "-log softmax(output)[label]: for class numbers; the last layer gives a score a class",
                {smoothing},
                [](const Tensor& x, const Tensor& y, const Json& o, LossReduction how) {
                    return nn::cross_entropy(
                        x, y, {.reduction = how, .label_smoothing = o.at("label_smoothing").as_number()});
                }),
        classes("nll", "-output[label], for outputs that are logarithms of probabilities", {},
                [](const Tensor& x, const Tensor& y, const Json&, LossReduction how) {
                    return nn::nll_loss(x, y, {.reduction = how});
                }),
        classes("multi_margin", "the support vector machine's, for class numbers",
                {positive("margin", 1, "the margin")},
                [](const Tensor& x, const Tensor& y, const Json& o, LossReduction how) {
                    return nn::multi_margin_loss(x, y, {.reduction = how, .margin = o.at("margin").as_number()});
                }),
        classes("binary_cross_entropy",
                "for class numbers 0 and 1; the last layer gives one score, positive for class 1", {},
                [](const Tensor& x, const Tensor& y, const Json&, LossReduction how) {
                    Tensor wanted = is_floating(y.dtype()) ? y : y.astype(x.dtype());
                    return nn::binary_cross_entropy_with_logits(as_target(x, wanted), wanted, {.reduction = how});
                }),
        quantities("mse", "the mean of (output - target)^2", {},
                   [](const Tensor& x, const Tensor& y, const Json&, LossReduction how) {
                       return nn::mse_loss(x, y, {.reduction = how});
                   }),
        quantities("l1", "the mean of |output - target|", {},
                   [](const Tensor& x, const Tensor& y, const Json&, LossReduction how) {
                       return nn::l1_loss(x, y, {.reduction = how});
                   }),
        quantities("smooth_l1", "squared below beta, linear above", {positive("beta", 1, "where it becomes linear")},
                   [](const Tensor& x, const Tensor& y, const Json& o, LossReduction how) {
                       return nn::smooth_l1_loss(x, y, {.reduction = how, .beta = o.at("beta").as_number()});
                   }),
        quantities("huber", "squared up to delta, linear beyond (Huber, 1964)",
                   {positive("delta", 1, "where it becomes linear")},
                   [](const Tensor& x, const Tensor& y, const Json& o, LossReduction how) {
                       return nn::huber_loss(x, y, {.reduction = how, .delta = o.at("delta").as_number()});
                   }),
        penalty("weight_decay",
                "factor / 2 times the sum of squares of all weights (what an optimizer's weight_decay amounts to)",
                [](const Tensor& w) { return 0.5f * sum(w * w); }),
        penalty("l1_penalty", "factor times the sum of |w| over all weights",
                [](const Tensor& w) { return sum(abs(w)); }),
    };
    return all;
}

}  // namespace weft::train
