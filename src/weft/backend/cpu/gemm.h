// The matrix product C = A B of every type, with optional bias and relu: weft's own kernel, or a library's where that
// is measurably better. Plain functions on pointers; all strides count elements. Results are the same bits for any
// number of threads. Scratch memory comes from the caller (the memory plan); too little of it, or none, is allocated
// for the call. Callers: runtime/ (contractions), backend/cpu/own_convolution.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "weft/core/dtype.h"

namespace weft::cpu {

/// The type of A, B and C; `parts`: of float32, operands are taken as they are read for sums of so many bfloat16 (1: rounded), whose products are
/// summed in float32; 0: they are multiplied as they are, also where 2 or 3 are asked for and the processor multiplies no tiles of them.
struct ProductType {
    ProductType(DType dtype, int parts = 0);
    DType dtype;
    int parts;
};

/// Rows and columns may lie anyhow: transposed, strided, reversed, broadcast (stride 0).
struct Matrix {
    const void* data;
    std::int64_t row_stride, column_stride;
    const void* packed = nullptr;  // the same as gemm_pack wrote it, where many products share a B
};

/// Memory that is read when the product is done: asked for while it runs, as far as it has room for requests. Nothing depends on it.
struct ReadNext {
    const void* from;
    std::int64_t bytes;
};
inline constexpr int most_read_next = 8;

/// What is done to C on its way out: bias[j] (of C's type, contiguous) is added, then negative values become 0; and what comes afterwards.
struct Epilogue {
    const void* bias = nullptr;
    bool relu = false;
    std::span<const ReadNext> next = {};
};

struct Scratch {
    void* data = nullptr;  // on a 64-byte boundary
    std::size_t bytes = 0;
};

struct Batch {
    std::int64_t count;
    std::int64_t a_stride, b_stride, c_stride;  // those of A and B may be 0
};

/// C (m x n; rows c_row_stride apart, columns side by side) = A (m x k) B (k x n), or C += A B with `accumulate`. Sums
/// of float16 and bfloat16 are kept in float32 and rounded once; integers wrap; bool is "or" of "and". With k = 0 sums
/// are 0. C must not overlap A or B. DTypeError for an epilogue on a type that is not floating, and for parts
/// of another type than float32.
void gemm(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b, void* c,
          std::int64_t c_row_stride, bool accumulate = false, const Epilogue& epilogue = {}, Scratch scratch = {});

/// The same for each of a batch.
void batched_gemm(ProductType type, const Batch& batch, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                  const Matrix& b, void* c, std::int64_t c_row_stride, bool accumulate = false,
                  const Epilogue& epilogue = {}, Scratch scratch = {});

/// Products of one size whose matrices lie alike, one after the other: what gemm decides in each call is decided once.
class SmallGemm {
  public:
    virtual ~SmallGemm() = default;
    virtual void run(const void* a, const void* b, void* c, std::span<const ReadNext> next) const = 0;
};
/// Null where a product is shared by threads, copied, or left to a library. The same bits as gemm's.
std::unique_ptr<SmallGemm> small_gemm(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                                      const Matrix& b, std::int64_t c_row_stride);

/// Scratch that gemm (batch = 1) or batched_gemm want for these sizes (n = 0: with a B that is packed), whatever the strides, to be shared by
/// so many threads (0: the pool's, at this time); with less the result is the same.
std::size_t gemm_scratch_bytes(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1,
                               int threads = 0);

/// Whether this product is made as a whole, by blocks of B or by a library, whatever the data: it wants no scratch.
bool gemm_as_a_whole(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                     const Matrix& b);

/// Whether the turned product, of B' and A', takes less time though C is turned afterwards: where a large B, whose columns lie side by side,
/// would be copied for few rows of A, or the few columns of A' fill vectors better than those of B. The results are the same bits.
bool gemm_better_turned(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                        const Matrix& b);

/// How many rows of such a product at a time cost, a row, no more than all of them; m where only the whole is fast. Whatever the data.
std::int64_t gemm_block_rows(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                             const Matrix& b);

/// The fewest of m rows that weft's own kernels give the bits that they have among all, however the matrices lie.
std::int64_t gemm_fewest_rows(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k);
/// Whether a library might take the product, however the matrices lie: how it sums may depend on how many rows there are.
bool gemm_maybe_by_library(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k);

/// What B takes in the order in which products of m rows read it; 0 where they read it as it lies. `kept`: the copy costs nothing, as it
/// serves many products.
std::size_t gemm_packed_bytes(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                              const Matrix& b, bool kept = false);
void gemm_pack(ProductType type, std::int64_t n, std::int64_t k, const Matrix& b, void* to);

}  // namespace weft::cpu
