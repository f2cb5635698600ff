#include "weft/backend/cpu/own_gemm.h"

#include <algorithm>
#include <type_traits>

#include "weft/backend/cpu/isa/gemm_kernels.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

template <class T>
const GemmKernels<T>& kernels() {
    [[maybe_unused]] bool pairs = multiplies_pairs();
    switch (best_isa()) {
#define WEFT_GEMM_CASE(isa)                           \
    case Isa::isa:                                    \
        if constexpr (std::is_same_v<T, float>)       \
            return isa::gemm_kernels_f32;             \
        else if constexpr (std::is_same_v<T, double>) \
            return isa::gemm_kernels_f64;             \
        else                                          \
            return pairs ? isa::gemm_kernels_pairs : isa::gemm_kernels_rounded;
        WEFT_FOR_EACH_ISA(WEFT_GEMM_CASE)
#undef WEFT_GEMM_CASE
    }
    __builtin_unreachable();
}

// Cuts of the product. A panel of b (depth x 32 floats) stays in the first-level cache, a block of a (rows x depth) in
// the second; a packed copy of a never exceeds most_width x most_depth, whatever the matrices.
constexpr std::int64_t depth = 256, block_rows = 256, most_depth = 2048, most_width = 4096;
// Of a sum in pieces, which all have copies of a at once.
constexpr std::int64_t piece_depth = 512;
constexpr std::size_t panel_bytes = depth * 32 * sizeof(float);  // of the widest kind
// Below this many multiplications one thread does it all: waking another costs more.
constexpr std::int64_t serial_work = 256 * 1024;

/// Where part i of `parts` of [0, size) begins: parts as equal as can be.
std::int64_t begin_of(std::int64_t i, std::int64_t parts, std::int64_t size) { return i * size / parts; }

/// Numbers that are one operand, and how many of those k of them are.
template <class T>
inline constexpr std::int64_t together = ProductOf<T>::together;
template <class T>
std::int64_t operands(std::int64_t k) {
    return divide_up(k, together<T>);
}
/// Where part i of `parts` of k numbers begins: never within an operand.
template <class T>
std::int64_t begin_of_k(std::int64_t i, std::int64_t parts, std::int64_t k) {
    return std::min(k, begin_of(i, parts, operands<T>(k)) * together<T>);
}

/// One product of limited size: what is packed, and how it is cut.
template <class T>
class Multiplication {
    using Operand = OperandOf<T>;
    static constexpr bool made = !std::is_same_v<Operand, NumberOf<T>>;  // operands are made of numbers: always packed

  public:
    Multiplication(const GemmProblem<T>& problem, Operand* scratch) : p_(problem), kernels_(kernels<T>()) {
        panels_ = divide_up(p_.n, kernels_.most_columns);
        // A copy pays when it is read often. Rows of a that lie a multiple of half a page apart collide in the
        // first-level cache (8 ways): those are copied, or for few columns taken 7 at a time (128x1024x10: 24 -> 60
        // GFLOP/s).
        bool big = p_.m * p_.n * p_.k > 64 * 64 * 64;
        bool collide =
            p_.a_row != 1 && p_.a_row * static_cast<std::int64_t>(sizeof(NumberOf<T>)) % 2048 == 0 && p_.k > 64;
        bool scattered = p_.a_row != 1 && p_.a_column != 1;
        pack_a_ = big && panels_ >= 4 && (collide || scattered || p_.a_row == 1);
        pack_a_ |= made;
        row_tiles_ = divide_up(p_.m, collide && !pack_a_ ? std::min(7, kernels_.most_rows) : kernels_.most_rows);
        pack_b_ = !p_.packed_b && (made || p_.b_column != 1 || (big && row_tiles_ >= 3));
        packed_a_ = scratch;
        bool lies = p_.packed_b || (!made && p_.b_column == 1);
        far_ = lies && p_.n * operands<T>(p_.k) * static_cast<std::int64_t>(sizeof(Operand)) > second_level_bytes &&
               row_tiles_ >= 3;
    }

