#include "weft/backend/cpu/gemm.h"

#include <algorithm>
#include <type_traits>

#include "weft/backend/cpu/block_gemm.h"
#include "weft/backend/cpu/generic_gemm.h"
#include "weft/backend/cpu/library_gemm.h"
#include "weft/backend/cpu/own_gemm.h"
#include "weft/backend/cpu/slab_gemm.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"

namespace weft::cpu {
namespace {

/// f<T> for the numbers that weft's own kernel multiplies, other() for all others.
template <class F, class Other>
auto with_kernel(ProductType type, F f, Other other) {
    if (type.parts == 1) return f(TypeTag<RoundedFloat>());
    if (type.parts == 2) return f(TypeTag<FloatOfParts<2>>());
    if (type.parts == 3) return f(TypeTag<FloatOfParts<3>>());
    if (type.dtype == DType::float32) return f(TypeTag<float>());
    if (type.dtype == DType::float64) return f(TypeTag<double>());
    return other();
}

// Products of a batch up to this many multiplications run whole, each on one thread; larger ones one by one, on all
// threads.
constexpr std::int64_t whole_item = 1 << 22;

// Multiplications that make a block of rows worth a call of its own; where B is a vector, each row is on its own anyway.
constexpr std::int64_t block_work = 1 << 19, serial_row_work = 1 << 16;
// A B that lies in order and stays in the first-level cache needs no packing.
constexpr std::size_t near_bytes = 16 * 1024;

template <class T>
GemmProblem<T> problem_of(std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b, void* c,
                          std::int64_t c_row, bool accumulate, const Epilogue& epilogue) {
    return {m,
            n,
            k,
            static_cast<const NumberOf<T>*>(a.data),
            a.row_stride,
            a.column_stride,
            static_cast<const NumberOf<T>*>(b.data),
            b.row_stride,
            b.column_stride,
            static_cast<SumOf<T>*>(c),
            c_row,
            accumulate,
            static_cast<const SumOf<T>*>(epilogue.bias),
            epilogue.relu,
            static_cast<const OperandOf<T>*>(b.packed),
            epilogue.next};
}

/// The caller's scratch, or memory of this call's own where that is too small.
template <class T>
class Workspace {
    using Operand = OperandOf<T>;

  public:
    Workspace(Scratch scratch, std::int64_t elements) {
        std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(Operand);
        if (scratch.data && scratch.bytes >= bytes) {
            data_ = static_cast<Operand*>(scratch.data);
            elements_ = static_cast<std::int64_t>(scratch.bytes / sizeof(Operand));
        } else if (bytes > 0) {
            owned_ = Buffer::allocate(bytes);
            data_ = reinterpret_cast<Operand*>(owned_->data());
            elements_ = elements;
        }
    }
    Operand* data() const { return data_; }
    std::int64_t elements() const { return elements_; }

