#include "weft/ops/nan.h"

#include <limits>

#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/half_types.h"
#include "weft/ops/masked.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"
#include "weft/ops/statistics.h"

namespace weft {
namespace {

/// x with its NaNs as another number: what that number does to a join is nothing.
Tensor without_nan(const Tensor& x, double instead) { return is_inexact(x.dtype()) ? where(isnan(x), instead, x) : x; }

using Joins = Tensor (*)(const Operand&, const Axes&, bool);

/// An extreme of what is not NaN: `least` gives way to every number.
Tensor extreme(const Operand& x, const Axes& axes, bool keepdims, Joins join, double least) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (!is_floating(tensor.dtype())) return join(x, axes, keepdims);
    Tensor missing = isnan(tensor);
    Tensor found = join(Operand(where(missing, least, tensor), x.where), axes, keepdims);
    return where(all(missing, axes, keepdims), std::numeric_limits<double>::quiet_NaN(), found);
}

Tensor place_of(const Operand& x, const Axes& axes, bool keepdims, Joins join, double least, std::string_view name) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (!is_floating(tensor.dtype())) return join(x, axes, keepdims);
    Tensor missing = isnan(tensor);
    if (!tensor.node()->symbolic && any(all(missing, axes)).item<bool>())
        throw ValueError(text(name, ": nothing but NaN along the axes", place(x.where)));
    return join(Operand(where(missing, least, tensor), x.where), axes, keepdims);
}

/// What the mean and the variance leave in.
Operand numbers(const Operand& x) {
    return Operand(logical_not(isnan(astype(x, inexact(x.as_tensor().dtype())))), x.where);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Tensor nansum(const Operand& x, const Axes& axes, bool keepdims) {
    LineScope line(x.where);
    return sum(Operand(without_nan(x.as_tensor(), 0), x.where), axes, keepdims);
}

Tensor nanprod(const Operand& x, const Axes& axes, bool keepdims) {
    LineScope line(x.where);
    return prod(Operand(without_nan(x.as_tensor(), 1), x.where), axes, keepdims);
}

Tensor nanmax(const Operand& x, const Axes& axes, bool keepdims) { return extreme(x, axes, keepdims, max, -infinity); }
Tensor nanmin(const Operand& x, const Axes& axes, bool keepdims) { return extreme(x, axes, keepdims, min, infinity); }

Tensor nanargmax(const Operand& x, const Axes& axes, bool keepdims) {
    return place_of(x, axes, keepdims, argmax, -infinity, "nanargmax");
}
Tensor nanargmin(const Operand& x, const Axes& axes, bool keepdims) {
    return place_of(x, axes, keepdims, argmin, infinity, "nanargmin");
}

Tensor nanmean(const Operand& x, const Axes& axes, bool keepdims) {
    LineScope line(x.where);
    return masked_mean(x, axes, numbers(x), keepdims);
}

Tensor nanvar(const Operand& x, const Axes& axes, double correction, bool keepdims) {
    LineScope line(x.where);
    return masked_var(x, axes, numbers(x), correction, keepdims);
}

Tensor nanstd(const Operand& x, const Axes& axes, double correction, bool keepdims) {
    LineScope line(x.where);
    if (is_narrow(x)) return narrowed(nanstd(widened(x), axes, correction, keepdims), x);
    return sqrt(nanvar(x, axes, correction, keepdims));
}

Tensor nancumsum(const Operand& x, std::int64_t axis) {
    LineScope line(x.where);
    return cumulative_sum(Operand(without_nan(x.as_tensor(), 0), x.where), axis);
}

Tensor nancumprod(const Operand& x, std::int64_t axis) {
    LineScope line(x.where);
    return cumulative_prod(Operand(without_nan(x.as_tensor(), 1), x.where), axis);
}

Tensor nan_to_num(const Operand& x, const NanToNum& replacements) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (!is_inexact(tensor.dtype())) return tensor;
    if (is_complex(tensor.dtype()))
        return nan_to_num(real(tensor), replacements) +
               nan_to_num(imag(tensor), replacements) * Operand(std::complex<double>(0, 1));
    double largest = with_dtype(tensor.dtype(), []<class T>(TypeTag<T>) -> double {
        if constexpr (std::is_same_v<T, Float16>) return 65504;
        if constexpr (std::is_same_v<T, BFloat16>) return 0x1.fep127;
        if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::max();
        return 0;
    });
    Tensor finite = where(isnan(tensor), replacements.nan, tensor);
    finite = where(equal(finite, infinity), replacements.posinf.value_or(largest), finite);
    return where(equal(finite, -infinity), replacements.neginf.value_or(-largest), finite);
}

namespace {
/// The samples' arrays have no NaN: some of their numbers become one.
Tensor with_gaps(const Tensor& x) { return where(greater(x, 1.5), std::numeric_limits<double>::quiet_NaN(), x); }
}  // namespace

#define RECORD(name, doc)                                                                                     \
    extern const Operation name##_operation;                                                                  \
    const Operation name##_operation = composite(#name, doc, #name, "",                                       \
                                                 {{{{3, 4}},                                                  \
                                                   [](auto x) { return name(with_gaps(x[0]), {1}); },         \
                                                   "np." #name "(np.where(x0 > 1.5, np.nan, x0), axis=1)"}}); \
    WEFT_REGISTER(name##_operation);
RECORD(nansum, "The sum along axes of what is not NaN.")
RECORD(nanprod, "The product along axes of what is not NaN.")
RECORD(nanmax, "The largest along axes of what is not NaN.")
RECORD(nanmin, "The smallest along axes of what is not NaN.")
RECORD(nanmean, "The mean along axes of what is not NaN.")
RECORD(nanvar, "The variance along axes of what is not NaN.")
RECORD(nanstd, "The standard deviation along axes of what is not NaN.")
#undef RECORD

}  // namespace weft