    void run() {
        bool serial = p_.m * p_.n * p_.k <= serial_work;
        if (pack_a_) pack(serial);
        // Blocks of about a million multiplications, at most 64: enough to share out, few enough to cost nothing.
        std::int64_t wanted = serial ? 1 : std::clamp<std::int64_t>(p_.m * p_.n * p_.k / (1 << 20), 2, 64);
        // What is rounded as it is packed costs more to pack: more rows read it.
        std::int64_t rows = std::max(divide_up(p_.m, block_rows * together<T>), std::int64_t{1});
        std::int64_t columns = std::clamp<std::int64_t>(divide_up(wanted, rows), 1, panels_);
        if (rows * columns < std::min<std::int64_t>(wanted, 16))
            rows = std::clamp<std::int64_t>(divide_up(wanted, columns), rows, row_tiles_);
        auto block = [&](std::int64_t index) {
            std::int64_t i = index / columns, j = index % columns;
            multiply(begin_of(i, rows, row_tiles_), begin_of(i + 1, rows, row_tiles_), begin_of(j, columns, panels_),
                     begin_of(j + 1, columns, panels_));
        };
        if (rows * columns == 1)
            block(0);
        else
            parallel_for(rows * columns, block);
    }

  private:
    struct Fetch {
        const Operand* from;
        std::int64_t step;
    };

    std::int64_t row_of(std::int64_t tile) const { return begin_of(tile, row_tiles_, p_.m); }

    // Where the rows of a lie side by side a tile is a narrow strip of a's memory: all tiles of a few k, one after the other, read it as it
    // lies (512 x 128 of 2,500: 139 to 210 GFLOP/s).
    void pack(bool serial) {
        constexpr std::int64_t some_tiles = 4, some_k = 32;
        bool by_k = p_.a_row == 1 && p_.k > some_k;
        std::int64_t count = by_k ? divide_up(p_.k, some_k) : divide_up(row_tiles_, some_tiles);
        auto block = [&](std::int64_t i) {
            std::int64_t first = by_k ? 0 : i * some_tiles, last = by_k ? row_tiles_ : first + some_tiles;
            std::int64_t k = by_k ? i * some_k : 0, k_end = by_k ? std::min(p_.k, k + some_k) : p_.k;
            for (std::int64_t tile = first; tile < std::min(last, row_tiles_); ++tile) pack_tile(tile, k, k_end);
        };
        if (!serial) return parallel_for(count, block);
        for (std::int64_t i = 0; i < count; ++i) block(i);
    }

    void pack_tile(std::int64_t tile, std::int64_t k, std::int64_t k_end) {
        std::int64_t row = row_of(tile), rows = row_of(tile + 1) - row;
        kernels_.pack_a(packed_a_ + row * operands<T>(p_.k) + operands<T>(k) * rows,
                        p_.a + row * p_.a_row + k * p_.a_column, p_.a_row, p_.a_column, static_cast<int>(rows),
                        k_end - k);
    }

