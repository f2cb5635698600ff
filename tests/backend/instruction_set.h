// Kernels of one instruction set for a while. Callers: tests/backend.
#pragma once

#include <algorithm>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

struct InstructionSet {
    explicit InstructionSet(Isa isa) : before(best_isa()) { use_isa(isa); }
    ~InstructionSet() { use_isa(before); }
    Isa before;
};

/// Whether this build and processor can be told to use it alone.
inline bool has_avx2() {
    auto isas = usable_isas();
    return std::find(isas.begin(), isas.end(), Isa::avx2) != isas.end();
}

}  // namespace weft::cpu
