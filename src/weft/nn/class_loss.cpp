// Losses over classes: what is predicted is a score for each class, the target a class number (or a probability for each class).
#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/loss.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft::nn {
namespace {

// Scores of classes along `axis`, and labels shaped like the scores without it.
struct Classes {
    std::string_view name;
    Tensor scores, labels;
    std::int64_t axis;
    std::source_location where;
    Size count() const { return scores.shape()[static_cast<std::size_t>(axis)]; }
};

void check_known_labels(const Classes& c, std::optional<std::int64_t> ignore_index) {
    if (!c.labels.computed() || c.labels.node()->symbolic || !c.count().known()) return;
    Array values = contiguous(astype(c.labels, DType::int64).array());
    const std::int64_t* label = values.data<std::int64_t>();
    for (std::int64_t i = 0; i < values.size(); ++i) {
        if ((ignore_index && label[i] == *ignore_index) || (label[i] >= 0 && label[i] < c.count().value())) continue;
        throw IndexError(text(c.name, ": label ", label[i], " at position ", i, " is not one of ", c.count(),
                              " classes (0 to ", c.count().value() - 1, ")", place(c.where)));
    }
}

Classes classes(std::string_view name, const Operand& scores, const Operand& labels) {
    Classes c{name, scores.as_tensor(), labels.as_tensor(), 0, scores.where};
    if (c.scores.ndim() == 0) {
        throw ShapeError(text(name,
                              ": the scores are a single number; they must have an axis of classes, (N, C) or (C)",
                              place(c.where)));
    }
    c.axis = c.scores.ndim() == 1 ? 0 : 1;
    Shape expected = c.scores.shape();
    expected.erase(static_cast<std::size_t>(c.axis));
    if (!may_be_equal(expected, c.labels.shape())) {
        throw ShapeError(text(name, ": scores of shape ", c.scores.shape(), " need labels of shape ", expected,
                              " (a class number for each example), the labels have shape ", c.labels.shape(),
                              place(c.where)));
    }
    if (!is_integer(c.labels.dtype())) {
        throw DTypeError(text(name, ": the labels are ", c.labels.dtype(),
                              "; class numbers must be integers (convert them with astype)", place(c.where)));
    }
    return c;
}

// Whether element (n, class, ...) is that of the label: broadcasts to the shape of the scores.
Tensor at_label(const Classes& c) {
    Shape column(c.scores.ndim(), Size(1));
    column[static_cast<std::size_t>(c.axis)] = c.count();
    return reshape(iota(c.count()), column) == expand_dims(astype(c.labels, DType::int64), c.axis);
}

// Joins the losses of examples. A label that is no class makes its loss NaN; one that is ignored counts for nothing.
// `weights`: of each example, or empty.
Tensor joined(const Classes& c, Tensor losses, Tensor weights, LossReduction reduction,
              std::optional<std::int64_t> ignore_index) {
    Tensor labels = astype(c.labels, DType::int64);
    Tensor outside = (labels < 0) | (labels >= size_as_tensor(c.count(), DType::int64));
    losses = where(outside, std::numeric_limits<double>::quiet_NaN(), losses);
    if (ignore_index) {
        Tensor ignored = labels == *ignore_index;
        losses = where(ignored, 0.0, losses);
        weights = where(ignored, 0.0, weights ? weights : ones_like(losses));
    }
    if (reduction == LossReduction::none) return losses;
    if (reduction == LossReduction::sum) return sum(losses);
    return weights ? sum(losses) / sum(weights) : mean(losses);
}

// A weight for each class, along the axis of classes.
Tensor class_weights(const Classes& c, const Tensor& weight) {
    if (!may_be_equal(weight.shape(), {c.count()})) {
        throw ShapeError(text(c.name, ": the weights have shape ", weight.shape(), ", but there are ", c.count(),
                              " classes", place(c.where)));
    }
    Shape column(c.scores.ndim(), Size(1));
    column[static_cast<std::size_t>(c.axis)] = c.count();
    return reshape(weight, column);
}

// From log-probabilities (up to a number for each example, `normalizer`, which is subtracted from each).
Tensor label_loss(const Classes& c, const Tensor& logs, const Tensor& normalizer, double smoothing,
                  const Tensor& weight, LossReduction reduction, std::optional<std::int64_t> ignore_index) {
    check_known_labels(c, ignore_index);
    auto minus_log = [&](const Tensor& joined_logs, const Tensor& total) {
        if (!normalizer) return -joined_logs;
        return (total ? total * normalizer : normalizer) - joined_logs;
    };
    Tensor here = at_label(c), weights, losses;
    if (weight) {
        Tensor along = class_weights(c, weight);
        weights = sum(where(here, along, 0.0), c.axis);
        losses = minus_log(sum(where(here, along * logs, 0.0), c.axis), weights);
        if (smoothing != 0) {
            Tensor spread = minus_log(sum(along * logs, c.axis), sum(along)) / size_as_tensor(c.count(), logs.dtype());
            losses = (1 - smoothing) * losses + smoothing * spread;
        }
    } else {
        losses = minus_log(sum(where(here, logs, 0.0), c.axis), Tensor());
        if (smoothing != 0) {
            Tensor spread = minus_log(mean(logs, c.axis), Tensor());
            losses = (1 - smoothing) * losses + smoothing * spread;
        }
    }
    return joined(c, losses, weights, reduction, ignore_index);
}

Tensor probability_loss(const Classes& c, const Tensor& probabilities, const CrossEntropyOptions& options) {
    Tensor classes_here = size_as_tensor(c.count(), c.scores.dtype());
    Tensor target = astype(probabilities, c.scores.dtype());
    if (options.label_smoothing != 0)
        target = target * (1 - options.label_smoothing) + options.label_smoothing / classes_here;
    Tensor terms = target * log_softmax(Operand(c.scores, c.where), c.axis);
    if (options.weight) terms = terms * class_weights(c, options.weight);
    Tensor losses = -sum(terms, c.axis);
    if (options.reduction == LossReduction::none) return losses;
    return options.reduction == LossReduction::sum ? sum(losses) : mean(losses);
}

}  // namespace