    // A panel of b is copied just before the tiles that read it, and is near then: copied once for each block of rows,
    // it costs a few of a hundred cycles, and no large copy passes through memory.
    void multiply(std::int64_t tile_begin, std::int64_t tile_end, std::int64_t panel_begin, std::int64_t panel_end) {
        alignas(64) Operand near[panel_bytes / sizeof(Operand)];
        std::int64_t pieces = divide_up(operands<T>(p_.k), depth), width = kernels_.most_columns;
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
            std::int64_t k = begin_of_k<T>(piece, pieces, p_.k), k_end = begin_of_k<T>(piece + 1, pieces, p_.k);
            for (std::int64_t panel = panel_begin; panel < panel_end; ++panel) {
                const Operand* next = nullptr;
                if (far_ && panel + 1 < panel_end)
                    next = panel_at(panel + 1, k);
                else if (far_ && piece + 1 < pieces)
                    next = panel_at(panel_begin, k_end);
                else if (far_ && panel_end < panels_)
                    next = panel_at(panel_end, 0);
                if (pack_b_)
                    kernels_.pack_b(near, p_.b + panel * width * p_.b_column + k * p_.b_row, p_.b_row, p_.b_column,
                                    static_cast<int>(std::min(width, p_.n - panel * width)), k_end - k);
                const Operand* b = pack_b_ ? near : panel_at(panel, k);
                std::int64_t b_row = pack_b_ || p_.packed_b ? width : p_.b_row;
                // The first tile takes the first line of each row of the next panel along, the second the second.
                constexpr std::int64_t line = 64 / sizeof(Operand);
                std::int64_t lines = next ? width / line : 0;
                for (std::int64_t tile = tile_begin; tile < tile_end; ++tile) {
                    std::int64_t part = tile - tile_begin;
                    Fetch fetch{b, 0};
                    if (part < lines && p_.packed_b) fetch = {next + part * operands<T>(k_end - k) * line, line};
                    if (part < lines && !p_.packed_b) fetch = {next + part * line, p_.b_row};
                    multiply_tile(tile, panel, k, k_end, b, b_row, fetch);
                }
            }
        }
    }

    /// Of b as it is read without a copy: packed before, or lying as the numbers do (which are operands then).
    const Operand* panel_at(std::int64_t panel, std::int64_t k) const {
        std::int64_t width = kernels_.most_columns, column = panel * width;
        if (p_.packed_b) return p_.packed_b + column * operands<T>(p_.k) + operands<T>(k) * width;
        return as_operands(p_.b + column * p_.b_column + k * p_.b_row);
    }
    static const Operand* as_operands(const NumberOf<T>* numbers) { return reinterpret_cast<const Operand*>(numbers); }

    void multiply_tile(std::int64_t index, std::int64_t panel, std::int64_t k, std::int64_t k_end, const Operand* b,
                       std::int64_t b_row, const Fetch& fetch) {
        std::int64_t row = row_of(index), column = panel * kernels_.most_columns;
        GemmTile<T> tile;
        tile.rows = static_cast<int>(row_of(index + 1) - row);
        tile.columns = static_cast<int>(std::min<std::int64_t>(kernels_.most_columns, p_.n - column));
        if (pack_a_) {
            tile.a = packed_a_ + row * operands<T>(p_.k) + operands<T>(k) * tile.rows;
            tile.a_row = 1;
            tile.a_column = tile.rows;
        } else {
            tile.a = as_operands(p_.a + row * p_.a_row + k * p_.a_column);
            tile.a_row = p_.a_row;
            tile.a_column = p_.a_column;
        }
        tile.b = b;
        tile.b_row = b_row;
        tile.c = p_.c + row * p_.c_row + column;
        tile.c_row = p_.c_row;
        tile.k = operands<T>(k_end - k);
        tile.accumulate = p_.accumulate || k > 0;
        bool last = k_end == p_.k;
        tile.bias = last && p_.bias ? p_.bias + column : nullptr;
        tile.relu = last && p_.relu;
        tile.fetch = fetch.from, tile.fetch_step = fetch.step;
        kernels_.tile(tile);
    }

    GemmProblem<T> p_;
    const GemmKernels<T>& kernels_;
    std::int64_t row_tiles_, panels_;
    bool pack_a_, pack_b_;
    bool far_;  // b comes from memory
    Operand* packed_a_;
};

template <class T>
std::int64_t padded_columns(std::int64_t n) {
    return divide_up(n, kernels<T>().most_columns) * kernels<T>().most_columns;
}

/// Where the cut that begins at this row (k) and column of b lies in packed memory.
template <class T>
std::int64_t packed_at(std::int64_t n, std::int64_t all_k, std::int64_t k, std::int64_t column) {
    return column * operands<T>(all_k) + operands<T>(k) * padded_columns<T>(std::min(most_width, n - column));
}

/// Few rows of a against a large b that lies in rows: read in whole rows, as it lies in memory, not in strips of a tile's columns, each of
/// whose rows is in a page of its own (1 x 2048 by 2048 x 2048: 450 to 170 us).
template <class T>
bool multiply_few_rows(const GemmProblem<T>& p) {
    if constexpr (ProductOf<T>::together > 1) {
        return false;
    } else {
        constexpr std::int64_t columns = 1024, least_bytes = 64 * 1024;
        bool takes = p.m <= most_few_rows && !p.packed_b && p.b_column == 1 && p.n >= 256 && p.b_row >= p.n &&
                     p.n * p.k * static_cast<std::int64_t>(sizeof(T)) >= least_bytes;
        if (!takes) return false;
        // Even parts of whole lines, for threads to share.
        std::int64_t parts = divide_up(p.n, columns), work = p.m * p.n * p.k;
        if (work > serial_work) parts = std::max(parts, std::min<std::int64_t>(8, p.n / 64));
        std::int64_t each = divide_up(divide_up(p.n, parts), 16) * 16;
        auto part = [&](std::int64_t i) {
            std::int64_t first = i * each, last = std::min(p.n, first + each);
            GemmTile<T> tile{};
            tile.a = p.a, tile.a_row = p.a_row, tile.a_column = p.a_column;
            tile.b = p.b + first, tile.b_row = p.b_row;
            tile.c = p.c + first, tile.c_row = p.c_row;
            tile.k = p.k, tile.rows = static_cast<int>(p.m), tile.columns = static_cast<int>(last - first);
            tile.accumulate = p.accumulate;
            tile.bias = p.bias ? p.bias + first : nullptr, tile.relu = p.relu;
            kernels<T>().few_rows(tile);
        };
        std::int64_t count = divide_up(p.n, each);
        if (work > serial_work)
            parallel_for(count, part);
        else
            for (std::int64_t i = 0; i < count; ++i) part(i);
        return true;
    }
}

