// Rows joined in 64 lanes, and these by halves: to the bit, on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "joins.h"
#include "weft/backend/cpu/block_loops.h"
#include "weft/backend/cpu/compiler.h"
#include "weft/kernel/builder.h"

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
            std::fill(from.end() - length, from.end(), -T(0));  // whose sum is the zero below 0
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

/// Rows of two axes, whose innermost is long and ends anywhere among the lanes: as if all lay side by side.
template <class T>
void check_runs(Reduction reduction) {
    constexpr std::int64_t rows = 3, runs = 5, gap = 9;
    for (std::int64_t run : {256, 257, 300, 511, 576}) {
        std::vector<T> from(static_cast<std::size_t>(rows * runs * (run + gap))), to(rows);
        for (std::size_t i = 0; i < from.size(); ++i) {  // finite ones, of which no order is another's
            double number = std::sin(0.37 * static_cast<double>(i * (i % 7)));
            from[i] = static_cast<T>(reduction == Reduction::product ? 1 + number / 64 : number);
        }
        Loop loop;
        ProgramBuilder builder;
        builder.output(builder.input(dtype_of<T>));
        loop.program = builder.take();
        loop.dims = {rows, runs, run};
        loop.reduced = 2;
        loop.reductions = {reduction};
        loop.loads = {{dtype_of<T>, {run + gap, rows * (run + gap), 1}}};
        loop.stores = {{dtype_of<T>, {1}}};
        auto kernel = cpu_compiler().loop(loop);
        std::vector<std::byte> scratch(kernel->scratch_bytes() + 64);
        void* operands[] = {from.data(), to.data()};
        kernel->run(operands, scratch.data());
        for (std::int64_t row = 0; row < rows; ++row) {
            std::vector<T> all;
            for (std::int64_t r = 0; r < runs; ++r) {
                auto begin = from.begin() + (r * rows + row) * (run + gap);
                all.insert(all.end(), begin, begin + run);
            }
            T expected = joined_row(reduction, all.data(), runs * run), got = to[static_cast<std::size_t>(row)];
            if (reduction == Reduction::sum) expected += T(0);  // lanes begin at 0, which has no sign
            ASSERT_TRUE(same_sign(got, expected))
                << "row " << row << " of " << runs << " x " << run << ": " << got << ", not " << expected;
        }
    }
}

TEST(LongRows, of_several_axes_are_joined_as_if_their_runs_lay_side_by_side) {
    Isa best = best_isa();
    for (Isa isa : usable_isas()) {
        use_isa(isa);
        for (Reduction reduction : {Reduction::sum, Reduction::product, Reduction::maximum}) {
            check_runs<float>(reduction);
            check_runs<double>(reduction);
        }
    }
    use_isa(best);
}

}  // namespace
}  // namespace weft::cpu
