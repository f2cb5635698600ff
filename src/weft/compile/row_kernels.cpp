// The kernel of a step of rows: its parts, how they hang together, and the memory of what passes between them.
#include <algorithm>
#include <map>
#include <set>

#include "weft/base/integers.h"
#include "weft/compile/in_place.h"
#include "weft/compile/row_homes.h"
#include "weft/compile/row_numbers.h"
#include "weft/compile/row_parts.h"
#include "weft/compile/row_steps.h"
#include "weft/compile/step_kernels.h"

namespace weft {

class StepKernels::Rows {
  public:
    Rows(const StepKernels& of, const Step& step) : of_(of), plan_(of.plan_), step_(step), homes_(of.homes_of(step)) {
        for (std::int32_t load : step.loads) of_load_.emplace(load, number(of_load_.size()));
        for (std::int32_t slot : step.stores) of_slot_.emplace(slot, number(of_load_.size() + of_slot_.size()));
        outside_ = number(of_load_.size() + of_slot_.size());
        for (std::int32_t slot : step.inside) {
            if (auto home = homes_.find(slot); home != homes_.end())
                of_slot_.emplace(slot, of_slot_.at(home->second));
            else
                own_.push_back(slot), of_slot_.emplace(slot, number(at(outside_) + own_.size() - 1));
        }
    }

    std::unique_ptr<Kernel> kernel() const {
        RowGroup group;
        const Shape& shape = of_.graph_.node(step_.space).shape;
        group.rows = dims_of(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(step_.leading)));
        group.outside = outside_, group.fetches_turns = of_.compiler_.turns() == Turns::fetched;
        bool ended = of_.compiler_.turns() != Turns::beside;  // or it is known what turns end beside
        for (std::size_t p = 0; p < step_.parts.size(); ++p) {
            bool beside = ends_beside(p);
            if (beside && homes_.empty())
                group.beside = beside_part_of(p, group.parts.size(), false);  // of several the last
            if (!ended && !made_once(step_.parts[p])) {
                if (beside) group.turn_beside = beside_part_of(p, group.parts.size(), true);
                ended = true;
            }
            group.parts.push_back(numbered_part(p));
            if (stores_and_joins(p)) ++p;
        }
        group.inside = lifetimes(static_cast<bool>(group.turn_beside.make));
        return row_blocks(group);
    }

  private:
    static std::int32_t number(std::size_t n) { return static_cast<std::int32_t>(n); }

    /// Whether it makes what all rows read, in front of them: it lives until the block ends.
    bool made_once(const Step& part) const { return part.leading < step_.leading; }

    RowPart numbered_part(std::size_t p) const {
        const Step& inner = step_.parts[p];
        RowPart made = part(p);
        made.once = made_once(inner);
        made.kept = of_.kept_view(inner) != nullptr;
        std::size_t i = 0;
        for (std::int32_t load : inner.loads) {
            auto of_inner = of_slot_.find(slot_below(plan_, load));
            made.operands[i++].number = of_inner != of_slot_.end() ? of_inner->second : of_load_.at(load);
        }
        for (std::int32_t slot : inner.stores) made.operands[i++].number = of_slot_.at(slot);
        if (stores_and_joins(p))
            for (std::int32_t slot : step_.parts[p + 1].stores) made.operands[i++].number = of_slot_.at(slot);
        for (RowOperand& operand : made.operands) operand.strides.resize(step_.leading, 0);
        if (made.once)
            made.make = [make = std::move(made.make)](const Dims&, const KernelUse& use) { return make({}, use); };
        return made;
    }

    RowPart part(std::size_t p) const {
        const Step& step = step_.parts[p];
        std::size_t leading = step_.leading;
        if (stores_and_joins(p)) {
            return stored_reduction_part(of_.compiler_, loop_of_part(p), loop_of_part(p + 1), leading, stays(step),
                                         stays(step_.parts[p + 1]));
        }
        if (step.kind != Step::library) {
            Loop made = loop_of_part(p);
            if (joins_rows(step, leading)) return row_sums_part(of_.compiler_, made, stays(step));
            RowPart part = loop_part(of_.compiler_, made, step.leading, stays(step));
            if (made_once(step)) part.points = part.bytes = 0;
            return part;
        }
        const Node& node = of_.graph_.node(step.members[0]);
        Layout output = slot_layout(plan_, of_.graph_, of_.views_, step.stores[0]);
        if (node.operation->family == Family::contraction)
            return product_part(of_.compiler_, node, of_.inputs(step), output, step.leading);
        if (node.operation->family == Family::window)
            return window_part(of_.compiler_, node, of_.inputs(step), output,
                               RowSteps(plan_, of_.graph_).is_convolution(step));
        RowPart part;  // a number
        part.operands.resize(step.loads.size() + 1);
        part.make = [of = &of_, step](const Dims&, const KernelUse&) { return of->library(step); };
        return part;
    }

