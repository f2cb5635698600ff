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

/// What the functions of a record read: the attributes of the result's node, and those that are handed to them.
template <class A>
const A& attributes_of(const Tensor& result) {
    return result.node()->attributes_as<A>();
}
template <class A>
const A& attributes_of(const Attributes* attributes) {
    return static_cast<const AttributesOf<A>&>(*attributes).value;
}

/// What a record's functions ask of the result: its i-th input.
inline Tensor input_of(const Tensor& result, std::size_t i = 0) { return handle(result.node()->inputs[i]); }

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
    WEFT_REGISTER(name##_operation);
