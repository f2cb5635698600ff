#include "weft/compile/frugal.h"

#include "weft/base/integers.h"
#include "weft/compile/again.h"
#include "weft/compile/order.h"
#include "weft/compile/step_kernels.h"

namespace weft {
namespace {

// What each slot takes of the arena: outputs lie elsewhere, and what lives inside a step in its scratch memory.
std::vector<std::size_t> arena_bytes(const Plan& plan, const Graph& graph) {
    std::vector<std::size_t> bytes(plan.slots.size(), 0);
    for (const Step& step : plan.steps) {
        for (std::int32_t slot : step.stores) {
            Layout layout = slot_layout(plan, graph, slot);
            bytes[at(slot)] = static_cast<std::size_t>(layout.size()) * size_of(layout.dtype);
        }
    }
    for (std::int32_t slot : plan.outputs)
        if (slot >= 0) bytes[at(slot)] = 0;
    return bytes;
}

}  // namespace

Plan frugal_plan(const Plan& plan, const Graph& graph, const BindOptions& options) {
    Plan frugal = plan;
    std::vector<std::size_t> bytes = arena_bytes(plan, graph);
    order_steps(frugal, graph, bytes, options.donors);
    make_again(frugal, graph, bytes, options.thrift.value);
    return frugal;
}

}  // namespace weft