    /// Of each load and store of a part what `says` of its slot.
    template <class Says>
    std::vector<bool> of_accesses(const Step& part, Says says) const {
        std::vector<bool> all;
        for (std::int32_t load : part.loads) all.push_back(says(slot_below(plan_, load)));
        for (std::int32_t slot : part.stores) all.push_back(says(slot));
        return all;
    }
    /// Whether it lies at one place for all blocks.
    std::vector<bool> stays(const Step& part) const {
        return of_accesses(part, [&](std::int32_t slot) { return contains(own_, slot); });
    }

    Loop loop_of_part(std::size_t p) const {
        const Step& part = step_.parts[p];
        Loop made = of_.loop(part);
        mark_passing(p, made);
        for (std::size_t i = 0; i < part.loads.size() + part.stores.size(); ++i) {
            bool load = i < part.loads.size();
            auto home = homes_.find(load ? slot_below(plan_, part.loads[i]) : part.stores[i - part.loads.size()]);
            if (home == homes_.end()) continue;
            Access& access = load ? made.loads[i] : made.stores[i - part.loads.size()];
            access.alignment = of_.facts_.alignment(home->second, access.dtype);
            if (!load) continue;
            Layout all = slot_layout(plan_, of_.graph_, of_.views_, home->second);
            access.passes = static_cast<std::size_t>(all.size()) * size_of(all.dtype), access.replaced = true;
        }
        return made;
    }

    /// Arrays from outside that no later part reads, and results that none reads, pass by once.
    void mark_passing(std::size_t p, Loop& loop) const {
        const Step& part = step_.parts[p];
        std::vector<bool> inside = of_accesses(part, [&](std::int32_t slot) { return contains(step_.inside, slot); });
        auto read_later = [&](auto matches) {
            for (std::size_t later = p + 1; later < step_.parts.size(); ++later)
                for (std::int32_t load : step_.parts[later].loads)
                    if (matches(load)) return true;
            return false;
        };
        for (std::size_t i = 0; i < part.loads.size(); ++i) {
            std::int32_t load = part.loads[i];
            bool again = read_later([&](std::int32_t other) { return other == load; });
            if (inside[i] || again || pointed(part, i)) continue;
            const Layout& all = of_.views_[at(load)].layout;
            loop.loads[i].passes = static_cast<std::size_t>(all.size()) * size_of(all.dtype);
        }
        for (std::size_t i = 0; i < part.stores.size(); ++i) {
            std::int32_t slot = part.stores[i];
            if (inside[part.loads.size() + i] ||
                read_later([&](std::int32_t other) { return slot_below(plan_, other) == slot; }))
                continue;
            Layout all = slot_layout(plan_, of_.graph_, of_.views_, slot);
            loop.stores[i].passes = static_cast<std::size_t>(all.size()) * size_of(all.dtype);
        }
    }

    /// Whether part p is a map, and the next the reduction of each row that reads its only result and nothing else.
    bool stores_and_joins(std::size_t p) const {
        if (p + 1 >= step_.parts.size()) return false;
        const Step &map = step_.parts[p], &reduction = step_.parts[p + 1];
        bool kinds = map.kind == Step::map && map.stores.size() == 1 && map.indexed.empty() &&
                     reduction.kind == Step::reduce && reduction.loads.size() == 1 && reduction.indexed.empty();
        return kinds && map.leading == step_.leading && reduction.leading == step_.leading &&
               !joins_rows(reduction, step_.leading) && slot_below(plan_, reduction.loads[0]) == map.stores[0];
    }

    /// Whether the last part, a map, may be done for one block, or turn, while part p, which joins rows to numbers, is done for the next: all parts
    /// are loops over the rows, each of which reads its own block alone. (Blocks have one memory for what lies inside; homes are elsewhere.)
    bool ends_beside(std::size_t p) const {
        const Step& last = step_.parts.back();
        bool joins = step_.parts[p].kind == Step::reduce || stores_and_joins(p);
        bool map =
            last.kind == Step::map && last.stores.size() == 1 && p + (stores_and_joins(p) ? 2 : 1) < step_.parts.size();
        bool loops = std::all_of(step_.parts.begin(), step_.parts.end(), [&](const Step& part) {
            bool number = part.kind == Step::library && part.leading == 0;
            return number || (part.kind != Step::library && part.indexed.empty() && part.leading == step_.leading &&
                              !joins_rows(part, step_.leading));
        });
        return joins && map && loops && step_.leading > 0 && !contains(own_, last.stores[0]);
    }
    RowBeside beside_part_of(std::size_t p, std::size_t number, bool turns) const {
        const std::vector<Step>& parts = step_.parts;
        std::size_t joins = p + (stores_and_joins(p) ? 1 : 0);
        Loop made = loop_of_part(p);
        RowBeside beside =
            beside_part(of_.compiler_, joins > p ? &made : nullptr, loop_of_part(joins), loop_of_part(parts.size() - 1),
                        step_.leading, {stays(parts[p]), stays(parts[joins]), stays(parts.back())}, turns);
        beside.part = number;
        beside.past =
            !of_.compiler_.fetches_results(slot_layout(plan_, of_.graph_, of_.views_, parts.back().stores[0]), false);
        return beside;
    }

