#include "weft/compile/row_groups.h"

#include <algorithm>
#include <numeric>

#include "weft/base/integers.h"
#include "weft/compile/row_join.h"
#include "weft/compile/row_steps.h"

namespace weft {
namespace {

constexpr std::int64_t short_row = 64;  // elements; of more a block of rows is too narrow for its columns
constexpr std::size_t window = 64;      // steps behind a group's first among which its others are looked for

class Grouper {
  public:
    Grouper(Plan& plan, const Graph& graph, bool sized)
        : plan_(plan),
          graph_(graph),
          sized_(sized),
          steps_(plan, graph),
          group_of_(plan.steps.size(), -1),
          readers_(plan.slots.size()) {
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

    // Products and convolutions first: what is made of their rows is worth more beside them than beside another reduction.
    void group() {
        for (std::size_t s = 0; s < plan_.steps.size(); ++s)
            if (group_of_[s] < 0 && (steps_.is_product(plan_.steps[s]) || steps_.is_convolution(plan_.steps[s])))
                grow(s);
        for (std::size_t s = 0; s < plan_.steps.size(); ++s)
            if (group_of_[s] < 0 && steps_.reduces_rows(plan_.steps[s])) grow(s);
        for (std::size_t s = 0; s < plan_.steps.size(); ++s)
            if (group_of_[s] < 0 && steps_.joins_inner_axes(plan_.steps[s])) grow(s);
        if (asks_for_sizes_ && !sized_) plan_.by_steps = std::make_shared<const Plan>(plan_);
        if (!groups_.empty()) join_rows(plan_, graph_, {groups_.begin(), groups_.end()});
    }

  private:
    struct Group : RowMembers {
        Shape single;          // of a product of a single row: its shape without ones
        bool images = false;   // grown from a convolution: rows are images
        bool reduced = false;  // grown from a reduction
        bool inner = false;    // of axes that are not the last
        std::int64_t few = 0;  // elements of a row that may lie across
    };

    Group group_of(std::size_t seed, std::int64_t few) const {
        const Step& step = plan_.steps[seed];
        Group group{{steps_.rows_of(step), {seed}, {}}, {}, steps_.is_convolution(step), step.kind == Step::reduce};
        group.inner = group.reduced && !steps_.reduces_rows(step), group.few = few;
        if (steps_.is_product(step) && is_one(group.rows)) group.single = proper(steps_.space(step));
        return group;
    }

    bool fits(std::size_t s, const Group& group) const {
        const Step& step = plan_.steps[s];
        if (!steps_.runs_over(step, group.rows) || (group.reduced && reads_across(step, group))) return false;
        if (!is_one(group.rows) || group.images || group.steps.contains(s)) return true;
        // Of a single row only what is left of it when it is reduced: a sum over all, and what is made of the sum; or a product's row.
        const Shape& space = steps_.space(step);
        return is_one(space) || (!group.single.empty() && proper(space) == group.single);
    }

    // Whether what lies across the rows is better read by columns, all rows at once: where they are long.
    bool reads_across(const Step& step, const Group& group) const {
        if (!steps_.reads_across(step, group.rows, 0)) return false;
        asks_for_sizes_ = true;
        return group.few == 0 || steps_.reads_across(step, group.rows, group.few);
    }

    bool across(const Group& group) const {
        return std::any_of(group.steps.begin(), group.steps.end(),
                           [&](std::size_t s) { return steps_.reads_across(plan_.steps[s], group.rows, 0); });
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

    std::vector<std::size_t> makers_of(std::size_t s) const {
        std::vector<std::size_t> makers;
        for (std::int32_t load : plan_.steps[s].loads) {
            std::int32_t slot = slot_below(plan_, load);
            if (slot >= 0) makers.push_back(at(writer_[at(slot)]));
        }
        return makers;
    }

    // Grown from a reduction, and without a product since.
    bool loops_alone(const Group& group) const {
        return group.reduced && std::none_of(group.steps.begin(), group.steps.end(),
                                             [&](std::size_t s) { return steps_.is_product(plan_.steps[s]); });
    }

    bool add(std::size_t s, Group& group) {
        std::set<std::size_t> more = group.steps;
        more.insert(s);
        if (!closed(more)) return false;
        group.steps = std::move(more);
        return true;
    }

    // What may follow in a group. Another convolution, or a product with one matrix for all, would read its weights for each block anew.
    bool joins(const Step& step, const Group& group) const {
        bool loops = step.kind == Step::map || step.kind == Step::reduce;
        if (group.inner) return loops;
        return loops || steps_.weighs(step) || (steps_.slides(step) && !steps_.is_convolution(step));
    }

    // What lies across rows is worth a group, and what joins inner axes is, where a value of the size of all that is joined is handed on
    // inside: else the steps one by one read columns as well, and without blocks.
    void grow(std::size_t seed) {
        Group group = grown(seed, sized_ ? short_row : 0);
        if (group.reduced && (group.inner || across(group)) && !hands_on(group, steps_.space(plan_.steps[seed])))
            group = group.inner ? Group() : grown(seed, 0);
        if (group.steps.size() < 2) return;
        for (std::size_t s : group.steps) group_of_[s] = static_cast<std::int32_t>(groups_.size());
        std::size_t last = *group.steps.rbegin();
        for (std::size_t s = *group.steps.begin(); s < last; ++s) far_[s] = std::max(far_[s], last);
        groups_.push_back(std::move(group));
    }

    Group grown(std::size_t seed, std::int64_t few) {
        Group group = group_of(seed, few);
        if (!fits(seed, group)) return {};
        if (steps_.is_product(plan_.steps[seed]))
            add_prologue(seed, group);
        else
            add_makers(seed, group, false);
        for (std::size_t s = seed + 1; s < std::min(plan_.steps.size(), seed + window); ++s) {
            if (joins(plan_.steps[s], group) && group_of_[s] < 0 && fits(s, group) && linked(s, group) && add(s, group))
                add_makers(s, group, !group.inner);
        }
        if (group.steps.size() < 2) return group;
        if (group.reduced && !group.inner && !across(group)) add_sums_over_rows(group);
        add_numbers(group);
        return group;
    }

    // Whether a step of the group reads from another what has this shape.
    bool hands_on(const Group& group, const Shape& shape) const {
        auto inside = [&](std::int32_t load) {
            std::int32_t slot = slot_below(plan_, load);
            return slot >= 0 && group.steps.contains(at(writer_[at(slot)])) && graph_.node(load).shape == shape;
        };
        return std::any_of(group.steps.begin(), group.steps.end(), [&](std::size_t s) {
            const std::vector<std::int32_t>& loads = plan_.steps[s].loads;
            return std::any_of(loads.begin(), loads.end(), inside);
        });
    }

    // Products, and in a group of loops alone maps, outside the group that make what a step of it reads.
    void add_makers(std::size_t reader, Group& group, bool products) {
        bool maps = !products || loops_alone(group);
        const Step& step = plan_.steps[reader];
        for (std::size_t i = 0; i < step.loads.size(); ++i) {
            std::int32_t slot = slot_below(plan_, step.loads[i]);
            if (slot < 0 || !steps_.reads(step, i, group.rows)) continue;
            std::size_t maker = at(writer_[at(slot)]);
            const Step& made = plan_.steps[maker];
            bool takes = maker + window > reader && group_of_[maker] < 0 && !group.steps.contains(maker) &&
                         ((products && steps_.is_product(made)) || (maps && made.kind == Step::map)) &&
                         fits(maker, group);
            bool apart = true;  // reads nothing of the group
            for (std::size_t from : makers_of(maker)) apart &= !group.steps.contains(from);
            if (takes && apart && hands_rows(maker, group)) add(maker, group);
        }
    }

    // Loops that make the rows of a product's first matrix: an activation, a normalisation with its reductions. All of them or none: a
    // map that waits for a reduction of its rows runs better beside that one.
    void add_prologue(std::size_t product, Group& group) {
        Group more = group;
        std::vector<std::size_t> open{product};
        while (!open.empty()) {
            std::size_t reader = open.back();
            open.pop_back();
            for (std::size_t maker : makers_of(reader)) {
                const Step& made = plan_.steps[maker];
                bool loop = made.kind == Step::map || steps_.reduces_rows(made);
                if (more.steps.contains(maker) || !loop || is_one(steps_.space(made))) continue;
                bool takes = maker + window > product && group_of_[maker] < 0 && fits(maker, more) &&
                             reads_by_rows(reader, more.rows, [&](std::size_t of) { return of == maker; }) &&
                             add(maker, more);
                if (takes) open.push_back(maker);
                if (!takes && steps_.reduces_rows(made) && reader != product) return;
            }
        }
        for (std::size_t s : more.steps)
            if (!reads_group_by_rows(s, more)) return;
        group = std::move(more);
    }

    // Reductions of the rows themselves, of what the group makes or reads row by row. Nothing in the group waits for them.
    void add_sums_over_rows(Group& group) {
        std::set<std::int32_t> read;
        for (std::size_t s : group.steps)
            for (std::int32_t load : plan_.steps[s].loads)
                if (RowSteps::has_more_than(group.rows, graph_.node(load).shape)) read.insert(load);
        std::size_t from = *group.steps.begin(), to = *group.steps.rbegin() + window;
        for (std::size_t s = from < window ? 0 : from - window; s < std::min(plan_.steps.size(), to); ++s) {
            const Step& step = plan_.steps[s];
            if (group_of_[s] >= 0 || !steps_.sums_over_rows(step, group.rows) || waits_for(s, group)) continue;
            bool shares = std::any_of(step.loads.begin(), step.loads.end(),
                                      [&](std::int32_t load) { return read.contains(load); });
            if ((shares && reads_group_by_rows(s, group)) || linked(s, group)) add(s, group);
        }
    }

    bool waits_for(std::size_t s, const Group& group) const {
        for (std::int32_t slot : plan_.steps[s].stores)
            for (std::size_t reader : readers_[at(slot)])
                if (group.steps.contains(reader)) return true;
        return false;
    }

    bool reads_group_by_rows(std::size_t s, const Group& group) const {
        return reads_by_rows(s, group.rows, [&](std::size_t maker) { return group.steps.contains(maker); });
    }

    // Whether the step reads what such makers make row by row.
    template <class Of>
    bool reads_by_rows(std::size_t s, const Shape& rows, Of of) const {
        const Step& step = plan_.steps[s];
        for (std::size_t i = 0; i < step.loads.size(); ++i) {
            std::int32_t slot = slot_below(plan_, step.loads[i]);
            if (slot >= 0 && of(at(writer_[at(slot)])) && !steps_.reads(step, i, rows)) return false;
        }
        return true;
    }

    // Whether the group reads what `maker` makes row by row alone: not turned as well, nor as a convolution's weights.
    bool hands_rows(std::size_t maker, const Group& group) const {
        return std::all_of(group.steps.begin(), group.steps.end(), [&](std::size_t s) {
            return reads_by_rows(s, group.rows, [&](std::size_t of) { return of == maker; });
        });
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

    // Indices are none: all of them are checked before any block runs.
    bool is_number(std::size_t s, const Group& group) const {
        const Step& step = plan_.steps[s];
        bool constant = step.kind == Step::library && graph_.node(step.space).operation->family == Family::constant;
        if (group_of_[s] >= 0 || !(step.kind == Step::map || constant) || !is_one(steps_.space(step))) return false;
        for (std::size_t from : makers_of(s))
            if (group.steps.contains(from) && !group.numbers.contains(from)) return false;
        for (std::int32_t slot : step.stores) {
            bool shown = std::find(plan_.outputs.begin(), plan_.outputs.end(), slot) != plan_.outputs.end();
            for (std::size_t reader : readers_[at(slot)])
                shown |= !group.steps.contains(reader) || steps_.picks_from(plan_.steps[reader], slot);
            if (shown) return false;
        }
        return true;
    }

    Plan& plan_;
    const Graph& graph_;
    bool sized_;  // sizes are those of the graph
    mutable bool asks_for_sizes_ = false;
    RowSteps steps_;
    std::vector<std::int32_t> group_of_, writer_;
    std::vector<std::vector<std::size_t>> readers_;  // of each slot
    std::vector<std::size_t> far_;                   // the last step of the groups that begin at a step or before it
    std::vector<std::uint32_t> walked_;              // by which walk each step was met last
    std::uint32_t walk_ = 0;
    std::vector<Group> groups_;
};

}  // namespace

void group_rows(Plan& plan, const Graph& graph) { Grouper(plan, graph, false).group(); }

Plan grouped_rows(const Plan& by_steps, const Graph& graph) {
    Plan plan = by_steps;
    Grouper(plan, graph, true).group();
    return plan;
}

}  // namespace weft
