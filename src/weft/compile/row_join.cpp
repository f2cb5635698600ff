#include "weft/compile/row_join.h"

#include <algorithm>

#include "weft/base/integers.h"
#include "weft/compile/light_values.h"
#include "weft/compile/row_steps.h"

namespace weft {
namespace {

// For each slot whether an output, or a step that is not of the group of its writer, reads it.
std::vector<bool> wanted_outside(const Plan& plan, const std::vector<std::int32_t>& group_of) {
    std::vector<bool> wanted(plan.slots.size(), false);
    std::vector<std::int32_t> group_of_slot(plan.slots.size(), -1);
    for (std::int32_t slot : plan.outputs)
        if (slot >= 0) wanted[at(slot)] = true;
    for (std::size_t s = 0; s < plan.steps.size(); ++s)
        for (std::int32_t slot : plan.steps[s].stores) group_of_slot[at(slot)] = group_of[s];
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        for (std::int32_t load : plan.steps[s].loads) {
            std::int32_t slot = slot_below(plan, load);
            if (slot >= 0 && (group_of[s] < 0 || group_of_slot[at(slot)] != group_of[s])) wanted[at(slot)] = true;
        }
    }
    return wanted;
}

Step joined(Plan& plan, const RowMembers& group, const std::vector<bool>& wanted) {
    Step all;
    all.kind = Step::rows;
    all.leading = group.rows.size();
    std::set<std::int32_t> written;
    for (std::size_t s : group.steps) {
        Step& part = plan.steps[s];
        part.leading = group.numbers.contains(s) ? 0 : group.rows.size();
        if (!group.numbers.contains(s)) all.space = part.space;
        all.members.insert(all.members.end(), part.members.begin(), part.members.end());
        for (std::int32_t load : part.loads) {
            bool known = std::find(all.loads.begin(), all.loads.end(), load) != all.loads.end();
            if (!known && !written.contains(slot_below(plan, load))) all.loads.push_back(load);
        }
        for (std::int32_t slot : part.stores) {
            written.insert(slot);
            bool by_rows = rows_lead(plan.slots[at(slot)].order, all.leading);  // so a block of them is one piece
            (wanted[at(slot)] || !by_rows ? all.stores : all.inside).push_back(slot);
        }
        all.parts.push_back(std::move(part));
    }
    std::sort(all.members.begin(), all.members.end());
    return all;
}

}  // namespace

void join_rows(Plan& plan, const Graph& graph, const std::vector<RowMembers>& groups) {
    std::vector<std::int32_t> group_of(plan.steps.size(), -1);
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (std::size_t s : groups[g].steps) group_of[s] = static_cast<std::int32_t>(g);
    std::vector<bool> wanted = wanted_outside(plan, group_of);
    std::vector<Step> steps;
    steps.reserve(plan.steps.size() + groups.size());
    for (std::size_t s = 0; s < plan.steps.size(); ++s)
        if (group_of[s] < 0) steps.push_back(std::move(plan.steps[s]));
    StepMaker maker(graph, plan);
    for (const RowMembers& group : groups) {
        steps.push_back(joined(plan, group, wanted));
        spread_light_values(steps.back(), plan, graph, maker);
    }
    plan.steps = std::move(steps);
}

}  // namespace weft
