// Tiles of two vectors of columns, in the vectors of the compilers' own language.
#include "weft/backend/cpu/isa/whole_gemm.h"

#include "weft/backend/cpu/isa/vector.h"
#include "weft/backend/cpu/isa/vector_bytes.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <class U>
struct WholeLoops {
    using Factor = WholeFactor<U>;
    static constexpr int lanes = vector_bytes / static_cast<int>(sizeof(Factor)), across = 2;
    typedef Factor Vector __attribute__((vector_size(vector_bytes)));
    typedef U Numbers __attribute__((vector_size(lanes * sizeof(U))));  // as they lie in memory
    typedef Numbers Loose __attribute__((aligned(sizeof(U)), may_alias));

    WEFT_INLINE Vector load(const U* from) {
        return __builtin_convertvector(*reinterpret_cast<const Loose*>(from), Vector);
    }
    WEFT_INLINE void store(U* to, Vector value) {
        *reinterpret_cast<Loose*>(to) = __builtin_convertvector(value, Numbers);
    }
    WEFT_INLINE Vector all(Factor value) { return value - Vector{}; }

    template <int rows>
    static void tile_of(const WholeTile<U>& t) {
        Vector sums[rows][across] = {};
        const Factor* a = t.a;
        const U* b = t.b;
        for (std::int64_t k = 0; k < t.k; ++k, a += rows, b += t.b_row) {
            Vector of_b[across];
#pragma GCC unroll 2
            for (int j = 0; j < across; ++j) of_b[j] = load(b + j * lanes);
#pragma GCC unroll 8
            for (int i = 0; i < rows; ++i) {
                Vector of_a = all(a[i]);
#pragma GCC unroll 2
                for (int j = 0; j < across; ++j) sums[i][j] += of_a * of_b[j];
            }
        }
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i)
            if (i < t.rows) finish(t, sums[i], t.c + i * t.c_row);
    }
    WEFT_INLINE void finish(const WholeTile<U>& t, const Vector* sums, U* c) {
        for (int j = 0; j < across; ++j, c += lanes) {
            std::int64_t left = t.columns - j * lanes;
            if (left >= lanes) {
                store(c, t.accumulate ? sums[j] + load(c) : sums[j]);
                continue;
            }
            U made[lanes];
            store(made, sums[j]);
            for (std::int64_t i = 0; i < left; ++i) c[i] = static_cast<U>(t.accumulate ? c[i] + made[i] : made[i]);
            return;
        }
    }
    static void tile(const WholeTile<U>& t) {
        if (t.step == 1) return tile_of<1>(t);
        if (t.step == 2) return tile_of<2>(t);
        if (t.step == 4) return tile_of<4>(t);
        tile_of<WholeKernels<U>::most_rows>(t);
    }

    static void add_rows(U* c, const Factor* a, const U* b, std::int64_t b_row, std::int64_t rows, std::int64_t columns,
                         bool accumulate) {
        constexpr int most = WholeKernels<U>::most_rows;
        Vector factors[most];
        const U* row[most];
        for (int i = 0; i < most; ++i) factors[i] = all(a[i]), row[i] = b + (i < rows ? i : 0) * b_row;
        std::int64_t j = 0;
        for (; j + lanes <= columns; j += lanes) {
            Vector sum = accumulate ? load(c + j) : Vector{};
#pragma GCC unroll 8
            for (int i = 0; i < most; ++i) sum += factors[i] * load(row[i] + j);
            store(c + j, sum);
        }
        for (; j < columns; ++j) {
            std::uint64_t sum = accumulate ? c[j] : 0;
            for (int i = 0; i < most; ++i) sum += std::uint64_t{a[i]} * std::uint64_t{row[i][j]};
            c[j] = static_cast<U>(sum);
        }
    }

    static U dot(const U* a, const U* b, std::int64_t count) {
        constexpr int chains = 4;
        Vector sums[chains] = {};
        std::int64_t i = 0;
        for (; i + chains * lanes <= count; i += chains * lanes) {
#pragma GCC unroll 4
            for (int j = 0; j < chains; ++j) sums[j] += load(a + i + j * lanes) * load(b + i + j * lanes);
        }
        for (; i + lanes <= count; i += lanes) sums[0] += load(a + i) * load(b + i);
        Vector joined = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        U total = 0;
        for (int j = 0; j < lanes; ++j) total = static_cast<U>(total + joined[j]);
        for (; i < count; ++i) total = static_cast<U>(total + std::uint64_t{a[i]} * std::uint64_t{b[i]});
        return total;
    }

    static constexpr WholeKernels<U> table() { return {across * lanes, tile, add_rows, dot}; }
};

}  // namespace

extern const WholeKernels<std::uint8_t> whole_kernels_8 = WholeLoops<std::uint8_t>::table();
extern const WholeKernels<std::uint16_t> whole_kernels_16 = WholeLoops<std::uint16_t>::table();
extern const WholeKernels<std::uint32_t> whole_kernels_32 = WholeLoops<std::uint32_t>::table();
extern const WholeKernels<std::uint64_t> whole_kernels_64 = WholeLoops<std::uint64_t>::table();

}  // namespace weft::cpu::WEFT_ISA