  private:
    BufferHandle owned_;
    Operand* data_ = nullptr;
    std::int64_t elements_ = 0;
};

// What own_gemm packs itself: of B nothing where that was done before.
template <class T>
std::int64_t scratch_of(const GemmProblem<T>& p, int threads = 1) {
    return own_gemm_scratch<T>(p.m, p.packed_b ? 0 : p.n, p.k, threads);
}

/// Threads that share a product: as many as there is memory for, since each has some of its own.
template <class T>
int sharers(const GemmProblem<T>& p, const Scratch& scratch) {
    int threads = ThreadPool::instance().threads();
    auto given = static_cast<std::int64_t>(scratch.bytes / sizeof(OperandOf<T>));
    while (scratch.data && threads > 1 && scratch_of(p, threads) > given) --threads;
    return threads;
}

/// Whether a product was made as a whole: by blocks or slabs of b, or by a library.
template <class T>
bool large_gemm(const GemmProblem<T>& problem) {
    if constexpr (ProductOf<T>::together == 1)
        if (takes_blocks(problem)) return block_gemm(problem), true;
    if constexpr (std::is_same_v<T, float>)
        if (takes_slabs(problem)) return slab_gemm(problem), true;
    return library_gemm(problem);
}
/// How many rows at a time such a product wants; 0: it is made otherwise.
template <class T>
std::int64_t large_gemm_rows(const GemmProblem<T>& problem) {
    constexpr std::int64_t rows = 4096;
    if constexpr (ProductOf<T>::together == 1)
        if (takes_blocks(problem)) return std::min(problem.m, rows);
    if constexpr (std::is_same_v<T, float>)
        if (takes_slabs(problem)) return std::min(problem.m, rows);
    return library_gemm_rows(problem);
}

template <class T>
void multiply(const GemmProblem<T>& problem, Scratch scratch) {
    if (large_gemm(problem)) return;
    int threads = sharers(problem, scratch);
    Workspace<T> workspace(scratch, scratch_of(problem, threads));
    own_gemm(problem, workspace.data(), threads);
}

template <class T>
GemmProblem<T> item_of(const GemmProblem<T>& first, const Batch& batch, std::int64_t i) {
    GemmProblem<T> item = first;
    item.a += i * batch.a_stride;
    item.b += i * batch.b_stride;
    item.c += i * batch.c_stride;
    return item;
}

template <class T>
void multiply_batch(const GemmProblem<T>& first, const Batch& batch, Scratch scratch) {
    std::int64_t work = first.m * first.n * first.k, each = scratch_of(first);
    if (work > whole_item) {
        int threads = sharers(first, scratch);
        Workspace<T> workspace(scratch, scratch_of(first, threads));
        for (std::int64_t i = 0; i < batch.count; ++i) {
            GemmProblem<T> item = item_of(first, batch, i);
            if (!large_gemm(item)) own_gemm(item, workspace.data(), threads);
        }
        return;
    }
    Workspace<T> workspace(scratch, each);
    std::int64_t slots = each > 0 ? workspace.elements() / each : ThreadPool::instance().threads();
    std::int64_t together = std::clamp<std::int64_t>((1 << 18) / std::max<std::int64_t>(1, work), 1, batch.count);
    std::int64_t numbers = batch.a_stride + batch.b_stride + batch.c_stride;
    bool far = batch.count * numbers * static_cast<std::int64_t>(sizeof(SumOf<T>)) > second_level_bytes;
    ItemStrides strides{batch.count, batch.a_stride, batch.b_stride, batch.c_stride, far};
    auto block = [&](std::int64_t index, int slot) {  // no library takes what is so small
        own_gemm_items(first, strides, index * together, std::min(batch.count, (index + 1) * together),
                       workspace.data() + slot * each);
    };
    parallel_for((batch.count + together - 1) / together, block,
                 static_cast<int>(std::min<std::int64_t>(slots, 1 << 20)));
}

void check(ProductType type, const Epilogue& epilogue) {
    if ((epilogue.bias || epilogue.relu) && !is_floating(type.dtype))
        throw DTypeError(text("gemm: bias and relu are for floating types, not for ", type.dtype));
    if (type.parts > 0 && type.dtype != DType::float32)
        throw DTypeError(text("gemm: float32 is multiplied as bfloat16, ", type.dtype, " is not"));
}

}  // namespace

ProductType::ProductType(DType dtype, int parts) : dtype(dtype), parts(parts > 1 && !multiplies_tiles() ? 0 : parts) {}

void gemm(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b, void* c,
          std::int64_t c_row_stride, bool accumulate, const Epilogue& epilogue, Scratch scratch) {
    check(type, epilogue);
    with_kernel(
        type,
        [&]<class T>(TypeTag<T>) {
            multiply(problem_of<T>(m, n, k, a, b, c, c_row_stride, accumulate, epilogue), scratch);
        },
        [&] { generic_gemm(type.dtype, m, n, k, a, b, c, c_row_stride, accumulate, epilogue); });
}

void batched_gemm(ProductType type, const Batch& batch, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                  const Matrix& b, void* c, std::int64_t c_row_stride, bool accumulate, const Epilogue& epilogue,
                  Scratch scratch) {
    check(type, epilogue);
    if (batch.count == 0) return;
    // One B for all, and the rows of A and of C go on evenly from item to item: that is one product.
    bool one =
        batch.b_stride == 0 && (m == 1 || (batch.a_stride == m * a.row_stride && batch.c_stride == m * c_row_stride));
    if (batch.count == 1 || one) {
        Matrix rows = m == 1 && batch.count > 1 ? Matrix{a.data, batch.a_stride, a.column_stride} : a;
        std::int64_t c_row = m == 1 && batch.count > 1 ? batch.c_stride : c_row_stride;
        return gemm(type, batch.count * m, n, k, rows, b, c, c_row, accumulate, epilogue, scratch);
    }
    with_kernel(
        type,
        [&]<class T>(TypeTag<T>) {
            multiply_batch(problem_of<T>(m, n, k, a, b, c, c_row_stride, accumulate, epilogue), batch, scratch);
        },
        [&] {
            parallel_for(batch.count, [&](std::int64_t i) {
                auto item = [i, size = static_cast<std::int64_t>(size_of(type.dtype))](const void* from,
                                                                                       std::int64_t stride) {
                    return static_cast<const std::byte*>(from) + i * stride * size;
                };
                Matrix of_a = a, of_b = b;
                of_a.data = item(a.data, batch.a_stride), of_b.data = item(b.data, batch.b_stride);
                auto* of_c = const_cast<std::byte*>(item(c, batch.c_stride));
                generic_gemm(type.dtype, m, n, k, of_a, of_b, of_c, c_row_stride, accumulate, epilogue);
            });
        });
}

std::unique_ptr<SmallGemm> small_gemm(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                                      const Matrix& b, std::int64_t c_row_stride) {
    if (type.parts > 0 || gemm_as_a_whole(type, m, n, k, a, b)) return nullptr;
    if (type.dtype == DType::float32)
        return own_small_gemm(problem_of<float>(m, n, k, a, b, nullptr, c_row_stride, false, {}));
    if (type.dtype == DType::float64)
        return own_small_gemm(problem_of<double>(m, n, k, a, b, nullptr, c_row_stride, false, {}));
    return nullptr;
}

bool gemm_as_a_whole(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                     const Matrix& b) {
    return with_kernel(
        type,
        [&]<class T>(TypeTag<T>) { return large_gemm_rows(problem_of<T>(m, n, k, a, b, nullptr, n, false, {})) > 0; },
        [] { return false; });
}

bool gemm_better_turned(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                        const Matrix& b) {
    if (gemm_as_a_whole(type, n, m, k, {nullptr, b.column_stride, b.row_stride},
                        {nullptr, a.column_stride, a.row_stride}))
        return false;
    return with_kernel(
        type,
        [&]<class T>(TypeTag<T>) {
            return own_gemm_better_turned(problem_of<T>(m, n, k, a, b, nullptr, n, false, {}));
        },
        [] { return false; });
}

std::int64_t gemm_block_rows(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                             const Matrix& b) {
    std::int64_t each = std::max<std::int64_t>(1, n * k);  // multiplications of a row
    std::int64_t rows = with_kernel(
        type,
        [&]<class T>(TypeTag<T>) -> std::int64_t {
            // What would not be made as a whole as a block is not cut into such, nor are fewer rows than are worth it: each block has b copied.
            constexpr std::int64_t many = 1 << 15;
            auto problem = problem_of<T>(m, n, k, a, b, nullptr, n, false, {});
            if (std::int64_t block = large_gemm_rows(problem)) {
                problem.m = block;
                return m >= many && large_gemm_rows(problem) ? block : m;
            }
            if (own_gemm_pieces(m, n, k) > 1) return m;
            // Each block reads b, too: on a Zen 5 more rows are worth that even from the second-level cache, where sums are deep (steps of transformers of
            // 128 and 256 channels 0.98 and 0.95 of the time; 784 x 128 by 1,024 with an update behind it 1.02).
            std::int64_t near = is_zen5() && k >= 256 ? second_level_bytes / 8 : second_level_bytes;
            // Tiles of six rows, where vectors have 16 registers (a Zen 3: the same steps, and one of a dense network, 0.975, 0.995, 0.987).
            std::int64_t few = best_isa() == Isa::avx2 ? 36 : 32;
            std::int64_t least = n * k * static_cast<std::int64_t>(sizeof(OperandOf<T>)) > near ? 256 : few;
            return n == 1 ? serial_row_work / each : std::max<std::int64_t>(least, block_work / each);
        },
        [&] {
            bool blocked =
                is_integer(type.dtype) || is_complex(type.dtype);  // and B is brought into order for all rows
            return blocked ? m : std::max<std::int64_t>(1, serial_row_work / each);
        });
    return std::clamp<std::int64_t>(rows, 1, std::max<std::int64_t>(m, 1));
}

std::int64_t gemm_fewest_rows(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k) {
    if (is_integer(type.dtype) || type.dtype == DType::bool_) return 1;
    // Few rows are inner products; of complex ones, real parts and imaginary ones by themselves.
    std::int64_t few = is_complex(type.dtype) ? 8 : 4, numbers = is_complex(type.dtype) ? 2 : 1;
    return m <= few ? m : std::max(few + 1, own_gemm_fewest_in_pieces(m, numbers * n, numbers * k));
}

bool gemm_maybe_by_library(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k) {
    if (is_integer(type.dtype) || type.dtype == DType::bool_ || type.dtype == DType::float64) return false;
    std::int64_t numbers = is_complex(type.dtype) ? 2 : 1;
    return library_gemm_may_take(m, numbers * n, numbers * k);
}

std::size_t gemm_packed_bytes(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                              const Matrix& b, bool kept) {
    return with_kernel(
        type,
        [&]<class T>(TypeTag<T>) -> std::size_t {
            // Of few rows a copy that is kept serves better than blocks, which copy B each time.
            constexpr std::int64_t few_rows = 512;
            bool whole = !(kept && m < few_rows) && gemm_as_a_whole(type, m, n, k, a, b);
            bool own = n > 1 && k > 0 && !whole;
            // Pairs are packed in any case.
            bool pays = ProductOf<T>::together > 1 || b.column_stride != 1 || n * k * sizeof(OperandOf<T>) > near_bytes;
            // Few rows read a turned matrix as it lies; a sum in pieces is another sum.
            own = own && !own_gemm_by_dots(problem_of<T>(m, n, k, a, b, nullptr, n, false, {}));
            if (kept) own = own && m > 1 && own_gemm_pieces(m, n, k) == 1;
            return own && pays ? static_cast<std::size_t>(own_gemm_packed<T>(n, k)) * sizeof(OperandOf<T>) : 0;
        },
        [] { return std::size_t{0}; });
}

void gemm_pack(ProductType type, std::int64_t n, std::int64_t k, const Matrix& b, void* to) {
    with_kernel(
        type,
        [&]<class T>(TypeTag<T>) {
            pack_own_gemm(problem_of<T>(0, n, k, {}, b, nullptr, n, false, {}), static_cast<OperandOf<T>*>(to));
        },
        [] {});
}

std::size_t gemm_scratch_bytes(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch,
                               int threads) {
    if (threads == 0) threads = ThreadPool::instance().threads();
    return with_kernel(
        type,
        [&]<class T>(TypeTag<T>) -> std::size_t {
            bool items = batch > 1 && m * n * k <= whole_item;  // each by one thread
            std::int64_t elements = items ? std::min<std::int64_t>(batch, threads) * own_gemm_scratch<T>(m, n, k)
                                          : own_gemm_scratch<T>(m, n, k, threads);
            // One product of all the rows, where batched_gemm finds the batch to be that.
            if (batch > 1) elements = std::max(elements, own_gemm_scratch<T>(batch * m, n, k, threads));
            return static_cast<std::size_t>(elements) * sizeof(OperandOf<T>);
        },
        [] { return std::size_t{0}; });
}

}  // namespace weft::cpu
