#include "weft/ops/masked.h"

#include <limits>

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/half_types.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Tensor counted(const Tensor& condition, const Tensor& x, const Axes& axes, bool keepdims) {
    return sum(astype(broadcast_to(condition, x.shape()), real_of(x.dtype())), axes, keepdims);
}

Tensor condition_of(const Operand& condition) { return astype(condition, DType::bool_); }

using Join = Tensor (*)(const Operand&, const Axes&, bool);
using PairJoin = Tensor (*)(const Operand&, const Operand&);

Tensor extreme_from(const Operand& x, const Axes& axes, const Operand& initial, bool keepdims, Join join,
                    PairJoin pair) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    Tensor first = astype(initial, tensor.dtype());
    bool nothing = false;
    for (std::int64_t axis : normalize_axes(axes, tensor.ndim(), "max")) {
        Size size = tensor.shape()[static_cast<std::size_t>(axis)];
        nothing |= size.known() && size.value() == 0;
    }
    // Of no elements there is no largest; their number has the result's shape.
    if (nothing) return broadcast_to(first, sum(x, axes, keepdims).shape());
    return pair(join(x, axes, keepdims), first);
}

}  // namespace

Tensor kept(const Operand& x, const Operand& condition, const Operand& otherwise) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    return where(condition_of(condition), tensor, astype(otherwise, tensor.dtype()));
}

Tensor masked_mean(const Operand& x, const Axes& axes, const Operand& condition, bool keepdims) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(masked_mean(widened(x), axes, condition, keepdims), x);
    Tensor tensor = astype(x, inexact(x.as_tensor().dtype())), mask = condition_of(condition);
    return sum(Operand(where(mask, tensor, 0), x.where), axes, keepdims) / counted(mask, tensor, axes, keepdims);
}

Tensor masked_var(const Operand& x, const Axes& axes, const Operand& condition, double correction, bool keepdims) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(masked_var(widened(x), axes, condition, correction, keepdims), x);
    Tensor tensor = astype(x, inexact(x.as_tensor().dtype())), mask = condition_of(condition);
    Tensor mean = masked_mean(Operand(tensor, x.where), axes, Operand(mask, x.where), true);
    Tensor deviation = where(mask, tensor - mean, 0);
    Tensor squares = square(is_complex(tensor.dtype()) ? abs(deviation) : deviation);
    Tensor freedom = counted(mask, tensor, axes, keepdims) - correction;
    return sum(squares, axes, keepdims) / where(freedom > 0, freedom, std::numeric_limits<double>::quiet_NaN());
}

Tensor max_from(const Operand& x, const Axes& axes, const Operand& initial, bool keepdims) {
    return extreme_from(x, axes, initial, keepdims, max, maximum);
}
Tensor min_from(const Operand& x, const Axes& axes, const Operand& initial, bool keepdims) {
    return extreme_from(x, axes, initial, keepdims, min, minimum);
}

}  // namespace weft
