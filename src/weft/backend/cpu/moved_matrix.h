// A matrix moved to where its rows and columns lie at other distances: rows copied, turned by squares in registers, or number by number.
// Callers: the convolutions of backend/cpu.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weft/backend/cpu/block_loops.h"

namespace weft::cpu {

/// From a row, and from a column, to the next, in numbers.
struct MatrixSteps {
    std::int64_t row, column;
};

/// to[i, j] = from[i, j] of so many rows and columns, which do not overlap.
template <class T>
void move_matrix(T* to, MatrixSteps of_to, const T* from, MatrixSteps of_from, std::int64_t rows,
                 std::int64_t columns) {
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
    auto turn = block_loops(best_isa()).move.turn;
    if (of_to.column == 1 && of_from.column == 1) {
        if (of_to.row == columns && of_from.row == columns)
            std::copy_n(from, rows * columns, to);
        else
            for (std::int64_t i = 0; i < rows; ++i) std::copy_n(from + i * of_from.row, columns, to + i * of_to.row);
    } else if (of_to.column == 1 && of_from.row == 1) {
        turn(to, from, of_from.column * bytes, rows, columns, of_to.row, sizeof(T));
    } else if (of_to.row == 1 && of_from.column == 1) {
        turn(to, from, of_from.row * bytes, columns, rows, of_to.column, sizeof(T));
    } else {
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
                to[i * of_to.row + j * of_to.column] = from[i * of_from.row + j * of_from.column];
    }
}

}  // namespace weft::cpu
