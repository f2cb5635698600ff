// Parts of a block of rows taken in turns of a few rows, so that what one part leaves for the next is still in the first-level cache, and the rows
// that come next arrive from memory while these are computed. Callers: compile/row_blocks.cpp.
#pragma once

#include <algorithm>
#include <new>

#include "weft/compile/row_blocks.h"

namespace weft {

struct Turn {
    std::int64_t rows = 0;  // that a part makes before the next one does; 0: all of a block
    bool soon = false;      // what the next turn reads is asked for into the first-level cache (Access::soon)
};
/// Turns of a block of so many of all `rows`: none where a part is no loop, or reduces the rows, where the block is no more than one, and where a turn
/// would not be worth its calls. `fetched`: KernelCompiler::fetches_turns.
Turn turn_of(const std::vector<RowPart>& parts, std::int64_t rows_in_block, std::int64_t rows, bool fetched);

class RowTurns {
  public:
    RowTurns() = default;
    /// Of parts, and of each the kernel that makes so many rows. Empty where one of them cannot be run so, or the rows are no more than one turn.
    RowTurns(const std::vector<RowPart>& parts, const std::vector<const Kernel*>& kernels, std::int64_t rows,
             std::int64_t rows_in_turn);

    explicit operator bool() const { return !parts_.empty(); }
    /// Memory for where each part is in its rows.
    std::size_t bytes() const { return bytes_; }
    /// Parts that make what all rows read, which run first.
    const std::vector<std::size_t>& before() const { return before_; }
    /// All rows; `table(part)`: the operands of that part, which may lie where those of the last one did.
    template <class Table>
    void run(std::byte* cursors, Table table) const {
        for (std::size_t i = 0; i < parts_.size(); ++i)
            parts_[i].kernel->start_rows(rows_, 0, table(parts_[i].number), cursors + parts_[i].cursor_at);
        for (std::int64_t row = 0; row < rows_; row += rows_in_turn_) {
            std::int64_t count = std::min(rows_in_turn_, rows_ - row);
            for (const Part& part : parts_) make_rows(cursors + part.cursor_at, count);
        }
    }

  private:
    static void make_rows(std::byte* cursor, std::int64_t count) {
        auto* at = std::launder(reinterpret_cast<RowCursor*>(cursor));
        at->make(*at, count);
    }

    struct Part {
        const Kernel* kernel;
        std::size_t number, cursor_at;
    };
    std::vector<Part> parts_;
    std::vector<std::size_t> before_;
    std::int64_t rows_ = 0, rows_in_turn_ = 1;
    std::size_t bytes_ = 0;
};

}  // namespace weft
