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
    const RowJoins<T>* joins = nullptr;
    switch (best_isa()) {
#define WEFT_CASE(isa)                                \
    case Isa::isa:                                    \
        if constexpr (std::is_same_v<T, float>)       \
            joins = &isa::row_joins_f32;              \
        else if constexpr (std::is_same_v<T, double>) \
            joins = &isa::row_joins_f64;              \
        else                                          \
            joins = &isa::row_joins_i64;              \
        break;
        WEFT_FOR_EACH_ISA(WEFT_CASE)
#undef WEFT_CASE
    }
    return *joins;
}

}  // namespace weft::cpu
