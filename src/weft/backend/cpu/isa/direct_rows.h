// Rows of a convolution that reads few numbers for each that it makes, once an instruction set. Caller: backend/cpu/direct_convolution.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// result[x * result_step + o] = the sum over t < taps of pixels[x * step + offsets[t]] * weights[t, o], one chain of fused multiply-adds. Of weights
/// the vectors of channels lie one behind the other, vector_step apart, each with its `lanes` numbers for every t; the last begins where it ends
/// with the channels, of which there are at least a vector.
struct DirectRow {
    const std::int64_t* offsets;
    std::int64_t step, taps, places, channels, result_step, vector_step;
};

struct DirectRows {  // none: null
    void (*run)(const DirectRow& row, const float* pixels, const float* weights, float* result);
    int lanes;
};

#define WEFT_DIRECT_ROWS(isa)            \
    namespace isa {                      \
    extern const DirectRows direct_rows; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_DIRECT_ROWS)
#undef WEFT_DIRECT_ROWS

}  // namespace weft::cpu
