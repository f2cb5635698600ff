#include "weft/backend/cpu/block_gemm.h"

#include "weft/backend/cpu/gemm_rows.h"
#include "weft/core/buffer.h"

// Xeon (Emerald Rapids, 2 MB a core), of MKL's time, by the ways there were (oneDNN's, panels that each 512 rows of a copy near) and by blocks: 1,024 cubed
// 1.02 and 0.99, 2,048 cubed 1.04 and 0.98, 1,536 cubed 1.17 and 0.97, 1,024 x 768 by 1,536 1.08 and 0.97, 1,024 x 384 by 1,024 1.25 and 0.98, 1,024 x 256
// by 4,096 1.98 and 0.96; doubles 1,024 cubed 1.08 and 0.97, 2,048 x 1,024 by 512 1.16 and 0.94. But 768 cubed 0.96 and 0.98, 1,024 x 256 by 1,024 0.96
// and 0.99, 600 x 1,100 by 1,000 0.95 and 1.03: oneDNN reads rows of b that are shorter than a page faster. Left alone, 0.99 to 1.02 each: the next
// block, or rows of a, asked for meanwhile; blocks 512 wide and 384 deep; large pages (0.96 while another guest uses the core, too). On a Zen 5 such
// rows give 0.925 of 2,048 cubed, 0.985 of 512 x 2,048 by 2,048, where a block's sums and rows no longer stay in the third level.
namespace weft::cpu {
namespace {

using namespace own;

template <class T>
class BlockProduct {
  public:
    explicit BlockProduct(const GemmProblem<T>& problem) : p_(problem) {}

    void run() {
        auto [rows, columns] = parts();
        parallel_for(rows * columns, [&, rows = rows, columns = columns](std::int64_t i) {
            std::int64_t row = i / columns, column = i % columns, pairs = divide_up(p_.n, 2 * width_);
            multiply({begin_of(row, rows, tiles_.count), begin_of(row + 1, rows, tiles_.count)},
                     {begin_of(column, columns, pairs) * 2 * width_,
                      std::min(p_.n, begin_of(column + 1, columns, pairs) * 2 * width_)});
        });
    }

  private:
    static constexpr std::int64_t panels = 8;  // of a block: 512 KB

    /// What is made by itself: rows with the columns of a block. Each part copies its blocks, so rows are cut only where threads would have none.
    struct Parts {
        std::int64_t rows, columns;
    };
    Parts parts() const {
        constexpr std::int64_t least_rows = 256;
        std::int64_t columns = divide_up(p_.n, panels * width_);
        std::int64_t threads = ThreadPool::instance().threads(), wanted = threads > 1 ? 2 * threads : 1;
        std::int64_t rows = std::min(divide_up(wanted, columns), p_.m / least_rows);
        return {std::max<std::int64_t>(rows, 1), columns};
    }

    /// Columns of b, numbers of k: copied panel after panel.
    struct Block {
        Range columns, k;
        T* copy;
        std::int64_t numbers() const { return k.end - k.begin; }
        T* at(std::int64_t column) const { return copy + (column - columns.begin) * numbers(); }
    };

    void multiply(Range tiles, Range columns) const {
        BufferHandle memory = Buffer::allocate(static_cast<std::size_t>(panels * width_ * depth) * sizeof(T));
        std::int64_t pieces = divide_up(p_.k, depth);
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
            Range k{begin_of(piece, pieces, p_.k), begin_of(piece + 1, pieces, p_.k)};
            multiply_block(tiles, {columns, k, reinterpret_cast<T*>(memory->data())});
        }
    }

