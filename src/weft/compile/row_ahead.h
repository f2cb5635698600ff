// What the loops behind a product of a step of rows read of a block from far: the product, which waits for nothing, asks for it meanwhile.
// Callers: compile/row_blocks.cpp.
#pragma once

#include "weft/compile/row_blocks.h"

namespace weft {

/// Those operands from outside that the parts behind `part`, a product, read before the next one, that none read before, and of which a block
/// lies in one piece: rows are cut along `axis` into such as `block`. Few, and of few bytes, which have room beside the product's own.
std::vector<RowOperand> reads_ahead(const RowGroup& group, std::size_t part, std::size_t axis, const Dims& block);

}  // namespace weft
