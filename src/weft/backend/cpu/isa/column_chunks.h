// A few columns of numbers joined, some chunks of rows side by side, once an instruction set. Callers: backend/cpu/reduction_columns.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"
#include "weft/kernel/reduction.h"

namespace weft::cpu {

inline constexpr std::int64_t chunks_together = 4;
inline constexpr std::int64_t most_chunk_bytes =
    64;  // of a row, which is read sooner than what the one before comes to is there
/// What `chunks_together` chunks of `rows` rows each, which follow each other, come to; from row to row are `stride` numbers, from the results of
/// one chunk to those of the next `apart`. Each is what its rows come to one after the other, from the neutral value on.
template <class T>
using JoinChunks = void (*)(T* to, std::int64_t apart, const T* from, std::int64_t rows, std::int64_t columns,
                            std::int64_t stride);

// Null: no chunks are joined side by side.
#define WEFT_COLUMN_CHUNKS(isa)                           \
    namespace isa {                                       \
    JoinChunks<float> joins_of_chunks_f32(Reduction of);  \
    JoinChunks<double> joins_of_chunks_f64(Reduction of); \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_COLUMN_CHUNKS)
#undef WEFT_COLUMN_CHUNKS

}  // namespace weft::cpu
