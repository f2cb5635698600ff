// Sums of a few columns of numbers, some chunks of rows side by side, once an instruction set. Callers: backend/cpu/reduction_columns.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

inline constexpr std::int64_t chunks_together = 4;
/// Sums of `chunks_together` chunks of `rows` rows each, which follow each other; from row to row are `stride` numbers, from the sums of one
/// chunk to those of the next `apart`. Each is what its rows come to one after the other, from 0 on.
template <class T>
using SumChunks = void (*)(T* to, std::int64_t apart, const T* from, std::int64_t rows, std::int64_t columns,
                           std::int64_t stride);

#define WEFT_COLUMN_CHUNKS(isa)                    \
    namespace isa {                                \
    extern const SumChunks<float> sum_chunks_f32;  \
    extern const SumChunks<double> sum_chunks_f64; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_COLUMN_CHUNKS)
#undef WEFT_COLUMN_CHUNKS

}  // namespace weft::cpu
