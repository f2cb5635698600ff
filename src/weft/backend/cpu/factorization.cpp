// The factorizations of batches of matrices: each matrix is copied out of its strides, given to LAPACK or to weft's own code on one
// thread, and its result copied into place. So results do not depend on the number of threads, nor on how operands lie.
#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/library_threads.h"
#include "weft/backend/cpu/matrix/problem.h"
#include "weft/backend/cpu/strided.h"
#include "weft/base/integers.h"
#include "weft/found.h"

namespace weft::cpu {
namespace {

using matrix::Outcome;
using matrix::Problem;

/// The last axes of an operand that are one matrix, packed parts or a number: sizes and strides, a missing axis of size 1.
struct Core {
    std::int64_t rows = 1, columns = 1, row = 0, column = 0;
    Core() = default;
    Core(const Layout& layout, int axes) {
        std::size_t last = layout.dims.size() - 1;
        if (axes == 2) columns = layout.dims[last], column = layout.strides[last], --last;
        if (axes > 0) rows = layout.dims[last], row = layout.strides[last];
    }
    std::int64_t size() const { return rows * columns; }
    // Between where it lies and a dense column-major copy.
    template <class T>
    void gather(const T* from, T* to) const {
        for (std::int64_t j = 0; j < columns; ++j) copy_run(to + j * rows, 1, from + j * column, row, rows);
    }
    template <class T>
    void scatter(const T* from, T* to) const {
        for (std::int64_t j = 0; j < columns; ++j) copy_run(to + j * column, row, from + j * rows, 1, rows);
    }
};

class FactorizationKernel final : public Kernel {
  public:
    FactorizationKernel(const Node& node, std::span<const Layout> inputs, const Layout& output)
        : name_(node.operation->name), dtype_(inputs[0].dtype), result_dtype_(output.dtype) {
        auto& a = *attributes_if<FactorizationAttributes>(node);
        std::size_t axes = inputs[0].dims.size(), batch_axes = axes - 2;
        problem_ = {.kind = a.kind,
                    .m = inputs[0].dims[axes - 2],
                    .n = inputs[0].dims[axes - 1],
                    .lower = a.lower,
                    .transposed = a.transposed,
                    .unit_diagonal = a.unit_diagonal,
                    .complete = a.complete};
        std::array<Dims, 4> strides;
        strides.fill(Dims(batch_axes));
        result_ = Core(output, result_axes(a.kind));
        strides[0] = part(output.strides, 0, batch_axes);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            int core = core_axes(a.kind, i);
            if (core < 0) continue;
            reads_[count_] = i, cores_[count_] = Core(inputs[i], core);
            strides[++count_] = part(inputs[i].strides, 0, batch_axes);
        }
        problem_.k = cores_[count_ - 1].columns;
        batch_dims_ = part(output.dims, 0, batch_axes);
        batch_ = Box<4>(batch_dims_, strides);
        lapack_ = matrix::lapack_takes(problem_);
#if WEFT_HAVE_OPENBLAS
        if (lapack_) one_openblas_thread();
#endif
        with_matrix_type([&]<class T>(TypeTag<T>) {
            bytes_ = aligned(lapack_ ? matrix::lapack_scratch<T>(problem_) : matrix::own_scratch<T>(problem_));
        });
        matrices_a_block_ = std::max<std::int64_t>(1, block_elements / 8 / std::max<std::int64_t>(1, work()));
        slots_ = static_cast<int>(
            std::max<std::int64_t>(1, std::min<std::int64_t>(blocks(), ThreadPool::instance().threads())));
    }

    std::size_t scratch_bytes() const override { return static_cast<std::size_t>(slots_) * slot_bytes(); }
    std::string_view by() const override { return lapack_ ? "LAPACK" : "own factorization"; }

