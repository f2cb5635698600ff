// The factorizations of batches of matrices: each matrix is copied out of its strides, given to LAPACK or to weft's own code on one
// thread, and its result copied into place. So results do not depend on the number of threads, nor on how operands lie. Small ones
// go another way (small_factorization.cpp).
#include "weft/backend/cpu/factorization_operands.h"
#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/library_threads.h"
#include "weft/base/integers.h"
#include "weft/found.h"

namespace weft::cpu {

using matrix::Outcome;

FactorizationOperands::FactorizationOperands(const Node& node, std::span<const Layout> inputs, const Layout& output)
    : name(node.operation->name), dtype(inputs[0].dtype), result_dtype(output.dtype) {
    auto& a = *attributes_if<FactorizationAttributes>(node);
    std::size_t axes = inputs[0].dims.size(), batch_axes = axes - 2;
    problem = {.kind = a.kind,
               .m = inputs[0].dims[axes - 2],
               .n = inputs[0].dims[axes - 1],
               .lower = a.lower,
               .transposed = a.transposed,
               .unit_diagonal = a.unit_diagonal,
               .complete = a.complete};
    std::array<Dims, 4> strides;
    strides.fill(Dims(batch_axes));
    result = Core(output, result_axes(a.kind));
    strides[0] = part(output.strides, 0, batch_axes);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        int core = core_axes(a.kind, i);
        if (core < 0) continue;
        reads[count] = i, cores[count] = Core(inputs[i], core);
        strides[++count] = part(inputs[i].strides, 0, batch_axes);
    }
    problem.k = cores[count - 1].columns;
    batch_dims = part(output.dims, 0, batch_axes);
    batch = Box<4>(batch_dims, strides);
}

void FactorizationOperands::refuse(Outcome outcome, std::int64_t number) const {
    Dims place(batch_dims.size());
    for (std::size_t axis = place.size(); axis-- > 0; number /= batch_dims[axis])
        place[axis] = number % batch_dims[axis];
    std::string which = place.empty() ? "the matrix" : text("matrix ", place, " of the batch");
    if (outcome == Outcome::singular)
        throw ValueError(text(name, ": ", which, " is singular, so it has no inverse; pinv and lstsq take it"));
    if (outcome == Outcome::indefinite)
        throw ValueError(
            text(name, ": ", which, " is not positive definite; add a multiple of the identity, or take eigh"));
    throw ValueError(
        text(name, ": ", which, " gave no result within the iterations; look for NaN and infinities in it"));
}

namespace {

class FactorizationKernel final : public Kernel {
  public:
    explicit FactorizationKernel(const FactorizationOperands& operands) : o_(operands) {
        lapack_ = matrix::lapack_takes(o_.problem);
#if WEFT_HAVE_OPENBLAS
        if (lapack_) one_openblas_thread();
#endif
        with_matrix_type([&]<class T>(TypeTag<T>) {
            bytes_ = aligned(lapack_ ? matrix::lapack_scratch<T>(o_.problem) : matrix::own_scratch<T>(o_.problem));
        });
        matrices_a_block_ = std::max<std::int64_t>(1, block_elements / 8 / std::max<std::int64_t>(1, work()));
        slots_ = static_cast<int>(
            std::max<std::int64_t>(1, std::min<std::int64_t>(blocks(), ThreadPool::instance().threads())));
    }

    std::size_t scratch_bytes() const override { return static_cast<std::size_t>(slots_) * slot_bytes(); }
    std::string_view by() const override { return lapack_ ? "LAPACK" : "own factorization"; }

    void run(void* const* operands, std::byte* scratch) const override {
        if (o_.result.size() == 0) return;
        with_matrix_type([&]<class T>(TypeTag<T>) {
            parallel_for(
                blocks(),
                [&](std::int64_t block, int slot) {
                    std::int64_t first = block * matrices_a_block_,
                                 last = std::min(o_.batch.size, first + matrices_a_block_);
                    o_.batch.walk(first, last, [&](std::array<std::int64_t, 4> at, std::int64_t count) {
                        for (; count > 0; --count, ++first) {
                            run_one<T>(operands, at, first, scratch + static_cast<std::size_t>(slot) * slot_bytes());
                            for (std::size_t k = 0; k < 4; ++k) at[k] += o_.batch.inner(k);
                        }
                    });
                },
                slots_);
        });
    }

  private:
    std::int64_t work() const { return o_.problem.m * o_.problem.n * std::max(o_.problem.least(), o_.problem.k); }
    std::int64_t blocks() const { return (o_.batch.size + matrices_a_block_ - 1) / matrices_a_block_; }
    std::size_t core_bytes(std::size_t i) const {
        return aligned(static_cast<std::size_t>(o_.cores[i].size()) * size_of(o_.dtype));
    }
    std::size_t result_bytes() const {
        return aligned(static_cast<std::size_t>(o_.result.size()) * size_of(o_.result_dtype));
    }
    // The copies of inputs, the result, what the algorithm takes.
    std::size_t slot_bytes() const {
        std::size_t bytes = result_bytes() + bytes_;
        for (std::size_t i = 0; i < o_.count; ++i) bytes += core_bytes(i);
        return bytes + 64;
    }

    template <class F>
    void with_matrix_type(F&& f) const {
        switch (o_.dtype) {
            case DType::float32:
                return f(TypeTag<float>{});
            case DType::float64:
                return f(TypeTag<double>{});
            case DType::complex64:
                return f(TypeTag<std::complex<float>>{});
            case DType::complex128:
                return f(TypeTag<std::complex<double>>{});
            default:
                throw InternalError(text(o_.name, ": the CPU has no factorization of ", o_.dtype));
        }
    }

    template <class T>
    void run_one(void* const* operands, const std::array<std::int64_t, 4>& at, std::int64_t number,
                 std::byte* scratch) const {
        std::array<T*, 3> in{};
        for (std::size_t i = 0; i < o_.count; ++i) {
            in[i] = reinterpret_cast<T*>(scratch), scratch += core_bytes(i);
            o_.cores[i].gather(static_cast<const T*>(operands[o_.reads[i]]) + at[i + 1], in[i]);
        }
        std::byte* result = scratch;
        scratch += result_bytes();
        Outcome outcome = lapack_ ? matrix::lapack_factorization<T>(o_.problem, in.data(), result, scratch)
                                  : matrix::own_factorization<T>(o_.problem, in.data(), result, scratch);
        if (outcome != Outcome::done) o_.refuse(outcome, number);
        with_width(o_.result_dtype, [&]<class W>(TypeTag<W>) {
            o_.result.scatter(reinterpret_cast<const W*>(result),
                              static_cast<W*>(operands[o_.result_operand()]) + at[0]);
        });
    }

    FactorizationOperands o_;
    bool lapack_ = false;
    std::size_t bytes_ = 0;
    std::int64_t matrices_a_block_ = 1;
    int slots_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> factorization_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    FactorizationOperands operands(node, inputs, output);
    if (auto small = small_factorization_kernel(operands)) return small;
    return std::make_unique<FactorizationKernel>(operands);
}

}  // namespace weft::cpu
