#include "weft/compile/step_kernels.h"

#include "weft/base/integers.h"
#include "weft/compile/bound_loop.h"
#include "weft/compile/cond_kernel.h"
#include "weft/compile/loop_kernel.h"
#include "weft/compile/made.h"
#include "weft/compile/pieces.h"
#include "weft/compile/scatters.h"
#include "weft/compile/views.h"

namespace weft {

Layout slot_layout(const Plan& plan, const Graph& graph, std::int32_t slot) {
    const Slot& s = plan.slots[at(slot)];
    Dims dims = dims_of(graph.node(s.entry).shape);
    return {s.dtype, dims, ordered_strides(dims, s.order)};
}

const View* slot_view(const Plan& plan, const Views& views, std::int32_t slot) {
    std::int32_t entry = plan.slots[at(slot)].entry;
    const Place& place = plan.places[at(entry)];
    return place.kind == Place::slot && place.index == slot ? &views[at(entry)] : nullptr;
}

Layout slot_layout(const Plan& plan, const Graph& graph, const Views& views, std::int32_t slot) {
    const View* view = slot_view(plan, views, slot);
    return view ? view->layout : slot_layout(plan, graph, slot);
}

std::unique_ptr<Kernel> StepKernels::kernel(const Step& step) const {
    if (step.kind == Step::library) return library(step);
    if (step.kind == Step::loop) return region(step);
    if (step.kind == Step::scatter)
        return scatter_kernel(compiler_, loop(step), views_[at(step.loads[0])].layout,
                              slot_layout(plan_, graph_, views_, step.stores[0]));
    return step.kind == Step::rows ? rows(step) : compiler_.loop(loop(step), often());
}

std::vector<Loop> StepKernels::loops(const Step& step) const {
    if (step.kind == Step::library) {
        if (!is_made(graph_.node(step.members[0]))) return {};
        return {made(step)};
    }
    if (step.kind == Step::loop) return {};
    if (step.kind != Step::rows) return {loop(step)};
    std::vector<Loop> all;
    std::optional<Step> fewer = with_fewer_parts(step);
    for (const Step& part : (fewer ? *fewer : step).parts)
        if (part.kind != Step::library) all.push_back(loop(part));
    return all;
}

double StepKernels::product_operations(const Step& step) const {
    if (step.kind == Step::rows) {
        double sum = 0;
        for (const Step& part : step.parts) sum += product_operations(part);
        return sum;
    }
    if (step.kind == Step::loop) return region_product_operations(graph_.node(step.space));
    if (step.kind != Step::library || graph_.node(step.members[0]).operation->family != Family::contraction) return 0;
    auto points = static_cast<double>(slot_layout(plan_, graph_, views_, step.stores[0]).size());
    return 2 * points * static_cast<double>(views_[at(step.loads[0])].layout.dims.back());
}

std::vector<Layout> StepKernels::inputs(const Step& step) const {
    std::vector<Layout> layouts;
    for (std::int32_t load : step.loads) layouts.push_back(views_[at(load)].layout);
    return layouts;
}

std::unique_ptr<Kernel> StepKernels::library(const Step& step) const {
    const Node& node = graph_.node(step.members[0]);
    if (is_made(node)) return made_kernel(compiler_, made(step));
    Layout output = slot_layout(plan_, graph_, views_, step.stores[0]);
    KernelUse use{.kept = kept_view(step) != nullptr};
    if (lays_pieces(step, graph_)) use.placed = placed_pieces(step);
    return compiler_.library(node, inputs(step), output, use);
}

// Which pieces of a join lie where they belong.
std::vector<bool> StepKernels::placed_pieces(const Step& step) const {
    std::vector<View> places = places_of_pieces(step, graph_, views_);
    std::vector<bool> placed;
    for (std::size_t k = 0; k < places.size(); ++k) {
        const View &view = views_[at(step.loads[k])], &place = places[k];
        bool there = view.base == place.base && view.offset == place.offset;
        for (std::size_t i = 0; there && i < view.layout.dims.size(); ++i)
            there = view.layout.dims[i] == 1 || view.layout.strides[i] == place.layout.strides[i];
        placed.push_back(there);
    }
    return placed;
}

std::unique_ptr<Kernel> StepKernels::region(const Step& step) const {
    std::vector<LoopResultAttributes> results;
    for (std::size_t i = 0; i + 1 < step.members.size(); ++i)
        results.push_back(graph_.node(step.members[i]).attributes_as<LoopResultAttributes>());
    const Node& node = graph_.node(step.space);
    auto make = node.operation == &cond_operation ? cond_kernel : loop_kernel;
    return make(node, inputs(step), results, compiler_, options_, plan_.as_written);
}

// The step's second operand, if it is a leaf whose numbers stay as they are from run to run; else nothing. Of what else has two
// operands a kernel makes nothing.
const View* StepKernels::kept_view(const Step& step) const {
    if (step.kind != Step::library || step.loads.size() < 2) return nullptr;
    const View& view = views_[at(step.loads[1])];
    bool kept = view.base.kind == Base::leaf && at(view.base.index) < steady_.size() && steady_[at(view.base.index)];
    return kept ? &view : nullptr;
}

std::vector<BoundStep::KeptOf> StepKernels::kept_of(const Step& step) const {
    std::vector<BoundStep::KeptOf> all;
    auto add = [&](const Step& one) {
        if (const View* view = kept_view(one)) all.push_back({view->base.index, view->offset});
    };
    add(step);
    for (const Step& part : step.parts) add(part);
    return all;
}

Loop StepKernels::loop(const Step& step) const {
    std::vector<Layout> stores;
    for (std::int32_t slot : step.stores) stores.push_back(slot_layout(plan_, graph_, views_, slot));
    Loop loop = bound_loop(plan_, step, graph_, inputs(step), stores);
    facts_.add(step, loop);
    return loop;
}

// Of a library's step whose values are made: what is made is the first load.
Loop StepKernels::made(const Step& step) const {
    Loop loop =
        made_loop(graph_.node(step.members[0]), inputs(step), slot_layout(plan_, graph_, views_, step.stores[0]));
    facts_.add(step, loop, 1);
    return loop;
}

}  // namespace weft