    void run(void* const* operands, std::byte* scratch) const override {
        if (result_.size() == 0) return;
        with_matrix_type([&]<class T>(TypeTag<T>) {
            parallel_for(
                blocks(),
                [&](std::int64_t block, int slot) {
                    std::int64_t first = block * matrices_a_block_,
                                 last = std::min(batch_.size, first + matrices_a_block_);
                    batch_.walk(first, last, [&](std::array<std::int64_t, 4> at, std::int64_t count) {
                        for (; count > 0; --count, ++first) {
                            run_one<T>(operands, at, first, scratch + static_cast<std::size_t>(slot) * slot_bytes());
                            for (std::size_t k = 0; k < 4; ++k) at[k] += batch_.inner(k);
                        }
                    });
                },
                slots_);
        });
    }

  private:
    std::int64_t work() const { return problem_.m * problem_.n * std::max(problem_.least(), problem_.k); }
    std::int64_t blocks() const { return (batch_.size + matrices_a_block_ - 1) / matrices_a_block_; }
    std::size_t core_bytes(std::size_t i) const {
        return aligned(static_cast<std::size_t>(cores_[i].size()) * size_of(dtype_));
    }
    // The copies of inputs, the result, what the algorithm takes.
    std::size_t slot_bytes() const {
        std::size_t bytes = aligned(static_cast<std::size_t>(result_.size()) * size_of(result_dtype_)) + bytes_;
        for (std::size_t i = 0; i < count_; ++i) bytes += core_bytes(i);
        return bytes + 64;
    }

    template <class F>
    void with_matrix_type(F&& f) const {
        switch (dtype_) {
            case DType::float32:
                return f(TypeTag<float>{});
            case DType::float64:
                return f(TypeTag<double>{});
            case DType::complex64:
                return f(TypeTag<std::complex<float>>{});
            case DType::complex128:
                return f(TypeTag<std::complex<double>>{});
            default:
                throw InternalError(text(name_, ": the CPU has no factorization of ", dtype_));
        }
    }

    template <class T>
    void run_one(void* const* operands, const std::array<std::int64_t, 4>& at, std::int64_t number,
                 std::byte* scratch) const {
        std::array<T*, 3> in{};
        for (std::size_t i = 0; i < count_; ++i) {
            in[i] = reinterpret_cast<T*>(scratch), scratch += core_bytes(i);
            cores_[i].gather(static_cast<const T*>(operands[reads_[i]]) + at[i + 1], in[i]);
        }
        std::byte* result = scratch;
        scratch += aligned(static_cast<std::size_t>(result_.size()) * size_of(result_dtype_));
        Outcome outcome = lapack_ ? matrix::lapack_factorization<T>(problem_, in.data(), result, scratch)
                                  : matrix::own_factorization<T>(problem_, in.data(), result, scratch);
        if (outcome != Outcome::done) refuse(outcome, number);
        with_width(result_dtype_, [&]<class W>(TypeTag<W>) {
            result_.scatter(reinterpret_cast<const W*>(result), static_cast<W*>(operands[inputs_end()]) + at[0]);
        });
    }
    std::size_t inputs_end() const { return reads_[count_ - 1] + 1; }  // the last input is always read

    [[noreturn]] void refuse(Outcome outcome, std::int64_t number) const {
        Dims place(batch_dims_.size());
        for (std::size_t axis = place.size(); axis-- > 0; number /= batch_dims_[axis])
            place[axis] = number % batch_dims_[axis];
        std::string which = place.empty() ? "the matrix" : text("matrix ", place, " of the batch");
        if (outcome == Outcome::singular)
            throw ValueError(text(name_, ": ", which, " is singular, so it has no inverse; pinv and lstsq take it"));
        if (outcome == Outcome::indefinite)
            throw ValueError(
                text(name_, ": ", which, " is not positive definite; add a multiple of the identity, or take eigh"));
        throw ValueError(
            text(name_, ": ", which, " gave no result within the iterations; look for NaN and infinities in it"));
    }

    std::string_view name_;
    DType dtype_, result_dtype_;
    Problem problem_;
    bool lapack_ = false;
    Dims batch_dims_;
    Box<4> batch_;
    Core result_;
    std::array<Core, 3> cores_;
    std::array<std::size_t, 3> reads_{};
    std::size_t count_ = 0, bytes_ = 0;
    std::int64_t matrices_a_block_ = 1;
    int slots_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> factorization_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    return std::make_unique<FactorizationKernel>(node, inputs, output);
}

}  // namespace weft::cpu
