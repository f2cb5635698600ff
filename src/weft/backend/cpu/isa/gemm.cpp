#include "weft/backend/cpu/isa/gemm_kernels.h"
#include "weft/backend/cpu/isa/vector.h"

namespace weft::cpu::WEFT_ISA {
namespace {

// Registers: rows x vectors of accumulators, `vectors` of b, one of a. AVX-512 has 32, the others 16. Sanitizers check
// every one of the unrolled accesses, which takes minutes to compile: small tiles for them, of the same code with the
// same results.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int most_rows = 3;
#elif defined(WEFT_ISA_avx512)
constexpr int most_rows = 14;
#elif defined(WEFT_ISA_avx2)
constexpr int most_rows = 6;
#else
constexpr int most_rows = 4;
#endif
constexpr int most_vectors = 2;

/// `whole`: every lane of every vector is a column; `near_rows`: rows of a lie side by side (packed, or transposed).
template <class T, int rows, int vectors, bool whole, bool near_rows>
void compute(const GemmTile<T>& tile) {
    using V = Vec<T>;
    const int last = whole ? V::lanes : tile.columns - (vectors - 1) * V::lanes;
    auto load = [last](const T* from, int v) __attribute__((always_inline)) {
        return !whole && v == vectors - 1 ? V::load(from + v * V::lanes, last) : V::load(from + v * V::lanes);
    };
    typename V::Type sums[rows][vectors];
    // Three rows of a to an address, so that all addresses have registers: the others lie one and two strides further.
    constexpr int groups = (rows + 2) / 3;
    const T* from_a[groups];
    for (int g = 0; g < groups; ++g) from_a[g] = tile.a + 3 * g * tile.a_row;
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sums[i][v] = tile.accumulate ? load(tile.c + i * tile.c_row, v) : V::zero();
    }
    const T* a = tile.a;
    const T* b = tile.b;
    const T* fetch = tile.fetch;
    const std::int64_t row = tile.a_row;
    for (std::int64_t k = 0; k < tile.k; ++k) {
        typename V::Type from_b[vectors];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) from_b[v] = load(b, v);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
            typename V::Type factor = V::all(near_rows ? a[i] : from_a[i / 3][i % 3 * row]);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) sums[i][v] = V::fma(factor, from_b[v], sums[i][v]);
        }
        a += tile.a_column;
#pragma GCC unroll 8
        for (int g = 0; g < groups; ++g) from_a[g] += near_rows ? 0 : tile.a_column;
        b += tile.b_row;
        __builtin_prefetch(fetch, 0, 2);
        fetch += tile.fetch_step;
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            typename V::Type sum = sums[i][v];
            if (tile.bias) sum = V::add(sum, load(tile.bias, v));
            if (tile.relu) sum = V::relu(sum);
            T* to = tile.c + i * tile.c_row + v * V::lanes;
            if (!whole && v == vectors - 1)
                V::store(to, sum, last);
            else
                V::store(to, sum);
        }
    }
}

template <class T, int rows, int vectors, bool whole>
void choose_rows_of_a(const GemmTile<T>& tile) {
    if (tile.a_row == 1)
        compute<T, rows, vectors, whole, true>(tile);
    else
        compute<T, rows, vectors, whole, false>(tile);
}

template <class T, int rows>
void choose_columns(const GemmTile<T>& tile) {
    constexpr int lanes = Vec<T>::lanes;
    if (tile.columns == 2 * lanes)
        choose_rows_of_a<T, rows, 2, true>(tile);
    else if (tile.columns > lanes)
        choose_rows_of_a<T, rows, 2, false>(tile);
    else
        choose_rows_of_a<T, rows, 1, false>(tile);
}

template <class T, int rows>
void choose_rows(const GemmTile<T>& tile) {
    if (tile.rows == rows) return choose_columns<T, rows>(tile);
    if constexpr (rows > 1) choose_rows<T, rows - 1>(tile);
}

template <class T>
void compute_tile(const GemmTile<T>& tile) {
    choose_rows<T, most_rows>(tile);
}

#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)

