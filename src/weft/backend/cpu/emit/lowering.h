// A Program as vector code for one instruction set: opcodes taken apart into what processors have, calls of functions replaced by
// the functions' own Programs. What no vector instruction does (whole-number division, some casts on AVX2, functions without a
// Program) becomes a call of the block evaluator's loop for one vector. The bits are those of the interpreter.
// Callers: kernel_cache.cpp, tests.
#pragma once

#include <optional>
#include <span>

#include "weft/backend/cpu/emit/vector_code.h"

namespace weft::cpu::emit {

/// Nothing where the emitter cannot run the program: it holds complex numbers, or bits taken for a bool.
/// `loads`, `stores`: one an input and an output.
std::optional<VectorCode> lower(const Program& program, std::span<const StreamKind> loads,
                                std::span<const StreamKind> stores, Isa isa);

}  // namespace weft::cpu::emit
