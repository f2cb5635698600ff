#include "weft/compile/row_turns.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "weft/base/integers.h"

namespace weft {
namespace {

// What a turn's rows lie in, each array once: half of a first-level cache of 48 KB. On an Intel of 480 MB of third-level cache gradients of softmaxes and
// layer norms of 1,024 took 0.89 of their time with two rows a turn, softmaxes, layer norms and root mean squares with two or three 0.94 to 0.98 (one:
// 1.0; four: 1.0 to 1.04); on an Emerald Rapids, with turns a quarter larger, softmaxes of 256 KB to 12 MB 0.81 to 0.95 of what they took without.
constexpr double turn_bytes = 24 << 10;
// Of rows that come from far and are asked for a turn ahead into the first-level cache, which has room for two of these: on the Intel of 480 MB
// softmaxes of 4 to 16 MB of rows of 300 to 1,024 took 0.90 to 0.96, layer norms 0.83 to 0.98, gradients 0.87 to 1.03 of the time; longer rows
// 0.96 to 1.1; 256 and 512 KB 1.1 to 1.2.
constexpr double soon_bytes = 12 << 10, soon_row = 13 << 10, far_bytes = 4 << 20;
// The most that passes through the cache of one row, by each part: the gradient of a softmax of 100 x 4,096 took 1.04.
constexpr double row_bytes = 200 << 10;
// Of one row, each array once, where what comes next is not asked for: rows of 4,096 doubles took 1.1 to 1.25 on a Zen 4, of floats 0.86 to 0.95.
constexpr double unasked_row_bytes = 48 << 10;
// Below, a turn is not worth its calls.
constexpr double turn_points = 1024;
// Of turns that end beside the next: all that a turn's rows lie in, of which half is read and half written, lies in the first-level cache twice. On a Zen 4
// softmaxes of 4,096 x 1,024, 5,000 x 768, 8,192 x 512 and 40,000 x 100 took 0.89, 0.85, 0.90 and 0.88 of the time that they took part by part, layer
// norms of 4,096 x 1,024 and 2,000 x 768 0.86, rows of 1 to 4 MB by their sums 0.78; with 8 and 16 KB 1.0 to 1.05 of that. Rows of 2,000 floats 1.04; a
// softmax's gradient, which has four parts, 1.02 to 1.15. What comes from memory, and goes there through the caches, has to be asked for, unless much is
// computed: 12 to 16 MB by their sums took 1.09 to 1.14, root mean squares 1.0 to 1.08. Rows of up to 64 have other kernels.
constexpr double beside_turn = 12 << 10, beside_row = 14 << 10, beside_points = 65, beside_near = 16 << 20;
constexpr std::size_t beside_parts = 3;

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

Turn turn_of(const std::vector<RowPart>& parts, std::int64_t rows_in_block, std::int64_t rows, bool fetched) {
    double passing = 0, points = 0;
    for (const RowPart& part : parts) {
        bool loop = part.least_rows == 0 && !part.sums.join, empty = !part.once && part.points <= 0;
        if (!loop || empty) return {};
        passing += part.bytes, points = std::max(points, part.points);
        // Of exponentials a Zen 4 waits for what each turn comes to: softmaxes took 1.05 to 1.17 so (layer norms 0.75 to 0.97, their gradients 0.6 to
        // 0.9, logarithms of softmaxes 0.85 to 0.95).
        if (part.stores_much && !fetched) return {};
    }
    if (parts.back().points <= 1) return {};  // each row comes to one: nothing that parts make is read again
    double row = std::max(bytes_of_row(parts), 1.0), least = std::ceil(turn_points / points);
    double most = std::max(std::round(turn_bytes / row), 1.0);
    bool soon = fetched && row <= soon_row && row * static_cast<double>(rows) >= far_bytes;
    if (soon) most = std::clamp(std::round(soon_bytes / row), std::min(least, most), most);
    bool worth_it = passing <= row_bytes && (fetched || row <= unasked_row_bytes) && most >= least &&
                    most < static_cast<double>(rows_in_block);
    return worth_it ? Turn{static_cast<std::int64_t>(most), soon} : Turn{};
}

Turn turn_beside(const std::vector<RowPart>& parts, std::int64_t rows_in_block, std::int64_t rows, bool past) {
    double row = std::max(bytes_of_row(parts), 1.0), most = std::max(std::round(beside_turn / row), 1.0);
    std::size_t count = 0;
    bool much = past || row * static_cast<double>(rows) <= beside_near;
    for (const RowPart& part : parts) {
        bool loop = part.least_rows == 0 && !part.sums.join;
        if (!loop || (!part.once && part.points < beside_points)) return {};
        count += part.once ? 0 : 1, much |= part.stores_much;
    }
    bool worth_it = much && count <= beside_parts && row <= beside_row && most < static_cast<double>(rows_in_block);
    return worth_it ? Turn{static_cast<std::int64_t>(most), false, true} : Turn{};
}

RowTurns::RowTurns(const std::vector<RowPart>& parts, const std::vector<const Kernel*>& kernels, std::int64_t rows,
                   std::int64_t rows_in_turn, const Kernel* beside)
    : rows_(rows), rows_in_turn_(rows_in_turn) {
    if (rows_in_turn == 0 || rows_in_turn >= rows) return;
    auto place = [&](const Kernel* kernel, std::size_t part, std::size_t number) -> std::optional<Part> {
        const Dims& steps = parts[part].operands.back().strides;
        std::size_t cursor = steps.empty() ? 0 : kernel->cursor_bytes(rows, steps.back());
        if (cursor == 0) return std::nullopt;
        bytes_ += aligned(cursor);
        return Part{kernel, number, bytes_ - aligned(cursor)};
    };
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (parts[i].once) {
            before_.push_back(i);
            continue;
        }
        std::optional<Part> part = place(kernels[i], i, i);
        if (!part) {
            parts_.clear();
            return;
        }
        parts_.push_back(*part);
    }
    if (parts_.size() < 2) parts_.clear();
    // Its last operand is the first part's.
    if (beside && !parts_.empty()) beside_ = place(beside, parts_.front().number, RowTurns::beside);
}

}  // namespace weft
