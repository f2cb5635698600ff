// The innermost loops of products of whole numbers, once an instruction set and width. Numbers wrap, so signed ones are multiplied as unsigned
// ones of their width and sums may be made in any order. Callers: backend/cpu/whole_gemm.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// What numbers of a width are multiplied as: there are no products of vectors of bytes.
template <class U>
struct WholeFactorOf {
    using Type = U;
};
template <>
struct WholeFactorOf<std::uint8_t> {
    using Type = std::uint16_t;
};
template <class U>
using WholeFactor = typename WholeFactorOf<U>::Type;

/// c[i, j] = (accumulate ? c[i, j] : 0) + sum over k of a[k * step + i] b[k * b_row + j], for whole tiles of columns: `rows` of c are written, of
/// `step` (1, 2, 4 or most_rows) that are computed.
template <class U>
struct WholeTile {
    const WholeFactor<U>* a;
    std::int64_t step;
    const U* b;
    std::int64_t b_row;
    U* c;
    std::int64_t c_row, k;
    std::int64_t rows, columns;
    bool accumulate;
};

template <class U>
struct WholeKernels {
    static constexpr std::int64_t most_rows = 8;
    std::int64_t columns;  // of a tile; of b as many are read, whatever is wanted of c
    void (*tile)(const WholeTile<U>& tile);
    /// c[j] = (accumulate ? c[j] : 0) + sum over i of a[i] b[i * b_row + j], of up to most_rows rows; a goes on with zeros.
    void (*add_rows)(U* c, const WholeFactor<U>* a, const U* b, std::int64_t b_row, std::int64_t rows,
                     std::int64_t columns, bool accumulate);
    U (*dot)(const U* a, const U* b, std::int64_t count);
};

#define WEFT_WHOLE_TABLES(isa)                                 \
    namespace isa {                                            \
    extern const WholeKernels<std::uint8_t> whole_kernels_8;   \
    extern const WholeKernels<std::uint16_t> whole_kernels_16; \
    extern const WholeKernels<std::uint32_t> whole_kernels_32; \
    extern const WholeKernels<std::uint64_t> whole_kernels_64; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_WHOLE_TABLES)
#undef WEFT_WHOLE_TABLES

}  // namespace weft::cpu
