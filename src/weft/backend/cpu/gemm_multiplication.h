// One product of limited size by weft's own kernels: what of it is packed, how it is cut into tiles and shared out.
// Callers: backend/cpu/own_gemm.cpp, which cuts products of any size into such; winograd*.cpp, for the tiles alone.
#pragma once

#include "weft/backend/cpu/gemm_ahead.h"
#include "weft/backend/cpu/gemm_way.h"

namespace weft::cpu::own {

/// One product of limited size: what is packed, and how it is cut.
template <class T>
class Multiplication {
    using Operand = OperandOf<T>;

  public:
    /// `copies`: of this product, or of one that it is a cut of.
    Multiplication(const GemmProblem<T>& problem, const Copies<T>& copies)
        : p_(problem), way_(problem, kernels<T>()), copies_(copies) {}

    Multiplication(const Multiplication&) = delete;  // its parts refer to each other

    void run() {
        auto [rows, columns] = cut();
        bool serial = p_.m * p_.n * p_.k <= serial_work, each_copies = way_.pack_a && !copies_.whole;
        if (way_.pack_a && copies_.whole) rows_.pack_whole(copies_.memory, serial);
        std::int64_t copy = each_copies ? copies_.each : 0;
        auto block = [&, rows = rows, columns = columns](std::int64_t index, int slot) {
            std::int64_t i = index / columns, j = index % columns;
            auto tiles = [&, rows = rows](std::int64_t of) {
                return Range{begin_of(of, rows, way_.tiles.count), begin_of(of + 1, rows, way_.tiles.count)};
            };
            bool last = i + 1 == rows || j + 1 < columns;  // of these rows the next block reads too
            multiply(tiles(i), last ? Range{} : tiles(i + 1), panels_of(j, columns), copies_.memory + slot * copy,
                     NextLines(p_.next, index, rows * columns));
        };
        if (rows * columns == 1 || serial)
            for (std::int64_t i = 0; i < rows * columns; ++i) block(i, 0);
        else
            parallel_for(rows * columns, block, each_copies ? copies_.threads : 0);
    }

  private:
    using Fetch = own::Fetch<Operand>;
    using NextOfA = own::NextOfA<Operand>;
    using NextOfB = own::NextOfB<Operand>;
    static constexpr std::int64_t line = own::line<Operand>;  // of memory
    using Copy = typename RowsOfA<T>::Copy;
    /// Rows of tiles, and panels, that are cut into so many blocks.
    struct Cut {
        std::int64_t rows, columns;
    };

    Cut cut() const {
        // What is rounded as it is packed costs more to pack: more rows read it.
        std::int64_t rows = std::max(divide_up(p_.m, way_.block_rows), std::int64_t{1});
        if (p_.m * p_.n * p_.k <= serial_work) return {rows, 1};
        // On one thread a cut only has b copied once more (128 x 1000 by 480 on an Intel: 130 to 169 GFLOP/s).
        if (copies_.threads == 1 && way_.from_first && way_.pack_b) return {rows, 1};
        // Blocks of about a million multiplications, at most 64: enough to share out, few enough to cost nothing. What asks for the panels that follow
        // has several of them.
        std::int64_t wanted = std::clamp<std::int64_t>(p_.m * p_.n * p_.k / (1 << 20), 2, 64);
        if (way_.from_first && way_.pack_b) wanted = std::min<std::int64_t>(wanted, 4 * copies_.threads);
        if (way_.pack_a && !copies_.whole) {
            // Each block copies its rows of a: rows are cut, into what threads can share, and columns where that is not enough.
            constexpr std::int64_t least_tiles = 4;
            wanted = copies_.threads == 1 ? 1 : std::min<std::int64_t>(wanted, 4 * copies_.threads);
            rows = std::clamp(wanted, rows, std::max(rows, way_.tiles.count / least_tiles));
            return {rows, std::clamp<std::int64_t>(divide_up(wanted, rows), 1, way_.panels)};
        }
        if (way_.in_rows && !way_.pack_b) {
            wanted = copies_.threads == 1 ? 1 : std::min<std::int64_t>(wanted, 4 * copies_.threads);
            rows = std::min(wanted, way_.tiles.count);
            return {rows, std::clamp<std::int64_t>(wanted / rows, 1, way_.panels)};
        }
        std::int64_t columns = std::clamp<std::int64_t>(divide_up(wanted, rows), 1, way_.panels);
        if (rows * columns < std::min<std::int64_t>(wanted, 16))
            rows = std::clamp<std::int64_t>(divide_up(wanted, columns), rows, way_.tiles.count);
        if (copies_.threads == 1 && way_.from_first && p_.packed_b) columns = 1;
        return {rows, even_columns(rows, columns)};
    }

