#include "weft/backend/cpu/generic_gemm.h"

#include <algorithm>

#include "weft/backend/cpu/arithmetic.h"
#include "weft/backend/cpu/complex_gemm.h"
#include "weft/backend/cpu/whole_gemm.h"
#include "weft/base/thread_pool.h"
#include "weft/base/unsigned_of.h"

namespace weft::cpu {
namespace {

constexpr std::int64_t columns_together = 64;  // columns whose sums are kept together

template <class T>
struct Operands {
    std::int64_t n, k;
    const T *a, *b;
    Matrix a_layout, b_layout;
    T* c;
    std::int64_t c_row;
    bool accumulate;
    Epilogue epilogue;
};

template <class T>
void finish_strip(const Operands<T>& p, std::int64_t row, std::int64_t column, std::int64_t columns,
                  const Sum<T>* sums) {
    for (std::int64_t j = 0; j < columns; ++j) {
        Sum<T> sum = sums[j];
        if constexpr (std::is_floating_point_v<Sum<T>>) {
            if (p.epilogue.bias) sum += widened(static_cast<const T*>(p.epilogue.bias)[column + j]);
            if (p.epilogue.relu && sum < 0) sum = 0;
        }
        p.c[row * p.c_row + column + j] = static_cast<T>(sum);
    }
}

template <class T>
void multiply_row(const Operands<T>& p, std::int64_t row) {
    for (std::int64_t column = 0; column < p.n; column += columns_together) {
        std::int64_t columns = std::min(columns_together, p.n - column);
        Sum<T> sums[columns_together];
        for (std::int64_t j = 0; j < columns; ++j)
            sums[j] = p.accumulate ? widened(p.c[row * p.c_row + column + j]) : Sum<T>(0);
        for (std::int64_t k = 0; k < p.k; ++k) {
            Sum<T> from_a = widened(p.a[row * p.a_layout.row_stride + k * p.a_layout.column_stride]);
            const T* b = p.b + k * p.b_layout.row_stride + column * p.b_layout.column_stride;
            for (std::int64_t j = 0; j < columns; ++j)
                multiply_add<T>(sums[j], from_a, widened(b[j * p.b_layout.column_stride]));
        }
        finish_strip(p, row, column, columns, sums);
    }
}

}  // namespace

void generic_gemm(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b,
                  void* c, std::int64_t c_row_stride, bool accumulate, const Epilogue& epilogue) {
    if (whole_gemm(dtype, m, n, k, a, b, c, c_row_stride, accumulate)) return;
    if (complex_gemm(dtype, m, n, k, a, b, c, c_row_stride, accumulate)) return;
    constexpr std::int64_t work = 1 << 16;  // multiplications of a block
    std::int64_t rows =
        std::clamp<std::int64_t>(work / std::max<std::int64_t>(1, n * k), 1, std::max<std::int64_t>(1, m));
    with_dtype(dtype, [&]<class Element>(TypeTag<Element>) {
        using T = Wrapped<Element>;
        Operands<T> operands{n,
                             k,
                             static_cast<const T*>(a.data),
                             static_cast<const T*>(b.data),
                             a,
                             b,
                             static_cast<T*>(c),
                             c_row_stride,
                             accumulate,
                             epilogue};
        parallel_for((m + rows - 1) / rows, [&](std::int64_t block) {
            for (std::int64_t row = block * rows; row < std::min(m, (block + 1) * rows); ++row)
                multiply_row(operands, row);
        });
    });
}

}  // namespace weft::cpu
