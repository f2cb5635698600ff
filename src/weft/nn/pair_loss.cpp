// Losses of distances and orders between two or three values.
#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/functional/linear.h"
#include "weft/nn/reduced.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft::nn {
namespace {

// max(0, x), with the derivative of x alone above 0.
Tensor hinge(const Tensor& x) { return where(x > 0, x, 0); }

}  // namespace

Tensor cosine_embedding_loss(const Operand& a, const Operand& b, const Operand& target, const PairOptions& options) {
    LineScope line(a.where);
    Tensor x = a.as_tensor(), y = b.as_tensor(), t = target.as_tensor();
    check_same_shape("cosine_embedding_loss", x, y, a.where);
    if (x.ndim() < 1 || x.ndim() > 2)
        throw ShapeError(text("cosine_embedding_loss: the inputs have shape ", x.shape(), ", but must be (N, D) or (D)",
                              place(a.where)));
    constexpr double eps = 1e-12;  // PyTorch's, added to squared lengths
    Tensor angle = sum(x * y, -1) / sqrt((sum(square(x), -1) + eps) * (sum(square(y), -1) + eps));
    check_same_shape("cosine_embedding_loss", angle, t, a.where);
    Tensor zero = angle * 0;
    return reduced(where(t == 1, 1 - angle, where(t == -1, hinge(angle - options.margin), zero)), options.reduction);
}

Tensor margin_ranking_loss(const Operand& a, const Operand& b, const Operand& target, const PairOptions& options) {
    LineScope line(a.where);
    Tensor x = a.as_tensor(), y = b.as_tensor(), t = target.as_tensor();
    check_same_shape("margin_ranking_loss", x, y, a.where);
    check_same_shape("margin_ranking_loss", x, t, a.where);
    DType dtype = inexact(x.dtype());
    return reduced(hinge(astype(t, dtype) * (y - x) + options.margin), options.reduction);
}

Tensor triplet_loss(const Operand& positive_distance, const Operand& negative_distance, double margin,
                    LossReduction reduction) {
    LineScope line(positive_distance.where);
    if (!(margin > 0))
        throw ValueError(
            text("triplet_margin_loss: margin is ", margin, "; it must be above 0", place(positive_distance.where)));
    Tensor near = positive_distance.as_tensor(), far = negative_distance.as_tensor();
    check_same_shape("triplet_margin_loss", near, far, positive_distance.where);
    return reduced(hinge(near - far + margin), reduction);
}

Tensor triplet_margin_loss(const Operand& anchor, const Operand& positive, const Operand& negative,
                           const TripletOptions& options) {
    LineScope line(anchor.where);
    Tensor a = anchor.as_tensor(), p = positive.as_tensor(), n = negative.as_tensor();
    check_same_shape("triplet_margin_loss", a, p, anchor.where);
    check_same_shape("triplet_margin_loss", a, n, anchor.where);
    auto distance = [&](const Tensor& x, const Tensor& y) {
        return functional::pairwise_distance(x, y, options.p, options.eps);
    };
    Tensor near = distance(a, p), far = distance(a, n);
    if (options.swap) far = minimum(far, distance(p, n));
    return triplet_loss(near, far, options.margin, options.reduction);
}

}  // namespace weft::nn
