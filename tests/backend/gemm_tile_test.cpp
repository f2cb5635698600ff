// Tiles of products by themselves: chains of fused multiply-adds for all heights, which the tallest count two at a time; what they copy on the way.
// And products whose panels are copied so, asked for ahead, or cut otherwise, against the definition.
#include "backend/gemm_cases.h"
#include "backend/tile_kernels.h"

namespace weft::cpu {
namespace {

std::size_t tile_index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// A tile of one panel, of so many columns, or of two that are paired, and what it copies where it can.
template <class T>
void check_tile(const GemmKernels<T>& kernels, int rows, int panels, std::int64_t width, std::int64_t k,
                OperandLayout of_a, bool accumulate) {
    const std::int64_t columns = panels * width, c_row = columns + 3;
    Sample<T> a(rows, k, of_a, 7), b(k, columns, OperandLayout::rows, 8);
    std::vector<T> c(tile_index(rows * c_row), T(0.25)),
        expected = c, copy(tile_index((k * panels + 1) * width), T(-7)), bias(tile_index(columns));
    const T *from_a = static_cast<const T*>(a.matrix.data), *from_b = static_cast<const T*>(b.matrix.data);
    for (std::int64_t j = 0; j < columns; ++j) bias[tile_index(j)] = static_cast<T>(j % 5) - T(2);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
            T& element = expected[tile_index(i * c_row + j)];
            element = chain_of(from_a + i * a.matrix.row_stride, a.matrix.column_stride, from_b + j, columns, k,
                               accumulate ? element : T(0));
            if (accumulate) element = std::max(T(0), element + bias[tile_index(j)]);
        }
    bool paired = panels == 2;
    bool copies = paired ? rows >= least_paired_rows(kernels.paired_rows) && rows <= kernels.paired_rows
                         : kernels.least_copying > 0 && rows >= kernels.least_copying && width == kernels.most_columns;
    GemmTile<T> tile{.a = from_a,
                     .a_row = a.matrix.row_stride,
                     .a_column = a.matrix.column_stride,
                     .b = from_b,
                     .b_row = columns,
                     .c = c.data(),
                     .c_row = c_row,
                     .k = k,
                     .rows = rows,
                     .columns = static_cast<int>(width),
                     .accumulate = accumulate,
                     .bias = accumulate ? bias.data() : nullptr,
                     .relu = accumulate,
                     .fetch = from_b,
                     .fetch_step = 0,
                     .panels = panels,
                     .b_panel = width,
                     .paired = paired,
                     .next_a = accumulate ? 0 : a.matrix.row_stride,
                     .next_c = c.data(),
                     .asks_c = !accumulate};
    if (copies) tile.copy_b = copy.data();
    kernels.tile(tile);
    EXPECT_EQ(c, expected) << rows << " rows, " << panels << " panels, k " << k;
    if (!copies) return;
    for (std::int64_t at = 0; at < k * columns; ++at) {
        std::int64_t panel = at / (k * width), row = at / width % k, column = panel * width + at % width;
        ASSERT_EQ(copy[tile_index(at)], from_b[row * columns + column])
            << rows << " rows, " << panels << " panels, k " << k;
    }
    EXPECT_EQ(copy[tile_index(k * columns)], T(-7));
}

template <class T>
void check_tiles(Isa isa) {
    const GemmKernels<T>& kernels = tile_kernels<T>(isa);
    const std::int64_t whole = kernels.most_columns;
    for (int rows = 1; rows <= kernels.most_rows; ++rows)
        for (std::int64_t k : {1, 2, 3, 7, 8, 15, 16, 17, 18, 33, 49, 64, 70})
            for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::columns, OperandLayout::reversed})
                for (bool accumulate : {false, true}) {
                    check_tile<T>(kernels, rows, 1, whole, k, of_a, accumulate);
                    if (rows <= kernels.paired_rows) check_tile<T>(kernels, rows, 2, whole, k, of_a, accumulate);
                }
    for (int rows = 1; rows <= std::max(kernels.most_rows, kernels.single_rows); ++rows)
        for (std::int64_t columns = 1; 2 * columns <= whole; ++columns)
            for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::columns})
                for (bool accumulate : {false, true}) check_tile<T>(kernels, rows, 1, columns, 19, of_a, accumulate);
}

