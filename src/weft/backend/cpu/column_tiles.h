// How a reduction whose results lie side by side in memory ("columns", of which rows are joined onto one another) is cut into tiles: an
// outer index, a segment of columns, a chunk of rows. Chunks' results are joined afterwards, in their order. The cut depends on
// sizes alone, so it is the same for any number of threads, any instruction set and whoever computes the values.
// Caller: backend/cpu/block_reduction.cpp.
#pragma once

#include <algorithm>

#include "weft/backend/cpu/block_kernel.h"

namespace weft::cpu {

class ColumnTiles {
  public:
    struct Tile {
        std::int64_t outer, column, width;  // columns [column, column + width)
        std::int64_t first, end;            // rows
        std::int64_t chunk;
    };

    ColumnTiles() = default;
    /// `length` rows of `inner` columns for each of `outer` indices; no segment is wider than `widest`.
    ColumnTiles(std::int64_t outer, std::int64_t length, std::int64_t inner, std::int64_t widest)
        : length_(length), inner_(inner) {
        if (inner == 0 || outer == 0) return;
        segment_ = inner <= widest ? inner : divide_up(divide_up(inner, divide_up(inner, widest)), 64) * 64;
        segments_ = divide_up(inner, segment_);
        std::int64_t split = divide_up(units_wanted, outer * segments_);
        std::int64_t least = std::max(rows_least, task_elements / segment_);
        chunk_ = std::min(std::max(divide_up(length, split), least), rows_most);
        chunks_ = std::max<std::int64_t>(1, divide_up(length, chunk_));
        count_ = outer * segments_ * chunks_;
    }

    std::int64_t count() const { return count_; }
    std::int64_t segment() const { return segment_; }
    std::int64_t chunks() const { return chunks_; }
    /// Tiles that follow each other and lie side by side; how many of them there are from that one on.
    std::int64_t side_by_side() const { return segments_; }
    std::int64_t side_by_side(std::int64_t number) const { return segments_ - number % segments_; }
    /// Elements of a tile, about.
    std::int64_t elements() const { return segment_ * std::min(length_, chunk_); }
    Tile tile(std::int64_t number) const {
        std::int64_t rest = number / segments_, column = (number - rest * segments_) * segment_, outer = rest / chunks_,
                     chunk = rest - outer * chunks_, first = chunk * chunk_;
        return {outer, column, std::min(segment_, inner_ - column), first, std::min(length_, first + chunk_), chunk};
    }

  private:
    // A row of 64 lanes joins 256 values one after another before it is cut; columns may join four times as many where their rows
    // are so short that more chunks would only cost.
    static constexpr std::int64_t rows_least = 32, rows_most = 1024;
    static constexpr std::int64_t units_wanted = 32;  // enough for any number of threads to share evenly

    std::int64_t length_ = 0, inner_ = 0, segment_ = 1, segments_ = 0, chunk_ = 1, chunks_ = 1, count_ = 0;
};

}  // namespace weft::cpu
