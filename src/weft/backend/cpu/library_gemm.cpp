#include "weft/backend/cpu/library_gemm.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "weft/backend/cpu/late_library.h"
#include "weft/backend/cpu/library_threads.h"
#include "weft/base/error.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"
#include "weft/found.h"

#if WEFT_HAVE_ONEDNN
#include <dnnl.h>
#endif

// Measured on one thread, GFLOP/s, float32 unless said otherwise; AMD Zen 4 (peak 117) | Intel with AVX-512 (peak 242):
//                       own        oneDNN      OpenBLAS
//   64^3                104 | 187   95 | 169   112 | 195
//   128^3                97 | 183  113 | 193    99 | 141
//   128x784x1024         97 | 148  106 | 174    94 | 139
//   1024x1024x128, A'   110        113         102
//   128x1024x10          65 | ?     49 | 84     48 | 54
//   1024^3              101 | 124  110 | 161   102 | 158
//   1024^3, float64      47         -           51
// A slower hour of the Intel (peak 176), b copied where it is read: 64^3 158 | 150, 128^3 160 | 174, 128x784x1024 147 | 174, 512^3 150 | 176.
// So oneDNN would be the faster one from about 96^3 on where no side is short. But it generates its code when it is first asked: 30 to
// 50 ms, the time of the first three steps of a network of that size. So from 2^28 multiplications on, where a call takes 4 ms and a
// step of training tenths of a second. (The step of 784-1024-1024-10 in batches of 128: 14.8 ms with it, 14.7 without.)
// Never OpenBLAS: weft's own ties with it or wins, and has the same bits on every processor. On a Zen 5, which OpenBLAS 0.3.21 takes for an
// older one, float64 of 600^3 to 2048^3 runs at 57 GFLOP/s with it and at 105 to 122 without (peak 143).
namespace weft::cpu {
namespace {

template <class T>
struct MatrixOperand {
    const T* data;
    bool transposed;
    std::int64_t leading;
};

/// A matrix as libraries take it: rows or columns contiguous, the other axis not shorter than the extent.
template <class T>
bool as_operand(const T* data, std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column,
                MatrixOperand<T>& operand) {
    if (column == 1 && row >= std::max<std::int64_t>(1, columns))
        operand = {data, false, row};
    else if (row == 1 && column >= std::max<std::int64_t>(1, rows))
        operand = {data, true, column};
    else
        return false;
    return operand.leading <= std::numeric_limits<std::int32_t>::max();
}

template <class T>
bool in_range(const GemmProblem<T>& p) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    return p.m <= most && p.n <= most && p.k <= most && p.c_row >= p.n && p.c_row <= most;
}

template <class T>
void apply_epilogue(const GemmProblem<T>& p, std::int64_t begin, std::int64_t end) {
    if (!p.bias && !p.relu) return;
    for (std::int64_t i = begin; i < end; ++i) {
        T* row = p.c + i * p.c_row;
        if (p.bias)
            for (std::int64_t j = 0; j < p.n; ++j) row[j] += p.bias[j];
        if (p.relu)
            for (std::int64_t j = 0; j < p.n; ++j) row[j] = row[j] < 0 ? T(0) : row[j];
    }
}

/// A product that a library takes: its matrices, and how many rows of it at a time.
template <class T>
struct Taken {
    MatrixOperand<T> a, b;
    std::int64_t rows = 0;  // 0: it does not
};

/// An even number of blocks of rows for threads to share, of about so many rows each, in multiples of 32: of three blocks two threads would take two
/// and one (1,800 x 100 by 1,800 on two: 2.4 to 1.8 ms). As many for any number of threads, so that bits are the same.
template <class T>
std::int64_t rows_of_block(const GemmProblem<T>& p, std::int64_t about) {
    std::int64_t blocks = std::max<std::int64_t>(2, p.m / std::max(about, p.m / 64));
    return divide_up(divide_up(p.m, blocks + blocks % 2), 32) * 32;
}

/// Calls multiply(first row, rows) for each block.
template <class T, class Multiply>
void for_each_block_of_rows(const GemmProblem<T>& p, std::int64_t rows, Multiply&& multiply) {
    parallel_for((p.m + rows - 1) / rows, [&](std::int64_t block) {
        std::int64_t begin = block * rows, end = std::min(p.m, begin + rows);
        multiply(begin, end - begin);
        apply_epilogue(p, begin, end);
    });
}

#if WEFT_HAVE_ONEDNN

// It copies B anew for each block of rows: on an Intel 1024^3 runs at 120 GFLOP/s by 32 rows, at 160 by 256 (of 176); in a slower hour 2048^3 at 117 by
// 256, at 129 by 512. On a Zen 5 so many make no difference (0.99 to 1.03), on a Zen 4 they were not measured.
std::int64_t onednn_rows() { return is_no_zen() ? 512 : 256; }
constexpr std::int64_t least_onednn_rows = 512;

// On a Xeon it is slow for rows of a that lie side by side, by few columns or by such of b: 1,024 x 1,024 (turned) by 256 took 1.12 to 1.3 of MKL's time
// (weft's own 0.97), 3,072 x 1,024 by 768 1.19 (0.97), 1,024 x 4,096 by 256 1.39 (1.0), both turned 1,024 cubed 1.36 (1.0); but 768 x 1,024 by 3,072 1.05
// (1.08). On a Zen 5, where only such whose rows of b end within a page come here, weft's own took of oneDNN's time: up to 512 deep 0.91 to
// 0.98; b turned 0.71, 0.88, 0.94, 1.0; a turned, whose lines lie pages apart, 0.83 and 0.87, others 0.98 to 1.04; deeper ones that lie in rows 0.99 to
// 1.02. With AVX2 (a Zen 3) weft's own took of its time 0.44 to 0.8 where c has 512 rows or columns, else 0.93 to 1.03; but of few columns and long sums,
// which own_gemm cuts into pieces, 1.09 to 1.24.
bool slow_in_onednn(const GemmProblem<float>& p) {
    constexpr std::int64_t few_columns = 1024;
    if (best_isa() == Isa::avx2) return p.a_column != 1 || p.b_column != 1 || own_gemm_pieces(p.m, p.n, p.k) == 1;
    if (is_zen5()) return p.k <= 512 || p.b_row == 1 || (p.a_row == 1 && p.a_column * sizeof(float) % 4096 == 0);
    return is_no_zen() && p.a_row == 1 && (p.n < few_columns || p.b_row == 1);
}
// On a Zen 4 rows that lie a multiple of half a page apart are read faster by weft's own (1024^3 110 GFLOP/s for 106, 2048^3 108 for 106; but
// 1000^3 105 for 114).
bool worth_onednn(std::int64_t m, std::int64_t n, std::int64_t k) {
    return m >= least_onednn_rows && n >= 32 && k >= 32 && m * n * k >= std::int64_t{1} << 28;
}
bool worth_onednn(const GemmProblem<float>& p) {
    bool apart = p.a_row * sizeof(float) % 2048 == 0 && p.b_row * sizeof(float) % 2048 == 0;
    if ((computes_in_halves() && (apart || p.b_row == 1)) || slow_in_onednn(p)) return false;
    return worth_onednn(p.m, p.n, p.k);
}

Taken<float> taken_by_onednn(const GemmProblem<float>& p) {
    Taken<float> taken;
    if (!worth_onednn(p) || !is_there(LateLibrary::onednn) || !in_range(p) ||
        !as_operand(p.a, p.m, p.k, p.a_row, p.a_column, taken.a) ||
        !as_operand(p.b, p.k, p.n, p.b_row, p.b_column, taken.b))
        return taken;
    taken.rows = rows_of_block(p, onednn_rows());
    return taken;
}

void multiply_by_onednn(const GemmProblem<float>& p, const Taken<float>& taken) {
    const MatrixOperand<float>&a = taken.a, &b = taken.b;
    for_each_block_of_rows(p, taken.rows, [&](std::int64_t begin, std::int64_t rows) {
        OneOpenMpThread guard;
        dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', rows, p.n, p.k, 1.0f,
                                          a.data + begin * p.a_row, a.leading, b.data, b.leading,
                                          p.accumulate ? 1.0f : 0.0f, p.c + begin * p.c_row, p.c_row);
        if (status == dnnl_out_of_memory) throw OutOfMemory("gemm: oneDNN found no memory for its copies");
        promise(status == dnnl_success, "oneDNN refused a matrix product");
    });
}

