// Lowering: entries of a graph become instructions of one Program. Members of the kernel are computed in it, numbers are written
// into it, everything else is loaded; a gather that is a member, through its index tensors. Callers: compile/partition.cpp.
#pragma once

#include <unordered_map>

#include "weft/compile/plan.h"
#include "weft/kernel/builder.h"

namespace weft {

class ProgramWriter {
  public:
    ProgramWriter(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {}
    void compute(std::int32_t entry);  ///< a member whose inputs are computed, numbers, or loadable
    void store(std::int32_t entry);    ///< the entry's value leaves the program
    /// What the scatter changes, and index tensors: loads that no instruction reads.
    void scatter_into(std::int32_t scatter);
    /// The value leaves in the type in which `reduction` joins it to a result of type `result`.
    void store_for_reduction(std::int32_t entry, Reduction reduction, DType result);
    /// Those of the loads that are gathers, random bits or what a scatter changes.
    const std::vector<IndexedLoad>& indexed() const { return indexed_; }
    /// Entries that are loaded, one an input of the program.
    const std::vector<std::int32_t>& loads() const { return loads_; }
    Program take() { return builder_.take(); }

  private:
    Scalar value(std::int32_t entry);
    Scalar pointed(std::int32_t entry, std::span<const std::int32_t> indices);
    Scalar made(std::int32_t entry, std::int32_t base);
    const Graph& graph_;
    const Plan& plan_;
    ProgramBuilder builder_;
    std::unordered_map<std::int32_t, Scalar> values_;
    std::vector<Scalar> operands_;  // of what is computed; kept, as is their memory
    std::vector<Tensor> inputs_;
    std::vector<std::int32_t> loads_;
    std::vector<IndexedLoad> indexed_;
};

}  // namespace weft
