// Row blocks: loops and products of matrices that share their leading axes (rows), run one after the other over a block of rows that
// stays in cache, so that what passes between them (the largest of each row, its sum, the exponentials of a softmax, a product before
// its bias) never reaches memory. Blocks depend on sizes alone, so results do not depend on threads.
// Callers: compile/step_kernels.cpp.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "weft/compile/device.h"
#include "weft/compile/memory.h"

namespace weft {

/// An operand of a part: its number among the group's, and how many bytes it moves with each axis of the rows.
struct RowOperand {
    std::int32_t number = 0;
    Dims strides;
    std::size_t dense = 0;  // of a loop's load: bytes of its row, where that lies in one piece; else 0
    std::size_t row = 0;  // of a loop's access: bytes of the elements of one row, where it moves with the rows; else 0
};

/// Of a part that reduces the rows themselves: what each block gives waits in memory of its own and is joined at the end.
struct RowSums {
    std::size_t first = 0;           // of the part's operands: its results
    std::vector<std::size_t> bytes;  // of each
    /// Operands: for each result those of all blocks, one after another; then the results.
    std::function<std::unique_ptr<Kernel>(std::int64_t blocks)> join;
};

struct RowPart {
    /// The kernel for so many rows along each of their axes.
    std::function<std::unique_ptr<Kernel>(const Dims& rows, const KernelUse& use)> make;
    std::vector<RowOperand> operands;  // in the kernel's order
    double points = 0;                 // of one row, in what one of a loop costs
    double bytes = 0;                  // that pass through the cache for one row
    bool stores_much = false;          // exponentials or the like, which a later part reads
    bool indexed = false;              // the indices of all rows are checked before any block runs
    std::int64_t least_rows = 0;       // of a product or a convolution: fewer at a time cost more; 0: a loop
    std::int64_t tile = 1;             // rows that it makes at a time
    std::int64_t fewest_rows = 1;      // of a product: fewer cost more, or are other sums than all
    bool once = false;                 // it makes, in each block anew, what all rows read
    bool kept = false;                 // its second operand stays as it is from run to run
    RowSums sums = {};
};

/// A part that also does, meanwhile, what the last part has left to do of the block before.
struct RowBeside {
    std::size_t part = 0, loads = 0, made = 0;  // which part; of its operands, of a map's stores, which come first
    bool past = false;                          // what the last part stores goes past the caches
    /// Operands: the part's loads, the last part's, a map's store, the last part's, the part's others.
    std::function<std::unique_ptr<Kernel>(const Dims& rows)> make;  // none: there is no such part
};

struct RowGroup {
    std::vector<RowPart> parts;  // in the order in which they run
    Dims rows;                   // sizes of the axes that all share
    std::int32_t outside = 0;    // operands that run() is handed; those numbered from here on live inside
    std::vector<Lifetime>
        inside;  // of each inside operand: bytes of a row (they lie row-major), and the parts it lives from, to
    RowBeside beside = {};       // of blocks
    RowBeside turn_beside = {};  // of turns: the first part that is not made once, where Turns::beside is best
    bool fetches_turns = false;  // Turns::fetched is best
};

/// Operands of run(): the group's outside ones. What it shares is what its parts with kept operands do.
std::unique_ptr<Kernel> row_blocks(const RowGroup& group);

}  // namespace weft
