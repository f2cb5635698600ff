// Row i of A, as it lies, is 2k real numbers (a, a', ...), row i of C 2n. So C is the real product of A with a matrix of 2k x 2n: of b + i b' in
// it stand (b, b') and below it (-b', b). Where there are few rows, the other factor is taken apart: of the real products of A's real and of its
// imaginary parts with B as it lies C is put together.
#include "weft/backend/cpu/complex_gemm.h"

#include <algorithm>

#include "weft/backend/cpu/isa/complex_dots.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"

namespace weft::cpu {
namespace {

template <class R>
constexpr DType real_dtype = sizeof(R) == 4 ? DType::float32 : DType::float64;

template <class R>
ComplexDots<R> complex_dots() {
    if constexpr (sizeof(R) == 4) return WEFT_OF_BEST_ISA(complex_dots_f32);
    if constexpr (sizeof(R) == 8) return WEFT_OF_BEST_ISA(complex_dots_f64);
}

template <class R>
struct RealNumbers {
    BufferHandle buffer;
    R* data;
    explicit RealNumbers(std::int64_t count)
        : buffer(Buffer::allocate(static_cast<std::size_t>(count) * sizeof(R))),
          data(reinterpret_cast<R*>(buffer->data())) {}
};

template <class R>
class ComplexProduct {
  public:
    ComplexProduct(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b, void* c,
                   std::int64_t c_row, bool accumulate)
        : m_(m),
          n_(n),
          k_(k),
          a_(parts_of(a)),
          b_(parts_of(b)),
          c_(static_cast<R*>(c)),
          c_row_(2 * c_row),
          accumulate_(accumulate) {
        if (m_ > 1 || n_ == 1 || b_.row != 2 || b_.column == 2) return;
        std::swap(a_, b_), std::swap(a_.row, a_.column), std::swap(b_.row, b_.column);  // a row times a turned matrix
        m_ = n_, n_ = 1, c_row_ = 2;
    }

    void run() const {
        if (n_ == 1 && a_.column == 2) return by_dots();
        if (m_ <= few_rows && b_.column == 2 && n_ > 4) return by_parts_of_a();
        Parts a = a_;
        if (a.column == 2) return by_columns(a);
        RealNumbers<R> copy(2 * m_ * k_);
        parallel_for((m_ + copied_rows - 1) / copied_rows, [&](std::int64_t block) {
            for (std::int64_t k = 0; k < k_; ++k)
                for (std::int64_t i = block * copied_rows; i < std::min(m_, (block + 1) * copied_rows); ++i) {
                    const R* from = a_.data + i * a_.row + k * a_.column;
                    R* to = copy.data + 2 * (i * k_ + k);
                    to[0] = from[0], to[1] = from[1];
                }
        });
        by_columns({copy.data, 2 * k_, 2});
    }

  private:
    /// Of complex numbers; strides in real ones.
    struct Parts {
        const R* data;
        std::int64_t row, column;
    };
    static Parts parts_of(const Matrix& m) {
        return {static_cast<const R*>(m.data), 2 * m.row_stride, 2 * m.column_stride};
    }
    static constexpr std::int64_t few_rows = 8, copied_rows = 16, dot_block = 1 << 15;
    static constexpr std::int64_t most_doubled = 1 << 22,
                                  most_depth = 1 << 14;  // real numbers, and rows of B, at a time

