// A Program as vector code for one instruction set: opcodes taken apart into what processors have, calls of functions replaced by
// the functions' own Programs. What no vector instruction does (whole-number division, some casts on AVX2, functions without a
// Program) becomes a call of the block evaluator's loop for one vector. The bits are those of the interpreter.
// Callers: kernel_cache.cpp, tests.
#pragma once

#include <optional>
#include <span>

#include "weft/backend/cpu/emit/vector_code.h"
#include "weft/backend/cpu/isa.h"

namespace weft::cpu::emit {

/// Whether exponentials that vanish are better left out by a mask than cut off before: 1.02 of a Zen 4's time and more (exp 1.08), but an Intel's processor
/// thinks for 75 ns over a result that underflows.
inline bool masks_what_vanishes() { return is_no_zen(); }

/// Nothing where the emitter cannot run the program: it holds complex numbers, or bits taken for a bool.
/// `loads`, `stores`: one an input and an output. `masked`: see masks_what_vanishes.
std::optional<VectorCode> lower(const Program& program, std::span<const StreamKind> loads,
                                std::span<const StreamKind> stores, Isa isa, bool masked = masks_what_vanishes());

}  // namespace weft::cpu::emit
