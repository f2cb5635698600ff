// A Loop as machine code of its own, prepared once for its sizes and strides: what BlockKernel is, faster. Always the interpreter's
// bits for maps and the block evaluator's for reductions.
// Callers: backend/cpu/compiler.cpp, tests.
#pragma once

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/emit/kernel_cache.h"

namespace weft::cpu::emit {

/// Null where no kernel can be emitted (kernel_cache.h says when): then the block evaluator runs the loop.
std::unique_ptr<const PreparedLoop> prepare_emitted_map(const Loop& loop, const EmitOptions* options = nullptr);

/// The same of a map that reads an array across the order in which it lies; null of others.
std::unique_ptr<const PreparedLoop> prepare_turned_map(const Loop& loop, const EmitOptions* options = nullptr);

/// Of a map of few elements: the code is made when it runs for the second time, and the block evaluator, to the same bits, runs it the
/// first. Null where there are more, or Emission says otherwise; else the loop's program is taken, for large ones are no small matter.
std::unique_ptr<const PreparedLoop> prepare_map_of_few(Loop&& loop);

}  // namespace weft::cpu::emit
