#include "weft/compile/index_checks.h"

#include <algorithm>
#include <set>

#include "weft/compile/loop_kernel.h"
#include "weft/ops/gather.h"
#include "weft/ops/scatter.h"

namespace weft {
namespace {

// Index tensors (entries) and the sizes of the axes that they point along.
using IndexUses = std::set<std::pair<std::int32_t, std::int64_t>>;

void add_uses(const Graph& graph, std::int32_t entry, IndexUses& uses) {
    const Node& node = graph.node(entry);
    bool gathers = node.operation->family == Family::gather, scatters = node.operation->family == Family::scatter;
    if (!gathers && !scatters) return;
    auto axis = static_cast<std::size_t>(gathers ? node.attributes_as<GatherAttributes>().axis
                                                 : node.attributes_as<ScatterAttributes>().axis);
    auto inputs = graph.inputs(entry);
    for (std::size_t i = gathers ? 1 : 2; i < inputs.size(); ++i, ++axis)
        uses.emplace(inputs[i], graph.node(inputs[0]).shape[axis].value());
}

class CheckedFirst final : public Kernel {
  public:
    CheckedFirst(std::vector<CheckBefore> checks, std::shared_ptr<const Kernel> kernel, std::source_location where)
        : checks_(std::move(checks)), kernel_(std::move(kernel)), where_(where) {}
    std::size_t scratch_bytes() const override { return kernel_->scratch_bytes(); }
    std::string_view by() const override { return kernel_->by(); }
    void check(void* const* operands) const override { kernel_->check(operands); }
    void run(void* const* operands, std::byte* scratch) const override {
        for (const CheckBefore& check : checks_)
            placed(check.where, [&] { check.kernel->check(operands + check.operands); });
        placed(where_, [&] { kernel_->run(operands, scratch); });
    }

  private:
    template <class F>
    static void placed(const std::source_location& where, F&& f) {
        try {
            f();
        } catch (Error& error) {
            error.add(place(error.where.line() ? error.where : where));
            error.where = {};  // it has been said
            throw;
        }
    }
    std::vector<CheckBefore> checks_;
    std::shared_ptr<const Kernel> kernel_;
    std::source_location where_;
};

}  // namespace

std::optional<std::vector<std::int32_t>> late_checks(const Plan& plan, const Graph& graph, std::int32_t first,
                                                     const std::function<bool(std::int32_t)>& ready) {
    IndexUses known;
    std::vector<std::int32_t> late;
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        if (plan.steps[s].kind == Step::loop && static_cast<std::int32_t>(s) > first &&
            region_may_fail(graph.node(plan.steps[s].space)))
            return std::nullopt;
        IndexUses uses;
        for (std::int32_t member : plan.steps[s].members) add_uses(graph, member, uses);
        std::erase_if(uses, [&](const auto& use) { return known.contains(use); });
        if (uses.empty()) continue;
        known.insert(uses.begin(), uses.end());
        if (static_cast<std::int32_t>(s) <= first) continue;
        late.push_back(static_cast<std::int32_t>(s));
        for (const auto& [index, _] : uses)
            if (!ready(index)) return std::nullopt;
    }
    return late;
}

std::unique_ptr<Kernel> checked_first(std::vector<CheckBefore> checks, std::shared_ptr<const Kernel> kernel,
                                      std::source_location where) {
    return std::make_unique<CheckedFirst>(std::move(checks), std::move(kernel), where);
}

}  // namespace weft
