// weft's own matrix product for float, double and float as bfloat16 (summed in float): packed panels, tiles in registers, blocks claimed by the pool. The
// same bits for every instruction set and number of threads: each element is one chain of fused multiply-adds in the
// order of k, cut into pieces and summed in their order only where sizes say so. Callers: backend/cpu/gemm.cpp,
// own_convolution.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/backend/cpu/gemm.h"
#include "weft/backend/cpu/isa/gemm_kernels.h"

namespace weft::cpu {

/// A B larger than this has left the second-level cache when it is read again.
inline constexpr std::int64_t second_level_bytes = 1 << 20;

template <class T>
struct GemmProblem {
    std::int64_t m = 0, n = 0, k = 0;
    const NumberOf<T>* a = nullptr;
    std::int64_t a_row = 0, a_column = 0;
    const NumberOf<T>* b = nullptr;
    std::int64_t b_row = 0, b_column = 0;
    SumOf<T>* c = nullptr;
    std::int64_t c_row = 0;  // columns of c lie side by side
    bool accumulate = false;
    const SumOf<T>* bias = nullptr;
    bool relu = false;
    const OperandOf<T>* packed_b = nullptr;  // b as pack_own_gemm made it, if it did: read instead of b
    std::span<const ReadNext> next = {};     // what is read behind it
    // Of a product among many: where the next one's matrices lie in one piece, to be asked for meanwhile; null: they are near, or scattered.
    const NumberOf<T>*next_a = nullptr, *next_b = nullptr;
    const SumOf<T>* next_c = nullptr;
};

/// `scratch` holds own_gemm_scratch(m, n, k, threads) operands; `threads`: as many of the pool's may share the product.
template <class T>
void own_gemm(const GemmProblem<T>& problem, OperandOf<T>* scratch, int threads = 1);

/// From product to product of a batch of so many, in numbers; `far`: all of them do not stay in the second-level cache.
struct ItemStrides {
    std::int64_t count, a, b, c;
    bool far;
};
/// Products [begin, end) of a batch, one after the other on this thread; scratch as for one.
template <class T>
void own_gemm_items(const GemmProblem<T>& first, const ItemStrides& strides, std::int64_t begin, std::int64_t end,
                    OperandOf<T>* scratch);

template <class T>
std::int64_t own_gemm_scratch(std::int64_t m, std::int64_t n, std::int64_t k, int threads = 1);

/// Whether it is made of inner products, which read b as it lies: of few rows or columns.
template <class T>
bool own_gemm_by_dots(const GemmProblem<T>& problem);

/// small_gemm (gemm.h) of what weft's own kernel multiplies.
template <class T>
std::unique_ptr<SmallGemm> own_small_gemm(const GemmProblem<T>& problem);

/// gemm_better_turned (gemm.h) of what weft's own kernel multiplies.
template <class T>
bool own_gemm_better_turned(const GemmProblem<T>& problem);

/// Into how many pieces the sum over k is cut: more than one where c alone would occupy few threads.
std::int64_t own_gemm_pieces(std::int64_t m, std::int64_t n, std::int64_t k);
/// The fewest rows whose sums are cut as those of m are.
std::int64_t own_gemm_fewest_in_pieces(std::int64_t m, std::int64_t n, std::int64_t k);

/// b in the order in which it is read, for many products with the same one: own_gemm_packed(n, k) operands at `to`.
template <class T>
void pack_own_gemm(const GemmProblem<T>& problem, OperandOf<T>* to);

template <class T>
std::int64_t own_gemm_packed(std::int64_t n, std::int64_t k);

}  // namespace weft::cpu
