// The loops that measure what the processor can do at best, once an instruction set. Callers: backend/cpu/limits.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

struct PeakLoop {
    float (*run)(std::int64_t rounds);
    double operations_in_round;  // additions and multiplications of float32
    /// Stores past the caches, where the set has such; a multiple of 64 floats, both on a line of memory.
    void (*copy)(const float* from, float* to, std::int64_t count);
    float (*read)(const float* from, std::int64_t count);  // a multiple of 128 floats
};

#define WEFT_PEAK_TABLE(isa)         \
    namespace isa {                  \
    extern const PeakLoop peak_loop; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_PEAK_TABLE)
#undef WEFT_PEAK_TABLE

}  // namespace weft::cpu