#endif

template <class T>
Taken<T> taken_by_library([[maybe_unused]] const GemmProblem<T>& p) {
#if WEFT_HAVE_ONEDNN
    if constexpr (std::is_same_v<T, float>) return taken_by_onednn(p);
#endif
    return {};
}

}  // namespace

template <class T>
std::int64_t library_gemm_rows(const GemmProblem<T>& problem) {
    return taken_by_library(problem).rows;
}

template <class T>
bool library_gemm(const GemmProblem<T>& problem) {
    Taken<T> taken = taken_by_library(problem);
    if (taken.rows == 0) return false;
#if WEFT_HAVE_ONEDNN
    if constexpr (std::is_same_v<T, float>) return multiply_by_onednn(problem, taken), true;
#endif
    return false;
}

bool library_gemm_may_take([[maybe_unused]] std::int64_t m, [[maybe_unused]] std::int64_t n,
                           [[maybe_unused]] std::int64_t k) {
#if WEFT_HAVE_ONEDNN
    return worth_onednn(m, n, k) || worth_onednn(n, m, k);
#else
    return false;
#endif
}

template bool library_gemm(const GemmProblem<float>&);
template bool library_gemm(const GemmProblem<double>&);
template std::int64_t library_gemm_rows(const GemmProblem<float>&);
template std::int64_t library_gemm_rows(const GemmProblem<double>&);

}  // namespace weft::cpu
