// Inner products of rows of complex numbers with one vector, once an instruction set; sums are made in as many parts as it has lanes.
// Callers: backend/cpu/complex_gemm.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// to[i * to_step] = (accumulate ? to[i * to_step] : 0) + sum over k of a[i * row + k] b[k]: rows and b lie in one piece; pairs of real numbers,
/// steps in these.
template <class R>
using ComplexDots = void (*)(R* to, std::int64_t to_step, const R* a, std::int64_t row, const R* b, std::int64_t count,
                             std::int64_t rows, bool accumulate);

#define WEFT_COMPLEX_DOTS(isa)                         \
    namespace isa {                                    \
    extern const ComplexDots<float> complex_dots_f32;  \
    extern const ComplexDots<double> complex_dots_f64; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_COMPLEX_DOTS)
#undef WEFT_COMPLEX_DOTS

}  // namespace weft::cpu
