#include "weft/backend/cpu/isa/gemm_dots.h"
#include "weft/backend/cpu/isa/gemm_pack.h"
#include "weft/backend/cpu/isa/gemm_short.h"
#include "weft/backend/cpu/isa/gemm_tile.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <class T, int rows>
void pack_rows(T* to, const T* a, std::int64_t row, std::int64_t column, std::int64_t k) {
    for (std::int64_t p = 0; p < k; ++p, to += rows, a += column) {
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) to[i] = a[i * row];
    }
}

template <class T, int most>
void pack_a_at_most(T* to, const T* a, std::int64_t row, std::int64_t column, int rows, std::int64_t k) {
    if (rows == most) return pack_rows<T, most>(to, a, row, column, k);
    if constexpr (most > 1) pack_a_at_most<T, most - 1>(to, a, row, column, rows, k);
}

template <class T>
void pack_a(T* to, const T* a, std::int64_t row, std::int64_t column, int rows, std::int64_t k) {
    if (row == 1 && rows <= Vec<T>::lanes) return pack_side_by_side(to, a, column, rows, k);
    std::int64_t done = column == 1 ? pack_turned_rows(to, a, row, rows, k) : 0;
    pack_a_at_most<T, std::max(most_rows, single_rows)>(to + done * rows, a + done * column, row, column, rows,
                                                        k - done);
}

template <class T>
void pack_b(T* to, const T* b, std::int64_t row, std::int64_t column, int columns, std::int64_t k) {
    constexpr int width = most_vectors * Vec<T>::lanes;
    if (columns < width)
        for (std::int64_t p = 0; p < k * most_vectors; ++p) Vec<T>::store(to + p * Vec<T>::lanes, Vec<T>::zero());
    if (column == 1 && columns == width) {
        constexpr std::int64_t ahead = 16;  // rows of b may lie further apart than what the processor fetches by itself
        for (std::int64_t p = 0; p < k; ++p)
            for (int v = 0; v < most_vectors; ++v)
                __builtin_prefetch(b + (p + ahead) * row + v * Vec<T>::lanes),
                    Vec<T>::store(to + p * width + v * Vec<T>::lanes, Vec<T>::load(b + p * row + v * Vec<T>::lanes));
        return;
    }
    if (column == 1) {
        for (std::int64_t p = 0; p < k; ++p)
            for (int j = 0; j < columns; ++j) to[p * width + j] = b[p * row + j];
        return;
    }
    auto copy = [=](int j_begin, int j_end, std::int64_t k_begin, std::int64_t k_end) {
        constexpr std::int64_t strip = 16;  // numbers of a column that are read together, where columns are contiguous
        for (std::int64_t begin = k_begin; begin < k_end; begin += strip) {
            std::int64_t end = begin + strip < k_end ? begin + strip : k_end;
            for (int j = j_begin; j < j_end; ++j)
                for (std::int64_t p = begin; p < end; ++p) to[p * width + j] = b[p * row + j * column];
        }
    };
    int turned = columns / square_side<T> * square_side<T>;
    std::int64_t done = row == 1 ? pack_turned(to, b, column, turned, k) : 0;
    copy(turned, columns, 0, done);
    copy(0, columns, done, k);
}

/// `deep` rows of b, joined to the sums one after the other. `far`: what lies tile.fetch_step numbers ahead along them, and then along the next
/// rows, is asked for into the second-level cache.
template <class T, int rows, int deep, bool far>
void join_rows(const GemmTile<T>& tile, std::int64_t k, bool fresh) {
    using V = Vec<T>;
    typename V::Type factors[rows][deep];
    for (int i = 0; i < rows; ++i)
        for (int d = 0; d < deep; ++d) factors[i][d] = V::all(tile.a[i * tile.a_row + (k + d) * tile.a_column]);
    const T* b = tile.b + k * tile.b_row;
    auto join = [&](int j, auto load, auto store) __attribute__((always_inline)) {
        typename V::Type sums[rows];
        for (int i = 0; i < rows; ++i) sums[i] = fresh ? V::zero() : load(tile.c + i * tile.c_row + j);
        std::int64_t next = j + tile.fetch_step;
        if (far && next >= tile.columns) next += deep * tile.b_row - tile.columns;
        for (int d = 0; far && d < deep; ++d) __builtin_prefetch(b + d * tile.b_row + next, 0, 2);
#pragma GCC unroll 8
        for (int d = 0; d < deep; ++d) {
            typename V::Type from_b = load(b + d * tile.b_row + j);
#pragma GCC unroll 4
            for (int i = 0; i < rows; ++i) sums[i] = V::fma(factors[i][d], from_b, sums[i]);
        }
        for (int i = 0; i < rows; ++i) store(tile.c + i * tile.c_row + j, sums[i]);
    };
    int j = 0;
    for (; j + V::lanes <= tile.columns; j += V::lanes)
        join(
            j, [](const T* from) { return V::load(from); }, [](T* to, typename V::Type value) { V::store(to, value); });
    if (int rest = tile.columns - j; rest > 0)
        join(
            j, [rest](const T* from) { return V::load(from, rest); },
            [rest](T* to, typename V::Type value) { V::store(to, value, rest); });
}

template <class T, int rows>
void compute_few(const GemmTile<T>& tile) {
    constexpr int deep = rows == 1 ? 8 : 4;
    std::int64_t k = 0;
    for (; k + deep <= tile.k; k += deep) {
        bool fresh = k == 0 && !tile.accumulate;
        // Asked for where it is known to pay, on processors that have such an instruction.
        bool far = fused && tile.fetch_step > 0;
        far ? join_rows<T, rows, deep, fused>(tile, k, fresh) : join_rows<T, rows, deep, false>(tile, k, fresh);
    }
    for (; k < tile.k; ++k) join_rows<T, rows, 1, false>(tile, k, k == 0 && !tile.accumulate);
    if (!tile.bias && !tile.relu) return;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < tile.columns; ++j) {
            T& to = tile.c[i * tile.c_row + j];
            if (tile.bias) to += tile.bias[j];
            if (tile.relu) to = to < 0 ? T(0) : to;
        }
}

template <class T>
void few_rows(const GemmTile<T>& tile) {
    if (tile.rows == 1) return compute_few<T, 1>(tile);
    if (tile.rows == 2) return compute_few<T, 2>(tile);
    if (tile.rows == 3) return compute_few<T, 3>(tile);
    compute_few<T, 4>(tile);
}

template <class T>
constexpr GemmKernels<T> of_numbers{most_rows,       most_vectors* Vec<T>::lanes,
                                    compute_tile<T>, pack_a<T>,
                                    pack_b<T>,       dots<T>,
                                    few_rows<T>,     short_sums<T>,
                                    add_to<T>,       1,
                                    nullptr,         least_copying<T>,
                                    tall_rows,       paired_rows,
                                    fours_rows,      single_rows};

}  // namespace

const GemmKernels<float> gemm_kernels_f32 = of_numbers<float>;
const GemmKernels<double> gemm_kernels_f64 = of_numbers<double>;

}  // namespace weft::cpu::WEFT_ISA
