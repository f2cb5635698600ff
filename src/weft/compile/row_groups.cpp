#include "weft/compile/row_groups.h"

#include <algorithm>
#include <set>

#include "weft/ops/view.h"

namespace weft {
namespace {

constexpr std::size_t window = 64;  // steps behind a group's first among which its others are looked for

class Grouper {
  public:
    Grouper(Plan& plan, const Graph& graph) : plan_(plan), graph_(graph), group_of_(plan.steps.size(), -1) {
        writer_.assign(plan.slots.size(), -1);
        for (std::size_t s = 0; s < plan.steps.size(); ++s)
            for (std::int32_t slot : plan.steps[s].stores) writer_[at(slot)] = static_cast<std::int32_t>(s);
    }

    void group() {
        for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
            if (group_of_[s] < 0 && begins(plan_.steps[s])) grow(s);
        }
        join();
    }

  private:
    struct Group {
        Shape rows;
        std::set<std::size_t> steps;
    };

    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
    const Shape& shape(std::int32_t entry) const { return graph_.node(entry).shape; }

    bool begins(const Step& step) const {
        if (step.kind != Step::reduce || step.axes.empty()) return false;
        std::size_t kept = shape(step.space).size() - step.axes.size();
        return std::all_of(step.axes.begin(), step.axes.end(),
                           [&](std::int64_t axis) { return at_axis(axis) >= kept; });
    }
    static bool one(const Shape& shape) {
        return std::all_of(shape.begin(), shape.end(), [](Size size) { return size == Size(1); });
    }
    static std::size_t at_axis(std::int64_t axis) { return static_cast<std::size_t>(axis); }

    std::size_t index_of(const Step& step) const { return static_cast<std::size_t>(&step - plan_.steps.data()); }

    bool has_rows(std::int32_t entry, const Shape& rows) const {
        const Shape& all = shape(entry);
        return all.size() >= rows.size() && std::equal(rows.begin(), rows.end(), all.begin());
    }

    // Whether a step runs over these rows: each of its rows is computed from the same row of what the group hands it.
    bool fits(const Step& step, const Group& group) const {
        if (step.kind != Step::map && step.kind != Step::reduce) return false;
        if (!has_rows(step.space, group.rows)) return false;
        // Of a single row only what is left of it when it is reduced: a sum over all, and what is made of the sum.
        if (one(group.rows) && !(one(shape(step.space)) || group.steps.contains(index_of(step)))) return false;
        for (std::int64_t axis : step.axes)
            if (at_axis(axis) < group.rows.size()) return false;
        for (std::int32_t slot : step.stores)
            if (!plan_.slots[at(slot)].order.empty()) return false;
        return true;
    }

    // Whether a row of `entry` is a row of the slot below it: on the way stand only views that leave the rows as they are.
    bool keeps_rows(std::int32_t entry, const Shape& rows) const {
        while (true) {
            if (!has_rows(entry, rows)) return false;
            const Place& place = plan_.places[at(entry)];
            if (place.kind != Place::view) return true;
            const Operation* operation = graph_.node(entry).operation;
            bool plain = operation == &reshape_operation || operation == &broadcast_to_operation ||
                         operation->family != Family::view;
            if (!plain) return false;
            entry = place.index;
        }
    }

    // The group's steps that `s` reads from; or none, if it reads one of them otherwise than row by row.
    bool linked(std::size_t s, const Group& group) const {
        bool any = false;
        for (std::size_t i = 0; i < plan_.steps[s].loads.size(); ++i) {
            std::int32_t load = plan_.steps[s].loads[i], slot = slot_below(plan_, load);
            if (slot < 0 || !group.steps.contains(at(writer_[at(slot)]))) continue;
            if (pointed(plan_.steps[s], i) || !keeps_rows(load, group.rows)) return false;
            any = true;
        }
        return any;
    }

    // Whether a way from one of these steps leads through another step back into them: then they cannot run as one. A group that was
    // made before is one step, too: it comes after as a whole or not at all.
    bool closed(const std::set<std::size_t>& steps) const {
        std::size_t first = *steps.begin(), last = *steps.rbegin();
        for (std::size_t s = first; s <= last; ++s)
            if (group_of_[s] >= 0) last = std::max(last, *groups_[at(group_of_[s])].steps.rbegin());
        std::vector<bool> after(last - first + 1, false);  // reads of these steps, and is none of them
        for (std::size_t s = first; s <= last; ++s) {
            bool inside = steps.contains(s);
            for (std::size_t from : makers_of(s)) {
                if (from < first) continue;
                if (inside && after[from - first]) return false;
                if (!inside && (steps.contains(from) || after[from - first])) after[s - first] = true;
            }
            if (!after[s - first] || group_of_[s] < 0) continue;
            for (std::size_t other : groups_[at(group_of_[s])].steps) {
                if (other < s && (other < first || !after[other - first])) return false;
                after[other - first] = true;
            }
        }
        return true;
    }

