#include "weft/compile/row_turns.h"

#include "weft/base/integers.h"

namespace weft {
namespace {

// That pass through the cache in a turn; of a softmax, whose parts pass each row six times, 16 KB of what is read and as much of what is made. On an
// Emerald Rapids softmaxes of 256 KB to 12 MB took 0.81 to 0.95 of their time so, logarithms of softmaxes 0.92 to 0.97; with half of that 0.93 to 1.08,
// with twice as much 0.9 to 1.0. And the most of one row: the gradient of a softmax of 100 x 4,096 took 1.04.
constexpr double turn_bytes = 88 << 10, row_bytes = 200 << 10;
// Below, a turn is not worth its calls (gradient of a softmax of 64 x 1,024, a row a turn: 1.06 to 1.15).
constexpr double turn_points = 2048;

}  // namespace

RowTurns::RowTurns(const std::vector<RowPart>& parts, const std::vector<const Kernel*>& kernels, std::int64_t rows)
    : rows_(rows) {
    double bytes = 0, points = 0;
    for (const RowPart& part : parts) {
        if (part.points <= 0) return;  // it is made once for all rows
        bytes += part.bytes, points = std::max(points, part.points);
    }
    bool numbers = parts.back().points <= 1;  // each row comes to one: nothing that parts make is read again
    rows_in_turn_ = std::max<std::int64_t>(static_cast<std::int64_t>(turn_bytes / std::max(bytes, 1.0)), 1);
    bool worth_it = bytes <= row_bytes && points * static_cast<double>(rows_in_turn_) >= turn_points;
    if (parts.size() < 2 || numbers || !worth_it || rows_in_turn_ >= rows) return;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const Dims& steps = parts[i].operands.back().strides;
        std::size_t cursor = steps.empty() ? 0 : kernels[i]->cursor_bytes(rows, steps.back());
        if (cursor == 0) {
            parts_.clear();
            return;
        }
        parts_.push_back({kernels[i], bytes_});
        bytes_ += aligned(cursor);
    }
}

}  // namespace weft
