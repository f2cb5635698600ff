#include "weft/backend/cpu/families.h"
#include "weft/backend/cpu/fourier_real.h"
#include "weft/backend/cpu/fourier_rows.h"
#include "weft/ops/fft.h"

namespace weft::cpu {
namespace {

template <class R>
class FourierKernel final : public Kernel {
  public:
    FourierKernel(const FourierAttributes& a, const Layout& input, const Layout& output)
        : rows_(a, input, output, input.dims[static_cast<std::size_t>(a.axis)]) {}
    std::size_t scratch_bytes() const override { return rows_.scratch_bytes(); }
    std::string_view by() const override { return "own Fourier transform"; }
    void run(void* const* operands, std::byte* scratch) const override {
        rows_.run(static_cast<const std::complex<R>*>(operands[0]), static_cast<std::complex<R>*>(operands[1]),
                  scratch);
    }

  private:
    FourierRows<R> rows_;
};

template <class R>
class RealFourierKernel final : public Kernel {
  public:
    RealFourierKernel(const FourierAttributes& a, const Layout& input, const Layout& output)
        : rows_(a, input, output, !is_complex(output.dtype)) {}
    std::size_t scratch_bytes() const override { return rows_.scratch_bytes(); }
    std::string_view by() const override { return "own Fourier transform"; }
    void run(void* const* operands, std::byte* scratch) const override { rows_.run(operands[0], operands[1], scratch); }

  private:
    RealFourierRows<R> rows_;
};

template <class R>
std::unique_ptr<Kernel> fourier_kernel_of(const Node& node, const Layout& input, const Layout& output) {
    auto& a = *attributes_if<FourierAttributes>(node);
    if (input.dtype == output.dtype) return std::make_unique<FourierKernel<R>>(a, input, output);
    return std::make_unique<RealFourierKernel<R>>(a, input, output);
}

}  // namespace

std::unique_ptr<Kernel> fourier_kernel(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    bool narrow = output.dtype == DType::complex64 || output.dtype == DType::float32;
    return narrow ? fourier_kernel_of<float>(node, inputs[0], output)
                  : fourier_kernel_of<double>(node, inputs[0], output);
}

}  // namespace weft::cpu
