// The kernels of products for one instruction set. Callers: gemm_tile_test.cpp, short_sums_test.cpp.
#pragma once

#include "weft/backend/cpu/isa/gemm_kernels.h"

namespace weft::cpu {

template <class T>
const GemmKernels<T>& tile_kernels(Isa isa) {
    const GemmKernels<T>* found = nullptr;
    switch (isa) {
#define WEFT_TILE_CASE(name)                 \
    case Isa::name:                          \
        if constexpr (sizeof(T) == 4)        \
            found = &name::gemm_kernels_f32; \
        else                                 \
            found = &name::gemm_kernels_f64; \
        break;
        WEFT_FOR_EACH_ISA(WEFT_TILE_CASE)
#undef WEFT_TILE_CASE
    }
    return *found;
}

}  // namespace weft::cpu
