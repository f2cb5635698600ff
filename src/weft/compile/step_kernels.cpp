#include "weft/compile/step_kernels.h"

#include <map>
#include <set>

#include "weft/base/integers.h"
#include "weft/compile/bound_loop.h"
#include "weft/compile/cond_kernel.h"
#include "weft/compile/in_place.h"
#include "weft/compile/loop_kernel.h"
#include "weft/compile/made.h"
#include "weft/compile/row_parts.h"
#include "weft/compile/row_steps.h"
#include "weft/compile/scatters.h"
#include "weft/compile/views.h"

namespace weft {

Layout slot_layout(const Plan& plan, const Graph& graph, std::int32_t slot) {
    const Slot& s = plan.slots[at(slot)];
    Dims dims = dims_of(graph.node(s.entry).shape);
    return {s.dtype, dims, ordered_strides(dims, s.order)};
}

std::unique_ptr<Kernel> StepKernels::kernel(const Step& step) const {
    if (step.kind == Step::library) return library(step);
    if (step.kind == Step::loop) return region(step);
    if (step.kind == Step::scatter)
        return scatter_kernel(compiler_, loop(step), views_[at(step.loads[0])].layout,
                              slot_layout(plan_, graph_, step.stores[0]));
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
    for (const Step& part : step.parts)
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
    auto points = static_cast<double>(slot_layout(plan_, graph_, step.stores[0]).size());
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
    Layout output = slot_layout(plan_, graph_, step.stores[0]);
    return compiler_.library(node, inputs(step), output, {.kept = kept_view(step) != nullptr});
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

// Of each load and store of a part of a step of rows whether it lives in the step.
std::vector<bool> StepKernels::lives_inside(const Step& step, const Step& part) const {
    std::vector<bool> inside;
    auto add = [&](std::int32_t slot) {
        inside.push_back(std::find(step.inside.begin(), step.inside.end(), slot) != step.inside.end());
    };
    for (std::int32_t load : part.loads) add(slot_below(plan_, load));
    for (std::int32_t slot : part.stores) add(slot);
    return inside;
}

// Of a part of a step of rows: arrays from outside that no later part reads, and results that none reads, pass by once.
void StepKernels::mark_passing(const Step& step, std::size_t number, Loop& loop) const {
    const Step& part = step.parts[number];
    std::vector<bool> inside = lives_inside(step, part);
    auto read_later = [&](auto matches) {
        for (std::size_t p = number + 1; p < step.parts.size(); ++p)
            for (std::int32_t load : step.parts[p].loads)
                if (matches(load)) return true;
        return false;
    };
    for (std::size_t i = 0; i < part.loads.size(); ++i) {
        std::int32_t load = part.loads[i];
        bool again = read_later([&](std::int32_t other) { return other == load; });
        if (inside[i] || again || pointed(part, i)) continue;
        const Layout& all = views_[at(load)].layout;
        loop.loads[i].passes = static_cast<std::size_t>(all.size()) * size_of(all.dtype);
    }
    for (std::size_t i = 0; i < part.stores.size(); ++i) {
        std::int32_t slot = part.stores[i];
        if (inside[part.loads.size() + i] ||
            read_later([&](std::int32_t other) { return slot_below(plan_, other) == slot; }))
            continue;
        Layout all = slot_layout(plan_, graph_, slot);
        loop.stores[i].passes = static_cast<std::size_t>(all.size()) * size_of(all.dtype);
    }
}

Loop StepKernels::loop_of_part(const Step& whole, std::size_t number) const {
    Loop made = loop(whole.parts[number]);
    mark_passing(whole, number, made);
    return made;
}

// Whether part `number` is a map, and the next the reduction of each row that reads its only result and nothing else.
bool StepKernels::stores_and_joins(const Step& whole, std::size_t number) const {
    if (number + 1 >= whole.parts.size()) return false;
    const Step &map = whole.parts[number], &reduction = whole.parts[number + 1];
    bool kinds = map.kind == Step::map && map.stores.size() == 1 && map.indexed.empty() &&
                 reduction.kind == Step::reduce && reduction.loads.size() == 1 && reduction.indexed.empty();
    return kinds && map.leading == whole.leading && reduction.leading == whole.leading &&
           !joins_rows(reduction, whole.leading) && slot_below(plan_, reduction.loads[0]) == map.stores[0];
}

// Of each part when it runs: two in one pass at the same time.
std::vector<std::int32_t> StepKernels::turns(const Step& step) const {
    std::vector<std::int32_t> turns;
    for (std::size_t p = 0; p < step.parts.size(); ++p) {
        bool with_last = p > 0 && stores_and_joins(step, p - 1);
        turns.push_back(p == 0 ? 0 : turns.back() + (with_last ? 0 : 1));
    }
    return turns;
}

RowPart StepKernels::part(const Step& whole, std::size_t number) const {
    const Step& step = whole.parts[number];
    std::size_t leading = whole.leading;
    if (stores_and_joins(whole, number)) {
        return stored_reduction_part(compiler_, loop_of_part(whole, number), loop_of_part(whole, number + 1), leading,
                                     lives_inside(whole, step), lives_inside(whole, whole.parts[number + 1]));
    }
    if (step.kind != Step::library) {
        Loop made = loop_of_part(whole, number);
        std::vector<bool> inside = lives_inside(whole, step);
        if (joins_rows(step, leading)) return row_sums_part(compiler_, made, inside);
        RowPart part = loop_part(compiler_, made, step.leading, inside);
        if (step.leading < leading) part.points = part.bytes = 0;
        return part;
    }
    const Node& node = graph_.node(step.members[0]);
    Layout output = slot_layout(plan_, graph_, step.stores[0]);
    if (node.operation->family == Family::contraction)
        return product_part(compiler_, node, inputs(step), output, step.leading);
    if (node.operation->family == Family::window)
        return window_part(compiler_, node, inputs(step), output, RowSteps(plan_, graph_).is_convolution(step));
    RowPart part;  // a number
    part.operands.resize(step.loads.size() + 1);
    part.make = [this, step](const Dims&, const KernelUse&) { return library(step); };
    return part;
}

std::unique_ptr<Kernel> StepKernels::rows(const Step& step) const {
    RowGroup group;
    const Shape& shape = graph_.node(step.space).shape;
    group.rows = dims_of(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(step.leading)));
    group.outside = static_cast<std::int32_t>(step.loads.size() + step.stores.size());
    std::map<std::int32_t, std::int32_t> of_load, of_slot;  // numbers of operands
    for (std::int32_t load : step.loads) of_load.emplace(load, static_cast<std::int32_t>(of_load.size()));
    for (const auto* slots : {&step.stores, &step.inside})
        for (std::int32_t slot : *slots)
            of_slot.emplace(slot, static_cast<std::int32_t>(of_load.size() + of_slot.size()));
    for (std::size_t p = 0; p < step.parts.size(); ++p) {
        const Step& inner = step.parts[p];
        RowPart made = part(step, p);
        made.kept = kept_view(inner) != nullptr;
        std::size_t i = 0;
        for (std::int32_t load : inner.loads) {
            auto of_inner = of_slot.find(slot_below(plan_, load));
            made.operands[i++].number = of_inner != of_slot.end() ? of_inner->second : of_load.at(load);
        }
        for (std::int32_t slot : inner.stores) made.operands[i++].number = of_slot.at(slot);
        if (stores_and_joins(step, p))
            for (std::int32_t slot : step.parts[++p].stores) made.operands[i++].number = of_slot.at(slot);
        for (RowOperand& operand : made.operands) operand.strides.resize(step.leading, 0);
        if (inner.leading < step.leading)
            made.make = [make = std::move(made.make)](const Dims&, const KernelUse& use) { return make({}, use); };
        group.parts.push_back(std::move(made));
    }
    group.inside = lifetimes(step);
    return row_blocks(group);
}

// Of what lives inside the step: from part to part; what its readers make themselves takes no memory. A map writes over what dies with it,
// where it may.
std::vector<Lifetime> StepKernels::lifetimes(const Step& step) const {
    std::vector<Lifetime> lives;
    std::map<std::int32_t, std::size_t> of_slot;
    for (std::int32_t slot : step.inside) {
        Layout layout = slot_layout(plan_, graph_, slot);
        of_slot.emplace(slot, lives.size());
        bool stored = std::any_of(step.parts.begin(), step.parts.end(), [&](const Step& part) {
            return std::find(part.stores.begin(), part.stores.end(), slot) != part.stores.end();
        });
        auto row = static_cast<std::size_t>(elements_of_row(layout.dims, step.leading));
        lives.push_back({stored ? row * size_of(layout.dtype) : 0});
    }
    auto inside = [&](std::int32_t slot) {
        auto found = of_slot.find(slot);
        return found == of_slot.end() ? nullptr : &lives[found->second];
    };
    std::vector<std::int32_t> turn = turns(step);
    for (std::size_t p = 0; p < step.parts.size(); ++p) {
        for (std::int32_t load : step.parts[p].loads)
            if (Lifetime* life = inside(slot_below(plan_, load))) life->last = turn[p];
        for (std::int32_t slot : step.parts[p].stores)
            if (Lifetime* life = inside(slot)) life->first = life->last = turn[p];
    }
    for (const Step& part : step.parts) {
        std::set<std::int32_t> taken;
        for (std::int32_t slot : part.stores) {
            Lifetime* life = inside(slot);
            for (std::int32_t load : part.loads) {
                std::int32_t other = slot_below(plan_, load);
                const Lifetime* dying = inside(other);
                bool takes = life && dying && dying->last == life->first && !taken.contains(other) &&
                             part.kind == Step::map &&
                             may_write_over(plan_, graph_, views_, part, slot, {Base::arena, other});
                if (!takes) continue;
                life->may_reuse = static_cast<std::int32_t>(of_slot.at(other));
                taken.insert(other);
                break;
            }
        }
    }
    return lives;
}

Loop StepKernels::loop(const Step& step) const {
    std::vector<Layout> stores;
    for (std::int32_t slot : step.stores) stores.push_back(slot_layout(plan_, graph_, slot));
    Loop loop = bound_loop(plan_, step, graph_, inputs(step), stores);
    facts_.add(step, loop);
    return loop;
}

// Of a library's step whose values are made: what is made is the first load.
Loop StepKernels::made(const Step& step) const {
    Loop loop = made_loop(graph_.node(step.members[0]), inputs(step), slot_layout(plan_, graph_, step.stores[0]));
    facts_.add(step, loop, 1);
    return loop;
}

}  // namespace weft
