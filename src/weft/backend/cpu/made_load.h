// Loads that read no memory (kernel/loop.h's counting and random), as values one after another. The same bits for any place a run
// of values begins at. Callers: indexed_load.cpp, compiler.cpp.
#pragma once

#include <memory>

#include "weft/backend/cpu/block_kernel.h"

namespace weft::cpu {

/// `count` values of a load whose source is not memory: of number `number`, and then each `step` numbers on. `loads`: of its loop.
void make_values(const Access& load, const void* const* loads, std::int64_t number, std::int64_t step,
                 std::int64_t count, void* to);

/// Counting as memory, where few numbers come up: a table of them that all kernels share is read faster than they are made.
class CountTable {
  public:
    CountTable() = default;
    /// Changes the loop: such loads read memory now.
    explicit CountTable(Loop& loop);
    explicit operator bool() const { return !counted_.empty(); }
    std::size_t scratch_bytes() const { return counted_.empty() ? 0 : aligned(loads_ * sizeof(void*)); }
    /// From the loop's loads as they were to those that it has now, in scratch.
    const void* const* resolve(const void* const* loads, std::byte* scratch) const;

  private:
    std::size_t loads_ = 0;
    std::vector<std::size_t> counted_;
};

/// A map that does nothing but write such values down, one after another: straight to where they belong. Null for any other loop.
std::unique_ptr<const PreparedLoop> prepare_made_map(const Loop& loop);

}  // namespace weft::cpu