    /// Of each part when it runs: two in one pass at the same time.
    std::vector<std::int32_t> turns() const {
        std::vector<std::int32_t> turns;
        for (std::size_t p = 0; p < step_.parts.size(); ++p)
            turns.push_back(p == 0 ? 0 : turns.back() + (stores_and_joins(p - 1) ? 0 : 1));
        return turns;
    }

    /// Of what has memory of its own inside: from part to part; what its readers make themselves takes none. A map writes over what dies
    /// with it, where it may. `overlap`: the first part of a turn makes its results while the last one of the turn before still reads.
    std::vector<Lifetime> lifetimes(bool overlap) const {
        std::vector<Lifetime> lives;
        std::map<std::int32_t, std::size_t> of_slot;
        for (std::int32_t slot : own_) {
            Layout layout = slot_layout(plan_, of_.graph_, of_.views_, slot);
            of_slot.emplace(slot, lives.size());
            bool stored = std::any_of(step_.parts.begin(), step_.parts.end(),
                                      [&](const Step& part) { return contains(part.stores, slot); });
            auto row = static_cast<std::size_t>(elements_of_row(layout.dims, step_.leading));
            lives.push_back({stored ? row * size_of(layout.dtype) : 0});
        }
        auto inside = [&](std::int32_t slot) {
            auto found = of_slot.find(slot);
            return found == of_slot.end() ? nullptr : &lives[found->second];
        };
        std::vector<std::int32_t> turn = turns();
        std::int32_t of_first = -1;
        for (std::size_t p = 0; p < step_.parts.size(); ++p) {
            bool once = made_once(step_.parts[p]);
            if (of_first < 0 && !once) of_first = turn[p];
            bool to_last = overlap && turn[p] == of_first;
            for (std::int32_t load : step_.parts[p].loads)
                if (Lifetime* life = inside(slot_below(plan_, load))) life->last = std::max(life->last, turn[p]);
            for (std::int32_t slot : step_.parts[p].stores)
                if (Lifetime* life = inside(slot))
                    life->first = once ? 0 : turn[p],
                    life->last = once ? turn.back() + 1 : (to_last ? turn.back() : turn[p]);
        }
        for (const Step& part : step_.parts) {
            std::set<std::int32_t> taken;
            for (std::int32_t slot : part.stores) {
                Lifetime* life = inside(slot);
                for (std::int32_t load : part.loads) {
                    std::int32_t other = slot_below(plan_, load);
                    const Lifetime* dying = inside(other);
                    bool takes = life && dying && dying->last == life->first && !taken.contains(other) &&
                                 part.kind == Step::map &&
                                 may_write_over(plan_, of_.graph_, of_.views_, part, slot, {Base::arena, other});
                    if (!takes) continue;
                    life->may_reuse = static_cast<std::int32_t>(of_slot.at(other));
                    taken.insert(other);
                    break;
                }
            }
        }
        return lives;
    }

    const StepKernels& of_;
    const Plan& plan_;
    const Step& step_;
    std::map<std::int32_t, std::int32_t> homes_;              // of slots inside
    std::map<std::int32_t, std::int32_t> of_load_, of_slot_;  // numbers of operands
    std::vector<std::int32_t> own_;                           // slots inside that have memory of their own
    std::int32_t outside_ = 0;
};

std::map<std::int32_t, std::int32_t> StepKernels::homes_of(const Step& step) const {
    return row_homes(plan_, graph_, views_, step, [&](std::int32_t slot, bool much) {
        return own_(slot) && compiler_.fetches_results(slot_layout(plan_, graph_, views_, slot), much);
    });
}

/// A step of rows as it runs where its parts take turns, if that is another than the plan has.
std::optional<Step> StepKernels::with_fewer_parts(const Step& rows) const {
    return compiler_.turns() != Turns::plain ? numbers_in_readers(plan_, graph_, rows) : std::nullopt;
}

std::unique_ptr<Kernel> StepKernels::rows(const Step& step) const {
    std::optional<Step> fewer = with_fewer_parts(step);
    return Rows(*this, fewer ? *fewer : step).kernel();
}

}  // namespace weft
