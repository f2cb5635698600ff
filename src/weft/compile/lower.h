// Lowering: entries of a graph become instructions of one Program. Members of the kernel are computed in it, numbers are written
// into it, everything else is loaded; a gather that is a member, through its index tensors. Callers: compile/partition.cpp.
#pragma once

#include "weft/compile/plan.h"
#include "weft/kernel/builder.h"

namespace weft {

/// Values by their entries, for many programs one after the other: each begins with none, but nothing is cleared for it.
class WrittenValues {
  public:
    /// A program of entries below `entries` begins.
    void begin(std::size_t entries) {
        values_.resize(std::max(values_.size(), entries));
        ++program_;
    }
    bool has(std::int32_t entry) const { return values_[static_cast<std::size_t>(entry)].program == program_; }
    Scalar get(ScalarBuilder& builder, std::int32_t entry) const {
        const Value& value = values_[static_cast<std::size_t>(entry)];
        return Scalar(&builder, value.dtype, value.id).comparing(value.compared);
    }
    void set(std::int32_t entry, const Scalar& scalar) {
        values_[static_cast<std::size_t>(entry)] = {program_, scalar.id(), scalar.dtype(), scalar.compared()};
    }

  private:
    struct Value {
        std::uint32_t program = 0;
        std::int32_t id = -1;
        DType dtype = DType::float32, compared = DType::float32;
    };
    std::vector<Value> values_;
    std::uint32_t program_ = 0;
};

class ProgramWriter {
  public:
    /// `values`: for this writer alone until it is gone. `members`: how many entries will be computed, about.
    ProgramWriter(const Graph& graph, const Plan& plan, WrittenValues& values, std::size_t members)
        : graph_(graph), plan_(plan), values_(values) {
        values_.begin(graph.entries.size());
        builder_.expect(members + members / 4 + 8);
    }
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
    WrittenValues& values_;
    std::vector<Scalar> operands_;  // of what is computed; kept, as is their memory
    std::vector<std::int32_t> loads_;
    std::vector<IndexedLoad> indexed_;
};

}  // namespace weft
