// Small products by weft's own kernels: tile by tile, without the cuts and copies of larger ones; one of many asks for what the next one reads.
// Callers: backend/cpu/own_gemm.cpp.
#pragma once

#include "weft/backend/cpu/gemm_multiplication.h"

namespace weft::cpu::own {

/// Few rows of a against a large b that lies in rows: it is read in whole rows, as it lies in memory.
template <class T>
bool has_few_rows(const GemmProblem<T>& p) {
    constexpr std::int64_t least_bytes = 64 * 1024;
    return ProductOf<T>::together == 1 && p.m <= most_few_rows && !p.packed_b && p.b_column == 1 && p.n >= 256 &&
           p.b_row >= p.n && p.n * p.k * static_cast<std::int64_t>(sizeof(NumberOf<T>)) >= least_bytes;
}

/// What the next product of many reads and writes, and what is read behind this one.
template <class T>
NextLines lines_behind(const GemmProblem<T>& p) {
    NextLines lines(p.next);
    auto add = [&](const void* from, std::int64_t numbers) {
        std::int64_t bytes = numbers * static_cast<std::int64_t>(sizeof(T));
        if (from) lines.add(static_cast<const std::byte*>(from), divide_up(bytes, line_bytes));
    };
    add(p.next_a, p.m * p.k), add(p.next_b, p.k * p.n), add(p.next_c, p.m * p.n);
    return lines;
}

/// Small products whose b lies in rows, of one size: tile by tile, without the cuts and copies of larger ones (48 of 64 x 32 by 64 on a Zen 4: 130
/// to 117 us; a batch of 3 x 3: 40 to 16 ns each).
template <class T>
class SmallProducts {
  public:
    explicit SmallProducts(const GemmProblem<T>& p) : kernel_(kernels<T>()) {
        bool scattered = p.m > 1 && p.a_row != 1 && p.a_column != 1;
        if (ProductOf<T>::together > 1 || p.b_column != 1 || p.packed_b || scattered || has_few_rows(p)) return;
        bool one = p.m <= most_rows_of(kernel_, p.n) && p.n <= kernel_.most_columns && p.k <= most_depth;
        small_ = one || (p.m * p.n * p.k <= small_work && p.k <= depth);
        if (!small_) return;
        paired_ = takes_pairs(kernel_, p) && p.m > 1;
        std::int64_t most = tile_rows(kernel_, p);
        if (collides(p)) most = std::min<std::int64_t>(7, most);
        tiles_ = Tiles(p.m, most);
        // Columns that end within a vector, or half of one, are few sums a row: those of small tiles would wait for each other.
        end_tiles_ = tiles_;
        if (paired_) tiles_ = Tiles(p.m, kernel_.paired_rows);
        std::int64_t end = p.n % kernel_.most_columns;
        if (end > 0 && kernel_.single_rows > 0 && !collides(p)) end_tiles_ = Tiles(p.m, most_rows_of(kernel_, end));
        if (p.m <= most || !computes_in_halves()) return;
        std::int64_t tall = std::min(kernel_.most_rows, collides(p) ? 7 : 8);
        if (end > 0 && 4 * end <= 3 * kernel_.most_columns) end_tiles_ = Tiles(p.m, std::max(most, tall));
    }
    /// Whether they are small enough.
    explicit operator bool() const { return small_; }

    void multiply(const GemmProblem<T>& p) const {
        if constexpr (ProductOf<T>::together == 1) {
            NextLines next = lines_behind(p);
            GemmTile<T> tile{.a = p.a,
                             .a_row = p.a_row,
                             .a_column = p.a_column,
                             .b = p.b,
                             .b_row = p.b_row,
                             .c = p.c,
                             .c_row = p.c_row,
                             .k = p.k,
                             .rows = 0,
                             .columns = 0,
                             .accumulate = p.accumulate,
                             .bias = p.bias,
                             .relu = p.relu,
                             .fetch = p.a,
                             .fetch_step = 0,
                             .b_panel = kernel_.most_columns};
            std::int64_t most = p.m == 1 ? p.n : kernel_.most_columns, width = 0;
            for (std::int64_t column = 0; column < p.n; column += width) {
                tile.panels = panels_at(kernel_, paired_, column, p.n);
                tile.paired = tile.panels == 2;
                width = tile.panels * most;
                tile.columns = static_cast<int>(std::min(most, p.n - column));
                tile.b = p.b + column;
                if (p.bias) tile.bias = p.bias + column;
                const Tiles& tiles = column + width > p.n || tile.paired != paired_ ? end_tiles_ : tiles_;
                for (std::int64_t row = 0, index = 0; row < p.m; row += tile.rows, ++index) {
                    tile.rows = static_cast<int>(tiles.each + (index < tiles.more ? 1 : 0));
                    tile.a = p.a + row * p.a_row;
                    tile.c = p.c + row * p.c_row + column;
                    tile.next_c = tile.c + tile.rows * p.c_row;
                    auto lines = static_cast<const T*>(next.take(kernel_.asked_for(tile.rows, p.k, tile.paired)));
                    tile.fetch = lines ? lines : p.a, tile.fetch_step = lines ? line_bytes / sizeof(T) : 0;
                    kernel_.tile(tile);
                }
            }
        }
    }

  private:
    /// Rows as tiles of so many; the first have one more.
    struct Tiles {
        Tiles() = default;
        Tiles(std::int64_t rows, std::int64_t most) {
            std::int64_t tiles = 1;
            while (tiles * most < rows) ++tiles;  // there are few: a division would take longer
            each = tiles == 1 ? rows : rows / tiles, more = rows - each * tiles;
        }
        std::int64_t each = 0, more = 0;
    };

    const GemmKernels<T>& kernel_;
    bool small_ = false, paired_ = false;
    Tiles tiles_, end_tiles_;  // of columns, and of the last ones
};

}  // namespace weft::cpu::own
