#include "weft/optim/constraint.h"

#include "weft/base/error.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"

namespace weft::optim {
namespace {

/// The norm over all axes but those of `kept`, of which there are one or two.
Tensor norm_but(const Tensor& value, std::int64_t first, std::int64_t last) {
    Axes joined;
    for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(value.ndim()); ++axis) {
        if (axis < first || axis > last) joined.push_back(axis);
    }
    return sqrt(sum(square(value), joined, true));
}

Tensor at_most(const Tensor& value, double most, std::int64_t first, std::int64_t last) {
    Tensor norm = norm_but(value, first, last);
    return value * where(norm > most, most / norm, 1.0);
}

Tensor at_least(const Tensor& value, double least, std::int64_t first, std::int64_t last) {
    Tensor norm = norm_but(value, first, last);
    return value * where((norm < least) & (norm > 0.0), least / norm, 1.0);  // zeros have no direction to grow in
}

}  // namespace

void check(const Constraint& constraint, const Parameter& parameter) {
    auto limit = [&](const char* name, const std::optional<double>& value, std::int64_t axes) {
        if (!value) return;
        if (!(*value > 0))
            throw ValueError(
                text("constraint '", constraint.match, "': ", name, " is ", *value, "; it must be above 0"));
        if (static_cast<std::int64_t>(parameter.shape().size()) >= axes) return;
        throw ShapeError(text("constraint '", constraint.match, "': ", name, " needs a parameter of ", axes,
                              " axes or more; '", parameter.name(), "' has shape ", parameter.shape(),
                              ". Give a glob that leaves it out"));
    };
    limit("max_abs", constraint.max_abs, 0);
    limit("max_col_norm", constraint.max_col_norm, 2);
    limit("min_col_norm", constraint.min_col_norm, 2);
    limit("max_row_norm", constraint.max_row_norm, 2);
    limit("max_kernel_norm", constraint.max_kernel_norm, 3);
    if (constraint.max_col_norm && constraint.min_col_norm && *constraint.min_col_norm > *constraint.max_col_norm) {
        throw ValueError(text("constraint '", constraint.match, "': min_col_norm, ", *constraint.min_col_norm,
                              ", is above max_col_norm, ", *constraint.max_col_norm));
    }
}

Tensor constrained(const Tensor& given, const Constraint& constraint) {
    Tensor value = given;
    if (constraint.non_negative) value = maximum(value, 0.0);
    if (constraint.max_abs) value = clip(value, -*constraint.max_abs, *constraint.max_abs);
    if (constraint.max_kernel_norm) value = at_most(value, *constraint.max_kernel_norm, 0, 1);
    if (constraint.max_row_norm) value = at_most(value, *constraint.max_row_norm, 1, 1);
    if (constraint.min_col_norm) value = at_least(value, *constraint.min_col_norm, 0, 0);
    if (constraint.max_col_norm) value = at_most(value, *constraint.max_col_norm, 0, 0);
    return value;
}

}  // namespace weft::optim
