#include "weft/backend/cpu/whole_gemm.h"

#include <algorithm>
#include <memory>

#include "weft/backend/cpu/isa/whole_gemm.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"

namespace weft::cpu {
namespace {

template <class U>
const WholeKernels<U>& whole_kernels() {
    if constexpr (sizeof(U) == 1) return WEFT_OF_BEST_ISA(whole_kernels_8);
    if constexpr (sizeof(U) == 2) return WEFT_OF_BEST_ISA(whole_kernels_16);
    if constexpr (sizeof(U) == 4) return WEFT_OF_BEST_ISA(whole_kernels_32);
    if constexpr (sizeof(U) == 8) return WEFT_OF_BEST_ISA(whole_kernels_64);
}

template <class U>
class WholeProduct {
  public:
    WholeProduct(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b, void* c,
                 std::int64_t c_row, bool accumulate)
        : m_(m),
          n_(n),
          k_(k),
          a_(a),
          b_(b),
          from_a_(static_cast<const U*>(a.data)),
          from_b_(static_cast<const U*>(b.data)),
          c_(static_cast<U*>(c)),
          c_row_(c_row),
          accumulate_(accumulate) {}

    void run() {
        if (n_ == 1 && a_.column_stride == 1) return dots(from_a_, a_.row_stride, from_b_, b_.row_stride, m_, c_row_);
        if (m_ == 1 && b_.row_stride == 1) return dots(from_b_, b_.column_stride, from_a_, a_.column_stride, n_, 1);
        if (m_ == 1 && b_.column_stride == 1) return one_row();
        std::int64_t columns = kernels_.columns, tiles = (n_ + columns - 1) / columns;
        // Few rows read b as it lies, whole tiles of it; so do all where it stays in the first-level cache.
        bool lies = m_ <= few_rows || k_ * n_ * static_cast<std::int64_t>(sizeof(U)) <= near_bytes;
        as_it_lies_ = lies && b_.column_stride == 1 ? n_ / columns : 0;
        // Pieces of k, so that copies of a narrow b, which fill whole tiles, stay small; sums wrap, so cuts change nothing.
        std::int64_t most = std::max(depth, copied_bytes / (tiles * columns * static_cast<std::int64_t>(sizeof(U))));
        piece_ = std::min(k_, most / depth * depth);
        if (tiles > as_it_lies_)
            packed_ = Buffer::allocate(static_cast<std::size_t>((tiles - as_it_lies_) * columns * piece_) * sizeof(U));
        for (begin_ = 0; begin_ < k_; begin_ += piece_) {
            end_ = std::min(begin_ + piece_, k_);
            parallel_for(tiles - as_it_lies_, [&](std::int64_t tile) { pack(as_it_lies_ + tile); });
            parallel_for((m_ + rows_a_block - 1) / rows_a_block, [&](std::int64_t block) { multiply_rows(block); });
        }
    }

  private:
    using Factor = WholeFactor<U>;
    static constexpr std::int64_t few_rows = 8, rows_a_block = 64, depth = 128, near_bytes = 32 * 1024,
                                  copied_bytes = 4 << 20;

    /// A tile of columns of b, zeros beside the last of them.
    void pack(std::int64_t tile) {
        std::int64_t columns = kernels_.columns, first = tile * columns, count = std::min(columns, n_ - first);
        U* to = packed_tile(tile);
        for (std::int64_t k = begin_; k < end_; ++k, to += columns) {
            const U* from = from_b_ + k * b_.row_stride + first * b_.column_stride;
            for (std::int64_t j = 0; j < count; ++j) to[j] = from[j * b_.column_stride];
            std::fill(to + count, to + columns, U(0));
        }
    }
    U* packed_tile(std::int64_t tile) const {
        return reinterpret_cast<U*>(packed_->data()) + (tile - as_it_lies_) * kernels_.columns * piece_;
    }