    /// Panels are cut as tiles take them together.
    std::int64_t together() const { return way_.paired ? 2 : 1; }

    /// So many columns of blocks, or more, where a thread that has none left would wait for others' large ones.
    std::int64_t even_columns(std::int64_t rows, std::int64_t columns) const {
        if (copies_.threads == 1) return columns;
        std::int64_t all = divide_up(way_.panels, together()), most = divide_up(all, columns), best = most;
        auto last_done = [&](std::int64_t each) {
            return divide_up(rows * divide_up(all, each), std::int64_t{copies_.threads}) * each;
        };
        for (std::int64_t each = most - 1; each > 0; --each)
            if (last_done(each) < last_done(best)) best = each;
        return divide_up(all, best);
    }

    Range panels_of(std::int64_t cut, std::int64_t cuts) const {
        std::int64_t all = divide_up(way_.panels, together());
        return {begin_of(cut, cuts, all) * together(),
                std::min(way_.panels, begin_of(cut + 1, cuts, all) * together())};
    }

    /// Lines that a tile takes along.
    std::int64_t lines_of_tile(Range k) const {
        std::int64_t numbers = operands<T>(k.end - k.begin);
        if (p_.n < kernels_.most_columns) return numbers;  // of columns that are no whole panel each row of b asks
        return kernels_.asked_for(way_.tiles.most_rows(), numbers, way_.paired);
    }
    /// Of these tiles of rows, k numbers each. (768 x 512 from memory by 512 x 128: 0.60 to 0.50 ms.)
    NextOfA next_of_a(Range tiles, Range k, std::int64_t lines) const {
        bool along = p_.a_column == 1;  // rows, else what lies side by side are rows of a
        if (tiles.begin == tiles.end || (!along && p_.a_row != 1) || lines == 0) return {};
        std::int64_t row = way_.tiles.first_row(tiles.begin), rows = way_.tiles.first_row(tiles.end) - row,
                     numbers = k.end - k.begin;
        std::int64_t wide = divide_up(along ? numbers : rows, line),
                     sweeps = wide * divide_up(along ? rows : numbers, lines);
        return {as_operands(p_.a + row * p_.a_row + k.begin * p_.a_column), along ? p_.a_row : p_.a_column, lines, wide,
                sweeps};
    }

    /// A panel of b as tiles read it: its numbers along k, where they lie, and how far apart.
    struct Panel {
        std::int64_t index;
        Range k;
        const Operand* b;
        std::int64_t b_row;
        std::int64_t count = 1;   // so many, side by side
        Operand* copy = nullptr;  // where the tile leaves it for those that follow
    };

    /// Panels that are asked for together: of a turned b, whose columns lie apart, as many as a tile asks for columns (128 x 784 by 784 x 1024, turned, on
    /// an Intel: 0.97 of the time of a b that is not asked for).
    std::int64_t together_of(Range k) const {
        bool turned = way_.pack_b && p_.b_column != 1;
        std::int64_t least = way_.paired ? 2 : 1;
        return turned ? std::max(least, lines_of_tile(k) / kernels_.most_columns / least * least) : least;
    }
    /// So many panels from one on, k numbers of each.
    NextOfB next_of_b(std::int64_t panel, std::int64_t panels, Range k) const {
        const Operand* from = panel_at(panel, k.begin);
        std::int64_t width = kernels_.most_columns, rows = operands<T>(k.end - k.begin), lines = width / line * rows;
        if (p_.packed_b) return {from, line, width * operands<T>(p_.k), lines, panels * lines};
        // The ends of lines: rows may begin within one, which the panel before has read.
        if (p_.b_column == 1) return {from + line - 1, p_.b_row, line, rows, panels * lines};
        // Tiles that ask for more than these columns would ask for those of others.
        if (2 * panels < together_of(k)) return {};
        std::int64_t columns = std::min(panels * width, p_.n - panel * width);
        return {from, p_.b_column, line, columns, divide_up(rows, line) * columns};
    }