/// Eight rows of eight, turned: to[i * to_row + j] = from[j * from_row + i].
void transpose_8x8(float* to, std::int64_t to_row, const float* from, std::int64_t from_row) {
    __m256 row[8], pair[8], four[8];
    for (int i = 0; i < 8; ++i) row[i] = _mm256_loadu_ps(from + i * from_row);
    for (int i = 0; i < 4; ++i) {
        pair[2 * i] = _mm256_unpacklo_ps(row[2 * i], row[2 * i + 1]);
        pair[2 * i + 1] = _mm256_unpackhi_ps(row[2 * i], row[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        four[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
        four[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xee);
        four[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
        four[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
    }
    for (int i = 0; i < 4; ++i) {
        _mm256_storeu_ps(to + i * to_row, _mm256_permute2f128_ps(four[i], four[i + 4], 0x20));
        _mm256_storeu_ps(to + (i + 4) * to_row, _mm256_permute2f128_ps(four[i], four[i + 4], 0x31));
    }
}

/// Whole columns of b that are contiguous (a transposed b): the first multiple of 8 of k; returns how much that is.
std::int64_t pack_turned(float* to, const float* b, std::int64_t column, int columns, std::int64_t k) {
    constexpr int width = most_vectors * Vec<float>::lanes;
    if (columns != width) return 0;
    for (int j = 0; j < width; j += 8)
        for (std::int64_t p = 0; p + 8 <= k; p += 8)
            transpose_8x8(to + p * width + j, width, b + j * column + p, column);
    return k / 8 * 8;
}
std::int64_t pack_turned(double*, const double*, std::int64_t, int, std::int64_t) { return 0; }

/// Eight or more rows of a, each contiguous: the first multiple of 8 of k, the last rows together with some before them.
std::int64_t pack_turned_rows(float* to, const float* a, std::int64_t row, int rows, std::int64_t k) {
    if (rows < 8 || rows > 16) return 0;
    for (std::int64_t p = 0; p + 8 <= k; p += 8) {
        transpose_8x8(to + p * rows, rows, a + p, row);
        if (rows > 8) transpose_8x8(to + p * rows + rows - 8, rows, a + (rows - 8) * row + p, row);
    }
    return k / 8 * 8;
}
std::int64_t pack_turned_rows(double*, const double*, std::int64_t, int, std::int64_t) { return 0; }

#else

template <class T>
std::int64_t pack_turned(T*, const T*, std::int64_t, int, std::int64_t) {
    return 0;
}
template <class T>
std::int64_t pack_turned_rows(T*, const T*, std::int64_t, int, std::int64_t) {
    return 0;
}

#endif

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
    std::int64_t done = column == 1 ? pack_turned_rows(to, a, row, rows, k) : 0;
    pack_a_at_most<T, most_rows>(to + done * rows, a + done * column, row, column, rows, k - done);
}

template <class T>
void pack_b(T* to, const T* b, std::int64_t row, std::int64_t column, int columns, std::int64_t k) {
    constexpr int width = most_vectors * Vec<T>::lanes;
    if (columns < width)
        for (std::int64_t p = 0; p < k; ++p)
            for (int j = columns; j < width; ++j) to[p * width + j] = 0;
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
    constexpr std::int64_t strip = 16;  // numbers of a column that are read together, where columns are contiguous
    for (std::int64_t begin = row == 1 ? pack_turned(to, b, column, columns, k) : 0; begin < k; begin += strip) {
        std::int64_t end = begin + strip < k ? begin + strip : k;
        for (int j = 0; j < columns; ++j)
            for (std::int64_t p = begin; p < end; ++p) to[p * width + j] = b[p * row + j * column];
    }
}

template <class T>
T dot(const T* a, const T* b, std::int64_t k) {
    using V = Vec<T>;
    constexpr int all_lanes = 64, vectors = all_lanes / V::lanes;
    typename V::Type sums[vectors];
    for (int v = 0; v < vectors; ++v) sums[v] = V::zero();
    std::int64_t p = 0;
    for (; p + all_lanes <= k; p += all_lanes) {
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v)
            sums[v] = V::fma(V::load(a + p + v * V::lanes), V::load(b + p + v * V::lanes), sums[v]);
    }
    for (int v = 0; v < vectors && p < k; ++v, p += V::lanes) {
        int count = k - p < V::lanes ? static_cast<int>(k - p) : V::lanes;
        sums[v] = V::fma(V::load(a + p, count), V::load(b + p, count), sums[v]);
    }
    T lanes[all_lanes];
    for (int v = 0; v < vectors; ++v) V::store(lanes + v * V::lanes, sums[v]);
    for (int half = all_lanes / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
    return lanes[0];
}

}  // namespace

const GemmKernels<float> gemm_kernels_f32{
    most_rows, most_vectors* Vec<float>::lanes, compute_tile<float>, pack_a<float>, pack_b<float>, dot<float>};
const GemmKernels<double> gemm_kernels_f64{
    most_rows, most_vectors* Vec<double>::lanes, compute_tile<double>, pack_a<double>, pack_b<double>, dot<double>};

}  // namespace weft::cpu::WEFT_ISA
