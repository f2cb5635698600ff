#include "weft/compile/row_groups.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "weft/compile/light_values.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

constexpr std::size_t window = 64;  // steps behind a group's first among which its others are looked for

class Grouper {
  public:
    Grouper(Plan& plan, const Graph& graph)
        : plan_(plan), graph_(graph), group_of_(plan.steps.size(), -1), readers_(plan.slots.size()) {
        writer_.assign(plan.slots.size(), -1);
        far_.resize(plan.steps.size());
        std::iota(far_.begin(), far_.end(), std::size_t{0});
        walked_.assign(plan.steps.size(), 0);
        for (std::size_t s = 0; s < plan.steps.size(); ++s) {
            for (std::int32_t slot : plan.steps[s].stores) writer_[at(slot)] = static_cast<std::int32_t>(s);
            for (std::int32_t load : plan.steps[s].loads)
                if (std::int32_t slot = slot_below(plan, load); slot >= 0) readers_[at(slot)].push_back(s);
        }
    }

    // Products first: what is made of their rows is worth more beside them than beside another reduction.
    void group() {
        for (std::size_t s = 0; s < plan_.steps.size(); ++s)
            if (group_of_[s] < 0 && is_product(plan_.steps[s])) grow(s, rows_of_product(s));
        for (std::size_t s = 0; s < plan_.steps.size(); ++s)
            if (group_of_[s] < 0 && reduces_rows(plan_.steps[s])) grow(s, rows_of_reduction(s));
        join();
    }

  private:
    struct Group {
        Shape rows;
        std::set<std::size_t> steps;
        std::set<std::size_t> numbers;  // of the steps: without rows, made anew for each block
        Shape single;                   // of a product of a single row: its shape without ones
    };

    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
    static std::size_t at_axis(std::int64_t axis) { return static_cast<std::size_t>(axis); }
    const Shape& shape(std::int32_t entry) const { return graph_.node(entry).shape; }
    const Shape& space(const Step& step) const { return shape(step.space); }

    bool is_product(const Step& step) const {
        return step.kind == Step::library && graph_.node(step.space).operation->family == Family::contraction;
    }
    bool reduces_rows(const Step& step) const {
        if (step.kind != Step::reduce || step.axes.empty()) return false;
        std::size_t kept = space(step).size() - step.axes.size();
        return std::all_of(step.axes.begin(), step.axes.end(),
                           [&](std::int64_t axis) { return at_axis(axis) >= kept; });
    }

    // A product whose second matrix is each batch's own (attention's values), so that the first, made row by row, is all it shares.
    bool weighs(const Step& step) const {
        if (!is_product(step) || space(step).size() < 3) return false;
        const Node& second = graph_.node(step.loads[1]);
        return second.operation != &broadcast_to_operation;
    }

    static bool one(const Shape& shape) { return proper(shape).empty(); }
    static Shape proper(const Shape& shape) {
        Shape kept;
        for (Size size : shape)
            if (!(size == Size(1))) kept.push_back(size);
        return kept;
    }

    Group rows_of_reduction(std::size_t seed) const {
        const Step& step = plan_.steps[seed];
        const Shape& all = space(step);
        return {Shape(all.begin(), all.end() - static_cast<std::ptrdiff_t>(step.axes.size())), {seed}, {}, {}};
    }

    // All axes but the last. A row vector's own axis of one says nothing: its readers may have dropped it.
    Group rows_of_product(std::size_t seed) const {
        const Shape& all = space(plan_.steps[seed]);
        Shape rows(all.begin(), all.end() - 1);
        while (!rows.empty() && rows.back() == Size(1)) rows.pop_back();
        return {rows, {seed}, {}, one(rows) ? proper(all) : Shape()};
    }

    bool has_rows(std::int32_t entry, const Shape& rows) const {
        const Shape& all = shape(entry);
        return all.size() >= rows.size() && std::equal(rows.begin(), rows.end(), all.begin());
    }

