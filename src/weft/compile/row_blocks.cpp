#include "weft/compile/row_blocks.h"

#include <algorithm>

#include "weft/base/thread_pool.h"

namespace weft {
namespace {

constexpr double block_bytes = 1 << 17;     // what a block's rows touch: half of a small second-level cache
constexpr double alone = 32768;             // elements below which a group is one block
constexpr std::int64_t blocks_wanted = 16;  // beyond: enough for threads to share

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// Axis `axis` of the rows is cut into `cuts` blocks of `step` (the last may be shorter); the axes before it are walked one by one,
// those behind it lie whole in a block.
struct Blocks {
    std::size_t axis = 0;
    std::int64_t step = 1, cuts = 1, count = 1, rows_in_block = 1;
};

// Rows below which a product is not cut: its other matrix is copied anew for each block, and a library wants some millions of
// multiplications at a time.
std::int64_t least_rows(const RowGroup& group) {
    double least = 0;
    for (const RowPart& part : group.parts) {
        if (part.multiplications == 0) continue;
        double work = part.column ? alone : 2 << 20, few = part.column ? 1 : 64;
        least = std::max({least, few, work / part.multiplications});
    }
    return static_cast<std::int64_t>(std::min(least, 1e15));
}

std::int64_t rows_wanted(const RowGroup& group, std::int64_t rows) {
    double points = 1, bytes = 1;
    for (const RowPart& part : group.parts) points = std::max(points, part.points), bytes += part.bytes;
    auto fit = static_cast<std::int64_t>(block_bytes / bytes);
    fit = std::min(fit, (rows + blocks_wanted - 1) / blocks_wanted);
    fit = std::max(fit, static_cast<std::int64_t>(alone / points));  // a block is worth its calls
    std::int64_t least = least_rows(group);
    bool huge = least == 0 && bytes > 8 * block_bytes;  // a row has work for all threads
    return rows <= 1 || huge ? std::max<std::int64_t>(rows, 1) : std::max({fit, least, std::int64_t{1}});
}

Blocks cut(const RowGroup& group) {
    Blocks blocks;
    const Dims& rows = group.rows;
    if (rows.empty()) return blocks;
    std::int64_t wanted = rows_wanted(group, element_count(rows)), behind = 1;
    blocks.axis = rows.size() - 1;
    while (blocks.axis > 0 && behind * rows[blocks.axis] <= wanted) behind *= rows[blocks.axis--];
    std::int64_t size = rows[blocks.axis];
    blocks.step =
        std::clamp<std::int64_t>(wanted / std::max<std::int64_t>(behind, 1), 1, std::max<std::int64_t>(size, 1));
    if (least_rows(group) > 0 && size > 0)  // no small block at the end
        blocks.step = (size + size / blocks.step - 1) / (size / blocks.step);
    blocks.rows_in_block = blocks.step * behind;
    blocks.cuts = blocks.count = (size + blocks.step - 1) / blocks.step;
    for (std::size_t axis = 0; axis < blocks.axis; ++axis) blocks.count *= rows[axis];
    return blocks;
}

class RowBlocks final : public Kernel {
  public:
    explicit RowBlocks(const RowGroup& group) : outside_(group.outside), rows_(group.rows), blocks_(cut(group)) {
        for (const RowPart& part : group.parts) prepare(part);
        for (std::size_t bytes : group.row_bytes) {
            inside_at_.push_back(thread_bytes_);
            thread_bytes_ += aligned(bytes * static_cast<std::size_t>(blocks_.rows_in_block));
        }
        std::size_t most = 0, most_operands = 0;
        for (const Part& part : parts_) {
            for (const auto* kernel : {part.whole.get(), part.last.get()})
                if (kernel) most = std::max(most, kernel->scratch_bytes());
            most_operands = std::max(most_operands, part.operands.size());
        }
        table_at_ = thread_bytes_;
        scratch_at_ = table_at_ + aligned(most_operands * sizeof(void*));
        thread_bytes_ = scratch_at_ + aligned(most);
        slots_ = static_cast<int>(std::clamp<std::int64_t>(blocks_.count, 1, ThreadPool::instance().threads()));
    }

    std::size_t scratch_bytes() const override { return thread_bytes_ * static_cast<std::size_t>(slots_); }
    std::string_view by() const override { return "row blocks"; }

    void run(void* const* operands, std::byte* scratch) const override {
        auto body = [&](std::int64_t block, int slot) {
            run_block(block, operands, scratch + thread_bytes_ * static_cast<std::size_t>(slot));
        };
        if (blocks_.count == 1)
            body(0, 0);  // its parts may use threads
        else
            parallel_for(blocks_.count, body, slots_);
    }

  private:
    struct Part {
        std::unique_ptr<Kernel> whole, last;  // of a block; of the last block of an axis, if it is shorter
        std::vector<RowOperand> operands;
    };

    void prepare(const RowPart& part) {
        Part prepared{nullptr, nullptr, part.operands};
        Dims rows = rows_;
        for (std::size_t axis = 0; axis < blocks_.axis; ++axis) rows[axis] = std::min<std::int64_t>(1, rows[axis]);
        if (!rows.empty()) rows[blocks_.axis] = blocks_.step;
        prepared.whole = part.make(rows);
        if (std::int64_t rest = rows.empty() ? 0 : rows_[blocks_.axis] % blocks_.step) {
            rows[blocks_.axis] = rest;
            prepared.last = part.make(rows);
        }
        parts_.push_back(std::move(prepared));
    }

    void run_block(std::int64_t block, void* const* operands, std::byte* scratch) const {
        std::int64_t first = block % blocks_.cuts * blocks_.step, rest = block / blocks_.cuts;
        bool short_one = !rows_.empty() && first + blocks_.step > rows_[blocks_.axis];
        auto table = reinterpret_cast<void**>(scratch + table_at_);
        for (const Part& part : parts_) {
            for (std::size_t i = 0; i < part.operands.size(); ++i) {
                const RowOperand& operand = part.operands[i];
                if (operand.number >= outside_) {
                    table[i] = scratch + inside_at_[static_cast<std::size_t>(operand.number - outside_)];
                    continue;
                }
                std::int64_t offset = rows_.empty() ? 0 : first * operand.strides[blocks_.axis], left = rest;
                for (std::size_t axis = blocks_.axis; axis-- > 0; left /= rows_[axis])
                    offset += left % rows_[axis] * operand.strides[axis];
                table[i] = static_cast<std::byte*>(operands[operand.number]) + offset;
            }
            (short_one ? part.last : part.whole)->run(table, scratch + scratch_at_);
        }
    }

    std::int32_t outside_;
    Dims rows_;
    Blocks blocks_;
    std::vector<Part> parts_;
    std::vector<std::size_t> inside_at_;
    std::size_t thread_bytes_ = 0, table_at_ = 0, scratch_at_ = 0;
    int slots_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> row_blocks(const RowGroup& group) { return std::make_unique<RowBlocks>(group); }

}  // namespace weft
