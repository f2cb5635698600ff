#include "weft/backend/cpu/compiler.h"

#include "weft/backend/cpu/block_evaluator.h"
#include "weft/backend/cpu/families.h"
#include "weft/ops/window.h"

namespace weft {
namespace cpu {
namespace {

class LoopKernel final : public Kernel {
  public:
    explicit LoopKernel(Loop loop) : loads_(loop.loads.size()), kernel_(std::move(loop)) {}
    std::size_t scratch_bytes() const override { return kernel_.scratch_bytes(); }
    std::string_view by() const override { return "block evaluator"; }
    void run(void* const* operands, std::byte* scratch) const override {
        kernel_.run(const_cast<const void* const*>(operands), operands + loads_, scratch);
    }

  private:
    std::size_t loads_;
    BlockKernel kernel_;
};

}  // namespace

std::unique_ptr<Kernel> Compiler::loop(Loop loop) const { return std::make_unique<LoopKernel>(std::move(loop)); }

std::unique_ptr<Kernel> Compiler::library(const Node& node, std::span<const Layout> inputs,
                                          const Layout& output) const {
    switch (node.operation->family) {
        case Family::constant:
            return constant_kernel(node, output);
        case Family::join:
            return join_kernel(node, inputs, output);
        case Family::scan:
            return scan_kernel(node, inputs, output);
        case Family::gather:
            return gather_kernel(node, inputs, output);
        case Family::scatter:
            return scatter_kernel(node, inputs, output);
        case Family::sort:
            return sort_kernel(node, inputs, output);
        case Family::random:
            return random_kernel(node, inputs, output);
        case Family::contraction:
            return contraction_kernel(node, inputs, output);
        case Family::window:
            return window_kernel(node, inputs, output);
        case Family::leaf:
        case Family::elementwise:
        case Family::reduce:
        case Family::view:
        case Family::composite:
            break;
    }
    throw InternalError(
        text(node.operation->name, ": the family ", name_of(node.operation->family), " is not a library kernel's"));
}

Axes Compiler::preferred_order(const Operation& operation, std::size_t ndim) const {
    // The gradient of a weight lies as the weight does, so that the update reads both in order.
    if (operation.family != Family::window || &operation == &convolution_weight_gradient_operation) return {};
    Axes order{0};  // channels last: what convolutions and pooling are fastest in
    for (std::size_t axis = 2; axis < ndim; ++axis) order.push_back(static_cast<std::int64_t>(axis));
    order.push_back(1);
    return order;
}

Limits Compiler::limits() const {
    static const Limits limits = measure_limits();
    return limits;
}

}  // namespace cpu

const KernelCompiler& cpu_compiler() {
    static const cpu::Compiler compiler;
    return compiler;
}

}  // namespace weft
