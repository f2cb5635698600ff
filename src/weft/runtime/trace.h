// Tracing: a body run once on placeholders, with every Parameter that it reads and sets noted. What comes out is a graph from leaves
// (arguments, cells, constants) to outputs (results, new values of cells). Callers: runtime/function.cpp.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "weft/graph/parameter.h"
#include "weft/runtime/function.h"

namespace weft {

struct Trace {
    std::vector<Tensor> arguments;  // placeholders
    struct CellUse {
        std::shared_ptr<Cell> cell;
        Tensor placeholder;  // its value when the function is called (empty: only written)
        Tensor written;      // its value afterwards (empty: only read)
    };
    std::vector<CellUse> cells;
    std::vector<Tensor> results;
};

Trace trace(const CompiledFunction::Body& body, std::span<const Tensor> arguments);

}  // namespace weft
