// What the declarations of operations share. Callers: ops/*.cpp.
#pragma once

#include "weft/graph/node.h"
#include "weft/graph/operation.h"

namespace weft {

/// Runs a check of an argument with the line of the operand added to what it throws.
template <class F>
auto checked(const Operand& x, F&& check) {
    try {
        return check();
    } catch (Error& error) {
        error.add(place(x.where));
        throw;
    }
}
/// The axis, counted from 0. AxisError with the user's line.
std::int64_t checked_axis(const Operand& x, std::int64_t axis, std::size_t ndim, std::string_view operation);

/// Whether the numbers of x are there or can be computed: nothing below it is only declared.
inline bool has_numbers(const Tensor& x) { return !x.node()->symbolic || x.computed(); }
/// `length` elements along an axis, from `start` on.
Tensor slice_along(const Tensor& x, std::size_t axis, std::int64_t start, std::int64_t length);

/// The record of a function of other operations.
Operation composite(std::string_view name, std::string_view doc, std::string_view numpy, std::string_view torch,
                    std::vector<Sample> samples);

}  // namespace weft

/// The record of a function of other operations, registered: WEFT_RECORD(name, doc, NumPy's name, PyTorch's name, samples).
#define WEFT_RECORD(name, ...)                                        \
    extern const Operation name##_operation;                          \
    const Operation name##_operation = composite(#name, __VA_ARGS__); \
    [[maybe_unused]] static const bool name##_registered = register_operation(name##_operation);
