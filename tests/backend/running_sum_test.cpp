// Running sums along rows: each is the plain sum of the numbers before, in order and in the type, to the bit, however many rows run side by side.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "weft/backend/cpu/compiler.h"
#include "weft/backend/cpu/scan_rows.h"
#include "weft/kernel/builder.h"

namespace weft {
namespace {

template <class T>
std::vector<T> summed(const std::vector<T>& from, std::int64_t rows, std::int64_t count, std::int64_t row, Scan scan,
                      bool product = false) {
    std::vector<T> to(from.size(), T(-7));
    for (std::int64_t r = 0; r < rows; ++r) {
        T running = product ? 1 : 0;
        for (std::int64_t i = 0; i < count; ++i) {
            auto at = static_cast<std::size_t>(r * row + (scan.backwards ? count - 1 - i : i));
            T next = product ? running * from[at] : running + from[at];
            to[at] = scan.exclusive ? running : next;
            running = next;
        }
    }
    return to;
}

template <class T>
Loop scan_of_rows(std::int64_t rows, std::int64_t count, std::int64_t row, Scan scan) {
    Loop loop;
    ProgramBuilder builder;
    builder.output(builder.input(dtype_of<T>));
    loop.program = builder.take();
    loop.dims = {rows, count};
    loop.reduced = 1;
    loop.reductions = {Reduction::sum};
    loop.scan = scan;
    loop.loads = {{dtype_of<T>, {row, 1}}};
    loop.stores = {{dtype_of<T>, {row, 1}}};
    return loop;
}

template <class T>
std::vector<T> waves(std::int64_t count) {
    std::vector<T> numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<T>(std::sin(0.7 * static_cast<double>(i))) * T(3);
    return numbers;
}

template <class T>
std::vector<T> scanned(std::vector<T>& from, std::int64_t rows, std::int64_t count, std::int64_t row, Scan scan) {
    std::vector<T> to(from.size(), T(-7));
    auto kernel = cpu_compiler().loop(scan_of_rows<T>(rows, count, row, scan));
    std::vector<std::byte> scratch(kernel->scratch_bytes() + 64);
    void* operands[] = {from.data(), to.data()};
    kernel->run(operands, scratch.data());
    return to;
}

template <class T>
void check_rows() {
    for (std::int64_t rows : {1, 7, 8, 9, 35})
        for (std::int64_t count : {1, 3, 10, 31, 32, 33, 63, 64, 65, 67, 129, 257})
            for (std::int64_t gap : {0, 3, 256})
                for (Scan scan : {Scan{false, false}, Scan{true, false}, Scan{false, true}, Scan{true, true}}) {
                    std::int64_t row =
                        gap == 256 ? (count + 255) / 256 * 256 : count + gap;  // 256: they collide in the cache
                    std::vector<T> from = waves<T>(rows * row);
                    ASSERT_EQ(scanned(from, rows, count, row, scan), summed(from, rows, count, row, scan))
                        << rows << " rows of " << count << ", " << row << " apart"
                        << (scan.exclusive ? ", exclusive" : "") << (scan.backwards ? ", backwards" : "");
                }
}

TEST(RunningSum, of_rows_of_any_length_is_that_of_each_row) {
    check_rows<float>();
    check_rows<double>();
}

// Rows short and long, whose lines of memory others share or not, and such that collide in the cache: of 5 MB and past the caches.
template <class T>
void check_large() {
    for (std::size_t bytes : {std::size_t{5} << 20, std::size_t{17} << 20})
        for (std::int64_t row_bytes : {136, 328, 800, 2048, 4000, 8192})
            for (Scan scan : {Scan{false, false}, Scan{true, true}}) {
                std::int64_t count = row_bytes / std::int64_t{sizeof(T)};
                std::int64_t rows = static_cast<std::int64_t>(bytes) / row_bytes + 3;
                std::vector<T> from = waves<T>(rows * count);
                ASSERT_EQ(scanned(from, rows, count, count, scan), summed(from, rows, count, count, scan))
                    << rows << " rows of " << count << (scan.exclusive ? ", exclusive" : "")
                    << (scan.backwards ? ", backwards" : "");
            }
}

TEST(RunningSum, of_rows_from_memory_is_that_of_each_row) {
    check_large<float>();
    check_large<double>();
}

/// Each way to join eight rows that lie behind each other: what one processor takes, others are to give as well.
template <class T, bool backwards>
void check_eight(std::int64_t count, bool exclusive) {
    auto sum = []<class V>(V a, V b) { return a + b; };
    const std::vector<T> from = waves<T>(cpu::rows_at_once * count);
    const std::vector<T> expected = summed(from, cpu::rows_at_once, count, count, {exclusive, backwards});
    const std::int64_t start = backwards ? count - 1 : 0;
    auto check = [&](const char* way, auto join) {
        std::vector<T> to(from.size() + 1, T(-7));
        cpu::EightRows<T, decltype(sum), backwards> rows(T(0), sum, exclusive);
        join(rows, from.data() + start, to.data() + start);
        EXPECT_EQ(to.back(), T(-7)) << way << ", " << count;
        to.pop_back();
        EXPECT_EQ(to, expected) << way << ", " << count << (exclusive ? ", exclusive" : "")
                                << (backwards ? ", backwards" : "");
    };
    check("as they lie", [&](auto& rows, const T* at, T* to) { rows.join({at, count}, {to, count}, count); });
    check("asking", [&](auto& rows, const T* at, T* to) { rows.join_asking({at, count}, {to, count}, count); });
    check("past the caches", [&](auto& rows, const T* at, T* to) { rows.join_past(at, to, count); });
    check("in two pieces", [&](auto& rows, const T* at, T* to) {
        std::int64_t first = count / 2, step = backwards ? -first : first;
        rows.join({at, count}, {to, count}, first);
        rows.join({at + step, count}, {to + step, count}, count - first);
    });
}

TEST(RunningSum, of_eight_rows_is_the_same_however_they_are_read) {
    for (bool exclusive : {false, true})
        for (std::int64_t count : {1, 2, 3, 4, 5, 7, 8, 33, 40, 100, 250, 255, 256}) {
            check_eight<float, false>(count, exclusive);
            check_eight<float, true>(count, exclusive);
            check_eight<double, false>(count, exclusive);
            check_eight<double, true>(count, exclusive);
        }
}

/// Down the columns of an array whose rows begin `shift` numbers behind where memory was given.
template <class T>
void check_columns(std::int64_t columns, std::int64_t count, std::int64_t gap, Scan scan, std::size_t shift = 0,
                   bool product = false) {
    std::int64_t row = columns + gap;
    Loop loop = scan_of_rows<T>(columns, count, row, scan);
    loop.loads[0].strides = loop.stores[0].strides = {1, row};
    if (product) loop.reductions = {Reduction::product};
    std::vector<T> from(static_cast<std::size_t>(row * count) + shift), to(from.size(), T(-7)), turned(from.size());
    auto at = [&](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t i = 0; i < count; ++i)
            turned[at(c * count + i)] = from[shift + at(i * row + c)] =
                static_cast<T>(std::sin(0.7 * static_cast<double>(c + 31 * i))) * T(3);
    auto kernel = cpu_compiler().loop(loop);
    std::vector<std::byte> scratch(kernel->scratch_bytes() + 64);
    void* operands[] = {from.data() + shift, to.data() + shift};
    kernel->run(operands, scratch.data());
    std::vector<T> expected = summed(turned, columns, count, count, scan, product);
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t c = 0; c < row; ++c)
            ASSERT_EQ(to[shift + at(i * row + c)], c < columns ? expected[at(c * count + i)] : T(-7))
                << count << " x " << columns << ", " << row << " apart, row " << i << ", column " << c
                << (scan.exclusive ? ", exclusive" : "") << (scan.backwards ? ", backwards" : "");
}

template <class T>
void check_columns() {
    for (std::int64_t columns : {1, 2, 3, 5, 7, 8, 9, 20, 31, 70, 530})
        for (std::int64_t count : {1, 2, 37})
            for (std::int64_t gap : {0, 3})
                for (Scan scan : {Scan{false, false}, Scan{true, false}, Scan{false, true}, Scan{true, true}})
                    for (bool product : {false, true}) check_columns<T>(columns, count, gap, scan, 0, product);
}

TEST(RunningSum, of_columns_however_few_is_that_of_each_column) {
    check_columns<float>();
    check_columns<double>();
    check_columns<std::int64_t>();
}

TEST(RunningSum, of_an_array_that_is_stored_past_the_caches_is_that_of_each_column) {
    for (std::int64_t gap : {0, 506})  // 506: rows of whole lines, once they are shifted onto one
        for (Scan scan : {Scan{false, false}, Scan{true, true}}) {
            check_columns<float>(1030, 8200, gap, scan, 1);
            check_columns<double>(518, 8200, gap, scan, 1);
            check_columns<std::int64_t>(518, 8200, gap, scan, 1);
        }
    check_columns<float>(1030, 8200, 5, {}, 0, true);
}

}  // namespace
}  // namespace weft
