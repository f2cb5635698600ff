#include "weft/compile/parted_groups.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "weft/base/integers.h"
#include "weft/compile/numbers.h"
#include "weft/compile/parted_cuts.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

class PartedGrouper {
  public:
    explicit PartedGrouper(const Graph& graph)
        : graph_(graph),
          count_(static_cast<std::int32_t>(graph.entries.size())),
          reader_(graph.entries.size(), nobody) {}

    std::optional<PartedGroups> run() {
        if (!find_joins()) return {};
        find_levels();
        find_groups();
        absorb();
        return cut();
    }

  private:
    static constexpr std::int32_t nobody = -1, several = -2;

    Family family(std::int32_t e) const { return graph_.node(e).operation->family; }
    bool leaf(std::int32_t e) const { return graph_.entries[at(e)].leaf; }
    bool elementwise(std::int32_t e) const { return !leaf(e) && family(e) == Family::elementwise; }
    bool same_shape(std::int32_t a, std::int32_t b) const { return graph_.node(a).shape == graph_.node(b).shape; }

    // Joins of which some piece would be copied, or is laid into a number, and that only maps of their own shape read.
    bool find_joins() {
        joins_.assign(graph_.entries.size(), false);
        auto join = [&](std::int32_t e) { return !leaf(e) && family(e) == Family::join; };
        bool any = false;
        for (std::int32_t e = 0; e < count_; ++e) any |= join(e);
        if (!any) return false;
        std::vector<std::int32_t> reads(graph_.entries.size()), maps(graph_.entries.size());
        joined_.resize(graph_.entries.size());
        for (std::int32_t e = 0; e < count_; ++e)
            for (std::int32_t input : graph_.inputs(e)) {
                ++reads[at(input)], joined_[at(input)] += join(e);
                maps[at(input)] += elementwise(e) && same_shape(e, input);
            }
        for (std::int32_t output : graph_.outputs) ++reads[at(output)];
        // What only other joins see a slice of is read by maps, too, where these are (parted_cuts.h).
        for (std::int32_t e = 0; e < count_; ++e)
            if (reads[at(e)] > 0 && joined_[at(e)] == reads[at(e)] && concatenation_below(graph_, e) >= 0)
                ++maps[at(graph_.inputs(e)[0])];
        any = false;
        for (std::int32_t e = 0; e < count_; ++e) {
            bool whole = join(e) && reads[at(e)] > 0 && reads[at(e)] == maps[at(e)] && splits(e);
            joins_[at(e)] = whole, any |= whole;
        }
        return any;
    }
    bool splits(std::int32_t e) const {
        const Node& node = graph_.node(e);
        if (!known(node.shape) || node.shape.empty() || element_count(dims_of(node.shape)) == 0) return false;
        for (std::int32_t input : graph_.inputs(e))
            if (graph_.node(input).dtype != node.dtype || !known(graph_.node(input).shape)) return false;
        if (node.operation == &pad_operation) {
            const PadAttributes& a = node.attributes_as<PadAttributes>();
            return std::all_of(a.between.begin(), a.between.end(), [](std::int64_t gap) { return gap == 0; }) &&
                   std::all_of(a.before.begin(), a.before.end(), [](Offset o) { return o.value.known(); });
        }
        if (node.operation != &concatenate_operation) return false;
        std::span<const std::int32_t> pieces = graph_.inputs(e);
        return std::any_of(pieces.begin(), pieces.end(), [&](std::int32_t input) { return lies(input); });
    }

    // Whether an array lies elsewhere than in the one join that reads it.
    bool lies(std::int32_t e) const {
        if (leaf(e) || joined_[at(e)] > 1) return true;
        const Operation* operation = graph_.node(e).operation;
        if (operation == &reshape_operation || operation == &permute_dims_operation) return lies(graph_.inputs(e)[0]);
        return family(e) == Family::view;
    }
    JoinRead read(std::int32_t join) const {
        return {join, graph_.node(join).operation != &pad_operation || lies(graph_.inputs(join)[0])};
    }

    // As partition's: a level more for what has to pass memory first.
    void find_levels() {
        levels_.assign(graph_.entries.size(), 0), stored_.assign(graph_.entries.size(), 0);
        for (std::int32_t e = 0; e < count_; ++e) {
            std::int32_t level = 0;
            for (std::int32_t input : graph_.inputs(e)) {
                bool inside = elementwise(e) && elementwise(input) && same_shape(e, input);
                level = std::max(level, inside ? levels_[at(input)] : stored_[at(input)]);
            }
            bool lies = leaf(e) || family(e) == Family::view || family(e) == Family::constant;
            levels_[at(e)] = level, stored_[at(e)] = level + !lies;
        }
    }

