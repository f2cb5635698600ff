// Derivatives of expressions. An operation has one rule (partials, transpose or jvp); forward mode, reverse mode and every higher
// order follow from it, as more nodes of the same graph. Nothing recurses: a chain of a million is differentiated on a small stack.
//
// At the edges: the derivative of max/min over ties is shared evenly; of maximum/minimum, half each; of abs and relu at 0 it is 0;
// of sqrt at 0 infinite. A factor of 0 from above stays 0 whatever the local derivative is (gated_multiply), so the side of a
// `where` that was not taken adds nothing, even where it is NaN or infinite there.
//
// Complex numbers follow JAX's convention. Forward mode gives the change of a value for the change of its arguments. A cotangent c of z
// stands for the change Re(c dz), so the gradient of a real loss is d loss / dx - i d loss / dy, the conjugate of the direction of steepest
// ascent; the pullback of a holomorphic function multiplies by f'(z), and no rule conjugates what it transposes.
// Callers: everyone who trains.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "weft/graph/tensor.h"

namespace weft {

/// d loss / d wrt[i], each of wrt[i]'s shape and dtype; zeros where the loss does not depend on it. The loss is 0-d and floating (real).
/// One of wrt may lie below another: its derivative counts every way, those through the other too.
/// ValueError if the graph between them was let go because it was computed (take the gradient first, or use grad).
std::vector<Tensor> gradient(const Tensor& loss, std::span<const Tensor> wrt);
std::vector<Tensor> gradient(const Tensor& loss, std::initializer_list<Tensor> wrt);
Tensor gradient(const Tensor& loss, const Tensor& wrt);

/// What the derivative by a value on the way is said to be, instead of what the loss gives; empty: none goes through it.
struct KnownGradient {
    Tensor of, gradient;
};
/// The same with some derivatives said. The loss may be empty: then these are all that there is.
/// ShapeError or DTypeError for one that is not of its value's shape and dtype.
std::vector<Tensor> gradient(const Tensor& loss, std::span<const Tensor> wrt, std::span<const KnownGradient> known);

/// Here wrt are independent of each other: what lies below one of them does not count.
/// Reverse mode: the sum over outputs of cotangents[i] * d outputs[i] / d wrt[j] (the transposed Jacobian applied).
std::vector<Tensor> pullback(std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                             std::span<const Tensor> wrt);
/// Forward mode: the derivative of outputs in the direction `tangents` of wrt (the Jacobian applied).
std::vector<Tensor> pushforward(std::span<const Tensor> outputs, std::span<const Tensor> wrt,
                                std::span<const Tensor> tangents);

namespace detail {
/// The same of one output by one value: what vjp and jvp are made of.
Tensor pull_one(const Tensor& output, const Tensor& cotangent, const Tensor& wrt);
Tensor push_one(const Tensor& output, const Tensor& wrt, const Tensor& tangent);
}  // namespace detail

}  // namespace weft
