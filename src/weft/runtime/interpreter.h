// The oracle of every library kernel: each family once more, slow and obvious, one element at a time, with its indices written out. It
// shares nothing with backend/ but the operations' attributes. Sums of floating types are kept in long double and rounded once, so
// products and convolutions differ from fast kernels by rounding; everything else must be equal to the bit.
// Callers: tests.
#pragma once

#include "weft/compile/device.h"

namespace weft {

class InterpreterCompiler final : public KernelCompiler {
  public:
    std::unique_ptr<Kernel> loop(Loop loop, bool often = false) const override;
    std::unique_ptr<Kernel> library(const Node& node, std::span<const Layout> inputs, const Layout& output,
                                    const KernelUse& use = {}) const override;
};

}  // namespace weft
