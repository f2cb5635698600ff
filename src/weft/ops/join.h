// Pieces laid into one array: concatenate, stack, pad. Callers: everyone.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// Along an axis that all have; the other sizes must agree, dtypes are promoted. At least one tensor.
Tensor concatenate(std::span<const Tensor> tensors, std::int64_t axis = 0,
                   std::source_location where = std::source_location::current());
Tensor concatenate(std::initializer_list<Tensor> tensors, std::int64_t axis = 0,
                   std::source_location where = std::source_location::current());
/// Along a new axis; all shapes must agree.
Tensor stack(std::span<const Tensor> tensors, std::int64_t axis = 0,
             std::source_location where = std::source_location::current());
Tensor stack(std::initializer_list<Tensor> tensors, std::int64_t axis = 0,
             std::source_location where = std::source_location::current());
/// `value` around x: before[i] and after[i] elements along axis i.
Tensor pad(const Operand& x, const Dims& before, const Dims& after, const Literal& value = 0.0);
/// Zeros around x and between its elements: what transposes a slice.
Tensor pad_interior(const Operand& x, const Shape& before, const Shape& after, const Dims& between);

/// The parts of `whole` that lie where the wanted inputs of the concatenation `joined` do; empty Tensors for the others.
std::vector<Tensor> parts_of_joined(const Tensor& joined, const Tensor& whole, const std::vector<bool>& wanted);

struct ConcatenateAttributes {
    std::int64_t axis = 0;
    template <class V>
    void members(V& visit) {
        visit("axis", axis);
    }
};
struct PadAttributes {
    Offsets before;
    Shape shape;  // of the result
    Dims between;
    Literal value;
    template <class V>
    void members(V& visit) {
        visit("before", before), visit("shape", shape), visit("between", between), visit("value", value);
    }
};
extern const Operation concatenate_operation, pad_operation;

}  // namespace weft
