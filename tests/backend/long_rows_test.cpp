// Rows joined in 64 lanes, and these by halves: to the bit, on every instruction set.
#include <gtest/gtest.h>

#include "joins.h"
#include "weft/backend/cpu/block_loops.h"
#include "weft/backend/cpu/compiler.h"

namespace weft::cpu {
namespace {

/// What a row comes to: number i joins lane i % 64, lane i then lane i + 32, and so on.
template <class T>
T joined_row(Reduction reduction, const T* row, std::int64_t length) {
    std::vector<T> lanes(row, row + 64);
    for (std::int64_t i = 64; i < length; ++i) {
        T& lane = lanes[static_cast<std::size_t>(i % 64)];
        lane = joined(reduction, lane, row[i]);
    }
    for (std::size_t half = 32; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) lanes[i] = joined(reduction, lanes[i], lanes[i + half]);
    return lanes[0];
}

template <class T>
void check_long_rows(Reduction reduction) {
    constexpr std::int64_t rows = 7;
    for (std::int64_t length : {65, 70, 96, 127, 128, 129, 200, 255, 256, 257, 1000})
        for (bool nan : {false, true}) {
            std::vector<T> from = numbers_to_join<T>(rows, length, nan), to(rows);
            for (Isa isa : usable_isas()) {
                block_loops(isa).reduce(reduction, dtype_of<T>)->rows(to.data(), nullptr, from.data(), rows, length);
                for (std::size_t row = 0; row < rows; ++row) {
                    T expected = joined_row(reduction, &from[row * static_cast<std::size_t>(length)], length);
                    ASSERT_TRUE(same_sign(to[row], expected)) << name_of(isa) << ": row " << row << " of " << length
                                                              << ": " << to[row] << ", not " << expected;
                }
            }
        }
}

TEST(LongRows, are_joined_in_64_lanes_on_every_instruction_set) {
    for (Reduction reduction : {Reduction::sum, Reduction::product, Reduction::maximum, Reduction::minimum}) {
        check_long_rows<float>(reduction);
        check_long_rows<double>(reduction);
    }
}

}  // namespace
}  // namespace weft::cpu
