#include "weft/compile/operand_table.h"

#include <map>
#include <string>

#include "weft/base/error.h"

namespace weft {

OperandTable::OperandTable(const Binding& binding) {
    std::map<std::string, std::size_t> formats;
    // That of a step, or of one before it that makes the same.
    auto shared_by = [&](const BoundStep& step) -> Shared& {
        std::string format = step.kernel->shared_format();
        if (!format.empty()) {
            for (const BoundStep::KeptOf& of : step.kept_of) format += text("of ", of.leaf, " from ", of.offset, "; ");
            auto [known, fresh] = formats.emplace(std::move(format), shared_.size());
            if (!fresh) return shared_[known->second];
        }
        shared_.push_back({first_.size() - 1, {}, step.kernel->shared_bytes()});
        return shared_.back();
    };
    for (const BoundStep& step : binding.steps) {
        first_.push_back(static_cast<std::uint32_t>(empty_.size()));
        for (const View& view : step.operands) {
            Patch patch{static_cast<std::uint32_t>(empty_.size()), view.base, view.offset};
            // What is made has no memory: the offset is what stands for its first number (kernel/loop.h).
            bool made = view.base.kind == Base::made;
            if (!made) (view.base.kind == Base::arena ? inside_ : outside_).push_back(patch);
            empty_.push_back(made ? reinterpret_cast<void*>(view.offset) : nullptr);
        }
        if (step.kernel->shared_bytes() == 0) continue;
        shared_by(step).positions.push_back(static_cast<std::uint32_t>(empty_.size()));
        empty_.push_back(nullptr);
    }
}

}  // namespace weft