/// Cuts a product of any size into Multiplications that share one scratch. What was packed before was cut by most_depth.
template <class T>
void multiply_in_cuts(const GemmProblem<T>& p, OperandOf<T>* scratch, std::int64_t deepest = most_depth) {
    if (multiply_few_rows(p)) return;
    for (std::int64_t column = 0; column < p.n; column += most_width)
        for (std::int64_t k = 0; k < p.k; k += deepest)
            for (std::int64_t row = 0; row < p.m; row += most_width) {
                GemmProblem<T> cut = p;
                cut.m = std::min(most_width, p.m - row);
                cut.n = std::min(most_width, p.n - column);
                cut.k = std::min(deepest, p.k - k);
                cut.a += row * p.a_row + k * p.a_column;
                cut.b += k * p.b_row + column * p.b_column;
                cut.c += row * p.c_row + column;
                if (p.packed_b) cut.packed_b += packed_at<T>(p.n, p.k, k, column);
                cut.accumulate = p.accumulate || k > 0;
                bool last = k + cut.k == p.k;
                cut.bias = last && p.bias ? p.bias + column : nullptr;
                cut.relu = last && p.relu;
                Multiplication<T>(cut, scratch).run();
            }
}

template <class T>
void finish(const GemmProblem<T>& p, std::int64_t i, std::int64_t j, SumOf<T> sum) {
    SumOf<T>& to = p.c[i * p.c_row + j];
    if (p.accumulate) sum = to + sum;
    if (p.bias) sum += p.bias[j];
    to = p.relu && sum < 0 ? SumOf<T>(0) : sum;
}

/// A vector times a matrix whose other axis is contiguous: inner products.
template <class T>
void multiply_by_dots(const GemmProblem<T>& p) {
    constexpr std::int64_t in_block = 64;
    std::int64_t count = p.m * p.n;
    auto block = [&](std::int64_t index) {
        for (std::int64_t at = index * in_block; at < std::min(count, (index + 1) * in_block); ++at) {
            std::int64_t i = p.n == 1 ? at : 0, j = p.n == 1 ? 0 : at;
            finish(p, i, j, kernels<T>().dot(p.a + i * p.a_row, p.b + j * p.b_column, p.k));
        }
    };
    if (count * p.k > serial_work) return parallel_for(divide_up(count, in_block), block);
    for (std::int64_t index = 0; index < divide_up(count, in_block); ++index) block(index);
}

/// Pieces into which a long k is cut for a small c, which alone would occupy few threads and few registers.
std::int64_t pieces_of(std::int64_t m, std::int64_t n, std::int64_t k) {
    return m * n <= 64 * 1024 && k >= 2048 && k >= 4 * std::max(m, n) ? std::min<std::int64_t>(16, k / 512) : 1;
}

