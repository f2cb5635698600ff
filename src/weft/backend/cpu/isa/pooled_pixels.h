// Maxima and means over windows of pixels that hold their channels, of float32: once an instruction set. Caller: backend/cpu/pooling_pixels.h.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// A row of the result: each place joins, of every line that its window meets, `count` pixels from `first` on; steps in elements.
struct PooledPlace {
    std::int64_t first, count;
    float divisor;  // of a mean
};
struct PooledRow {
    const float* const* lines;
    std::int64_t line_count;
    const PooledPlace* places;
    std::int64_t place_count, pixel_step, result_step, channels;
};

struct PooledPixels {
    void (*greatest)(const PooledRow& row, float* result);  // or NaN: the last one, in the window's order
    void (*mean)(const PooledRow& row, float* result);      // sums in the window's order, divided
};

#define WEFT_POOLED_PIXELS(isa)              \
    namespace isa {                          \
    extern const PooledPixels pooled_pixels; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_POOLED_PIXELS)
#undef WEFT_POOLED_PIXELS

}  // namespace weft::cpu
