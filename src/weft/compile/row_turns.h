// Parts of a block of rows taken in turns of a few rows, so that what one part leaves for the next is still in the first-level cache, and the rows
// that come next arrive from memory while these are computed. The last part of a turn may be done beside the first of the next: memory is then read
// and written all the time. Callers: compile/row_blocks.cpp.
#pragma once

#include <algorithm>
#include <new>
#include <optional>

#include "weft/compile/row_blocks.h"

namespace weft {

struct Turn {
    std::int64_t rows = 0;  // that a part makes before the next one does; 0: all of a block
    bool soon = false;      // what the next turn reads is asked for into the first-level cache (Access::soon)
    bool beside = false;    // Turns::beside
};
/// Turns of a block of so many of all `rows`: none where a part is no loop, or reduces the rows, where the block is no more than one, and where a turn
/// would not be worth its calls. `fetched`: Turns::fetched.
Turn turn_of(const std::vector<RowPart>& parts, std::int64_t rows_in_block, std::int64_t rows, bool fetched);
/// The same where the last part is done beside the first, if that is better. `past`: what it stores goes past the caches.
Turn turn_beside(const std::vector<RowPart>& parts, std::int64_t rows_in_block, std::int64_t rows, bool past);

class RowTurns {
  public:
    RowTurns() = default;
    /// Of parts, and of each the kernel that makes so many rows. Empty where one of them cannot be run so, or the rows are no more than one turn.
    /// `beside`: the kernel of the first part and the last of the turn before, if they are done so.
    RowTurns(const std::vector<RowPart>& parts, const std::vector<const Kernel*>& kernels, std::int64_t rows,
             std::int64_t rows_in_turn, const Kernel* beside = nullptr);

    explicit operator bool() const { return !parts_.empty(); }
    /// Memory for where each part is in its rows.
    std::size_t bytes() const { return bytes_; }
    /// Parts that make what all rows read, which run first.
    const std::vector<std::size_t>& before() const { return before_; }
    /// All rows; `table(part)`: the operands of that part, which may lie where those of the last one did; `table(beside)`: of the kernel `beside`.
    static constexpr auto beside = static_cast<std::size_t>(-1);
    template <class Table>
    void run(std::byte* cursors, Table table) const {
        if (beside_) return run_beside(cursors, table);
        for (std::size_t i = 0; i < parts_.size(); ++i)
            parts_[i].kernel->start_rows(rows_, 0, table(parts_[i].number), cursors + parts_[i].cursor_at);
        for (std::int64_t row = 0; row < rows_; row += rows_in_turn_) {
            std::int64_t count = std::min(rows_in_turn_, rows_ - row);
            for (const Part& part : parts_) make_rows(cursors + part.cursor_at, count);
        }
    }

  private:
    struct Part {
        const Kernel* kernel;
        std::size_t number, cursor_at;
    };
    static void make_rows(std::byte* cursor, std::int64_t count) {
        auto* at = std::launder(reinterpret_cast<RowCursor*>(cursor));
        at->make(*at, count);
    }
    // The last turn, if it has fewer rows, by itself.
    template <class Table>
    void run_beside(std::byte* cursors, Table table) const {
        const std::int64_t turn = rows_in_turn_, rest = rows_ % turn, whole = rows_ - rest;
        auto start = [&](const Part& part, std::int64_t row) {
            part.kernel->start_rows(rows_, row, table(part.number), cursors + part.cursor_at);
        };
        auto make = [&](const Part& part, std::int64_t count) { make_rows(cursors + part.cursor_at, count); };
        const Part &first = parts_.front(), &last = parts_.back();
        for (std::size_t i = 0; i + 1 < parts_.size(); ++i) start(parts_[i], 0);
        start(last, whole - turn);
        start(*beside_, turn);
        make(first, turn);
        for (std::int64_t row = 0; row < whole; row += turn) {
            if (row > 0) make(*beside_, turn);
            for (std::size_t i = 1; i + 1 < parts_.size(); ++i) make(parts_[i], turn);
        }
        make(last, turn);
        if (rest == 0) return;
        start(first, whole);
        for (const Part& part : parts_) make(part, rest);
    }

    std::vector<Part> parts_;
    std::optional<Part> beside_;
    std::vector<std::size_t> before_;
    std::int64_t rows_ = 0, rows_in_turn_ = 1;
    std::size_t bytes_ = 0;
};

}  // namespace weft