template <class T>
void multiply_in_pieces(const GemmProblem<T>& p, std::int64_t pieces, OperandOf<T>* scratch) {
    using Sum = SumOf<T>;
    static_assert(sizeof(Sum) == sizeof(OperandOf<T>), "both lie in the same scratch memory");
    std::int64_t each = p.m * p.n, most = divide_up(p.k, pieces) + together<T> - 1;
    auto* partial = reinterpret_cast<Sum*>(scratch);
    OperandOf<T>* rest = scratch + pieces * each;
    std::int64_t rest_each = own_gemm_scratch<T>(p.m, p.n, -most);
    parallel_for(pieces, [&](std::int64_t piece) {
        GemmProblem<T> part = p;
        std::int64_t k = begin_of_k<T>(piece, pieces, p.k);
        part.k = begin_of_k<T>(piece + 1, pieces, p.k) - k;
        part.a += k * p.a_column;
        part.b += k * p.b_row;
        part.c = partial + piece * each;
        part.c_row = p.n;
        part.accumulate = false;
        part.bias = nullptr;
        part.relu = false;
        multiply_in_cuts(part, rest + piece * rest_each, piece_depth);
    });
    constexpr std::int64_t some = 16;  // rows
    bool plain = !p.accumulate && !p.bias && !p.relu;
    parallel_for(divide_up(p.m, some), [&](std::int64_t block) {
        for (std::int64_t i = block * some; i < std::min(p.m, (block + 1) * some); ++i) {
            Sum* sums = partial + i * p.n;
            for (std::int64_t piece = 1; piece < pieces; ++piece)
                kernels<T>().add(sums, partial + piece * each + i * p.n, p.n);
            if (plain) std::copy_n(sums, p.n, p.c + i * p.c_row);
            for (std::int64_t j = 0; j < p.n && !plain; ++j) finish(p, i, j, sums[j]);
        }
    });
}

}  // namespace

// A negative k asks for what one piece needs, without cutting it again.
template <class T>
std::int64_t own_gemm_scratch(std::int64_t m, std::int64_t n, std::int64_t k) {
    if (k > 0 && pieces_of(m, n, k) > 1) {
        std::int64_t pieces = pieces_of(m, n, k);
        return pieces * (m * n + own_gemm_scratch<T>(m, n, -(divide_up(k, pieces) + together<T> - 1)));
    }
    return std::min(m, most_width) *
           operands<T>(k < 0 ? std::min(-k, piece_depth) : std::min(k, most_depth));  // a's copy
}

template <class T>
void own_gemm(const GemmProblem<T>& p, OperandOf<T>* scratch) {
    if (p.m == 0 || p.n == 0) return;
    if (p.k == 0) {
        for (std::int64_t i = 0; i < p.m; ++i)
            for (std::int64_t j = 0; j < p.n; ++j) finish(p, i, j, SumOf<T>(0));
        return;
    }
    if (p.packed_b) return multiply_in_cuts(p, scratch);
    bool row_dots = p.m == 1 && p.b_row == 1 && p.a_column == 1,
         column_dots = p.n == 1 && p.a_column == 1 && p.b_row == 1;
    if ((row_dots || column_dots) && kernels<T>().dot) return multiply_by_dots(p);
    std::int64_t pieces = pieces_of(p.m, p.n, p.k);
    if (pieces > 1) return multiply_in_pieces(p, pieces, scratch);
    multiply_in_cuts(p, scratch);
}

std::int64_t own_gemm_pieces(std::int64_t m, std::int64_t n, std::int64_t k) { return pieces_of(m, n, k); }

template <class T>
std::int64_t own_gemm_packed(std::int64_t n, std::int64_t k) {
    return padded_columns<T>(n) * operands<T>(k);
}

template <class T>
void pack_own_gemm(const GemmProblem<T>& p, OperandOf<T>* to) {
    const GemmKernels<T>& kernel = kernels<T>();
    std::int64_t panels = divide_up(p.n, kernel.most_columns), cuts = divide_up(p.k, most_depth);
    parallel_for(panels * cuts, [&](std::int64_t index) {
        std::int64_t column = index / cuts * kernel.most_columns, k = index % cuts * most_depth;
        std::int64_t depth_here = std::min(most_depth, p.k - k), begin = column / most_width * most_width;
        kernel.pack_b(to + packed_at<T>(p.n, p.k, k, begin) + (column - begin) * operands<T>(depth_here),
                      p.b + k * p.b_row + column * p.b_column, p.b_row, p.b_column,
                      static_cast<int>(std::min<std::int64_t>(kernel.most_columns, p.n - column)), depth_here);
    });
}

#define WEFT_OWN_GEMM(T)                                                                 \
    template void own_gemm(const GemmProblem<T>&, OperandOf<T>*);                        \
    template std::int64_t own_gemm_scratch<T>(std::int64_t, std::int64_t, std::int64_t); \
    template void pack_own_gemm(const GemmProblem<T>&, OperandOf<T>*);                   \
    template std::int64_t own_gemm_packed<T>(std::int64_t, std::int64_t);
WEFT_OWN_GEMM(float)
WEFT_OWN_GEMM(double)
WEFT_OWN_GEMM(RoundedFloat)
#undef WEFT_OWN_GEMM

}  // namespace weft::cpu