    /// In pieces of k and n, so that little of B is doubled at a time.
    void by_columns(const Parts& a) const {
        std::int64_t depth = std::min(k_, most_depth);
        std::int64_t columns =
            std::clamp<std::int64_t>(most_doubled / (4 * depth) / 64 * 64, std::min<std::int64_t>(n_, 64), n_);
        RealNumbers<R> doubled(4 * depth * columns);
        for (std::int64_t k = 0; k < k_; k += depth)
            for (std::int64_t first = 0; first < n_; first += columns) {
                std::int64_t count = std::min(columns, n_ - first), deep = std::min(depth, k_ - k);
                double_rows(doubled.data, k, deep, first, count);
                gemm(real_dtype<R>, m_, 2 * count, 2 * deep, {a.data + 2 * k, a.row, 1}, {doubled.data, 2 * count, 1},
                     c_ + 2 * first, c_row_, accumulate_ || k > 0);
            }
    }
    void double_rows(R* to, std::int64_t first_row, std::int64_t depth, std::int64_t first, std::int64_t count) const {
        constexpr std::int64_t rows = 16;  // whose numbers may share lines of a cache
        parallel_for((depth + rows - 1) / rows, [&](std::int64_t block) {
            std::int64_t from_row = block * rows, end = std::min(depth, from_row + rows);
            const R* from = b_.data + first_row * b_.row + first * b_.column;
            if (b_.column == 2) {
                for (std::int64_t k = from_row; k < end; ++k) double_row(to + 4 * k * count, from + k * b_.row, count);
                return;
            }
            for (std::int64_t j = 0; j < count; ++j)
                for (std::int64_t k = from_row; k < end; ++k) {
                    const R* x = from + k * b_.row + j * b_.column;
                    R *upper = to + 4 * k * count + 2 * j, *lower = upper + 2 * count;
                    upper[0] = x[0], upper[1] = x[1], lower[0] = -x[1], lower[1] = x[0];
                }
        });
    }
    static void double_row(R* __restrict upper, const R* __restrict from, std::int64_t count) {
        R* __restrict lower = upper + 2 * count;
        std::copy(from, from + 2 * count, upper);
        for (std::int64_t j = 0; j < count; ++j) lower[2 * j] = -from[2 * j + 1], lower[2 * j + 1] = from[2 * j];
    }
    /// Rows of A with one vector.
    void by_dots() const {
        RealNumbers<R> copy(b_.row == 2 ? 0 : 2 * k_);
        const R* vector = b_.row == 2 ? b_.data : copy.data;
        if (b_.row != 2)
            for (std::int64_t k = 0; k < k_; ++k)
                copy.data[2 * k] = b_.data[k * b_.row], copy.data[2 * k + 1] = b_.data[k * b_.row + 1];
        std::int64_t rows = std::max<std::int64_t>(4, dot_block / k_ / 4 * 4);
        parallel_for((m_ + rows - 1) / rows, [&](std::int64_t block) {
            std::int64_t first = block * rows;
            complex_dots<R>()(c_ + first * c_row_, c_row_, a_.data + first * a_.row, a_.row, vector, k_,
                              std::min(rows, m_ - first), accumulate_);
        });
    }

    void by_parts_of_a() const {
        RealNumbers<R> parts(2 * m_ * k_), products(4 * m_ * n_);
        for (std::int64_t i = 0; i < m_; ++i)
            for (std::int64_t k = 0; k < k_; ++k) {
                const R* x = a_.data + i * a_.row + k * a_.column;
                parts.data[2 * i * k_ + k] = x[0], parts.data[(2 * i + 1) * k_ + k] = x[1];
            }
        gemm(real_dtype<R>, 2 * m_, 2 * n_, k_, {parts.data, k_, 1}, {b_.data, b_.row, 1}, products.data, 2 * n_);
        for (std::int64_t i = 0; i < m_; ++i) {
            const R *real = products.data + 4 * i * n_, *imaginary = real + 2 * n_;
            R* c = c_ + i * c_row_;
            for (std::int64_t j = 0; j < n_; ++j) {
                R re = real[2 * j] - imaginary[2 * j + 1], im = real[2 * j + 1] + imaginary[2 * j];
                c[2 * j] = accumulate_ ? c[2 * j] + re : re, c[2 * j + 1] = accumulate_ ? c[2 * j + 1] + im : im;
            }
        }
    }

    std::int64_t m_, n_, k_;
    Parts a_, b_;
    R* c_;
    std::int64_t c_row_;
    bool accumulate_;
};

}  // namespace

bool complex_gemm(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b,
                  void* c, std::int64_t c_row_stride, bool accumulate) {
    constexpr std::int64_t least = 64;  // multiplications that are worth a matrix more
    if (!is_complex(dtype) || k == 0 || m * n < 1 || m * n * k < least) return false;
    if (dtype == DType::complex64)
        ComplexProduct<float>(m, n, k, a, b, c, c_row_stride, accumulate).run();
    else
        ComplexProduct<double>(m, n, k, a, b, c, c_row_stride, accumulate).run();
    return true;
}

}  // namespace weft::cpu