    void multiply_rows(std::int64_t block) {
        std::int64_t first = block * rows_a_block, rows = std::min(rows_a_block, m_ - first);
        auto factors = std::make_unique_for_overwrite<Factor[]>(
            static_cast<std::size_t>((rows + WholeKernels<U>::most_rows) * std::min(depth, k_)));
        for (std::int64_t from = begin_; from < end_; from += depth) {
            std::int64_t count = std::min(depth, end_ - from);
            pack_rows(factors.get(), first, rows, from, count);
            for (std::int64_t tile = 0; tile * kernels_.columns < n_; ++tile)
                multiply_tile(factors.get(), first, rows, tile, from, count);
        }
    }
    static std::int64_t step_of(std::int64_t rows) {
        return rows > 4 ? WholeKernels<U>::most_rows : rows > 2 ? 4 : rows;
    }
    void pack_rows(Factor* to, std::int64_t first, std::int64_t rows, std::int64_t from, std::int64_t count) const {
        for (std::int64_t i = 0; i < rows; i += WholeKernels<U>::most_rows) {
            std::int64_t together = std::min(WholeKernels<U>::most_rows, rows - i), step = step_of(together);
            const U* a = from_a_ + (first + i) * a_.row_stride + from * a_.column_stride;
            for (std::int64_t r = 0; r < step; ++r)
                for (std::int64_t k = 0; k < count; ++k)
                    to[k * step + r] = r < together ? a[r * a_.row_stride + k * a_.column_stride] : U(0);
            to += WholeKernels<U>::most_rows * count;
        }
    }
    void multiply_tile(const Factor* a, std::int64_t first, std::int64_t rows, std::int64_t tile, std::int64_t from,
                       std::int64_t count) const {
        std::int64_t columns = kernels_.columns, column = tile * columns;
        bool lies = tile < as_it_lies_;
        std::int64_t b_row = lies ? b_.row_stride : columns;
        const U* b = lies ? from_b_ + column + from * b_row : packed_tile(tile) + (from - begin_) * b_row;
        for (std::int64_t i = 0; i < rows; i += WholeKernels<U>::most_rows) {
            std::int64_t together = std::min(WholeKernels<U>::most_rows, rows - i);
            kernels_.tile({a + i * count, step_of(together), b, b_row, c_ + (first + i) * c_row_ + column, c_row_,
                           count, together, std::min(columns, n_ - column), accumulate_ || from > 0});
        }
    }

    /// One row of a: rows of b are added up, some at a time, as they follow each other in memory.
    void one_row() const {
        constexpr std::int64_t most = WholeKernels<U>::most_rows, stripe = 8192;
        parallel_for((n_ + stripe - 1) / stripe, [&](std::int64_t i) {
            std::int64_t first = i * stripe, count = std::min(stripe, n_ - first);
            for (std::int64_t k = 0; k < k_; k += most) {
                std::int64_t rows = std::min(most, k_ - k);
                Factor factors[most] = {};
                for (std::int64_t r = 0; r < rows; ++r) factors[r] = from_a_[(k + r) * a_.column_stride];
                kernels_.add_rows(c_ + first, factors, from_b_ + k * b_.row_stride + first, b_.row_stride, rows, count,
                                  accumulate_ || k > 0);
            }
        });
    }

    /// Inner products of rows that are contiguous with one vector.
    void dots(const U* rows, std::int64_t row, const U* vector, std::int64_t step, std::int64_t count,
              std::int64_t c_step) {
        std::unique_ptr<U[]> copy;
        if (step != 1) {
            copy = std::make_unique_for_overwrite<U[]>(static_cast<std::size_t>(k_));
            for (std::int64_t k = 0; k < k_; ++k) copy[static_cast<std::size_t>(k)] = vector[k * step];
            vector = copy.get();
        }
        std::int64_t block = std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(1, k_));
        parallel_for((count + block - 1) / block, [&](std::int64_t i) {
            for (std::int64_t r = i * block; r < std::min(count, (i + 1) * block); ++r) {
                U sum = kernels_.dot(rows + r * row, vector, k_);
                U& c = c_[r * c_step];
                c = static_cast<U>(accumulate_ ? c + sum : sum);
            }
        });
    }

    std::int64_t m_, n_, k_;
    Matrix a_, b_;
    const U *from_a_, *from_b_;
    U* c_;
    std::int64_t c_row_;
    bool accumulate_;
    std::int64_t as_it_lies_ = 0;
    const WholeKernels<U>& kernels_ = whole_kernels<U>();
    std::int64_t piece_ = 0, begin_ = 0, end_ = 0;  // of k: the most at a time, those at hand
    BufferHandle packed_;
};

}  // namespace

bool whole_gemm(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b, void* c,
                std::int64_t c_row_stride, bool accumulate) {
    constexpr std::int64_t least = 256;  // multiplications that are worth packing
    if (dtype == DType::bool_ || !is_integer(dtype) || k == 0 || m * n < 1 || m * n * k < least) return false;
    auto multiply = [&]<class U>(TypeTag<U>) { WholeProduct<U>(m, n, k, a, b, c, c_row_stride, accumulate).run(); };
    switch (size_of(dtype)) {
        case 1:
            multiply(TypeTag<std::uint8_t>());
            break;
        case 2:
            multiply(TypeTag<std::uint16_t>());
            break;
        case 4:
            multiply(TypeTag<std::uint32_t>());
            break;
        default:
            multiply(TypeTag<std::uint64_t>());
    }
    return true;
}

}  // namespace weft::cpu
