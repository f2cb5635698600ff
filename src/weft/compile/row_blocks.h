// Row blocks: loops that share their leading axes (rows), run one after the other over a block of rows that stays in cache, so that what
// passes between them (the largest of each row, its sum, the exponentials of a softmax) never reaches memory. Blocks depend on sizes
// alone, so results do not depend on threads. Callers: compile/binding.cpp.
#pragma once

#include <memory>
#include <vector>

#include "weft/compile/device.h"

namespace weft {

struct RowGroup {
    struct Part {
        Loop loop;
        std::vector<std::int32_t> operands;  // numbers of the group's operands: one a load, then one a store
    };
    std::vector<Part> parts;             // in the order in which they run
    std::size_t rows = 0;                // leading axes of every part's box, of the same sizes
    std::int32_t outside = 0;            // operands that run() is handed; those numbered from here on live inside
    std::vector<std::size_t> row_bytes;  // of each inside operand: one row, laid out row-major with all rows
};

/// Operands of run(): the group's outside ones.
std::unique_ptr<Kernel> row_blocks(const KernelCompiler& compiler, const RowGroup& group);

}  // namespace weft
