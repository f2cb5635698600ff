#include "weft/runtime/function.h"

#include <algorithm>
#include <mutex>

#include "weft/graph/node.h"
#include "weft/runtime/allowance.h"
#include "weft/runtime/specialization.h"

namespace weft {

struct CompiledFunction::State final : Allowance::Holder {
    Body body;
    CompileOptions options;
    std::shared_ptr<Allowance> allowance;
    struct Program {
        std::unique_ptr<Specialization> specialization;
        std::uint64_t used;  // when, by the allowance's clock
    };
    std::vector<Program> programs;  // the most recent first

    State(Body body, const CompileOptions& options, std::shared_ptr<Allowance> allowance)
        : body(std::move(body)), options(options), allowance(std::move(allowance)) {
        this->allowance->enter(*this);
    }
    ~State() {
        allowance->leave(*this);
        while (oldest_taken(false)) {
        }
    }

    Specialization& specialization(std::span<const Tensor> arguments) {
        auto fits = [&](const Program& program) { return program.specialization->fits(arguments); };
        auto found = std::find_if(programs.begin(), programs.end(), fits);
        if (found == programs.end()) return made(arguments);
        std::rotate(programs.begin(), found, found + 1);
        programs[0].used = allowance->now();
        return *programs[0].specialization;
    }
    Specialization& made(std::span<const Tensor> arguments) {
        bool keeps = allowance->keeping < Allowance::most_keeping;
        auto program = std::make_unique<Specialization>(body, arguments, options, keeps);
        if (program->keeps()) ++allowance->keeping;
        programs.insert(programs.begin(), {std::move(program), allowance->now()});
        allowance->make_room(*this);
        return *programs[0].specialization;
    }

    Has has(bool makes) const override {
        Has has{.programs = programs.size()};
        for (const Program& program : programs) has.bytes += program.specialization->bytes();
        if (programs.size() > (makes ? 1 : 0)) has.oldest = programs.back().used;
        return has;
    }
    std::shared_ptr<void> oldest_taken(bool makes) override {
        if (programs.size() <= (makes ? 1 : 0)) return nullptr;
        std::shared_ptr<Specialization> taken = std::move(programs.back().specialization);
        if (taken->keeps()) --allowance->keeping;
        programs.pop_back();
        return taken;
    }
};

CompiledFunction::CompiledFunction(Body body, CompileOptions options, std::shared_ptr<Allowance> allowance) {
    if (!allowance) allowance = std::make_shared<Allowance>();
    state_ = std::make_unique<State>(std::move(body), options, std::move(allowance));
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
