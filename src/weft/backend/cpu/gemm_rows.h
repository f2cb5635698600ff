// The rows of a product's first matrix: how they are dealt to tiles, and their copies as tiles read them.
// Callers: backend/cpu/gemm_way.h, gemm_multiplication.h.
#pragma once

#include "weft/backend/cpu/gemm_choices.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu::own {

struct Range {
    std::int64_t begin = 0, end = 0;
};

/// A tile of these rows and of so many columns from one on, as far as c goes: what its sums of these numbers along k begin from, and end with.
template <class T>
GemmTile<T> tile_of_result(const GemmProblem<T>& p, Range rows, std::int64_t column, std::int64_t width, Range k) {
    const bool last = k.end == p.k;
    GemmTile<T> tile;
    tile.rows = static_cast<int>(rows.end - rows.begin);
    tile.columns = static_cast<int>(std::min(width, p.n - column));
    tile.k = operands<T>(k.end - k.begin);
    tile.c = p.c + rows.begin * p.c_row + column, tile.c_row = p.c_row;
    tile.accumulate = p.accumulate || k.begin > 0;
    tile.bias = last && p.bias ? p.bias + column : nullptr;
    tile.relu = last && p.relu;
    return tile;
}

/// Rows in tiles as equal as can be; the first have one more.
struct RowTiles {
    RowTiles(std::int64_t rows, std::int64_t most)
        : count(divide_up(rows, most)), each(rows / std::max<std::int64_t>(count, 1)), more(rows - each * count) {}
    std::int64_t first_row(std::int64_t tile) const { return tile * each + std::min(tile, more); }
    std::int64_t most_rows() const { return each + (more > 0 ? 1 : 0); }
    std::int64_t count, each, more;
};

template <class T>
class RowsOfA {
    using Operand = OperandOf<T>;

  public:
    RowsOfA(const GemmProblem<T>& problem, const GemmKernels<T>& kernels, const RowTiles& tiles)
        : p_(problem), kernels_(kernels), tiles_(tiles) {}

    /// Tiles of rows of a, k numbers of each, copied as tiles read them.
    struct Copy {
        Range tiles, k;
        Operand* to;
    };
    Copy whole(Operand* to) const { return {{0, tiles_.count}, {0, p_.k}, to}; }

    // Where the rows of a lie side by side a tile is a narrow strip of a's memory: all tiles of a few k, one after the other, read it as it
    // lies (512 x 128 of 2,500: 139 to 210 GFLOP/s).
    void pack(const Copy& copy) const {
        std::int64_t some_k = p_.a_row == 1 ? strip_ : copy.k.end - copy.k.begin;
        for (std::int64_t k = copy.k.begin; k < copy.k.end; k += some_k)
            for (std::int64_t tile = copy.tiles.begin; tile < copy.tiles.end; ++tile)
                pack_tile(copy, tile, {k, std::min(copy.k.end, k + some_k)});
    }

    void pack_whole(Operand* to, bool serial) const {
        constexpr std::int64_t some_tiles = 4;
        Copy all = whole(to);
        bool by_k = p_.a_row == 1 && p_.k > strip_;
        std::int64_t count = by_k ? divide_up(p_.k, strip_) : divide_up(tiles_.count, some_tiles);
        auto part = [&](std::int64_t i) {
            Range tiles = by_k ? all.tiles : Range{i * some_tiles, std::min(tiles_.count, (i + 1) * some_tiles)};
            Range k = by_k ? Range{i * strip_, std::min(p_.k, (i + 1) * strip_)} : all.k;
            for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) pack_tile(all, tile, k);
        };
        if (!serial) return parallel_for(count, part);
        for (std::int64_t i = 0; i < count; ++i) part(i);
    }

    /// Where a tile's rows lie, from k on.
    Operand* copied(const Copy& copy, std::int64_t tile, std::int64_t k) const {
        std::int64_t row = tiles_.first_row(tile),
                     before = operands<T>(k - copy.k.begin) * (tiles_.first_row(tile + 1) - row);
        std::int64_t numbers = operands<T>(copy.k.end - copy.k.begin);
        return copy.to + (row - tiles_.first_row(copy.tiles.begin)) * numbers + before;
    }

  private:
    /// Numbers along k that are read together: 32, or, where several tiles read each line, as many lines as find a place in the first-level cache. (Lines
    /// pages apart, 1,024 x 1,024 and 768 x 1,024 turned by 128 and 64 columns on a Zen 3, 0.91 to 0.97 of the time; copies alone of six rows on a Zen 5,
    /// lines 4 KB apart, 0.4 of it with 8, 2 KB apart 0.6 with 16.)
    std::int64_t strip() const {
        constexpr auto size = static_cast<std::int64_t>(sizeof(NumberOf<T>));
        constexpr std::int64_t page = 4096, most = 32;
        if (2 * tiles_.most_rows() * size >= 64) return most;
        std::int64_t apart = p_.a_column * size;  // 0, where there is one k, or one number for all
        std::int64_t sets = apart == 0 ? 1 : page / std::min(page, apart & -apart);
        std::int64_t lines = sets * first_level_ways();
        return lines >= most ? most : lines >= most / 2 ? most / 2 : most / 4;
    }

    void pack_tile(const Copy& copy, std::int64_t tile, Range k) const {
        std::int64_t row = tiles_.first_row(tile), rows = tiles_.first_row(tile + 1) - row;
        kernels_.pack_a(copied(copy, tile, k.begin), p_.a + row * p_.a_row + k.begin * p_.a_column, p_.a_row,
                        p_.a_column, static_cast<int>(rows), k.end - k.begin);
    }

    const GemmProblem<T>& p_;
    const GemmKernels<T>& kernels_;
    const RowTiles& tiles_;
    const std::int64_t strip_ = strip();
};

}  // namespace weft::cpu::own
