#include "weft/backend/cpu/slab_gemm.h"

#include "weft/backend/cpu/gemm_ahead.h"
#include "weft/backend/cpu/gemm_rows.h"
#include "weft/core/buffer.h"

// The scheme of Goto and van de Geijn (2008). A Zen 3, of the time of oneDNN's (rows of 256 at a time): 1,024 cubed 0.96, 2,048 cubed 0.95, 1,000 cubed
// 0.99, 700 cubed 0.98, 1,024 x 1,024 by 256 0.93, 2,048 x 512 by 512 0.70, 512 x 2,048 by 2,048 0.49; a turned 0.96, b turned 0.95; but 1,024 x 256 by
// 1,024 1.02, 3,000 x 700 by 400 1.02. Below 2^28 multiplications, and of short sums, weft's own panels take less.
// Sums that begin from c, as chains do, wait for it: half as deep 1.02 (the next tile's asked for, 1.0).
namespace weft::cpu {
namespace {

using namespace own;

class SlabProduct {
    using T = float;

  public:
    explicit SlabProduct(const GemmProblem<T>& problem) : p_(problem) {}

    void run() {
        std::int64_t slabs = divide_up(panels_, most_panels), pieces = divide_up(p_.k, most_k);
        for (std::int64_t slab = 0; slab < slabs; ++slab)
            for (std::int64_t piece = 0; piece < pieces; ++piece)
                multiply({{begin_of(slab, slabs, panels_), begin_of(slab + 1, slabs, panels_)},
                          {begin_of_k(piece, pieces), begin_of_k(piece + 1, pieces)}});
    }

  private:
    using Copy = RowsOfA<T>::Copy;
    static constexpr std::int64_t most_panels = 64, most_k = 1024;  // of a slab: 4 MB

    struct Slab {
        Range panels, k;
        std::int64_t numbers() const { return k.end - k.begin; }
    };

    std::int64_t begin_of_k(std::int64_t piece, std::int64_t pieces) const {
        constexpr std::int64_t step = 8;  // rows of a are turned so many numbers at a time
        return std::min(p_.k, begin_of(piece, pieces, divide_up(p_.k, step)) * step);
    }
    Range tiles_of(std::int64_t block) const {
        return {begin_of(block, blocks_, tiles_.count), begin_of(block + 1, blocks_, tiles_.count)};
    }

    void multiply(const Slab& slab) {
        parallel_for(slab.panels.end - slab.panels.begin, [&](std::int64_t i) { pack(slab, slab.panels.begin + i); });
        auto rows = [&](std::int64_t block, int slot) {
            T* memory = reinterpret_cast<T*>(copies_of_a_->data()) + slot * each_copy_;
            Range next = block + 1 < blocks_ ? tiles_of(block + 1) : Range{};
            multiply_rows({tiles_of(block), slab.k, memory}, slab, lines_of(next, slab));
        };
        parallel_for(blocks_, rows, threads_);
    }

    void pack(const Slab& slab, std::int64_t panel) const {
        std::int64_t column = panel * width_;
        kernels_.pack_b(at(slab, panel), p_.b + column * p_.b_column + slab.k.begin * p_.b_row, p_.b_row, p_.b_column,
                        static_cast<int>(std::min(width_, p_.n - column)), slab.numbers());
    }
    T* at(const Slab& slab, std::int64_t panel) const {
        return reinterpret_cast<T*>(copy_of_b_->data()) + (panel - slab.panels.begin) * width_ * slab.numbers();
    }

    /// Of rows of a that lie side by side, each piece of a line or more in a page of its own: where the next ones lie.
    NextOfA<T> lines_of(Range tiles, const Slab& slab) const {
        if (p_.a_row != 1 || tiles.begin == tiles.end) return {};
        std::int64_t row = tiles_.first_row(tiles.begin), rows = tiles_.first_row(tiles.end) - row;
        std::int64_t wide = divide_up(rows, line<T>), each = lines_of_tile(slab);
        return {p_.a + row + slab.k.begin * p_.a_column, p_.a_column, each, wide,
                wide * divide_up(slab.numbers(), each)};
    }
    std::int64_t lines_of_tile(const Slab& slab) const {
        return kernels_.asked_for(tiles_.most_rows(), slab.numbers());
    }

