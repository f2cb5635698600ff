// The addresses that the steps of a binding are handed: one table, of which each step reads its part. Who runs a binding has one, and writes
// down where the arena, the leaves and the outputs are. Callers: runtime/executor, compile/loop_kernel.
#pragma once

#include <span>
#include <vector>

#include "weft/compile/binding.h"

namespace weft {

class OperandTable {
  public:
    explicit OperandTable(const Binding& binding);

    struct Patch {
        std::uint32_t position;
        Base base;
        std::int64_t offset;
    };

    /// Of a table before any address is known: numbers that stand for what has no memory are there.
    const std::vector<void*>& empty() const { return empty_; }
    std::size_t first(std::size_t step) const { return first_[step]; }
    void place_arena(void** table, std::byte* arena) const {
        for (const Patch& patch : inside_) table[patch.position] = arena + patch.offset;
    }
    void place_outside(void** table, std::span<void* const> leaves, std::span<void* const> outputs) const {
        for (const Patch& patch : outside_) place(table, patch, leaves, outputs);
    }
    /// One by one: where leaves and outputs stand in the table.
    const std::vector<Patch>& outside() const { return outside_; }
    static void place(void** table, const Patch& patch, std::span<void* const> leaves, std::span<void* const> outputs) {
        auto index = static_cast<std::size_t>(patch.base.index);
        void* base = patch.base.kind == Base::leaf ? leaves[index] : outputs[index];
        table[patch.position] = static_cast<std::byte*>(base) + patch.offset;
    }

    /// What kernels share from run to run (Kernel::share): steps that make the same of the same leaves (a recurrent layer's) have one.
    struct Shared {
        std::size_t step;                      // the first that reads it
        std::vector<std::uint32_t> positions;  // in the table, behind the operands of all that read it
        std::size_t bytes = 0;
    };
    const std::vector<Shared>& shared() const { return shared_; }

  private:
    std::vector<void*> empty_;
    std::vector<std::uint32_t> first_;     // of each step, in the table
    std::vector<Patch> outside_, inside_;  // what points to leaves and outputs; into the arena
    std::vector<Shared> shared_;
};

}  // namespace weft