TEST(GemmTile, is_a_chain_and_copies_what_it_reads_at_any_height) {
    for (Isa isa : usable_isas()) {
        check_tiles<float>(isa);
        check_tiles<double>(isa);
    }
}

template <class T>
void check_product(const Sizes& s, OperandLayout of_a, OperandLayout of_b) {
    Sample<T> a(s.m, s.k, of_a, 3), b(s.k, s.n, of_b, 4);
    const T *from_a = static_cast<const T*>(a.matrix.data), *from_b = static_cast<const T*>(b.matrix.data);
    std::vector<T> made = own_product<T>(s, of_a, of_b);
    for (std::int64_t i = 0; i < s.m; ++i)
        for (std::int64_t j = 0; j < s.n; ++j)
            ASSERT_EQ(made[tile_index(i * s.n + j)],
                      chain_of(from_a + i * a.matrix.row_stride, a.matrix.column_stride,
                               from_b + j * b.matrix.column_stride, b.matrix.row_stride, s.k, T(0)))
                << s.m << "x" << s.n << "x" << s.k << " at " << i << ", " << j;
}

// Panels of a few hundred kilobytes and more, of rows that begin within lines, of a page, of the end of a vector; one and two pieces of k.
TEST(GemmTile, products_of_copied_and_turned_panels_are_chains) {
    Threads one(1);
    for (Sizes s : {Sizes{45, 130, 600}, Sizes{43, 1024, 150}, Sizes{29, 250, 530}, Sizes{300, 70, 40},
                    Sizes{13, 100, 300}, Sizes{270, 1024, 40}, Sizes{90, 128, 128}})
        for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::strided})
            for (OperandLayout of_b : {OperandLayout::rows, OperandLayout::columns}) {
                check_product<float>(s, of_a, of_b);
                check_product<double>(s, of_a, of_b);
            }
}

// More rows than the second-level cache holds of them, side by side: each block copies some, as deep as what pairs of panels are cut by.
TEST(GemmTile, blocks_of_turned_rows_are_chains) {
    Threads one(1);
    check_product<float>({1100, 256, 250}, OperandLayout::columns, OperandLayout::rows);
    check_product<double>({540, 128, 250}, OperandLayout::columns, OperandLayout::rows);
    check_product<float>({530, 256, 520}, OperandLayout::columns, OperandLayout::rows);
}

// One row that lies scattered, and ends within half a vector; sums of one product in rows of tall tiles, which ask for nothing.
TEST(GemmTile, one_row_and_one_product_are_chains) {
    bool before = computes_in_halves();
    for (bool halves : {false, true}) {
        use_halves(halves);
        check_product<float>({1, 5, 40}, OperandLayout::strided, OperandLayout::rows);
        check_product<double>({1, 19, 40}, OperandLayout::strided, OperandLayout::rows);
        for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::columns, OperandLayout::strided}) {
            check_product<float>({14, 20000, 1}, of_a, OperandLayout::rows);
            check_product<double>({13, 21000, 1}, of_a, OperandLayout::rows);
        }
    }
    use_halves(before);
}

TEST(GemmTile, sums_of_one_product_may_be_followed_by_others) {
    constexpr std::int64_t m = 28, n = 200;
    std::vector<float> a(m, 3), b(2 * n, 2), c(m * n), scratch(tile_index(own_gemm_scratch<float>(m, n, 1)));
    own_gemm<float>({m, n, 1, a.data(), 1, m, b.data(), 2 * n, 2, c.data(), n}, scratch.data());
    EXPECT_EQ(c, std::vector<float>(m * n, 6));
}

// Rows of a that lie apart in both directions, of a few.
TEST(GemmTile, small_products_of_scattered_rows_are_chains) {
    for (Sizes s : {Sizes{2, 5, 7}, Sizes{13, 31, 20}, Sizes{14, 40, 33}, Sizes{50, 9, 17}})
        for (OperandLayout of_b : {OperandLayout::rows, OperandLayout::columns}) {
            check_product<float>(s, OperandLayout::strided, of_b);
            check_product<double>(s, OperandLayout::strided, of_b);
        }
}

}  // namespace
}  // namespace weft::cpu