    // The first tile of rows copies the pairs of panels that it reads. (If it has too few rows to copy, there is no other.)
    void multiply_block(Range tiles, const Block& block) const {
        auto [begin, end] = block.columns;
        for (std::int64_t i = tiles.begin; i < tiles.end; ++i)
            for (std::int64_t column = begin, count = 0; column < end; column += count * width_) {
                count = panels_at(kernels_, pairs_, column, end);
                bool copies = i == tiles.begin && count == 2 && p_.b_column == 1;
                if (i == tiles.begin && !copies)
                    for (std::int64_t panel = 0; panel < count; ++panel) pack(block, column + panel * width_);
                kernels_.tile(tile_of(i, block, column, count == 2, copies));
            }
    }

    void pack(const Block& block, std::int64_t column) const {
        kernels_.pack_b(block.at(column), p_.b + column * p_.b_column + block.k.begin * p_.b_row, p_.b_row, p_.b_column,
                        static_cast<int>(std::min(width_, p_.n - column)), block.numbers());
    }

    GemmTile<T> tile_of(std::int64_t index, const Block& block, std::int64_t column, bool pair, bool copies) const {
        std::int64_t row = tiles_.first_row(index), after = tiles_.first_row(index + 1);
        GemmTile<T> tile = tile_of_result(p_, {row, after}, column, width_, block.k);
        tile.panels = pair ? 2 : 1;
        tile.paired = pair;
        tile.a = p_.a + row * p_.a_row + block.k.begin;
        tile.a_row = p_.a_row, tile.a_column = 1;
        tile.b = block.at(column), tile.b_row = width_, tile.b_panel = width_ * tile.k;
        if (copies) {
            tile.copy_b = block.at(column);
            tile.b = p_.b + column + block.k.begin * p_.b_row, tile.b_row = p_.b_row, tile.b_panel = width_;
        }
        tile.fetch = tile.b, tile.fetch_step = 0;
        // Beside a row of tiles' first the next one's rows of a, which come from beyond the second-level cache.
        bool asks_a = is_zen5() && pair && column == block.columns.begin;
        if (asks_a) tile.next_a = tile.rows * p_.a_row, tile.fetch_step = p_.a_row;
        // To the right, or where the rows below begin.
        std::int64_t right = column + tile.panels * width_;
        tile.next_c = right < block.columns.end ? tile.c + tile.panels * width_
                      : after < p_.m            ? p_.c + after * p_.c_row + block.columns.begin
                                                : tile.c;
        return tile;
    }

    const GemmProblem<T>& p_;
    const GemmKernels<T>& kernels_ = kernels<T>();
    std::int64_t width_ = kernels_.most_columns;
    RowTiles tiles_{p_.m, kernels_.paired_rows > 0 ? kernels_.paired_rows : kernels_.most_rows};
    bool pairs_ = kernels_.paired_rows > 0;
};

}  // namespace

template <class T>
bool takes_blocks(const GemmProblem<T>& p) {
    // A turned b is copied anyway: fewer rows are worth it (256 x 2,048 by 2,048 0.89 of the time without, 128 x 3,072 by 768 1.0).
    std::int64_t least_rows = p.b_column == 1 ? 300 : 192;
    constexpr std::int64_t least_columns = 256, page = 4096;
    if (p.packed_b || p.a_column != 1 || (p.b_column != 1 && p.b_row != 1)) return false;
    if (p.m < least_rows || p.n < least_columns || p.m * p.n * p.k < std::int64_t{1} << 28) return false;
    if (own_gemm_pieces(p.m, p.n, p.k) > 1) return false;  // other bits than of fewer of its rows
    std::int64_t apart = (p.b_column == 1 ? p.b_row : p.b_column) * static_cast<std::int64_t>(sizeof(T));
    return (apart >= 2 * page ? p.k >= 192 : apart >= page && p.k > 256) && pairs_panels(kernels<T>(), p.m);
}

template <class T>
void block_gemm(const GemmProblem<T>& p) {
    BlockProduct<T>(p).run();
}

template bool takes_blocks(const GemmProblem<float>&);
template bool takes_blocks(const GemmProblem<double>&);
template void block_gemm(const GemmProblem<float>&);
template void block_gemm(const GemmProblem<double>&);

}  // namespace weft::cpu
