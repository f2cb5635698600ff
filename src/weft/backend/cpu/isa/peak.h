// The loop that measures the processor's peak, once an instruction set. Callers: backend/cpu/limits.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

struct PeakLoop {
    float (*run)(std::int64_t rounds);
    double operations_in_round;  // additions and multiplications of float32
};

#define WEFT_PEAK_TABLE(isa)         \
    namespace isa {                  \
    extern const PeakLoop peak_loop; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_PEAK_TABLE)
#undef WEFT_PEAK_TABLE

}  // namespace weft::cpu
