// A Loop as machine code of its own, prepared once for its sizes and strides: what BlockKernel is, faster. Always the interpreter's
// bits for maps and the block evaluator's for reductions.
// Callers: backend/cpu/compiler.cpp, tests.
#pragma once

#include "weft/backend/cpu/block_kernel.h"
#include "weft/backend/cpu/emit/kernel_cache.h"

namespace weft::cpu::emit {

/// Null where no kernel can be emitted (kernel_cache.h says when): then the block evaluator runs the loop.
std::unique_ptr<const PreparedLoop> prepare_emitted_map(const Loop& loop, const EmitOptions* options = nullptr);

}  // namespace weft::cpu::emit
