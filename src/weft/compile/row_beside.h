// Where the operands of a kernel of two parts lie: of one block's part, and of the last part of a block, or turn, before (RowBeside).
// Callers: compile/row_blocks.cpp.
#pragma once

#include "weft/compile/row_blocks.h"

namespace weft {

class BesideOperands {
  public:
    BesideOperands() = default;
    BesideOperands(const RowGroup& group, const RowBeside& beside) {
        const std::vector<RowOperand>&own = group.parts[beside.part].operands, &last = group.parts.back().operands;
        std::size_t loads = beside.loads, made = loads + beside.made;
        take(own, 0, loads, false);
        take(last, 0, last.size() - 1, true);
        take(own, loads, made, false);
        take(last, last.size() - 1, last.size(), true);
        take(own, made, own.size(), false);
    }
    std::size_t size() const { return all_.size(); }
    /// `place(operand, block)`: where it lies; the last part is `behind` blocks behind.
    template <class Place>
    void** fill(void** table, std::int64_t block, std::int64_t behind, Place place) const {
        for (std::size_t i = 0; i < all_.size(); ++i)
            table[i] = place(all_[i].operand, all_[i].of_last ? block - behind : block);
        return table;
    }

  private:
    struct One {
        RowOperand operand;
        bool of_last;
    };
    void take(const std::vector<RowOperand>& from, std::size_t first, std::size_t end, bool of_last) {
        for (; first < end; ++first) all_.push_back({from[first], of_last});
    }
    std::vector<One> all_;
};

}  // namespace weft
