// Where the operands of a part lie for a block of rows: those from outside so far along, those inside in a thread's own memory.
// Callers: compile/row_blocks.cpp.
#pragma once

#include <algorithm>

#include "weft/compile/row_blocks.h"
#include "weft/compile/row_cuts.h"

namespace weft {

class RowPlaces {
  public:
    RowPlaces() = default;
    /// Of all rows, in blocks; operands numbered from `outside` on lie inside, at `inside_at`. `other_inside`: bytes to where those of each second block
    /// do, where a block ends beside the next; else 0.
    RowPlaces(const Blocks& blocks, Dims rows, std::int32_t outside, std::vector<std::size_t> inside_at,
              std::size_t other_inside)
        : blocks_(blocks),
          rows_(std::move(rows)),
          outside_(outside),
          inside_at_(std::move(inside_at)),
          other_inside_(other_inside) {}

    void* of(const RowOperand& operand, std::int64_t block, void* const* operands, std::byte* own) const {
        return operand.number < outside_ ? outside(operand, block, operands) : inside(operand.number, block, own);
    }
    void* inside(std::int32_t number, std::int64_t block, std::byte* own) const {
        std::size_t from = static_cast<std::size_t>(block & 1) * other_inside_;
        return own + from + inside_at_[static_cast<std::size_t>(number - outside_)];
    }
    /// By numbers: what stands for a made value is no address.
    void* outside(const RowOperand& operand, std::int64_t block, void* const* operands) const {
        auto address = reinterpret_cast<std::intptr_t>(operands[operand.number]);
        return reinterpret_cast<void*>(address + offset(operand, block));
    }

  private:
    std::int64_t offset(const RowOperand& operand, std::int64_t block) const {
        if (blocks_.axis == 0)
            return block * blocks_.step * operand.strides[0];  // a division takes longer than all else
        std::int64_t cuts = std::max<std::int64_t>(blocks_.cuts, 1), rest = block / cuts;
        std::int64_t offset = block % cuts * blocks_.step * operand.strides[blocks_.axis];
        for (std::size_t axis = blocks_.axis; axis-- > 0; rest /= rows_[axis])
            offset += rest % rows_[axis] * operand.strides[axis];
        return offset;
    }

    Blocks blocks_;
    Dims rows_;
    std::int32_t outside_ = 0;
    std::vector<std::size_t> inside_at_;
    std::size_t other_inside_ = 0;
};

}  // namespace weft
