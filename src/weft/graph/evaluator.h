// The one inversion of the house: a Tensor can ask for its numbers, but what computes them stands floors below.
// graph/ declares the evaluator, runtime/ defines it; nothing else crosses.
#pragma once

#include <span>

namespace weft {

struct Node;

/// Computes every node of the list (and so materialises it). Defined in runtime/evaluate.cpp.
void evaluate(std::span<Node* const> nodes);

}  // namespace weft
