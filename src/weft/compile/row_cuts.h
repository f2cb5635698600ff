// How the rows of a group are cut into blocks, by sizes alone. Callers: compile/row_blocks.cpp.
#pragma once

#include "weft/compile/row_blocks.h"

namespace weft {

/// Axis `axis` of the rows is cut into `cuts` blocks of `step` (the last may be shorter); the axes before it are walked one by one,
/// those behind it lie whole in a block.
struct Blocks {
    std::size_t axis = 0;
    std::int64_t step = 1, cuts = 1, count = 1, rows_in_block = 1;
};

/// `beside`: small blocks, of which each ends beside the next.
Blocks cut(const RowGroup& group, bool beside = false);

}  // namespace weft
