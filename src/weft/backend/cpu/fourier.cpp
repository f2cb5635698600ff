#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/fourier_transform.h"
#include "weft/backend/cpu/strided.h"
#include "weft/ops/fft.h"

namespace weft::cpu {
namespace {

template <class R>
class FourierKernel final : public Kernel {
  public:
    using C = std::complex<R>;
    FourierKernel(const FourierAttributes& a, const Layout& input, const Layout& output)
        : count_(input.dims[static_cast<std::size_t>(a.axis)]),
          transform_(std::max<std::int64_t>(1, count_), a.inverse) {
        auto axis = static_cast<std::size_t>(a.axis);
        stride_ = input.strides[axis], result_stride_ = output.strides[axis];
        Dims dims = input.dims, to = output.strides, from = input.strides;
        dims.erase(axis), to.erase(axis), from.erase(axis);
        rows_ = Box<2>(dims, {to, from});
        together_ = stride_ == 1 && result_stride_ == 1 ? 1 : 8;  // rows beside each other share cache lines
        rows_a_block_ = std::max<std::int64_t>(
            together_, together_ * (block_elements / 8 / std::max<std::int64_t>(1, together_ * count_)));
        slots_ = static_cast<int>(
            std::max<std::int64_t>(1, std::min<std::int64_t>(blocks(), ThreadPool::instance().threads())));
    }
    std::size_t scratch_bytes() const override { return static_cast<std::size_t>(slots_) * slot_bytes(); }
    std::string_view by() const override { return "own Fourier transform"; }

    void run(void* const* operands, std::byte* scratch) const override {
        if (count_ == 0) return;
        parallel_for(
            blocks(),
            [&](std::int64_t block, int slot) {
                auto* buffer = reinterpret_cast<C*>(scratch + static_cast<std::size_t>(slot) * slot_bytes());
                std::int64_t first = block * rows_a_block_, last = std::min(rows_.size, first + rows_a_block_);
                rows_.walk(first, last, [&](const std::array<std::int64_t, 2>& at, std::int64_t rows) {
                    const C* from = static_cast<const C*>(operands[0]) + at[1];
                    C* to = static_cast<C*>(operands[1]) + at[0];
                    for (std::int64_t i = 0; i < rows; i += together_)
                        transform_rows(from + i * rows_.inner(1), to + i * rows_.inner(0),
                                       std::min(together_, rows - i), buffer);
                });
            },
            slots_);
    }

  private:
    void transform_rows(const C* from, C* to, std::int64_t rows, C* buffer) const {
        C* work = buffer + together_ * count_;
        copy_rows(buffer, 1, count_, from, stride_, rows_.inner(1), rows);
        for (std::int64_t j = 0; j < rows; ++j) transform_.run(buffer + j * count_, work);
        copy_rows(to, result_stride_, rows_.inner(0), buffer, 1, count_, rows);
    }
    void copy_rows(C* to, std::int64_t step_to, std::int64_t row_to, const C* from, std::int64_t step_from,
                   std::int64_t row_from, std::int64_t rows) const {
        if (rows == 1) return copy_run(to, step_to, from, step_from, count_);
        for (std::int64_t k = 0; k < count_; ++k)
            for (std::int64_t j = 0; j < rows; ++j) to[k * step_to + j * row_to] = from[k * step_from + j * row_from];
    }
    std::int64_t blocks() const { return (rows_.size + rows_a_block_ - 1) / rows_a_block_; }
    std::size_t slot_bytes() const {
        return (static_cast<std::size_t>(together_ * count_ + transform_.scratch()) * sizeof(C) + 63) / 64 * 64;
    }

    std::int64_t count_, stride_, result_stride_, together_ = 1, rows_a_block_ = 1;
    FourierTransform<R> transform_;
    Box<2> rows_;
    int slots_;
};

}  // namespace

std::unique_ptr<Kernel> fourier_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    auto& a = *attributes_if<FourierAttributes>(node);
    if (output.dtype == DType::complex64) return std::make_unique<FourierKernel<float>>(a, inputs[0], output);
    promise(output.dtype == DType::complex128, "Fourier transforms are of complex numbers");
    return std::make_unique<FourierKernel<double>>(a, inputs[0], output);
}

}  // namespace weft::cpu
