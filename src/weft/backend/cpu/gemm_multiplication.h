// One product of limited size by weft's own kernels: what of it is packed, how it is cut into tiles and shared out.
// Caller: backend/cpu/own_gemm.cpp, which cuts products of any size into such.
#pragma once

#include <algorithm>
#include <type_traits>

#include "weft/backend/cpu/own_gemm.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu::own {

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
inline constexpr std::int64_t depth = 256, block_rows = 256, most_depth = 2048, most_width = 4096;
// Of a sum in pieces, which all have copies of a at once.
inline constexpr std::int64_t piece_depth = 512;
inline constexpr std::size_t panel_bytes = depth * 32 * sizeof(float);  // of the widest kind
// Below this many multiplications one thread does it all: waking another costs more.
inline constexpr std::int64_t serial_work = 256 * 1024;

/// Where part i of `parts` of [0, size) begins: parts as equal as can be.
inline std::int64_t begin_of(std::int64_t i, std::int64_t parts, std::int64_t size) { return i * size / parts; }

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

}  // namespace weft::cpu::own
