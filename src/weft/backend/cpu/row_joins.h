// Running sums and products of rows by the instruction set in use. Caller: backend/cpu/scan.cpp.
#pragma once

#include <type_traits>

#include "weft/backend/cpu/isa/running_rows.h"

namespace weft::cpu {

/// Types whose rows are joined so.
template <class T>
inline constexpr bool has_row_joins =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>;

template <class T>
const RowJoins<T>& row_joins() {
    if constexpr (std::is_same_v<T, float>)
        return WEFT_OF_BEST_ISA(row_joins_f32);
    else if constexpr (std::is_same_v<T, double>)
        return WEFT_OF_BEST_ISA(row_joins_f64);
    else
        return WEFT_OF_BEST_ISA(row_joins_i64);
}

}  // namespace weft::cpu
