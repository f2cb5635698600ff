#include "weft/compile/cond_kernel.h"

#include <algorithm>

#include "weft/base/integers.h"
#include "weft/compile/loop_binding.h"

namespace weft {
namespace {

class CondKernel final : public Kernel {
  public:
    CondKernel(std::unique_ptr<LoopKernel> if_true, std::unique_ptr<LoopKernel> if_false)
        : if_true_(std::move(if_true)), if_false_(std::move(if_false)) {}

    std::size_t scratch_bytes() const override {
        return std::max(if_true_->scratch_bytes(), if_false_->scratch_bytes());
    }
    std::string_view by() const override { return "cond"; }
    Bodies bodies() const override {
        return {{"true", if_true_->bodies()[0].second}, {"false", if_false_->bodies()[0].second}};
    }
    void run(void* const* operands, std::byte* scratch) const override {
        bool holds = *static_cast<const bool*>(operands[0]);
        (holds ? if_true_ : if_false_)->run(operands + 1, scratch);
    }

  private:
    std::unique_ptr<LoopKernel> if_true_, if_false_;
};

}  // namespace

std::unique_ptr<Kernel> cond_kernel(const Node& cond, std::span<const Layout> inputs,
                                    std::span<const LoopResultAttributes> results, const KernelCompiler& compiler,
                                    const BindOptions& options, bool as_written) {
    auto branch = [&](const std::shared_ptr<const Region>& region) {
        std::vector<LoopResultAttributes> wanted;
        for (const LoopResultAttributes& result : results) wanted.push_back({true, region->outputs[at(result.value)]});
        LoopAttributes once{.step = region, .length = 1};
        return std::make_unique<LoopKernel>(once, inputs.subspan(1), wanted, compiler, options, as_written);
    };
    const CondAttributes& a = cond.attributes_as<CondAttributes>();
    return std::make_unique<CondKernel>(branch(a.branches[0]), branch(a.branches[1]));
}

}  // namespace weft
