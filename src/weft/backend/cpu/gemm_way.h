// How a product of limited size is made: what of it is copied, how its tiles are cut, and in which order they go.
// Callers: backend/cpu/gemm_multiplication.h.
#pragma once

#include "weft/backend/cpu/gemm_rows.h"

namespace weft::cpu::own {

/// Decided by sizes, layouts and the processor alone; none of it changes a bit of the result.
template <class T>
struct Way {
    static constexpr bool made =
        !std::is_same_v<OperandOf<T>, NumberOf<T>>;  // operands are made of numbers: always packed
    static constexpr auto number_size = static_cast<std::int64_t>(sizeof(NumberOf<T>));

    Way(const GemmProblem<T>& p, const GemmKernels<T>& kernels) {
        panels = divide_up(p.n, kernels.most_columns);
        // A copy pays when it is read often. Rows of a that collide are copied, or for few columns taken 7 at a time
        // (128x1024x10: 24 -> 60 GFLOP/s); likewise rows that lie side by side, where tiles are large.
        bool big = p.m * p.n * p.k > small_work, collide = collides(p), halves = computes_in_halves();
        bool short_sums = !p.packed_b && p.k <= (halves ? 64 : 16);
        // Rows that lie side by side and are read twice or thrice are not worth more copies of fewer rows: one panel and tall tiles, or (a Zen 5) no copy
        // (x^T y of 768 x 512, 2,500 x 512 and 768 x 128 by 128 columns 0.92, 0.92, 0.9 of the time).
        bool read_twice = p.a_row == 1 && big && panels >= 4 && panels < 8;
        paired = !short_sums && (!read_twice || is_zen5()) && takes_pairs(kernels, p);
        // Six rows that lie apart are more streams than such a processor follows: copied where long ones are read often (a Zen 3, 600 and 1,000 cubed:
        // 0.9 of the time; 400 cubed, 64 x 784 by 784 x 1024 1.01 to 1.04).
        bool read_often = by_fours(kernels) && panels >= 32 && p.m > 64 && p.k >= 256;
        bool scattered = p.m > 1 && p.a_row != 1 && p.a_column != 1;
        // Six rows find a place in the first-level cache also where they collide: they are copied where very many panels read them.
        bool copied = collide && !(paired && (p.packed_b || p.n < 1024 || p.m <= own::block_rows));
        pack_a = made || scattered ||
                 (big && panels >= 4 && (copied || read_often || (p.a_row == 1 && !halves && !(read_twice && paired))));
        std::int64_t rows = paired ? kernels.paired_rows : pack_a ? most_rows_of(kernels, p.n) : tile_rows(kernels, p);
        tiles = RowTiles(p.m, collide && !pack_a ? colliding_rows(rows) : rows);
        from_first = feeds_from_first() && !made;
        // Sums of rows that collide are waited for (1,024 and 2,048 cubed on a Zen 4: 0.985 of the time).
        asks_c = halves && pack_a && p.c_row * static_cast<std::int64_t>(sizeof(*p.c)) % 2048 == 0;
        decide_of_b(p, kernels, big);
        in_rows = !made && panels > 1 && (short_sums || (halves && !pack_a && !pack_b && !far));
        cut(p, kernels);
        pass_rows_once(p);
    }

    RowTiles tiles{0, 1};
    std::int64_t panels;
    std::int64_t panel_depth, block_rows;  // numbers of k, and rows, at a time
    bool pack_a, pack_b;
    bool paired;      // tiles take two panels together
    bool far;         // b comes from memory
    bool from_first;  // tiles are fed from the first-level cache, by numbers multiplied as they are
    bool copies_b;    // the first tile of a panel copies it
    bool asks_c;      // tiles ask for the next one's sums
    bool in_rows;     // tile by tile of rows, for writing c takes longer than its sums, or a is to pass once

  private:
    /// Whether tiles are those of 16 registers, whose panels are not halved, and are copied by the first tile wherever rows of b lie (a Zen 3,
    /// 128 x 784 by 784 x 1024: 0.94 of the time).
    static bool by_fours(const GemmKernels<T>& kernels) { return kernels.fours_rows > 0; }

    void decide_of_b(const GemmProblem<T>& p, const GemmKernels<T>& kernels, bool big) {
        bool near = paired && stays_near(p);
        pack_b = !p.packed_b && (made || p.b_column != 1 || (big && worth_copying_b(p, tiles.count) && !near));
        bool lies = p.packed_b || (!made && p.b_column == 1) || (from_first && p.b_row == 1);
        // On an Intel from a quarter of the second-level cache on, where a and c, too, take place (512 cubed: 0.96 of the time).
        std::int64_t far_bytes = from_first && !p.packed_b ? second_level_bytes / 4 : second_level_bytes;
        auto bytes = p.n * operands<T>(p.k) * static_cast<std::int64_t>(sizeof(OperandOf<T>));
        far = lies && bytes > far_bytes && tiles.count >= 3;
        bool pages_apart = p.b_row * number_size % 4096 == 0 && !by_fours(kernels);
        std::int64_t least = paired ? least_paired_rows(kernels.paired_rows) : kernels.least_copying;
        copies_b = pack_b && from_first && p.b_column == 1 && !pages_apart && least > 0 && tiles.each >= least;
    }

    // Of few columns rows of a that come from beyond the second-level cache pass by but once, and each tile asks for the next one's, in pieces as long as
    // may be, for rows that are read in parts do not lie behind each other; b stays near as it lies. (Xeon, of the time of blocks that ask for the next
    // block's rows: 4,000 x 256 by 10 and 16 columns 0.57, 1,000 x 1,024 by 8 0.6, 2,000 x 512 by turned 8 0.64, 4,000 x 256 by 40 0.84, 63 0.92 to 1.0;
    // of paired panels, 64 and 128 columns, 1.15.)
    void pass_rows_once(const GemmProblem<T>& p) {
        constexpr std::int64_t near_row = 64;  // numbers of b
        bool behind = p.a_column == 1 && p.a_row < 2 * p.k;
        bool passes = behind && p.m * p.a_row * number_size >= second_level_bytes / 2;
        if (!from_first || paired || panels > 2 || pack_a || !passes) return;
        if (p.b_column == 1 && !p.packed_b && p.b_row <= near_row) pack_b = false;
        panel_depth = pack_b ? depth : most_depth;
        in_rows = true;
    }

    // What is copied here is half as deep, so that a panel stays in the first-level cache: tiles do not wait for the second then, which is
    // busy (Xeon, 128 x 784 by 784 x 1024: 141 to 147 GFLOP/s, 128 x 768 by 3,072 135 to 142, 2,500 x 512 by 128 149 to 158; packed before 0.97); of two
    // panels again half, and more rows read them (not on a Zen 5: 700 and 1,000 cubed 1.025 with a quarter of the depth, blocks of 256 rows 0.985).
    void cut(const GemmProblem<T>& p, const GemmKernels<T>& kernels) {
        bool halved = from_first && !p.packed_b && !by_fours(kernels) && (pack_b || !is_zen5());
        bool quartered = halved && paired && !is_zen5();
        panel_depth = quartered ? paired_depth(p.k) : halved ? depth / 2 : depth;
        block_rows = quartered && pack_a ? paired_block_rows : own::block_rows * together<T>;
    }
};

}  // namespace weft::cpu::own
