#include "weft/compile/step_maker.h"

#include <algorithm>
#include <set>

#include "weft/autodiff/cond.h"
#include "weft/compile/lower.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"

namespace weft {
namespace {

void take_program(ProgramWriter& writer, Step& step) {
    step.loads = writer.loads();
    step.indexed = writer.indexed();
    step.program = writer.take();
}

}  // namespace

std::int32_t StepMaker::new_slot(std::int32_t entry, Axes order) {
    plan_.slots.push_back({entry, graph_.node(entry).dtype, std::move(order)});
    return static_cast<std::int32_t>(plan_.slots.size()) - 1;
}

void StepMaker::map(const std::vector<std::int32_t>& members, const std::function<bool(std::int32_t)>& stored) {
    Step step;
    step.kind = Step::map;
    step.members = members;
    step.space = members[0];
    ProgramWriter writer(graph_, plan_, values_, members.size());
    for (std::int32_t e : members) writer.compute(e);
    for (std::int32_t e : members) {
        if (stored(e)) writer.store(e), step.stores.push_back(place(e).index);
    }
    take_program(writer, step);
    plan_.steps.push_back(std::move(step));
}

void StepMaker::reduce(std::int32_t e, std::vector<std::int32_t> inside) {
    Step step;
    step.space = graph_.inputs(e)[0];
    step.members = std::move(inside);
    ProgramWriter writer(graph_, plan_, values_, step.members.size());
    for (std::int32_t m : step.members) writer.compute(m);
    const Node& node = graph_.node(e);
    if (node.operation->family == Family::scan) {
        auto& a = node.attributes_as<ScanAttributes>();
        step.kind = Step::scan, step.reductions = {a.reduction}, step.axes = {a.axis};
        step.running = Scan{.exclusive = a.exclusive, .backwards = a.reverse};
    } else {
        auto& a = node.attributes_as<ReduceAttributes>();
        step.kind = Step::reduce, step.reductions = {a.reduction}, step.axes = a.axes;
    }
    writer.store_for_reduction(graph_.inputs(e)[0], step.reductions[0], node.dtype);
    step.members.push_back(e);
    step.stores = {place(e).index};
    take_program(writer, step);
    plan_.steps.push_back(std::move(step));
}

void StepMaker::scatter(std::int32_t e, std::vector<std::int32_t> inside) {
    auto inputs = graph_.inputs(e);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (i != 1) give_memory(inputs[i]);
    Step step;
    step.kind = Step::scatter;
    step.space = inputs[1];
    step.members = std::move(inside);
    ProgramWriter writer(graph_, plan_, values_, step.members.size());
    writer.scatter_into(e);
    for (std::int32_t m : step.members) writer.compute(m);
    writer.store(inputs[1]);
    step.members.push_back(e);
    step.stores = {place(e).index};
    take_program(writer, step);
    plan_.steps.push_back(std::move(step));
}

void StepMaker::compute_within(Step& step, std::int32_t entry) {
    bool reduces = step.kind == Step::reduce;
    auto computed_end = step.members.end() - reduces;  // the reduction itself stands last
    step.members.insert(std::upper_bound(step.members.begin(), computed_end, entry), entry);
    write_anew(step);
}

void StepMaker::leave_unstored(Step& step, std::int32_t slot) {
    std::erase(step.stores, slot);
    std::set<std::int32_t> used;
    for (std::int32_t stored : step.stores) used.insert(plan_.slots[static_cast<std::size_t>(stored)].entry);
    for (std::size_t i = step.members.size(); i-- > 0;) {
        std::int32_t member = step.members[i];
        if (used.contains(member))
            for (std::int32_t input : graph_.inputs(member)) used.insert(input);
        else
            step.members.erase(step.members.begin() + static_cast<std::ptrdiff_t>(i));
    }
    write_anew(step);
}

// The program of a map or reduction, after its members or stores.
void StepMaker::write_anew(Step& step) {
    bool reduces = step.kind == Step::reduce;
    ProgramWriter writer(graph_, plan_, values_, step.members.size());
    for (std::size_t i = 0; i + reduces < step.members.size(); ++i) writer.compute(step.members[i]);
    for (std::size_t i = 0; i < step.stores.size(); ++i) {
        std::int32_t stored = plan_.slots[static_cast<std::size_t>(step.stores[i])].entry;
        if (reduces)
            writer.store_for_reduction(graph_.inputs(stored)[0], step.reductions[i], graph_.node(stored).dtype);
        else
            writer.store(stored);
    }
    take_program(writer, step);
}

void StepMaker::copy(std::int32_t from, std::int32_t slot) {
    Step step;
    step.kind = Step::copy;
    step.space = from;
    ProgramWriter writer(graph_, plan_, values_, step.members.size());
    writer.store(from);
    step.stores = {slot};
    take_program(writer, step);
    plan_.steps.push_back(std::move(step));
}

// A number that is read as an array lies is written down.
void StepMaker::give_memory(std::int32_t entry) {
    if (place(entry).kind != Place::literal || place(entry).index >= 0) return;
    std::int32_t slot = new_slot(entry);
    copy(entry, slot);
    place(entry).index = slot;
}

void StepMaker::library(std::int32_t e) {
    Step step;
    step.kind = Step::library;
    step.members = {e};
    step.space = e;
    for (std::int32_t input : graph_.inputs(e)) {
        give_memory(input);
        step.loads.push_back(input);
    }
    step.stores = {place(e).index};
    plan_.steps.push_back(std::move(step));
}

void StepMaker::region(std::int32_t e) {
    const Operation* operation = graph_.node(e).operation;
    if (operation != &loop_operation && operation != &cond_operation) return;
    const Operation* of_it = operation == &loop_operation ? &loop_result_operation : &cond_result_operation;
    Step step;
    step.kind = Step::loop;
    step.space = e;
    for (std::int32_t input : graph_.inputs(e)) {
        give_memory(input);
        step.loads.push_back(input);
    }
    auto count = static_cast<std::int32_t>(graph_.entries.size());
    for (std::int32_t result = e + 1; result < count; ++result) {
        if (graph_.entries[static_cast<std::size_t>(result)].leaf) continue;
        if (graph_.node(result).operation != of_it || graph_.inputs(result)[0] != e) continue;
        step.members.push_back(result);
        step.stores.push_back(place(result).index);
    }
    step.members.push_back(e);
    step.stores.push_back(place(e).index);
    plan_.steps.push_back(std::move(step));
}

}  // namespace weft