    std::int32_t root(std::int32_t e) {
        while (parent_[at(e)] != e) e = parent_[at(e)] = parent_[at(parent_[at(e)])];
        return e;
    }
    void find_groups() {
        parent_.resize(graph_.entries.size()), std::iota(parent_.begin(), parent_.end(), 0);
        for (std::int32_t e = 0; e < count_; ++e) {
            if (!elementwise(e)) continue;
            for (std::int32_t input : graph_.inputs(e)) {
                bool inside = elementwise(input) && same_shape(e, input) && levels_[at(e)] == levels_[at(input)];
                if (inside) parent_[at(root(e))] = root(input);
                if (!joins_[at(input)]) continue;
                std::int32_t& reader = reader_[at(input)];
                if (reader == nobody)
                    reader = e;
                else if (levels_[at(reader)] == levels_[at(e)])
                    parent_[at(root(e))] = root(reader);
            }
        }
        group_.assign(graph_.entries.size(), nobody);
        for (std::int32_t e = 0; e < count_; ++e)
            for (std::int32_t input : graph_.inputs(e))
                if (joins_[at(input)] && elementwise(e)) group_[at(root(e))] = root(e);
        for (std::int32_t e = 0; e < count_; ++e)
            if (elementwise(e)) group_[at(e)] = group_[at(root(e))];
    }

    // What only a group reads, of its shape, is of the group.
    void absorb() {
        std::vector<std::int32_t> reader(graph_.entries.size(), nobody);
        for (std::int32_t output : graph_.outputs) reader[at(output)] = several;
        for (std::int32_t e = count_; e-- > 0;) {
            if (elementwise(e) && group_[at(e)] == nobody && reader[at(e)] >= 0 && same_shape(e, reader[at(e)]))
                group_[at(e)] = reader[at(e)];
            for (std::int32_t input : graph_.inputs(e)) {
                std::int32_t& known = reader[at(input)];
                std::int32_t mine = group_[at(e)] >= 0 ? group_[at(e)] : several;
                known = known == nobody || known == mine ? mine : several;
            }
        }
    }

    std::optional<PartedGroups> cut() {
        std::map<std::int32_t, std::vector<JoinRead>> joins_read;  // by each group: joins
        std::vector<std::int32_t> seen(graph_.entries.size(), nobody);
        for (std::int32_t e = 0; e < count_; ++e)
            for (std::int32_t input : graph_.inputs(e))
                if (joins_[at(input)] && elementwise(e) &&
                    std::exchange(seen[at(input)], group_[at(e)]) != group_[at(e)])
                    joins_read[group_[at(e)]].push_back(read(input));
        PartedGroups result{
            {}, std::vector<std::int32_t>(graph_.entries.size(), -1), std::vector<bool>(graph_.entries.size(), false)};
        std::map<std::int32_t, std::int32_t> number;
        std::vector<bool> kept(graph_.entries.size(), false);  // read as a whole by some group
        for (auto& [group, joins] : joins_read) {
            ChosenCuts chosen = chosen_cuts(graph_, graph_.node(group).shape, joins, instructions(group));
            auto saved = std::count(chosen.dissolved.begin(), chosen.dissolved.end(), true);
            bool worth = saved > joined_again(group);
            for (std::size_t k = 0; k < joins.size(); ++k)
                if (!worth || !chosen.dissolved[k]) kept[at(joins[k].join)] = true;
            if (!worth) continue;
            PartedGroup parted{std::move(chosen.cuts)};
            number[group] = added(std::move(parted), result.groups);
        }
        if (number.empty()) return {};
        for (std::int32_t e = 0; e < count_; ++e) {
            if (auto found = number.find(group_[at(e)]); found != number.end()) result.of[at(e)] = found->second;
            result.dissolved[at(e)] = joins_[at(e)] && !kept[at(e)];
        }
        return result;
    }

    std::int64_t instructions(std::int32_t group) const {
        std::int64_t count = 0;
        for (std::int32_t e = 0; e < count_; ++e)
            if (group_[at(e)] == group) count += instructions_of(graph_.node(e));
        return count;
    }

    // Groups that are cut alike are one: a part of one is read by the other as it is.
    static std::int32_t added(PartedGroup group, std::vector<PartedGroup>& groups) {
        auto alike = [&](const PartedGroup& other) { return other.cuts == group.cuts; };
        auto found = std::find_if(groups.begin(), groups.end(), alike);
        auto number = static_cast<std::int32_t>(found - groups.begin());
        if (found == groups.end()) groups.push_back(std::move(group));
        return number;
    }

    // Reductions that a map is computed in, which would read it from memory.
    std::int64_t joined_again(std::int32_t group) const {
        std::int64_t count = 0;
        for (std::int32_t e = 0; e < count_; ++e)
            if (!leaf(e) && (family(e) == Family::reduce || family(e) == Family::scan))
                for (std::int32_t input : graph_.inputs(e)) count += group_[at(input)] == group;
        return count;
    }

    const Graph& graph_;
    std::int32_t count_;
    std::vector<std::int32_t> reader_;  // of a join the first map that reads it
    std::vector<std::int32_t> levels_, stored_, parent_, group_, joined_;
    std::vector<bool> joins_;
};

}  // namespace

std::optional<PartedGroups> parted_groups(const Graph& graph) { return PartedGrouper(graph).run(); }

}  // namespace weft
