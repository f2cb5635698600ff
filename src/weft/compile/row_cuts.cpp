#include "weft/compile/row_cuts.h"

#include <algorithm>

#include "weft/base/integers.h"

namespace weft {
namespace {

constexpr double block_bytes = 1 << 17;     // what a block's rows touch: half of a small second-level cache
constexpr double alone = 32768;             // elements below which a group is one block
constexpr std::int64_t blocks_wanted = 16;  // beyond: enough for threads to share
// What all parts pass of a row that is no block: one part follows the other over all rows, and each row has work for all threads in itself; but what
// is read again comes from beyond the second-level cache. Of more rows than a few those alone that would not fit it either (Xeon, one thread and two: 100
// and 1,024 x 50,257, a softmax, a layer norm, their gradients, a cross-entropy's as blocks of a row 0.5 to 0.75 of the time of parts over all rows;
// 64 x 100,000 0.6 to 0.8; 8 x 200,000 0.7 to 1.1; 16 x 500,000 0.9 to 1.2).
constexpr double few_huge_bytes = 1 << 20, huge_bytes = 7 << 20;
constexpr std::int64_t rows_to_share = 8;
constexpr std::int64_t fewest_heavy = 4;  // blocks of what has work for all threads in one
constexpr double part_shared = 1 << 17;   // points below which no part of a group is worth waking threads for
constexpr double block_shared = 16384;    // but a block of all parts is from here on
// Of blocks that end beside the next: two of them, and what comes next, have to fit a first-level cache, or nearly so. A softmax of 4,096 x 1,024
// floats on an Emerald Rapids: 128 KB 1.63 ms, 64 KB 1.48, 32 KB 1.67 (a block is no longer worth its calls); one part after the other 1.97.
constexpr double beside_bytes = 1 << 16;

// A step up to a quarter larger that leaves no shorter block at the end, which would need kernels of its own.
std::int64_t evened(std::int64_t size, std::int64_t step, std::int64_t tile) {
    std::int64_t cuts = divide_up(size, step), fewest = std::max(cuts - cuts / 5, cuts - 64);
    for (; cuts >= std::max<std::int64_t>(fewest, 1); --cuts)
        if (size % cuts == 0 && size / cuts % tile == 0 && 4 * size <= 5 * step * cuts) return size / cuts;
    return step;
}

// Of all parts the largest.
std::int64_t most_of(const RowGroup& group, std::int64_t RowPart::*of) {
    std::int64_t most = 0;
    for (const RowPart& part : group.parts) most = std::max(most, part.*of);
    return most;
}
std::int64_t least_rows(const RowGroup& group) { return most_of(group, &RowPart::least_rows); }

// A step that leaves no block of fewer rows, `behind` for each of the axis: a product of few rows has inner products, other sums than those of many, and
// what a thread does alone must not depend on how many rows it was given.
std::int64_t without_few(std::int64_t size, std::int64_t step, std::int64_t behind, std::int64_t fewest) {
    step = std::min(size, std::max(step, divide_up(fewest, behind)));
    while (size % step != 0 && size % step * behind < fewest) ++step;
    return step;
}

// Of the part that has most.
double points_of_row(const RowGroup& group) {
    double points = 1;
    for (const RowPart& part : group.parts) points = std::max(points, part.points);
    return points;
}

std::int64_t rows_wanted(const RowGroup& group, std::int64_t rows, bool beside) {
    double points = points_of_row(group), bytes = 1;
    for (const RowPart& part : group.parts) bytes += part.bytes;
    if (beside) return std::max<std::int64_t>(static_cast<std::int64_t>(beside_bytes / bytes), 1);
    auto fit = static_cast<std::int64_t>(block_bytes / bytes);
    fit = std::min(fit, (rows + blocks_wanted - 1) / blocks_wanted);
    fit = std::max(fit, static_cast<std::int64_t>(alone / points));  // a block is worth its calls
    std::int64_t least = least_rows(group);
    bool huge = least == 0 && bytes > (rows < rows_to_share ? few_huge_bytes : huge_bytes);
    return rows <= 1 || huge ? std::max<std::int64_t>(rows, 1) : std::max({fit, least, std::int64_t{1}});
}

}  // namespace

Blocks cut(const RowGroup& group, bool beside) {
    Blocks blocks;
    const Dims& rows = group.rows;
    if (rows.empty()) return blocks;
    std::int64_t all = element_count(rows), wanted = rows_wanted(group, all, beside), behind = 1;
    std::int64_t tile = most_of(group, &RowPart::tile), fewest = most_of(group, &RowPart::fewest_rows);
    wanted = divide_up(wanted, tile) * tile;
    // The parts of one block share threads out among themselves; a product's few large blocks would leave some idle. A step of a
    // recurrent layer (a product of 4 million multiplications, then its gates) is over before threads have woken for each part.
    bool heavy = least_rows(group) > 0;
    if (heavy && all <= (fewest_heavy - 1) * wanted) {
        double points = points_of_row(group) * static_cast<double>(all);
        auto blocks =
            points < part_shared ? std::min(static_cast<std::int64_t>(points / block_shared), all / fewest) : 1;
        wanted = std::max<std::int64_t>(divide_up(all, std::clamp<std::int64_t>(blocks, 1, fewest_heavy)), 1);
    }
    blocks.axis = rows.size() - 1;
    while (blocks.axis > 0 && behind * rows[blocks.axis] <= wanted) behind *= rows[blocks.axis--];
    std::int64_t size = rows[blocks.axis];
    blocks.step =
        std::clamp<std::int64_t>(wanted / std::max<std::int64_t>(behind, 1), 1, std::max<std::int64_t>(size, 1));
    if (size > 0 && behind > 0)
        blocks.step = without_few(size, evened(size, blocks.step, behind % tile == 0 ? 1 : tile), behind, fewest);
    blocks.rows_in_block = blocks.step * behind;
    blocks.cuts = blocks.count = divide_up(size, blocks.step);
    for (std::size_t axis = 0; axis < blocks.axis; ++axis) blocks.count *= rows[axis];
    return blocks;
}

}  // namespace weft