    // Whether a step reads a slot by indices, or indices from it: then all of it is made before.
    bool picks_from(const Step& step, std::int32_t slot) const {
        for (std::size_t i = 0; i < step.loads.size(); ++i)
            if (pointed(step, i) && slot_below(plan_, step.loads[i]) == slot) return true;
        return false;
    }

    std::vector<std::size_t> makers_of(std::size_t s) const {
        std::vector<std::size_t> makers;
        for (std::int32_t load : plan_.steps[s].loads) {
            std::int32_t slot = slot_below(plan_, load);
            if (slot >= 0) makers.push_back(at(writer_[at(slot)]));
        }
        return makers;
    }

    void grow(std::size_t seed) {
        const Step& step = plan_.steps[seed];
        const Shape& all = shape(step.space);
        Group group{Shape(all.begin(), all.end() - static_cast<std::ptrdiff_t>(step.axes.size())), {seed}};
        if (!fits(step, group)) return;
        add_makers(seed, group);
        for (std::size_t s = seed + 1; s < std::min(plan_.steps.size(), seed + window); ++s) {
            if (group_of_[s] >= 0 || !fits(plan_.steps[s], group) || !linked(s, group)) continue;
            std::set<std::size_t> more = group.steps;
            more.insert(s);
            if (closed(more)) group.steps = std::move(more);
        }
        if (group.steps.size() < 2) return;
        for (std::size_t s : group.steps) group_of_[s] = static_cast<std::int32_t>(groups_.size());
        groups_.push_back(std::move(group));
    }

    // Maps that make what the seed reads.
    void add_makers(std::size_t seed, Group& group) {
        for (std::int32_t load : plan_.steps[seed].loads) {
            std::int32_t slot = slot_below(plan_, load);
            if (slot < 0 || picks_from(plan_.steps[seed], slot) || !keeps_rows(load, group.rows)) continue;
            std::size_t maker = at(writer_[at(slot)]);
            bool takes = maker + window > seed && group_of_[maker] < 0 && plan_.steps[maker].kind == Step::map &&
                         fits(plan_.steps[maker], group);
            if (!takes) continue;
            std::set<std::size_t> more = group.steps;
            more.insert(maker);
            if (closed(more)) group.steps = std::move(more);
        }
    }

    void join() {
        if (groups_.empty()) return;
        std::vector<bool> wanted(plan_.slots.size(), false);  // read by a step of another group, or an output
        for (std::int32_t slot : plan_.outputs)
            if (slot >= 0) wanted[at(slot)] = true;
        for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
            for (std::int32_t load : plan_.steps[s].loads) {
                std::int32_t slot = slot_below(plan_, load);
                if (slot >= 0 && (group_of_[s] < 0 || group_of_[at(writer_[at(slot)])] != group_of_[s]))
                    wanted[at(slot)] = true;
            }
        }
        std::vector<Step> steps;
        for (std::size_t s = 0; s < plan_.steps.size(); ++s)
            if (group_of_[s] < 0) steps.push_back(std::move(plan_.steps[s]));
        for (const Group& group : groups_) steps.push_back(joined(group, wanted));
        plan_.steps = std::move(steps);
    }

    Step joined(const Group& group, const std::vector<bool>& wanted) {
        Step all;
        all.kind = Step::rows;
        all.leading = group.rows.size();
        std::set<std::int32_t> written;
        for (std::size_t s : group.steps) {
            Step& part = plan_.steps[s];
            all.members.insert(all.members.end(), part.members.begin(), part.members.end());
            for (std::int32_t load : part.loads) {
                bool known = std::find(all.loads.begin(), all.loads.end(), load) != all.loads.end();
                if (!known && !written.contains(slot_below(plan_, load))) all.loads.push_back(load);
            }
            for (std::int32_t slot : part.stores) {
                written.insert(slot);
                (wanted[at(slot)] ? all.stores : all.inside).push_back(slot);
            }
            all.parts.push_back(std::move(part));
        }
        std::sort(all.members.begin(), all.members.end());
        all.space = all.parts[0].space;
        return all;
    }

    Plan& plan_;
    const Graph& graph_;
    std::vector<std::int32_t> group_of_, writer_;
    std::vector<Group> groups_;
};

}  // namespace

void group_rows(Plan& plan, const Graph& graph) { Grouper(plan, graph).group(); }

}  // namespace weft