    // A panel of b is copied just before the tiles that read it, and is near then: copied once for each block of rows,
    // it costs a few of a hundred cycles, and no large copy passes through memory. Likewise the rows of a block, before its panels.
    void multiply(Range tiles, Range next_tiles, Range panels, Operand* copy_of_a, NextLines behind) {
        alignas(64) Operand near[panel_bytes / sizeof(Operand)];
        std::int64_t pieces = pieces_of_operands<T>(p_.k, way_.panel_depth);
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
            Range k{begin_of_k<T>(piece, pieces, p_.k), begin_of_k<T>(piece + 1, pieces, p_.k)};
            Copy a = copies_.whole ? rows_.whole(copies_.memory) : Copy{tiles, k, copy_of_a};
            if (way_.pack_a && !copies_.whole) rows_.pack(a);
            bool more = piece + 1 < pieces;
            std::int64_t then = more ? piece + 1 : 0;
            Range next_k{begin_of_k<T>(then, pieces, p_.k), begin_of_k<T>(then + 1, pieces, p_.k)};
            if (way_.in_rows) {
                multiply_in_rows(a, tiles, panels, k, {more ? tiles : next_tiles, next_k}, near, behind);
                continue;
            }
            NextOfA of_a;
            if (!way_.pack_a || !copies_.whole) of_a = next_of_a(more ? tiles : next_tiles, next_k, lines_of_tile(k));
            std::int64_t some = together_of(k);
            NextOfB of_b;
            for (std::int64_t panel = panels.begin, count = 0; panel < panels.end; panel += count) {
                if (way_.far && (panel - panels.begin) % some == 0)
                    of_b = after(panel + some, some, panels, k, more ? &next_k : nullptr);
                std::int64_t width = kernels_.most_columns, end = std::min(panels.end * width, p_.n);
                count = panels_at(kernels_, way_.paired, panel * width, end);
                multiply_panel(a, tiles, near_panels(panel, count, k, near), of_b, of_a, behind);
            }
        }
        if (kernels_.let_go) kernels_.let_go();
    }

    /// What follows: these panels, or the first of the next k, or of the next block.
    NextOfB after(std::int64_t panel, std::int64_t some, Range panels, Range k, const Range* next_k) const {
        if (panel < panels.end) return next_of_b(panel, std::min(some, panels.end - panel), k);
        if (next_k) return next_of_b(panels.begin, std::min(some, panels.end - panels.begin), *next_k);
        if (panels.end < way_.panels) return next_of_b(panels.end, some, {0, k.end - k.begin});
        return {};
    }

    /// Tiles of rows with a panel.
    void multiply_panel(const Copy& a, Range tiles, Panel panel, NextOfB& of_b, NextOfA& of_a, NextLines& behind) {
        auto fetch = [&](std::int64_t lines) {
            if (of_b.left()) return of_b.take(lines);
            return of_a.left() ? of_a.take() : fetch_behind(behind, lines, panel.b);
        };
        if (!way_.pack_a && takes_other_tiles(panel)) return multiply_last_panel(tiles, panel, fetch);
        std::int64_t lines = lines_of_tile(panel.k);
        if (panel.copy && tiles.begin < tiles.end) {
            multiply_tile(a, tiles.begin++, panel, fetch(lines));
            panel.b = panel.copy, panel.b_row = kernels_.most_columns, panel.copy = nullptr;
        }
        if (tiles.begin == tiles.end) return;
        // What changes from tile to tile, here and no farther: what a tile reads has driven out of the first-level cache what else there was.
        const RowTiles cut = way_.tiles;
        const bool packed = way_.pack_a;
        const auto multiply = kernels_.tile;
        const std::int64_t row_of_a = packed ? operands<T>(a.k.end - a.k.begin) : p_.a_row;
        const std::int64_t before = packed ? operands<T>(panel.k.begin - a.k.begin) : 0;  // in the copy, of each row
        const SumOf<T>* const top_to_the_right = p_.c + (panel.index + panel.count) * kernels_.most_columns;
        GemmTile<T> tile = tile_at(a, tiles.begin, panel);
        for (std::int64_t index = tiles.begin;;) {
            Fetch next = fetch(lines);
            tile.fetch = next.from, tile.fetch_step = next.step;
            multiply(tile);
            if (++index == tiles.end) return;
            tile.a += tile.rows * row_of_a, tile.c += tile.rows * tile.c_row;
            if (index == cut.more) --tile.rows, tile.a -= before;  // see RowTiles
            if (packed) tile.a_column = tile.rows;
            tile.next_c = index + 1 < cut.count ? tile.c + tile.rows * tile.c_row : top_to_the_right;
        }
    }

