// The work of partition (partition.cpp says what it does and why no cycle can arise), in three files: where entries lie (partition.cpp),
// which are computed together (partition_groups.cpp), the steps that follow (partition_steps.cpp). Used once, for one graph.
// Callers: compile/partition.cpp.
#pragma once

#include <map>
#include <set>

#include "weft/base/small_vector.h"
#include "weft/compile/dense_axes.h"
#include "weft/compile/gathers.h"
#include "weft/compile/plan.h"
#include "weft/compile/step_maker.h"
#include "weft/ops/elementwise.h"

namespace weft {

class Partitioner {
  public:
    Partitioner(const Graph& graph, const PartitionOptions& options)
        : graph_(graph),
          options_(options),
          count_(static_cast<std::int32_t>(graph.entries.size())),
          maker_(graph, plan_) {}

    Plan plan();

  private:
    const Node& node(std::int32_t e) const { return graph_.node(e); }
    // Asked many times of each entry: kept side by side, apart from nodes.
    void note_nodes();
    Family family(std::int32_t e) const { return families_[static_cast<std::size_t>(e)]; }
    bool same_shape(std::int32_t a, std::int32_t b) const {
        return shapes_[static_cast<std::size_t>(a)] == shapes_[static_cast<std::size_t>(b)];
    }
    Place& place(std::int32_t e) { return plan_.places[static_cast<std::size_t>(e)]; }
    bool elementwise(std::int32_t e) {
        return place(e).kind == Place::fused && (family(e) == Family::elementwise || picked(e));
    }

    // A gather that is a load of the loop that reads it: it is computed there as if it were elementwise.
    bool picked(std::int32_t e) const { return options_.fuse && loops_.gathers[static_cast<std::size_t>(e)]; }
    bool shown(std::int32_t e) const { return options_.fuse && loops_.indices[static_cast<std::size_t>(e)]; }

    // What is made where it is read, or a view of it: it passes through no memory.
    bool made(std::int32_t e) const {
        return plan_.places[static_cast<std::size_t>(memory_below(plan_, e))].kind == Place::made;
    }
    bool counted(std::int32_t e) const { return made(e) && graph_.inputs(memory_below(plan_, e)).empty(); }

    // Reductions, scans and scatters join what is computed in them: this input.
    bool joins(std::int32_t e) const { return family(e) == Family::reduce || family(e) == Family::scan; }
    std::int32_t joined(std::int32_t e) const { return graph_.inputs(e)[family(e) == Family::scatter ? 1 : 0]; }

    void put_in_slot(std::int32_t e, Axes order = {});
    std::optional<DenseAxes> reshaped_axes(std::int32_t e, std::int32_t from);
    DenseAxes axes_of(std::int32_t e) const;
    void note_axes(std::int32_t e, DenseAxes axes);
    void place_leaves_and_views();
    bool passes_on(std::int32_t e);
    void place_view(std::int32_t e, std::int32_t from);
    void place_copy(std::int32_t e, std::int32_t from);
    Axes order_of(std::int32_t e);
    Axes order_of_operands(std::int32_t e);
    Axes order_of_permuted(std::int32_t e);
    Axes order_of_leaves(std::int32_t e);
    void place_outputs();

    void absorb();
    bool may_wait(std::int32_t e, std::int32_t reader) const;
    void release_scatters();
    void group_elementwise();
    void find_levels();
    struct Moves {
        std::vector<char> stays, late, held;  // found not to move; moves; is read where it must lie in memory
        std::vector<std::int32_t> to, last;   // level of the first reader; of the last that does not move
    };
    void move_to_readers();
    bool find_late(Moves& moves);
    bool leave_mixed(Moves& moves);
    bool together(std::int32_t e, std::int32_t input);
    std::int32_t root(std::int32_t e);
    void join(std::int32_t a, std::int32_t b) { parent_[static_cast<std::size_t>(root(a))] = root(b); }
    std::int32_t& level(std::int32_t e) { return levels_[static_cast<std::size_t>(e)]; }

    void make_steps();
    std::vector<std::vector<std::int32_t>> kernels_of_groups();
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs_inside() const;
    void find_needed();
    void release_gathers(std::vector<std::vector<std::int32_t>>& kernels);
    void release_drawn();
    bool scatters_in_loop(std::int32_t e) const;
    void find_outputs();

    const Graph& graph_;
    const PartitionOptions& options_;
    std::int32_t count_;
    Plan plan_;
    StepMaker maker_;
    std::vector<Family> families_;
    std::vector<std::int32_t> shapes_;  // of each entry the first that has its shape
    std::vector<bool> made_;            // what loops make where they read it
    LoopGathers loops_;                 // gathers that are loads of loops
    std::vector<std::int32_t> inside_, levels_, parent_, kernel_of_;
    std::vector<bool> needed_, written_, stored_elementwise_;
    std::vector<Axes> orders_;
    std::map<std::int32_t, Axes> wanted_;  // orders in which readers want entries to lie
    std::vector<std::pair<Axes, std::vector<bool>>>
        in_rows_;                                   // of orders in which leaves lie: which entries are wanted in rows
    std::map<std::int32_t, DenseAxes> axes_;        // of entries that do not lie row-major without gaps
    std::map<std::int32_t, std::int32_t> copy_of_;  // of an entry the reshape that copies it
    std::set<std::int32_t> of_leaves_;  // entries that lie as leaves do: in order only together with their like
    std::set<std::int32_t> copies_, output_copies_;
    std::map<std::int32_t, std::size_t> absorbed_;
};

}  // namespace weft
