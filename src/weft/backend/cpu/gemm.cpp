#include "weft/backend/cpu/gemm.h"

#include <algorithm>
#include <type_traits>

#include "weft/backend/cpu/generic_gemm.h"
#include "weft/backend/cpu/library_gemm.h"
#include "weft/backend/cpu/own_gemm.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"

namespace weft::cpu {
namespace {

template <class T>
inline constexpr bool has_kernel = std::is_same_v<T, float> || std::is_same_v<T, double>;

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
            static_cast<const T*>(a.data),
            a.row_stride,
            a.column_stride,
            static_cast<const T*>(b.data),
            b.row_stride,
            b.column_stride,
            static_cast<T*>(c),
            c_row,
            accumulate,
            static_cast<const T*>(epilogue.bias),
            epilogue.relu,
            static_cast<const T*>(b.packed)};
}

/// The caller's scratch, or memory of this call's own where that is too small.
template <class T>
class Workspace {
  public:
    Workspace(Scratch scratch, std::int64_t elements) {
        std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(T);
        if (scratch.data && scratch.bytes >= bytes) {
            data_ = static_cast<T*>(scratch.data);
            elements_ = static_cast<std::int64_t>(scratch.bytes / sizeof(T));
        } else if (bytes > 0) {
            owned_ = Buffer::allocate(bytes);
            data_ = reinterpret_cast<T*>(owned_->data());
            elements_ = elements;
        }
    }
    T* data() const { return data_; }
    std::int64_t elements() const { return elements_; }

  private:
    BufferHandle owned_;
    T* data_ = nullptr;
    std::int64_t elements_ = 0;
};

// What own_gemm packs itself: of B nothing where that was done before.
template <class T>
std::int64_t scratch_of(const GemmProblem<T>& p) {
    return own_gemm_scratch<T>(p.m, p.packed_b ? 0 : p.n, p.k);
}

template <class T>
void multiply(const GemmProblem<T>& problem, Scratch scratch) {
    if (library_gemm(problem)) return;
    Workspace<T> workspace(scratch, scratch_of(problem));
    own_gemm(problem, workspace.data());
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
void multiply_item(const GemmProblem<T>& problem, T* scratch) {
    if (!library_gemm(problem)) own_gemm(problem, scratch);
}

template <class T>
void multiply_batch(const GemmProblem<T>& first, const Batch& batch, Scratch scratch) {
    std::int64_t work = first.m * first.n * first.k, each = scratch_of(first);
    if (work > whole_item) {
        Workspace<T> workspace(scratch, each);
        for (std::int64_t i = 0; i < batch.count; ++i) multiply_item(item_of(first, batch, i), workspace.data());
        return;
    }
    Workspace<T> workspace(scratch, each);
    std::int64_t slots = each > 0 ? workspace.elements() / each : ThreadPool::instance().threads();
    std::int64_t together = std::clamp<std::int64_t>((1 << 18) / std::max<std::int64_t>(1, work), 1, batch.count);
    auto block = [&](std::int64_t index, int slot) {
        for (std::int64_t i = index * together; i < std::min(batch.count, (index + 1) * together); ++i)
            multiply_item(item_of(first, batch, i), workspace.data() + slot * each);
    };
    parallel_for((batch.count + together - 1) / together, block,
                 static_cast<int>(std::min<std::int64_t>(slots, 1 << 20)));
}

void check(DType dtype, const Epilogue& epilogue) {
    if ((epilogue.bias || epilogue.relu) && !is_floating(dtype))
        throw DTypeError(text("gemm: bias and relu are for floating types, not for ", dtype));
}

}  // namespace

void gemm(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b, void* c,
          std::int64_t c_row_stride, bool accumulate, const Epilogue& epilogue, Scratch scratch) {
    check(dtype, epilogue);
    with_dtype(dtype, [&]<class T>(TypeTag<T>) {
        if constexpr (has_kernel<T>)
            multiply(problem_of<T>(m, n, k, a, b, c, c_row_stride, accumulate, epilogue), scratch);
        else
            generic_gemm(dtype, m, n, k, a, b, c, c_row_stride, accumulate, epilogue);
    });
}

