// Nodes that hold one number known when the program is written, however it is dressed (broadcast, reshaped, converted), and what a
// record says of an elementwise operation that rules need. Callers: rewrite/.
#pragma once

#include <optional>

#include "weft/graph/node.h"
#include "weft/ops/elementwise.h"

namespace weft {

/// Whether rules stop here: a leaf, or a value that is in memory already.
inline bool opaque(const Node& node) {
    return node.operation->family == Family::leaf || node.computed.load(std::memory_order_acquire);
}
/// Whether the node is this operation, and rules may look below it.
inline bool is(const Node& node, const Operation& operation) { return node.operation == &operation && !opaque(node); }
/// False only where number_of is sure to find none: asked often.
inline bool may_be_number(const Node& node) {
    return node.operation->family != Family::elementwise || node.operation == &astype_operation;
}
/// Whether number_of finds one: asked most often of all, and a Literal is not small.
bool is_any_number(const Node& node);
/// The number that every element of the node is, as its dtype holds it; nothing if it is not a constant in any dress.
std::optional<Literal> number_of(const Node& node);
/// Whether every element is this number (of the node's dtype).
bool is_number(const Node& node, const Literal& number);
/// The number filled into a shape.
Tensor filled(const Literal& number, DType dtype, const Shape& shape);

/// The type in which the operands of an elementwise node meet.
DType meeting_dtype(const Node& node);
/// The type in which operand i is read: the meeting type, or bool for a condition.
DType operand_dtype(const Node& node, std::size_t i);
/// Whether the order of the two operands does not matter; asked of the body, so that no list is kept.
bool commutative(const Operation& operation);

/// The value of an elementwise node whose inputs are all numbers, by the interpreter of kernel/.
Literal folded(const Node& node);

}  // namespace weft
