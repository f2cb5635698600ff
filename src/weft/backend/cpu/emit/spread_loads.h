// Loads that short rows read but do not run along with: one number a row, or a row that many rows share (points of two or three coordinates
// times a weight each, differences of all pairs of points). They are written out block by block, in the first-level cache, so that all rows
// are one long row: machine code takes 3 to 8 ns to begin a row. Always: nothing is allocated while blocks are filled.
// Callers: emitted_source.cpp.
#pragma once

#include <vector>

#include "weft/backend/cpu/loop_layout.h"

namespace weft::cpu::emit {

/// One such load, over rows of `row` elements.
class SpreadLoad {
  public:
    SpreadLoad(std::size_t load, const Stream& stream, const Dims& dims);
    std::size_t load() const { return load_; }
    std::size_t size() const { return size_; }
    /// Whole rows from row `first` on, one after the other; up to slack_bytes behind the last may be written over.
    void fill(const void* from, std::int64_t first, std::int64_t rows, std::byte* to) const;

  private:
    void fill_run(const std::byte* from, std::int64_t rows, std::byte* to) const;

    std::size_t load_, size_;
    std::int64_t row_;
    bool still_;         // one number a row
    Dims rows_, steps_;  // sizes and steps (bytes) of the axes of the rows; at least one
};

class SpreadLoads {
  public:
    static constexpr std::size_t slack_bytes = 64;

    explicit operator bool() const { return !loads_.empty(); }
    /// Takes on those of the streams over `dims` that keep its two innermost axes apart; all others run on from row to row then. `repeated`: those
    /// that are the same in every row are left to the caller. False, and none, where rows have more than `most` elements, are few, or read
    /// something else.
    bool take(const Dims& dims, std::vector<Stream>& streams, std::int64_t most, bool repeated);

    /// Memory for blocks of so many elements.
    std::size_t bytes(std::int64_t block) const;
    /// Elements [flat, flat + count) of all; `from(i)`: the address of stream i at index 0 of every axis.
    template <class From>
    void fill(From from, std::int64_t flat, std::int64_t count, std::int64_t block, std::byte* blocks) const {
        std::int64_t first = flat / row_, rows = (flat + count + row_ - 1) / row_ - first;
        for (const SpreadLoad& load : loads_) {
            load.fill(from(load.load()), first, rows, blocks);
            blocks += bytes_of(load, block);
        }
    }
    /// Whether stream i is one of these; if so, `base` is where element 0 of the space would lie in front of the block from `flat`.
    bool base(std::size_t i, std::int64_t flat, std::int64_t block, const std::byte* blocks, const void*& base) const;

  private:
    std::size_t bytes_of(const SpreadLoad& load, std::int64_t block) const;

    std::vector<SpreadLoad> loads_;
    std::int64_t row_ = 1;
};

}  // namespace weft::cpu::emit
