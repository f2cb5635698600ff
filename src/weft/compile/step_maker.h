// Steps, from the entries that partition has put together. Callers: compile/partition.cpp.
#pragma once

#include <functional>

#include "weft/compile/lower.h"
#include "weft/compile/plan.h"

namespace weft {

class StepMaker {
  public:
    /// Steps and slots are added to `plan`, whose places say where operands are.
    StepMaker(const Graph& graph, Plan& plan) : graph_(graph), plan_(plan) {}

    std::int32_t new_slot(std::int32_t entry, Axes order = {});
    /// Entries of one shape, inputs first; those that are `stored` have a slot.
    void map(const std::vector<std::int32_t>& members, const std::function<bool(std::int32_t)>& stored);
    /// The reduction or scan `e`, and the entries that are computed in it.
    void reduce(std::int32_t e, std::vector<std::int32_t> inside);
    /// Instead of being loaded, an entry is computed in a map or reduction that was made before; it reads what the entry is made of.
    void compute_within(Step& step, std::int32_t entry);
    /// A map no longer stores what it computes for this slot.
    void leave_unstored(Step& step, std::int32_t slot);
    /// The scatter `e` of updates that are computed in it, likewise.
    void scatter(std::int32_t e, std::vector<std::int32_t> inside);
    void copy(std::int32_t from, std::int32_t slot);
    void library(std::int32_t e);
    /// A loop, with the results of it that the graph reads; of one of these, nothing: its loop makes it.
    void region(std::int32_t e);

  private:
    void write_anew(Step& step);
    void give_memory(std::int32_t entry);
    Place& place(std::int32_t e) { return plan_.places[static_cast<std::size_t>(e)]; }
    const Graph& graph_;
    Plan& plan_;
    WrittenValues values_;
};

}  // namespace weft
