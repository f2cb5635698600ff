// The kernels of products for one instruction set. Callers: gemm_tile_test.cpp, short_sums_test.cpp.
#pragma once

#include "weft/backend/cpu/isa/gemm_kernels.h"

namespace weft::cpu {

template <class T>
const GemmKernels<T>& tile_kernels(Isa isa) {
    if constexpr (sizeof(T) == 4)
        return WEFT_OF_ISA(isa, gemm_kernels_f32);
    else
        return WEFT_OF_ISA(isa, gemm_kernels_f64);
}

}  // namespace weft::cpu