void batched_gemm(DType dtype, const Batch& batch, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                  const Matrix& b, void* c, std::int64_t c_row_stride, bool accumulate, const Epilogue& epilogue,
                  Scratch scratch) {
    check(dtype, epilogue);
    if (batch.count == 0) return;
    // One B for all, and the rows of A and of C go on evenly from item to item: that is one product.
    bool one =
        batch.b_stride == 0 && (m == 1 || (batch.a_stride == m * a.row_stride && batch.c_stride == m * c_row_stride));
    if (batch.count == 1 || one) {
        Matrix rows = m == 1 && batch.count > 1 ? Matrix{a.data, batch.a_stride, a.column_stride} : a;
        std::int64_t c_row = m == 1 && batch.count > 1 ? batch.c_stride : c_row_stride;
        return gemm(dtype, batch.count * m, n, k, rows, b, c, c_row, accumulate, epilogue, scratch);
    }
    with_dtype(dtype, [&]<class T>(TypeTag<T>) {
        if constexpr (has_kernel<T>) {
            multiply_batch(problem_of<T>(m, n, k, a, b, c, c_row_stride, accumulate, epilogue), batch, scratch);
        } else {
            parallel_for(batch.count, [&](std::int64_t i) {
                Matrix of_a = a, of_b = b;
                of_a.data = static_cast<const T*>(a.data) + i * batch.a_stride;
                of_b.data = static_cast<const T*>(b.data) + i * batch.b_stride;
                generic_gemm(dtype, m, n, k, of_a, of_b, static_cast<T*>(c) + i * batch.c_stride, c_row_stride,
                             accumulate, epilogue);
            });
        }
    });
}

bool gemm_by_library(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a, const Matrix& b) {
    return with_dtype(dtype, [&]<class T>(TypeTag<T>) {
        if constexpr (has_kernel<T>) return library_gemm_rows(problem_of<T>(m, n, k, a, b, nullptr, n, false, {})) > 0;
        return false;
    });
}

std::int64_t gemm_block_rows(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                             const Matrix& b) {
    std::int64_t each = std::max<std::int64_t>(1, n * k);  // multiplications of a row
    std::int64_t rows = with_dtype(dtype, [&]<class T>(TypeTag<T>) -> std::int64_t {
        if constexpr (has_kernel<T>) {
            // What a library would not take as a block is not cut into such.
            auto problem = problem_of<T>(m, n, k, a, b, nullptr, n, false, {});
            if (std::int64_t block = library_gemm_rows(problem)) {
                problem.m = block;
                return library_gemm_rows(problem) ? block : m;
            }
            if (own_gemm_pieces(m, n, k) > 1) return m;
            std::int64_t least = n * k * static_cast<std::int64_t>(sizeof(T)) > second_level_bytes ? 256 : 32;
            return n == 1 ? serial_row_work / each : std::max<std::int64_t>(least, block_work / each);
        }
        return std::max<std::int64_t>(1, serial_row_work / each);
    });
    return std::clamp<std::int64_t>(rows, 1, std::max<std::int64_t>(m, 1));
}

std::size_t gemm_packed_bytes(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
                              const Matrix& b, bool kept) {
    return with_dtype(dtype, [&]<class T>(TypeTag<T>) -> std::size_t {
        if constexpr (has_kernel<T>) {
            bool own = n > 1 && k > 0 && !gemm_by_library(dtype, m, n, k, a, b);
            bool pays = b.column_stride != 1 || n * k * sizeof(T) > near_bytes;
            // One row reads a turned matrix as it lies; a sum in pieces is another sum.
            if (kept) own = own && m > 1 && own_gemm_pieces(m, n, k) == 1;
            return own && pays ? static_cast<std::size_t>(own_gemm_packed<T>(n, k)) * sizeof(T) : 0;
        }
        return 0;
    });
}

void gemm_pack(DType dtype, std::int64_t n, std::int64_t k, const Matrix& b, void* to) {
    with_dtype(dtype, [&]<class T>(TypeTag<T>) {
        if constexpr (has_kernel<T>)
            pack_own_gemm(problem_of<T>(0, n, k, {}, b, nullptr, n, false, {}), static_cast<T*>(to));
    });
}

std::size_t gemm_scratch_bytes(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch) {
    return with_dtype(dtype, [&]<class T>(TypeTag<T>) -> std::size_t {
        if constexpr (!has_kernel<T>)
            return 0;
        else {
            std::int64_t slots = batch > 1 && m * n * k <= whole_item
                                     ? std::min<std::int64_t>(batch, ThreadPool::instance().threads())
                                     : 1;
            std::int64_t elements = slots * own_gemm_scratch<T>(m, n, k);
            // One product of all the rows, where batched_gemm finds the batch to be that.
            if (batch > 1) elements = std::max(elements, own_gemm_scratch<T>(batch * m, n, k));
            return static_cast<std::size_t>(elements) * sizeof(T);
        }
    });
}

}  // namespace weft::cpu
