// Running a binding: addresses are filled in, the list is walked. A Runner belongs to one binding and keeps the table of addresses
// between runs, so that only what changed is written; the arena is the thread's. Nothing is allocated once it has run.
// Callers: runtime/.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "weft/compile/operand_table.h"

namespace weft {

class Runner {
  public:
    explicit Runner(std::shared_ptr<const Binding> binding);
    /// `leaves` and `outputs`: addresses, one a leaf of the graph and one an entry of Binding::outputs. `contents`: of each leaf its buffer's
    /// content(); left out: not known. One run at a time.
    void run(std::span<void* const> leaves, std::span<void* const> outputs,
             std::span<const std::uint64_t> contents = {});
    /// The same `runs` times; for each step the seconds of its fastest run.
    std::vector<double> time(std::span<void* const> leaves, std::span<void* const> outputs, int runs);
    const Binding& binding() const { return *binding_; }

  private:
    /// Fills in the addresses; gives the scratch memory.
    std::byte* place_operands(std::span<void* const> leaves, std::span<void* const> outputs);
    void run_step(std::size_t s, std::byte* scratch) {
        binding_->steps[s].kernel->run(table_.data() + operands_.first(s), scratch);
    }
    double time_step(std::size_t s, std::byte* scratch);  // seconds
    std::shared_ptr<const Binding> binding_;
    OperandTable operands_;
    std::vector<void*> table_;
    std::byte* arena_ = nullptr;  // what the table was last written for
    BufferHandle own_arena_;      // at a thread's end, when its arena has gone
    struct Kept {
        BufferHandle memory;
        std::vector<std::uint64_t> contents;  // of the leaves that it was made of
    };
    std::vector<Kept> kept_;  // one an entry of operands_.shared()
    void keep(std::size_t i, std::span<const std::uint64_t> contents);
};

/// Where a result of a run lies, as an Array over the buffer it came from.
Array result_array(const View& view, BufferHandle buffer, std::int64_t first_byte);

/// Runs the binding on the leaves of `graph`, which all have numbers, into fresh memory; a result that is a leaf, or a view of one,
/// shares the leaf's. One array an output of the graph.
std::vector<Array> run_once(std::shared_ptr<const Binding> binding, const Graph& graph);

}  // namespace weft
