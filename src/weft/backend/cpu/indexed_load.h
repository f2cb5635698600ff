// Loads that do not read memory by strides alone, for evaluators that want blocks of values one after another: those that move by
// indices (kernel/loop.h's pointers) are picked from their array into a block of a few kilobytes, which stays in the first-level
// cache; those that read no memory are made there. Indices were checked before; an axis of size 0 says that none is negative.
// Always: nothing is allocated while blocks are filled. Callers: block_runner.cpp, emit/emitted_map.cpp, block_reduction.cpp.
#pragma once

#include <vector>

#include "weft/backend/cpu/indexed_walk.h"

namespace weft::cpu {

class IndexedLoad {
  public:
    /// Load number `load` of the loop, over a space of sizes `dims`; `streams`: the loop's loads beside that space.
    IndexedLoad(const Loop& loop, std::size_t load, Dims dims, const std::vector<Stream>& streams);

    std::size_t load() const { return load_; }
    DType memory() const { return memory_; }
    /// The `count` elements from index `at` on, in row-major order, to `to`, one after another.
    void fill(const void* const* loads, const std::int64_t* at, std::int64_t count, void* to) const;
    /// Where these lie one after another in the array itself; null if they do not.
    const void* in_place(const void* const* loads, const std::int64_t* at, std::int64_t count) const;

  private:
    using Cursor = IndexedWalk::Cursor;
    std::byte* fill_run(const Cursor& cursor, const void* const* loads, std::int64_t count, std::byte* to) const;
    std::byte* fill_rows(const Cursor& cursor, const void* const* loads, std::int64_t rows, std::byte* to) const;
    std::byte* pick_run(const Cursor& cursor, const std::byte* from, const void* const* loads, std::int64_t count,
                        std::byte* to) const;
    /// Whether one tensor of neighbouring int64 says all of where a run's elements lie; and the same for each of several rows.
    bool picks() const;
    bool picks_from_rows() const;
    std::byte* pick_rows(const Cursor& cursor, const void* const* loads, std::int64_t rows, std::int64_t count,
                         std::byte* to) const;

    std::size_t load_, width_;
    DType memory_;
    Access access_;  // where it comes from; its strides are those of the loop, not of this space
    IndexedWalk walk_;
};

/// Whether the load's numbers are the same along the innermost axis, or grow by one.
bool counted(const Access& load, const Stream& stream);

/// The loads of a loop that are not plain (none: the loop has none), and room for a block of each.
class IndexedBlocks {
  public:
    IndexedBlocks() = default;
    /// `counts`: who asks counts itself, where a stream is contiguous or does not move along the innermost axis.
    IndexedBlocks(const Loop& loop, const Dims& dims, const std::vector<Stream>& streams, bool counts = false);

    explicit operator bool() const { return !loads_.empty(); }
    const std::vector<IndexedLoad>& loads() const { return loads_; }
    /// Of a number of elements that a block holds at most, and the memory for that many.
    std::size_t bytes(std::int64_t block) const;
    /// Elements [flat, flat + count) in row-major order of every indexed load; count <= block.
    void fill(const void* const* loads, std::int64_t flat, std::int64_t count, std::int64_t block,
              std::byte* blocks) const;
    /// Whether the load is one of these; if so, `base` is where element 0 of the space would lie in front of the block from `flat`.
    bool base(std::size_t load, std::int64_t flat, std::int64_t block, const std::byte* blocks,
              const void*& base) const;

  private:
    std::vector<IndexedLoad> loads_;
    Dims dims_;
};

}  // namespace weft::cpu
