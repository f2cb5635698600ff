#include "weft/runtime/function.h"

#include <algorithm>
#include <mutex>

#include "weft/graph/node.h"
#include "weft/ops/contraction.h"
#include "weft/runtime/specialization.h"

namespace weft {

struct CompiledFunction::State {
    Body body;
    CompileOptions options;
    std::mutex mutex;                                              // one run at a time: cells change together
    std::vector<std::unique_ptr<Specialization>> specializations;  // the most recent first

    // Copies of weights for so many sizes of arguments, and no more: memory.
    static constexpr std::ptrdiff_t most_keeping = 4;

    Specialization& specialization(std::span<const Tensor> arguments) {
        for (std::size_t i = 0; i < specializations.size(); ++i) {
            if (!specializations[i]->fits(arguments)) continue;
            if (i > 0)
                std::rotate(specializations.begin(), specializations.begin() + static_cast<std::ptrdiff_t>(i),
                            specializations.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            return *specializations[0];
        }
        auto keeping =
            std::count_if(specializations.begin(), specializations.end(), [](auto& one) { return one->keeps(); });
        specializations.insert(specializations.begin(),
                               std::make_unique<Specialization>(body, arguments, options, keeping < most_keeping));
        if (specializations.size() > 32) specializations.pop_back();
        return *specializations[0];
    }
};

CompiledFunction::CompiledFunction(Body body, CompileOptions options) : state_(std::make_unique<State>()) {
    check_matmul_precision("compile", options.matmul_precision);
    state_->body = std::move(body);
    state_->options = options;
}
CompiledFunction::~CompiledFunction() = default;
CompiledFunction::CompiledFunction(CompiledFunction&&) noexcept = default;
CompiledFunction& CompiledFunction::operator=(CompiledFunction&&) noexcept = default;

void CompiledFunction::call(std::span<const Tensor> arguments, std::vector<Tensor>& results) const {
    bool symbolic = CellObserver::current() != nullptr;
    for (const Tensor& argument : arguments) symbolic |= argument.node()->symbolic;
    if (symbolic) {  // inside another function's trace: this one becomes part of it
        results = state_->body(arguments);
        return;
    }
    std::lock_guard lock(state_->mutex);
    results.clear();
    state_->specialization(arguments).run(arguments, results);
}

std::vector<Tensor> CompiledFunction::operator()(std::span<const Tensor> arguments) const {
    std::vector<Tensor> results;
    call(arguments, results);
    return results;
}

Explanation CompiledFunction::explain(std::span<const Tensor> arguments) const {
    std::lock_guard lock(state_->mutex);
    return state_->specialization(arguments).explain(arguments);
}

}  // namespace weft