    /// A panel without another, where others are paired, or one vector of it, where others have two: by taller tiles.
    bool takes_other_tiles(const Panel& panel) const {
        if (way_.paired) return panel.count == 1;
        return kernels_.single_rows > 0 && panel.index > 0 && 2 * columns_of(panel) <= kernels_.most_columns;
    }
    std::int64_t columns_of(const Panel& panel) const {
        return std::min<std::int64_t>(kernels_.most_columns, p_.n - panel.index * kernels_.most_columns);
    }
    void multiply_last_panel(Range tiles, const Panel& panel, auto fetch) {
        std::int64_t first = way_.tiles.first_row(tiles.begin), k = operands<T>(panel.k.end - panel.k.begin);
        std::int64_t most = most_rows_of(kernels_, columns_of(panel));
        if (collides(p_)) most = colliding_rows(most);
        RowTiles tall(way_.tiles.first_row(tiles.end) - first, most);
        for (std::int64_t i = 0; i < tall.count; ++i) {
            GemmTile<T> tile = tile_of({first + tall.first_row(i), first + tall.first_row(i + 1)}, panel);
            Fetch next = fetch(kernels_.asked_for(tile.rows, k));
            tile.fetch = next.from, tile.fetch_step = next.step;
            kernels_.tile(tile);
        }
    }

    // One panel or two. The first tile copies what it reads, where vectors come whole, which costs it stores alone (128 x 784 by 784 x 1024 on an Intel: 0.95 of the time);
    // not rows that lie pages apart: each waits for a store that lies as far within its page (1024 columns: 1.03).
    Panel near_panels(std::int64_t index, std::int64_t count, Range k, Operand* near) const {
        std::int64_t width = kernels_.most_columns;
        if (!way_.pack_b) return {index, k, panel_at(index, k.begin), p_.packed_b ? width : p_.b_row, count};
        if (way_.copies_b && (index + 1) * width <= p_.n && (count == 2 || !way_.paired))
            return {index, k, panel_at(index, k.begin), p_.b_row, count, near};
        for (std::int64_t i = 0; i < count; ++i)
            pack_panel(near + i * width * operands<T>(k.end - k.begin), index + i, k);
        return {index, k, near, width, count};
    }

    /// Rows of a, k numbers of each.
    struct Part {
        Range tiles, k;
    };
    /// What the first tile of a part reads, as lines a step apart.
    struct Lines {
        Fetch at{nullptr, 0};
        std::int64_t left = 0;
    };
    Lines first_of(const Part& part) const {
        if (way_.pack_a || part.tiles.begin == part.tiles.end) return {};
        std::int64_t row = way_.tiles.first_row(part.tiles.begin),
                     rows = way_.tiles.first_row(part.tiles.begin + 1) - row;
        std::int64_t numbers = part.k.end - part.k.begin;
        const Operand* from = as_operands(p_.a + row * p_.a_row + part.k.begin * p_.a_column);
        if (p_.a_row == 1) return {{from, p_.a_column}, numbers};
        bool together = p_.a_column == 1 && p_.a_row < 2 * numbers;  // one row behind the other, or nearly so
        return together ? Lines{{from, line}, divide_up(rows * p_.a_row, line)} : Lines{};
    }