    /// Panel after panel from the second-level cache, where the tiles of the one before have asked for it to be.
    void multiply_rows(const Copy& a, const Slab& slab, NextOfA<T> next_a) const {
        rows_.pack(a);
        const std::int64_t lines = lines_of_tile(slab);
        for (std::int64_t panel = slab.panels.begin; panel < slab.panels.end; ++panel) {
            std::int64_t then = panel + 1 < slab.panels.end ? panel + 1 : slab.panels.begin;
            NextOfB<T> next_b{at(slab, then), width_, 0, slab.numbers(), slab.numbers()};
            for (std::int64_t index = a.tiles.begin; index < a.tiles.end; ++index) {
                GemmTile<T> tile = tile_of(index, a, slab, panel);
                Fetch<T> next = next_b.left()   ? next_b.take(lines)
                                : next_a.left() ? next_a.take()
                                                : Fetch<T>{tile.b, 0};
                tile.fetch = next.from, tile.fetch_step = next.step;
                kernels_.tile(tile);
            }
        }
    }

    GemmTile<T> tile_of(std::int64_t index, const Copy& a, const Slab& slab, std::int64_t panel) const {
        GemmTile<T> tile =
            tile_of_result(p_, {tiles_.first_row(index), tiles_.first_row(index + 1)}, panel * width_, width_, slab.k);
        tile.a = rows_.copied(a, index, slab.k.begin), tile.a_row = 1, tile.a_column = tile.rows;
        tile.b = at(slab, panel), tile.b_row = width_;
        return tile;
    }

    /// Blocks of rows, each of which is copied as it stays in the second-level cache: 96 KB, or, where rows lie side by side, twice as much,
    /// which are whole lines (1,024 cubed 0.98). As many for each thread.
    std::int64_t blocks() const {
        std::int64_t rows = (p_.a_row == 1 ? 48 : 24) * most_k / deepest_;
        std::int64_t count = divide_up(tiles_.count, std::max<std::int64_t>(1, rows / kernels_.most_rows));
        return std::min(divide_up(count, threads_) * threads_, tiles_.count);
    }

    static BufferHandle memory_of(std::int64_t numbers) {
        return Buffer::allocate(static_cast<std::size_t>(numbers) * sizeof(T));
    }

    const GemmProblem<T>& p_;
    const GemmKernels<T>& kernels_ = kernels<T>();
    const std::int64_t width_ = kernels_.most_columns, panels_ = divide_up(p_.n, width_);
    const std::int64_t deepest_ = std::min(p_.k, most_k);
    const RowTiles tiles_{p_.m, kernels_.most_rows};
    const RowsOfA<T> rows_{p_, kernels_, tiles_};
    const int threads_ = ThreadPool::instance().threads();
    const std::int64_t blocks_ = blocks();
    const std::int64_t each_copy_ =
        divide_up(divide_up(tiles_.count, blocks_) * tiles_.most_rows() * deepest_, 16) * 16;
    BufferHandle copy_of_b_ = memory_of(std::min(panels_, most_panels) * width_ * deepest_);
    BufferHandle copies_of_a_ = memory_of(threads_ * each_copy_);
};

}  // namespace

bool takes_slabs(const GemmProblem<float>& p) {
    constexpr std::int64_t least_rows = 512, least_columns = 32, least_k = 192;
    if (p.packed_b || kernels<float>().fours_rows == 0) return false;
    if (p.m < least_rows || p.n < least_columns || p.k < least_k || p.m * p.n * p.k < std::int64_t{1} << 28)
        return false;
    return own_gemm_pieces(p.m, p.n, p.k) == 1;  // else other bits than of fewer of its rows
}

void slab_gemm(const GemmProblem<float>& p) { SlabProduct(p).run(); }

}  // namespace weft::cpu
