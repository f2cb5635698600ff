// Few columns joined down all rows: each is what its numbers come to one after the other, to the bit, on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "guarded.h"
#include "joins.h"
#include "threads.h"
#include "weft/backend/cpu/block_loops.h"
#include "weft/backend/cpu/column_tiles.h"
#include "weft/backend/cpu/compiler.h"
#include "weft/kernel/builder.h"

namespace weft::cpu {
namespace {

/// Nothing lies behind the last row in memory, nor behind the results. `step`: from row to row; negative, row 0 is the last.
template <class T>
void check(Reduction reduction, std::int64_t rows, std::int64_t columns, std::int64_t step, bool nan) {
    static Guarded read, written;
    const std::int64_t apart = std::abs(step), first = step < 0 ? (rows - 1) * apart : 0;
    std::vector<T> from = numbers_to_join<T>(rows, apart, nan);
    from.resize(static_cast<std::size_t>((rows - 1) * apart + columns));
    T* there = reinterpret_cast<T*>(read.place(from.size() * sizeof(T), true));
    std::copy(from.begin(), from.end(), there);
    for (Isa isa : usable_isas()) {
        T* to = reinterpret_cast<T*>(written.place(static_cast<std::size_t>(columns) * sizeof(T), true));
        std::fill_n(to, columns, T(-9));
        bool by_fours = (rows + columns + nan) % 2 == 0;
        block_loops(isa)
            .reduce(reduction, dtype_of<T>)
            ->columns(to, nullptr, there + first, rows, columns, step, 0, true, by_fours);
        for (std::int64_t c = 0; c < columns; ++c) {
            T expected = there[first + c];
            for (std::int64_t r = 1; r < rows; ++r) expected = joined(reduction, expected, there[first + r * step + c]);
            if (reduction == Reduction::sum) expected += T(0);  // a sum begins at 0, which has no sign
            ASSERT_TRUE(same_sign(to[c], expected)) << name_of(isa) << ": " << rows << " x " << columns << ", column "
                                                    << c << ": " << to[c] << ", not " << expected;
        }
    }
}

template <class T>
void check(Reduction reduction) {
    for (std::int64_t columns : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 48, 50, 64, 65, 200})
        for (std::int64_t rows : {1, 2, 5, 15, 16, 40})
            for (std::int64_t gap : {0, 5, 1100})  // the last: pages apart
                for (bool nan : {false, true}) {
                    check<T>(reduction, rows, columns, columns + gap, nan);
                    check<T>(reduction, rows, columns, -columns - gap, nan);
                }
}

TEST(FewColumns, are_joined_in_the_order_of_their_rows_on_every_instruction_set) {
    for (Reduction reduction : {Reduction::sum, Reduction::product, Reduction::maximum, Reduction::minimum}) {
        check<float>(reduction);
        check<double>(reduction);
    }
}

/// Rows that reach from beyond the caches: tiles of 512 KB and more, smaller ones, columns that end before what is asked for ahead.
template <class T>
void check_far(Reduction reduction, std::int64_t rows, std::int64_t columns, bool by_fours) {
    std::int64_t stride = (std::int64_t{25} << 20) / static_cast<std::int64_t>(sizeof(T)) / rows;
    std::vector<T> read = numbers_to_join<T>(rows, columns, true), from(static_cast<std::size_t>(rows * stride));
    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(read.begin() + r * columns, columns, from.begin() + r * stride);
    for (Isa isa : usable_isas()) {
        std::vector<T> to(static_cast<std::size_t>(columns), T(-9));
        block_loops(isa)
            .reduce(reduction, dtype_of<T>)
            ->columns(to.data(), nullptr, from.data(), rows, columns, stride, 0, true, by_fours);
        for (std::int64_t c = 0; c < columns; ++c) {
            T expected = read[static_cast<std::size_t>(c)];
            for (std::int64_t r = 1; r < rows; ++r)
                expected = joined(reduction, expected, read[static_cast<std::size_t>(r * columns + c)]);
            if (reduction == Reduction::sum) expected += T(0);
            ASSERT_TRUE(same_sign(to[static_cast<std::size_t>(c)], expected))
                << name_of(isa) << ": " << rows << " x " << columns << ", column " << c;
        }
    }
}

TEST(FewColumns, rows_far_apart_are_joined_in_their_order_on_every_instruction_set) {
    for (Reduction reduction : {Reduction::sum, Reduction::maximum})
        for (auto [rows, columns] : {std::pair<std::int64_t, std::int64_t>{45, 4001}, {45, 200}, {360, 380}}) {
            for (bool by_fours : {false, true}) {
                check_far<float>(reduction, rows, columns, by_fours);
                check_far<double>(reduction, rows, columns, by_fours);
            }
        }
}

/// The first NaN, else the first of the best.
template <class T>
std::int64_t place_of_best(bool greatest, const T* from, std::int64_t rows, std::int64_t stride) {
    std::int64_t best = 0;
    for (std::int64_t r = 1; r < rows; ++r) {
        T value = from[r * stride], before = from[best * stride];
        if (before == before && (value != value || (greatest ? value > before : value < before))) best = r;
    }
    return best;
}

/// Some rows, and then the others, as several blocks of one column come.
template <class T>
void check_places(bool greatest) {
    for (std::int64_t columns : {1, 2, 3, 4, 7, 8, 9, 10, 16, 17, 20, 24, 33, 40, 64, 100, 128, 130})
        for (std::int64_t rows : {1, 2, 3, 40, 129})
            for (std::int64_t gap : {0, 5})
                for (bool nan : {false, true}) {
                    std::int64_t stride = columns + gap, some = rows / 3;
                    std::vector<T> from = numbers_to_join<T>(rows, stride, nan);
                    for (std::size_t i = 0; i < from.size(); ++i)
                        if (i % 4) from[i] = static_cast<T>(i * 7 % 5);  // many are alike
                    for (Isa isa : usable_isas()) {
                        std::vector<T> to(static_cast<std::size_t>(columns), T(-9));
                        std::vector<std::int64_t> at(to.size(), -1);
                        auto join = block_loops(isa)
                                        .reduce(greatest ? Reduction::argmax : Reduction::argmin, dtype_of<T>)
                                        ->columns;
                        if (some > 0) join(to.data(), at.data(), from.data(), some, columns, stride, 0, true, false);
                        join(to.data(), at.data(), from.data() + some * stride, rows - some, columns, stride, some,
                             some == 0, false);
                        for (std::int64_t c = 0; c < columns; ++c)
                            ASSERT_EQ(at[static_cast<std::size_t>(c)],
                                      place_of_best(greatest, from.data() + c, rows, stride))
                                << name_of(isa) << ": " << rows << " x " << columns << ", column " << c;
                    }
                }
}

TEST(FewColumns, have_their_best_where_it_comes_first_on_every_instruction_set) {
    for (bool greatest : {true, false}) {
        check_places<float>(greatest);
        check_places<double>(greatest);
    }
}

/// What `columns` columns of `batch` arrays come to, by a prepared kernel.
template <class T>
std::vector<T> reduced(Reduction reduction, const std::vector<T>& from, std::int64_t batch, std::int64_t rows,
                       std::int64_t columns, std::int64_t stride, DType dtype = dtype_of<T>) {
    Loop loop;
    ProgramBuilder builder;
    builder.output(builder.input(dtype));
    loop.program = builder.take();
    loop.dims = {batch, columns, rows};
    loop.reduced = 1;
    loop.reductions = {reduction};
    loop.loads = {{dtype, {rows * stride, 1, stride}}};
    loop.stores = {{dtype, {columns, 1}}};
    std::vector<T> to(static_cast<std::size_t>(batch * columns), T(9)), copy = from;
    auto kernel = cpu_compiler().loop(loop);
    std::vector<std::byte> scratch(kernel->scratch_bytes() + 64);
    void* operands[] = {copy.data(), to.data()};
    kernel->run(operands, scratch.data());
    return to;
}

/// What tiles of the columns of so many rows come to, each by itself: its rows one after the other, and then its chunks.
template <class T>
std::vector<T> reduced_by_tiles(Reduction reduction, const std::vector<T>& from, std::int64_t batch, std::int64_t rows,
                                std::int64_t columns, std::int64_t stride) {
    ColumnTiles tiles(batch, rows, columns, 16384 / std::int64_t{sizeof(T)});
    std::vector<double> all(static_cast<std::size_t>(batch * columns));
    for (std::int64_t i = 0; i < tiles.count(); ++i) {
        ColumnTiles::Tile tile = tiles.tile(i);
        for (std::int64_t c = tile.column; c < tile.column + tile.width; ++c) {
            auto at = [&](std::int64_t r) {
                return from[static_cast<std::size_t>((tile.outer * rows + r) * stride + c)];
            };
            T value = at(tile.first);
            for (std::int64_t r = tile.first + 1; r < tile.end; ++r) value = joined(reduction, value, at(r));
            double& to = all[static_cast<std::size_t>(tile.outer * columns + c)];
            to = tile.first == 0 ? static_cast<double>(value) : joined(reduction, to, static_cast<double>(value));
        }
    }
    return {all.begin(), all.end()};
}

template <class T>
void check_chunks(std::initializer_list<std::int64_t> all_columns, std::initializer_list<std::int64_t> all_rows,
                  Reduction reduction = Reduction::sum) {
    for (std::int64_t columns : all_columns)
        for (std::int64_t rows : all_rows)
            for (std::int64_t batch : {1, 2})
                for (std::int64_t gap : {0, 1}) {
                    std::int64_t stride = columns + gap;
                    std::vector<T> from(static_cast<std::size_t>(batch * rows * stride));
                    for (std::size_t i = 0; i < from.size(); ++i) {
                        double number = std::sin(0.37 * static_cast<double>(i * (i % 7)));
                        from[i] = static_cast<T>(reduction == Reduction::product ? 1 + number / 64 : number);
                    }
                    bool extreme = reduction == Reduction::maximum || reduction == Reduction::minimum;
                    if (extreme && gap == 1) from[from.size() / 3] = std::numeric_limits<T>::quiet_NaN();
                    std::vector<T> got = reduced(reduction, from, batch, rows, columns, stride);
                    std::vector<T> expected = reduced_by_tiles(reduction, from, batch, rows, columns, stride);
                    for (std::size_t i = 0; i < got.size(); ++i)
                        ASSERT_PRED2(same_sign<T>, got[i], expected[i])
                            << batch << " of " << rows << " x " << columns << ", " << stride << " apart, result " << i;
                }
}

TEST(FewColumns, are_joined_chunk_by_chunk_of_rows_on_every_instruction_set) {
    Isa best = best_isa();
    for (Isa isa : usable_isas()) {
        use_isa(isa);
        for (Reduction reduction : {Reduction::sum, Reduction::product, Reduction::maximum, Reduction::minimum}) {
            check_chunks<float>({2, 3, 4, 5, 8, 10, 16, 17}, {100, 4096, 5000, 9217}, reduction);
            check_chunks<double>({2, 3, 4, 5, 8, 10, 16, 17}, {100, 4096, 5000, 9217}, reduction);
        }
    }
    use_isa(best);
}

// Whole numbers and truth values, whose rows may be joined in any order; products and sums count modulo the type's range.
template <class T>
void check_whole(Reduction reduction, DType dtype) {
    bool truth = dtype == DType::bool_;
    using U = std::make_unsigned_t<T>;
    auto join = [&](T a, T b) {
        if (reduction == Reduction::sum) return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
        if (reduction == Reduction::product)
            return static_cast<T>(static_cast<U>(std::uint64_t{static_cast<U>(a)} * static_cast<U>(b)));
        bool greatest = reduction == Reduction::maximum || reduction == Reduction::any;
        return greatest ? std::max(a, b) : std::min(a, b);
    };
    for (std::int64_t columns : {1, 2, 3, 5, 8, 10, 24, 64, 65})
        for (std::int64_t rows : {511, 512, 513, 4097, 9000})
            for (std::int64_t gap : {0, 1}) {
                std::int64_t stride = columns + gap;
                std::vector<T> from(static_cast<std::size_t>(rows * stride));
                for (std::size_t i = 0; i < from.size(); ++i) {
                    std::size_t drawn = i * 2654435761u % 1000;
                    bool seldom = drawn == 0 || (reduction == Reduction::all && drawn != 1);
                    from[i] = truth ? static_cast<T>(seldom) : static_cast<T>(drawn * 2 + 1);
                }
                std::vector<T> got = reduced(reduction, from, 1, rows, columns, stride, dtype);
                for (std::int64_t c = 0; c < columns; ++c) {
                    T expected = from[static_cast<std::size_t>(c)];
                    for (std::int64_t r = 1; r < rows; ++r)
                        expected = join(expected, from[static_cast<std::size_t>(r * stride + c)]);
                    ASSERT_EQ(got[static_cast<std::size_t>(c)], expected)
                        << dtype << ' ' << rows << " x " << columns << ", column " << c;
                }
            }
}

TEST(FewColumns, of_whole_numbers_are_joined_in_wider_rows_on_every_instruction_set) {
    Isa best = best_isa();
    for (Isa isa : usable_isas()) {
        use_isa(isa);
        for (Reduction reduction : {Reduction::sum, Reduction::product, Reduction::maximum, Reduction::minimum}) {
            check_whole<std::int8_t>(reduction, DType::int8);
            check_whole<std::uint16_t>(reduction, DType::uint16);
            check_whole<std::int32_t>(reduction, DType::int32);
            check_whole<std::int64_t>(reduction, DType::int64);
        }
        check_whole<std::uint8_t>(Reduction::any, DType::bool_);
        check_whole<std::uint8_t>(Reduction::all, DType::bool_);
    }
    use_isa(best);
}

// 5,000 floats are two tiles side by side, 20,000 five, of which one thread takes three and two, 70,000 more than it takes at once.
TEST(ManyColumns, are_summed_as_if_by_tiles_whoever_takes_how_many_at_once) {
    for (int threads : {1, 3}) {
        Threads set(threads);
        check_chunks<float>({5000, 20000}, {3, 20, 70});
        check_chunks<float>({70001}, {18});
        check_chunks<double>({5001, 20000}, {3, 20, 70});
    }
}

}  // namespace
}  // namespace weft::cpu
