#include "weft/compile/row_ahead.h"

#include <algorithm>
#include <set>

namespace weft {
namespace {

constexpr std::size_t most_operands = 8, most_bytes = 1 << 18;

bool in_one_piece(const RowOperand& operand, std::size_t axis, const Dims& block) {
    auto step = static_cast<std::int64_t>(operand.dense);
    for (std::size_t i = block.size(); i-- > axis; step *= block[i])
        if (block[i] != 1 && operand.strides[i] != step) return false;
    return operand.dense > 0;
}

}  // namespace

std::vector<RowOperand> reads_ahead(const RowGroup& group, std::size_t part, std::size_t axis, const Dims& block) {
    std::vector<RowOperand> found;
    if (group.parts[part].least_rows == 0) return found;
    std::set<std::int32_t> near;
    for (std::size_t i = 0; i <= part; ++i)
        for (const RowOperand& operand : group.parts[i].operands) near.insert(operand.number);
    std::size_t bytes = 0;
    for (std::size_t i = part + 1; i < group.parts.size() && group.parts[i].least_rows == 0; ++i) {
        for (const RowOperand& operand : group.parts[i].operands) {
            bool first = near.insert(operand.number).second;
            if (!first || operand.number >= group.outside || !in_one_piece(operand, axis, block)) continue;
            bytes += operand.dense * static_cast<std::size_t>(element_count(block));
            if (bytes > most_bytes || found.size() == most_operands) return found;
            found.push_back(operand);
        }
    }
    return found;
}

}  // namespace weft
