// What a plan knows of the memory that its loops are handed: how addresses are aligned, and that nothing beyond a place is touched.
// Slots of the arena, and results that a run allocates, begin on a cache line (compile/memory.h, core/buffer.h), so views of them lie as
// their offset leaves them; of leaves, and of results that may lie in a leaf's memory, nothing is known: that memory is its owner's.
// Callers: compile/binding.cpp, step_kernels.cpp.
#pragma once

#include "weft/compile/binding.h"

namespace weft {

/// Known alignments of an address, in bytes, that is moved by so many bytes from one with the alignment `from`; 0 if that says no more
/// than what elements of the type have anyway.
std::size_t alignment_after(std::size_t from, std::int64_t moved, DType dtype);

class AccessFacts {
  public:
    /// All four as in Binder: where each entry lies, the output that each slot is (or -1), and outputs with their donors. `allocated`: who
    /// runs the binding allocates its outputs; else they lie anywhere.
    AccessFacts(const Plan& plan, const Graph& graph, const Views& views, const std::vector<std::int32_t>& output_of,
                const std::vector<BoundOutput>& outputs, bool allocated)
        : plan_(plan), graph_(graph), views_(views), output_of_(output_of), outputs_(outputs), allocated_(allocated) {}

    /// Writes down the alignments of the loop's accesses. `first`: the load that is the step's first. InternalError names an access that
    /// would touch memory beyond its operand's place.
    void add(const Step& step, Loop& loop, std::size_t first = 0) const;
    /// The alignment of a slot that a step stores.
    std::size_t alignment(std::int32_t slot, DType dtype) const { return place_of(whole(slot, dtype)).alignment; }
    /// The same for a loop of several that each run over a block of the rows, at addresses moved by multiples of `strides` bytes.
    static void move(Access& access, const Dims& strides);

  private:
    struct Place {  // bytes of memory, counted from the operand's address
        std::size_t alignment;
        std::int64_t first, end;
    };
    Place place_of(const View& view) const;
    View whole(std::int32_t slot, DType dtype) const;
    void add(Access& access, const Dims& dims, const Place& place, std::string_view what, std::size_t number) const;

    const Plan& plan_;
    const Graph& graph_;
    const Views& views_;
    const std::vector<std::int32_t>& output_of_;
    const std::vector<BoundOutput>& outputs_;
    bool allocated_;
};

}  // namespace weft
