// Rows of memory added up, or multiplied, one after the other, each result stored: once an instruction set. Caller: backend/cpu/row_joins.h.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// From row to row of what is read and of what is stored are so many numbers, which may be below zero.
struct RunningRows {
    std::int64_t rows, lanes, from_step, to_step;
    std::int64_t rows_ahead;  // that are asked for before they are read; 0: none
    bool exclusive;           // stored is what comes before a row
    bool past;                // whole lines of the result go to memory, not into the caches
};
/// Onto `running`, which begins a line of memory.
template <class T>
using JoinRows = void (*)(const T* from, T* running, T* to, const RunningRows& shape);
/// The two ways for one type.
template <class T>
struct RowJoins {
    JoinRows<T> sum, product;
};

#define WEFT_RUNNING_ROWS(isa)                         \
    namespace isa {                                    \
    extern const RowJoins<float> row_joins_f32;        \
    extern const RowJoins<double> row_joins_f64;       \
    extern const RowJoins<std::int64_t> row_joins_i64; \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_RUNNING_ROWS)
#undef WEFT_RUNNING_ROWS

}  // namespace weft::cpu
