#include "weft/compile/row_turns.h"

#include <cmath>
#include <map>

#include "weft/base/integers.h"

namespace weft {
namespace {

// What a turn's rows lie in, each array once: half of a first-level cache of 48 KB. On an Intel of 480 MB of third-level cache gradients of softmaxes and
// layer norms of 1,024 took 0.89 of their time with two rows a turn, softmaxes, layer norms and root mean squares with two or three 0.94 to 0.98 (one:
// 1.0; four: 1.0 to 1.04); on an Emerald Rapids, with turns a quarter larger, softmaxes of 256 KB to 12 MB 0.81 to 0.95 of what they took without.
constexpr double turn_bytes = 24 << 10;
// The most that passes through the cache of one row, by each part: the gradient of a softmax of 100 x 4,096 took 1.04.
constexpr double row_bytes = 200 << 10;
// Below, a turn is not worth its calls.
constexpr double turn_points = 1024;

/// Bytes of a row of all arrays that the parts read and store: those of each once.
double bytes_of_row(const std::vector<RowPart>& parts) {
    std::map<std::int32_t, std::size_t> of_array;
    for (const RowPart& part : parts)
        for (const RowOperand& operand : part.operands)
            of_array[operand.number] = std::max(of_array[operand.number], operand.row);
    double bytes = 0;
    for (auto [number, row] : of_array) bytes += static_cast<double>(row);
    return bytes;
}

}  // namespace

RowTurns::RowTurns(const std::vector<RowPart>& parts, const std::vector<const Kernel*>& kernels, std::int64_t rows)
    : rows_(rows) {
    double passing = 0, points = 0;
    for (const RowPart& part : parts) {
        if (!part.once && part.points <= 0) return;  // empty rows
        passing += part.bytes, points = std::max(points, part.points);
    }
    bool numbers = parts.back().points <= 1;  // each row comes to one: nothing that parts make is read again
    rows_in_turn_ = std::max<std::int64_t>(std::llround(turn_bytes / std::max(bytes_of_row(parts), 1.0)), 1);
    bool worth_it = passing <= row_bytes && points * static_cast<double>(rows_in_turn_) >= turn_points;
    if (numbers || !worth_it || rows_in_turn_ >= rows) return;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (parts[i].once) {
            before_.push_back(i);
            continue;
        }
        const Dims& steps = parts[i].operands.back().strides;
        std::size_t cursor = steps.empty() ? 0 : kernels[i]->cursor_bytes(rows, steps.back());
        if (cursor == 0) {
            parts_.clear();
            return;
        }
        parts_.push_back({kernels[i], i, bytes_});
        bytes_ += aligned(cursor);
    }
    if (parts_.size() < 2) parts_.clear();
}

}  // namespace weft
