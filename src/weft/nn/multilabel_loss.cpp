// Losses of examples that may be of several classes at once.
#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/reduced.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/scan.h"
#include "weft/ops/view.h"

namespace weft::nn {
namespace {

// Labels before the first -1 must be classes: checked where they are known.
void check_known_lists(const Tensor& labels, Size classes, std::source_location where) {
    if (!labels.computed() || labels.node()->symbolic || !classes.known()) return;
    Array values = contiguous(labels.array());
    const std::int64_t* label = values.data<std::int64_t>();
    for (std::int64_t i = 0; i < values.size(); ++i) {
        if (label[i] < -1 || label[i] >= classes.value())
            throw IndexError(text("multilabel_margin_loss: label ", label[i], " at position ", i, " is not one of ",
                                  classes, " classes, nor the -1 that ends a list", place(where)));
    }
}

}  // namespace

Tensor multilabel_margin_loss(const Operand& scores, const Operand& labels, const LossOptions& options) {
    LineScope line(scores.where);
    Tensor x = scores.as_tensor(), y = labels.as_tensor();
    check_same_shape("multilabel_margin_loss", x, y, scores.where);
    if (x.ndim() > 2)
        throw ShapeError(text("multilabel_margin_loss: the scores have shape ", x.shape(),
                              ", but must be (N, C) or (C)", place(scores.where)));
    if (!is_integer(y.dtype()))
        throw DTypeError(text("multilabel_margin_loss: the labels are ", y.dtype(), "; class numbers must be integers",
                              place(scores.where)));
    bool batch = x.ndim() == 2;
    if (!batch) x = reshape(x, {1, x.size()}), y = reshape(y, {1, y.size()});
    x = astype(x, inexact(x.dtype())), y = astype(y, DType::int64);
    Size classes = x.shape()[1];
    check_known_lists(labels.as_tensor().dtype() == DType::int64 ? labels.as_tensor() : y, classes, scores.where);
    // (N, C): whether entry k of a list stands before its first -1, and whether class c is in the list.
    Tensor listed = cumulative_sum(astype(y < 0, DType::int64), 1) == 0;
    Tensor same = expand_dims(y, 2) == reshape(iota(classes), {1, 1, classes});
    Tensor target = any(same & expand_dims(listed, 2), 1);
    Tensor score = take_along_axis(x, where(listed, y, 0), 1);
    Tensor gaps = 1 - expand_dims(score, 2) + expand_dims(x, 1);  // (N, entry, class)
    Tensor counts = expand_dims(listed, 2) & expand_dims(~target, 1) & (gaps > 0);
    Tensor losses = sum(where(counts, gaps, 0), {1, 2}) / size_as_tensor(classes, x.dtype());
    return reduced(batch ? losses : squeeze(losses, {0}), options.reduction);
}

Tensor multilabel_soft_margin_loss(const Operand& logits, const Operand& target, const BinaryOptions& options) {
    LineScope line(logits.where);
    Tensor x = logits.as_tensor(), t = target.as_tensor();
    check_same_shape("multilabel_soft_margin_loss", x, t, logits.where);
    if (x.ndim() == 0)
        throw ShapeError(
            text("multilabel_soft_margin_loss: a single number has no axis of classes", place(logits.where)));
    x = astype(x, inexact(x.dtype())), t = astype(t, x.dtype());
    Tensor losses = -(t * log_sigmoid(x) + (1 - t) * log_sigmoid(-x));
    if (options.weight) losses = losses * options.weight;
    return reduced(mean(losses, -1), options.reduction);
}

}  // namespace weft::nn
