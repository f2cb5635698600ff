// The indices by which the loads, and the store, of a Loop move, before the loop runs: each is checked against the axis that it points along. Those that
// are read again and again (of rows, of columns) are made places first, in memory of their own, so that the loop has less to do.
// Callers: backend/cpu/compiler.cpp, block_evaluator.cpp.
#pragma once

#include <vector>

#include "weft/backend/cpu/strided.h"

namespace weft::cpu {

/// A tensor of indices: what it points along, and the indices that differ.
struct LoopIndex {
    DType dtype;
    Box<1> box;
    Pointer pointer;
};

class IndexCheck {
  public:
    IndexCheck() = default;
    explicit IndexCheck(const Loop& loop);
    explicit operator bool() const { return !tensors_.empty(); }
    /// IndexError for the first index, in the loop's order, outside its axis. Allocates nothing otherwise.
    void run(const void* const* loads) const;

  private:
    std::vector<LoopIndex> tensors_;
};

class IndexPlaces {
  public:
    IndexPlaces() = default;
    /// Changes the loop: indexed loads whose indices are read often move by one load more, the places, instead. The loop is no longer
    /// one that verify() takes: the axis of places has size 0 (none is negative), and number -1 where several indices make a place.
    explicit IndexPlaces(Loop& loop);
    explicit operator bool() const { return !places_.empty(); }
    std::size_t scratch_bytes() const { return bytes_; }
    /// From the loop's loads as they were to those that it has now, in scratch. The indices were checked.
    const void* const* resolve(const void* const* loads, std::byte* scratch) const;

  private:
    struct Places {
        std::vector<LoopIndex> indices;   // of the load; each walks all places
        std::vector<std::int64_t> units;  // what a step of each adds to a place
        std::int64_t count;
        std::size_t at;  // bytes, in scratch
    };
    std::size_t loads_ = 0, bytes_ = 0;  // loads as they were
    std::vector<Places> places_;
};

}  // namespace weft::cpu