Tensor cross_entropy(const Operand& logits, const Operand& target, const CrossEntropyOptions& options) {
    LineScope line(logits.where);
    constexpr std::string_view name = "cross_entropy";
    if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1)) {
        throw ValueError(text(name, ": label_smoothing is ", options.label_smoothing, "; it must be between 0 and 1",
                              place(logits.where)));
    }
    Tensor scores = logits.as_tensor(), labels = target.as_tensor();
    scores = astype(scores, inexact(scores.dtype()));
    if (is_floating(labels.dtype()) && labels.ndim() == scores.ndim() && scores.ndim() > 0) {
        check_same_shape(name, scores, labels, logits.where);
        return probability_loss({name, scores, labels, scores.ndim() == 1 ? 0 : 1, logits.where}, labels, options);
    }
    Classes c = classes(name, Operand(scores, logits.where), labels);
    Tensor shifted = scores - stop_gradient(max(Operand(scores, logits.where), c.axis, true));
    Tensor normalizer = log(sum(exp(shifted), c.axis));
    return label_loss(c, shifted, normalizer, options.label_smoothing, options.weight, options.reduction,
                      options.ignore_index);
}

Tensor nll_loss(const Operand& log_probabilities, const Operand& labels, const NllOptions& options) {
    LineScope line(log_probabilities.where);
    Classes c = classes("nll_loss", log_probabilities, labels);
    return label_loss(c, c.scores, Tensor(), 0, options.weight, options.reduction, options.ignore_index);
}

Tensor multi_margin_loss(const Operand& scores, const Operand& labels, const MultiMarginOptions& options) {
    LineScope line(scores.where);
    if (options.p != 1 && options.p != 2)
        throw ValueError(text("multi_margin_loss: p is ", options.p, "; it is 1 or 2", place(scores.where)));
    if (options.weight && options.weight.ndim() != 1)
        throw ShapeError(text("multi_margin_loss: the weight has shape ", options.weight.shape(),
                              "; it needs one number a class", place(scores.where)));
    // PyTorch takes one example as a vector with one label or a list of one, and one class as a number.
    Tensor given = scores.as_tensor(), label = labels.as_tensor();
    if (given.ndim() == 0) given = reshape(given, {1});
    if (given.ndim() == 1 && label.ndim() == 1) given = expand_dims(given, 0);
    Classes c = classes("multi_margin_loss", Operand(given, scores.where), label);
    if (c.scores.ndim() > 2)
        throw ShapeError(text("multi_margin_loss: the scores have shape ", c.scores.shape(),
                              ", but must be (N, C) or (C)", place(c.where)));
    check_known_labels(c, std::nullopt);
    Tensor here = at_label(c);
    Tensor right = sum(where(here, c.scores, 0.0), c.axis, true);
    Tensor gaps = options.margin - right + c.scores;
    Tensor terms = where(here | (gaps <= 0.0), 0.0, options.p == 2 ? square(gaps) : gaps);
    Tensor losses = sum(terms, c.axis) / size_as_tensor(c.count(), c.scores.dtype());
    if (options.weight) losses = losses * sum(where(here, class_weights(c, options.weight), 0.0), c.axis);
    return joined(c, losses, Tensor(), options.reduction, std::nullopt);
}

Tensor wrong(const Operand& scores, const Operand& labels) {
    LineScope line(scores.where);
    Tensor s = scores.as_tensor(), y = labels.as_tensor();
    bool one_score = s.ndim() <= 1 || (s.ndim() == 2 && s.shape()[1] == 1);
    if (one_score && y.ndim() == s.ndim()) {
        check_same_shape("error_rate", s, y, scores.where);
        return (s > 0.0) != (astype(y, DType::float32) > 0.5);
    }
    if (one_score && s.ndim() == 2) return wrong(Operand(reshape(s, {s.shape()[0]}), scores.where), labels);
    Classes c = classes("error_rate", scores, labels);
    return argmax(c.scores, c.axis) != astype(c.labels, DType::int64);
}

Tensor error_rate(const Operand& scores, const Operand& labels) {
    LineScope line(scores.where);
    return mean(astype(wrong(scores, labels), DType::float32));
}

Tensor accuracy(const Operand& scores, const Operand& labels) { return 1 - error_rate(scores, labels); }

}  // namespace weft::nn