    // Some panels at a time, as many as stay near, all of them for each tile of rows, which is in the first-level cache then, while the next one is
    // asked for: so a passes once, and c is written along its rows (2,500 x 512 by 512 x 128 from memory: 0.94 of the time of panel after panel).
    void multiply_in_rows(const Copy& a, Range tiles, Range panels, Range k, const Part& then, Operand* near,
                          NextLines& behind) {
        std::int64_t width = kernels_.most_columns, numbers = width * operands<T>(k.end - k.begin);
        auto bytes = static_cast<std::int64_t>(way_.pack_b ? panel_bytes : second_level_bytes / 2);
        std::int64_t some = std::max<std::int64_t>(bytes / static_cast<std::int64_t>(sizeof(Operand)) / numbers, 1);
        for (std::int64_t first = panels.begin; first < panels.end; first += some) {
            std::int64_t end = std::min(first + some, panels.end);
            for (std::int64_t panel = first; panel < end && way_.pack_b; ++panel)
                pack_panel(near + (panel - first) * numbers, panel, k);
            for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
                bool last = tile + 1 == tiles.end, again = last && end < panels.end;
                Lines next = first_of(last && !again ? then : Part{{again ? tiles.begin : tile + 1, tiles.end}, k});
                for (std::int64_t panel = first, count = 0; panel < end; panel += count) {
                    const Operand* b = way_.pack_b ? near + (panel - first) * numbers : panel_at(panel, k.begin);
                    std::int64_t lines = next.left > 0 ? next.left : behind.left();
                    std::int64_t each = lines_of_tile(k);
                    // Whole panels together, as long as they take along what is to be asked for.
                    count = std::max<std::int64_t>(std::min(end, p_.n / width) - panel, 1);
                    if (lines > 0) count = std::min(count, divide_up(lines, each));
                    Fetch fetch = next.left > 0 ? next.at : fetch_behind(behind, count * each, b);
                    if (next.left > 0) next.at.from += count * each * next.at.step, next.left -= count * each;
                    std::int64_t b_row = way_.pack_b || p_.packed_b ? width : p_.b_row;
                    multiply_tile(a, tile, {panel, k, b, b_row, count}, fetch);
                }
            }
        }
    }

    void pack_panel(Operand* to, std::int64_t panel, Range k) const {
        std::int64_t width = kernels_.most_columns, column = panel * width;
        kernels_.pack_b(to, p_.b + column * p_.b_column + k.begin * p_.b_row, p_.b_row, p_.b_column,
                        static_cast<int>(std::min(width, p_.n - column)), k.end - k.begin);
    }

    /// Of b as it is read without a copy: packed before, or lying as the numbers do (which are operands then).
    const Operand* panel_at(std::int64_t panel, std::int64_t k) const {
        std::int64_t width = kernels_.most_columns, column = panel * width;
        if (p_.packed_b) return p_.packed_b + column * operands<T>(p_.k) + operands<T>(k) * width;
        return as_operands(p_.b + column * p_.b_column + k * p_.b_row);
    }
    static const Operand* as_operands(const NumberOf<T>* numbers) { return reinterpret_cast<const Operand*>(numbers); }

    void multiply_tile(const Copy& copy, std::int64_t index, const Panel& panel, const Fetch& fetch) {
        GemmTile<T> tile = tile_at(copy, index, panel);
        tile.fetch = fetch.from, tile.fetch_step = fetch.step;
        kernels_.tile(tile);
    }

    GemmTile<T> tile_at(const Copy& copy, std::int64_t index, const Panel& panel) const {
        GemmTile<T> tile = tile_of({way_.tiles.first_row(index), way_.tiles.first_row(index + 1)}, panel);
        if (way_.pack_a) {
            tile.a = rows_.copied(copy, index, panel.k.begin);
            tile.a_row = 1;
            tile.a_column = tile.rows;
        }
        return tile;
    }

    /// Of these rows of a as they lie.
    GemmTile<T> tile_of(Range rows, const Panel& panel) const {
        std::int64_t k = panel.k.begin, row = rows.begin, column = panel.index * kernels_.most_columns;
        GemmTile<T> tile = tile_of_result<T>(p_, rows, column, kernels_.most_columns, panel.k);
        tile.a = as_operands(p_.a + row * p_.a_row + k * p_.a_column);
        tile.a_row = p_.a_row;
        tile.a_column = p_.a_column;
        tile.b = panel.b, tile.b_row = panel.b_row, tile.copy_b = panel.copy;
        tile.panels = static_cast<int>(panel.count);
        tile.paired = way_.paired && panel.count == 2;
        // Those below, or at the top of what lies to the right.
        bool below = rows.end < p_.m;
        tile.asks_c = way_.asks_c;
        tile.next_c = below ? tile.c + tile.rows * p_.c_row : p_.c + column + panel.count * kernels_.most_columns;
        tile.b_panel = panel.count == 1             ? 0
                       : p_.packed_b                ? kernels_.most_columns * operands<T>(p_.k)
                       : way_.pack_b && !panel.copy ? kernels_.most_columns * tile.k
                                                    : kernels_.most_columns;
        return tile;
    }

    GemmProblem<T> p_;
    const GemmKernels<T>& kernels_ = kernels<T>();
    const Way<T> way_;
    RowsOfA<T> rows_{p_, kernels_, way_.tiles};
    Copies<T> copies_;  // of rows of a
};

}  // namespace weft::cpu::own
