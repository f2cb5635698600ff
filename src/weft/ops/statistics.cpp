#include "weft/ops/statistics.h"

#include <limits>

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/half_types.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Tensor count_along(const Tensor& x, const Axes& axes) {
    Size count = 1;
    for (std::int64_t axis : normalize_axes(axes, x.ndim(), "mean"))
        count = count * x.shape()[static_cast<std::size_t>(axis)];
    return size_as_tensor(count, real_of(x.dtype()));
}

// The largest along axes, held constant: what is subtracted before exp so that nothing overflows. Infinite maxima stay out of it.
Tensor shift_of(const Tensor& x, const Axes& axes) {
    Tensor largest = stop_gradient(max(x, axes, true));
    return where(isfinite(largest), largest, 0);
}

// Whether there is nothing along an axis to be normalised: then nothing comes of it, as in PyTorch.
bool empty_along(const Tensor& tensor, std::int64_t axis, const Operand& x, std::string_view operation) {
    Size size = tensor.shape()[static_cast<std::size_t>(checked_axis(x, axis, tensor.ndim(), operation))];
    return size.known() && size.value() == 0;
}

}  // namespace

Tensor mean(const Operand& x, const Axes& axes, bool keepdims) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(mean(widened(x), axes, keepdims), x);
    Tensor tensor = astype(x, inexact(x.as_tensor().dtype()));
    return sum(Operand(tensor, x.where), axes, keepdims) / count_along(tensor, axes);
}
Tensor mean(const Operand& x) { return mean(x, all_axes(x.as_tensor().ndim())); }

Tensor var(const Operand& x, const Axes& axes, double correction, bool keepdims) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(var(widened(x), axes, correction, keepdims), x);
    Tensor tensor = astype(x, inexact(x.as_tensor().dtype()));
    Tensor centred = tensor - mean(Operand(tensor, x.where), axes, true);
    Tensor count = count_along(tensor, axes);
    if (is_complex(tensor.dtype())) centred = abs(centred);  // squared distances are real
    return sum(square(centred), axes, keepdims) / (correction == 0 ? count : maximum(count - correction, 0));
}
Tensor var(const Operand& x) { return var(x, all_axes(x.as_tensor().ndim())); }

Tensor standard_deviation(const Operand& x, const Axes& axes, double correction, bool keepdims) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(standard_deviation(widened(x), axes, correction, keepdims), x);
    return sqrt(var(x, axes, correction, keepdims));
}

Tensor logsumexp(const Operand& x, const Axes& axes, bool keepdims) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(logsumexp(widened(x), axes, keepdims), x);
    Tensor tensor = astype(x, inexact(x.as_tensor().dtype()));
    Tensor shift = shift_of(tensor, axes);
    Tensor joined = log(sum(exp(tensor - shift), axes, keepdims));
    return joined + (keepdims ? shift : sum(shift, axes));
}

SignedLog logsumexp(const Operand& x, const Axes& axes, const Operand& weights, bool keepdims) {
    LineScope line(x.where);
    Tensor factor = weights.as_tensor(), tensor = astype(x, inexact(promote(x.as_tensor().dtype(), factor.dtype())));
    if (is_half(tensor.dtype())) {
        SignedLog found = logsumexp(widened(Operand(tensor, x.where)), axes, widened(weights), keepdims);
        return {astype(found.log, tensor.dtype()), astype(found.sign, tensor.dtype())};
    }
    Tensor counts = broadcast_to(not_equal(factor, 0), (tensor * factor).shape());
    tensor = where(counts, tensor, -std::numeric_limits<double>::infinity());
    Tensor shift = shift_of(tensor, axes);
    Tensor total = sum(where(counts, factor * exp(tensor - shift), 0), axes, keepdims);
    return {log(abs(total)) + (keepdims ? shift : sum(shift, axes)), sign(total)};
}

Tensor softmax(const Operand& x, std::int64_t axis) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(softmax(widened(x), axis), x);
    Tensor tensor = astype(x, inexact(x.as_tensor().dtype()));
    if (tensor.ndim() == 0)
        return reshape(softmax(reshape(tensor, {1})), {});  // a single number is its own axis, as in PyTorch
    if (empty_along(tensor, axis, x, "softmax")) return tensor;
    Tensor raised = exp(tensor - stop_gradient(max(Operand(tensor, x.where), axis, true)));
    return raised / sum(raised, axis, true);
}

Tensor log_softmax(const Operand& x, std::int64_t axis) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(log_softmax(widened(x), axis), x);
    Tensor tensor = astype(x, inexact(x.as_tensor().dtype()));
    if (tensor.ndim() == 0) return reshape(log_softmax(reshape(tensor, {1})), {});
    if (empty_along(tensor, axis, x, "log_softmax")) return tensor;
    Tensor shifted = tensor - stop_gradient(max(Operand(tensor, x.where), axis, true));
    return shifted - log(sum(exp(shifted), axis, true));
}

WEFT_RECORD(mean, "The arithmetic mean along axes.", "mean", "mean",
            {{{{3, 4}}, [](auto x) { return mean(x[0]); }, "np.mean(x0)"},
             {{{3, 4, 2}},
              [](auto x) {
                  return mean(x[0], {0, 2}, true);
              },
              "np.mean(x0, (0, 2), keepdims=True)"}})
WEFT_RECORD(var, "The variance along axes.", "var", "var",
            {{{{3, 4}}, [](auto x) { return var(x[0]); }, "np.var(x0)"},
             {{{3, 4, 2}}, [](auto x) { return var(x[0], {1}, 1); }, "np.var(x0, 1, ddof=1)"}})
WEFT_RECORD(standard_deviation, "The standard deviation along axes.", "std", "std",
            {{{{3, 4}}, [](auto x) { return standard_deviation(x[0], {0}); }, "np.std(x0, 0)"}})
WEFT_RECORD(logsumexp, "log(sum(exp(x))), without overflow.", "scipy.special.logsumexp", "logsumexp",
            {{{{3, 4}}, [](auto x) { return logsumexp(x[0], 1); }, "scipy.special.logsumexp(x0, 1)"}})
WEFT_RECORD(softmax, "exp(x) / sum(exp(x)) along an axis, without overflow.", "scipy.special.softmax", "softmax",
            {{{{3, 4}}, [](auto x) { return softmax(x[0]); }, "scipy.special.softmax(x0, -1)"},
             {{{2, 3, 4}}, [](auto x) { return softmax(x[0], 1); }, "scipy.special.softmax(x0, 1)"},
             {{{2, 0}}, [](auto x) { return softmax(x[0], 1); }, "scipy.special.softmax(x0, 0)"}})
WEFT_RECORD(log_softmax, "x - log(sum(exp(x))) along an axis, without overflow.", "scipy.special.log_softmax",
            "log_softmax",
            {{{{3, 4}}, [](auto x) { return log_softmax(x[0], -1); }, "scipy.special.log_softmax(x0, -1)"}})

}  // namespace weft