    // Whether a step runs over these rows: each of its rows is computed from the same row of what the group hands it.
    bool fits(std::size_t s, const Group& group) const {
        const Step& step = plan_.steps[s];
        bool product = is_product(step);
        if (step.kind != Step::map && step.kind != Step::reduce && !product) return false;
        if (!has_rows(step.space, group.rows) || space(step).size() < group.rows.size() + product) return false;
        // Of a single row only what is left of it when it is reduced: a sum over all, and what is made of the sum; or a product's row.
        bool little = one(space(step)) || group.steps.contains(s) ||
                      (!group.single.empty() && proper(space(step)) == group.single);
        if (one(group.rows) && !little) return false;
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
            bool spread = operation == &broadcast_to_operation &&
                          (rows.empty() || shape(entry).size() == shape(place.index).size());
            bool plain = operation == &reshape_operation || spread || operation->family != Family::view;
            if (!plain) return false;
            entry = place.index;
        }
    }

    // Whether the step reads this load row by row: axis for axis along its own rows; of a product's second matrix batches alone.
    bool reads_rows(const Step& step, std::size_t load, const Shape& rows) const {
        std::int32_t entry = step.loads[load];
        if (picks_from(step, slot_below(plan_, entry))) return false;
        bool aligned = rows.empty() || shape(entry).size() == space(step).size();
        bool second = is_product(step) && load > 0;
        return aligned && keeps_rows(entry, rows) && !(second && rows.size() + 1 >= space(step).size());
    }

    // The group's steps that `s` reads from; or none, if it reads one of them otherwise than row by row.
    bool linked(std::size_t s, const Group& group) const {
        bool any = false;
        for (std::size_t maker : makers_of(s)) any |= group.steps.contains(maker);
        return any && reads_group_by_rows(s, group);
    }

    // Whether a way from one of these steps leads through another step back into them: then they cannot run as one. A group that was
    // made before is one step, too: who reaches one of its steps reaches all.
    bool closed(const std::set<std::size_t>& steps) {
        std::size_t last = *steps.rbegin();  // beyond it no way leads back
        while (far_[last] > last) last = far_[last];
        ++walk_;
        std::vector<std::size_t> open(steps.begin(), steps.end());
        auto reach = [&](std::size_t s) {
            if (s > last || walked_[s] == walk_) return;
            walked_[s] = walk_;
            open.push_back(s);
        };
        while (!open.empty()) {
            std::size_t from = open.back();
            open.pop_back();
            bool inside = steps.contains(from);
            for (std::int32_t slot : plan_.steps[from].stores) {
                for (std::size_t reader : readers_[at(slot)]) {
                    if (!steps.contains(reader))
                        reach(reader);
                    else if (!inside)
                        return false;
                }
            }
            if (inside || group_of_[from] < 0) continue;
            for (std::size_t other : groups_[at(group_of_[from])].steps) reach(other);
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

    bool has_product(const Group& group) const {
        return std::any_of(group.steps.begin(), group.steps.end(),
                           [&](std::size_t s) { return is_product(plan_.steps[s]); });
    }

    bool add(std::size_t s, Group& group) {
        std::set<std::size_t> more = group.steps;
        more.insert(s);
        if (!closed(more)) return false;
        group.steps = std::move(more);
        return true;
    }

    void grow(std::size_t seed, Group group) {
        if (!fits(seed, group)) return;
        if (!is_product(plan_.steps[seed])) add_makers(seed, group, false);
        for (std::size_t s = seed + 1; s < std::min(plan_.steps.size(), seed + window); ++s) {
            bool loops = plan_.steps[s].kind == Step::map || plan_.steps[s].kind == Step::reduce;
            if ((loops || weighs(plan_.steps[s])) && group_of_[s] < 0 && fits(s, group) && linked(s, group) &&
                add(s, group))
                add_makers(s, group, true);
        }
        if (group.steps.size() < 2) return;
        if (!is_product(plan_.steps[seed])) add_sums_over_rows(group);
        add_numbers(group);
        for (std::size_t s : group.steps) group_of_[s] = static_cast<std::int32_t>(groups_.size());
        std::size_t last = *group.steps.rbegin();
        for (std::size_t s = *group.steps.begin(); s < last; ++s) far_[s] = std::max(far_[s], last);
        groups_.push_back(std::move(group));
    }

    // Products, and in a group without any maps, outside the group that make what a step of it reads.
    void add_makers(std::size_t reader, Group& group, bool products) {
        bool maps = !products || !has_product(group);
        const Step& step = plan_.steps[reader];
        for (std::size_t i = 0; i < step.loads.size(); ++i) {
            std::int32_t slot = slot_below(plan_, step.loads[i]);
            if (slot < 0 || !reads_rows(step, i, group.rows)) continue;
            std::size_t maker = at(writer_[at(slot)]);
            const Step& made = plan_.steps[maker];
            bool takes = maker + window > reader && group_of_[maker] < 0 && !group.steps.contains(maker) &&
                         ((products && is_product(made)) || (maps && made.kind == Step::map)) && fits(maker, group);
            bool apart = true;  // reads nothing of the group
            for (std::size_t from : makers_of(maker)) apart &= !group.steps.contains(from);
            if (takes && apart) add(maker, group);
        }
    }

    // Reductions of the rows themselves, of what the group makes or reads row by row. Nothing in the group waits for them.
    void add_sums_over_rows(Group& group) {
        std::set<std::int32_t> read;
        for (std::size_t s : group.steps)
            for (std::int32_t load : plan_.steps[s].loads)
                if (shape(load).size() > group.rows.size() && has_rows(load, group.rows)) read.insert(load);
        std::size_t from = *group.steps.begin(), to = *group.steps.rbegin() + window;
        for (std::size_t s = from < window ? 0 : from - window; s < std::min(plan_.steps.size(), to); ++s) {
            const Step& step = plan_.steps[s];
            if (group_of_[s] >= 0 || !sums_over_rows(step, group.rows)) continue;
            bool shares = std::any_of(step.loads.begin(), step.loads.end(),
                                      [&](std::int32_t load) { return read.contains(load); });
            if ((shares && reads_group_by_rows(s, group)) || linked(s, group)) add(s, group);
        }
    }

    // Partial results are kept for each block, so positions, which count from the first row, and half types, which would be rounded, stay.
    bool sums_over_rows(const Step& step, const Shape& rows) const {
        if (!joins_rows(step, rows.size()) || !has_rows(step.space, rows) || one(rows)) return false;
        if (space(step).size() == rows.size()) return false;
        for (std::size_t i = 0; i < step.stores.size(); ++i) {
            const Slot& slot = plan_.slots[at(step.stores[i])];
            bool position = step.reductions[i] == Reduction::argmax || step.reductions[i] == Reduction::argmin;
            if (position || !slot.order.empty() || slot.dtype != compute_dtype(slot.dtype)) return false;
        }
        return true;
    }

    bool reads_group_by_rows(std::size_t s, const Group& group) const {
        const Step& step = plan_.steps[s];
        for (std::size_t i = 0; i < step.loads.size(); ++i) {
            std::int32_t slot = slot_below(plan_, step.loads[i]);
            if (slot >= 0 && group.steps.contains(at(writer_[at(slot)])) && !reads_rows(step, i, group.rows))
                return false;
        }
        return true;
    }

    // Numbers that only the group reads (the size that a mean divides by, a product of factors) are made by it, once for each block.
    void add_numbers(Group& group) {
        std::vector<std::size_t> open(group.steps.begin(), group.steps.end());
        while (!open.empty()) {
            std::size_t reader = open.back();
            open.pop_back();
            for (std::size_t maker : makers_of(reader)) {
                if (group.steps.contains(maker) || !is_number(maker, group) || !add(maker, group)) continue;
                group.numbers.insert(maker);
                open.push_back(maker);
            }
        }
    }

    bool is_number(std::size_t s, const Group& group) const {
        const Step& step = plan_.steps[s];
        bool constant = step.kind == Step::library && graph_.node(step.space).operation->family == Family::constant;
        if (group_of_[s] >= 0 || !(step.kind == Step::map || constant) || !one(space(step))) return false;
        for (std::size_t from : makers_of(s))
            if (group.steps.contains(from) && !group.numbers.contains(from)) return false;
        for (std::int32_t slot : step.stores) {
            bool shown = std::find(plan_.outputs.begin(), plan_.outputs.end(), slot) != plan_.outputs.end();
            for (std::size_t reader : readers_[at(slot)]) shown |= !group.steps.contains(reader);
            if (shown) return false;
        }
        return true;
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
            part.leading = group.numbers.contains(s) ? 0 : group.rows.size();
            if (!group.numbers.contains(s)) all.space = part.space;
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
        spread_light_values(all, plan_, graph_);
        return all;
    }

    Plan& plan_;
    const Graph& graph_;
    std::vector<std::int32_t> group_of_, writer_;
    std::vector<std::vector<std::size_t>> readers_;  // of each slot
    std::vector<std::size_t> far_;                   // the last step of the groups that begin at a step or before it
    std::vector<std::uint32_t> walked_;              // by which walk each step was met last
    std::uint32_t walk_ = 0;
    std::vector<Group> groups_;
};

}  // namespace

void group_rows(Plan& plan, const Graph& graph) { Grouper(plan, graph).group(); }

}  // namespace weft
