#include "weft/compile/row_blocks.h"

#include <algorithm>

#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"
#include "weft/compile/row_ahead.h"

namespace weft {
namespace {

constexpr double block_bytes = 1 << 17;     // what a block's rows touch: half of a small second-level cache
constexpr double alone = 32768;             // elements below which a group is one block
constexpr std::int64_t blocks_wanted = 16;  // beyond: enough for threads to share
constexpr std::int64_t fewest_heavy = 4;    // blocks of what has work for all threads in one
constexpr double part_shared = 1 << 17;     // points below which no part of a group is worth waking threads for
constexpr double block_shared = 16384;      // but a block of all parts is from here on

// A step up to a quarter larger that leaves no shorter block at the end, which would need kernels of its own.
std::int64_t evened(std::int64_t size, std::int64_t step, std::int64_t tile) {
    std::int64_t cuts = divide_up(size, step), fewest = std::max(cuts - cuts / 5, cuts - 64);
    for (; cuts >= std::max<std::int64_t>(fewest, 1); --cuts)
        if (size % cuts == 0 && size / cuts % tile == 0 && 4 * size <= 5 * step * cuts) return size / cuts;
    return step;
}

// Axis `axis` of the rows is cut into `cuts` blocks of `step` (the last may be shorter); the axes before it are walked one by one,
// those behind it lie whole in a block.
struct Blocks {
    std::size_t axis = 0;
    std::int64_t step = 1, cuts = 1, count = 1, rows_in_block = 1;
};

std::int64_t least_rows(const RowGroup& group) {
    std::int64_t least = 0;
    for (const RowPart& part : group.parts) least = std::max(least, part.least_rows);
    return least;
}

// Of the part that has most.
double points_of_row(const RowGroup& group) {
    double points = 1;
    for (const RowPart& part : group.parts) points = std::max(points, part.points);
    return points;
}

std::int64_t rows_wanted(const RowGroup& group, std::int64_t rows) {
    double points = points_of_row(group), bytes = 1;
    for (const RowPart& part : group.parts) bytes += part.bytes;
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
    std::int64_t all = element_count(rows), wanted = rows_wanted(group, all), behind = 1;
    std::int64_t tile = 1;
    for (const RowPart& part : group.parts) tile = std::max(tile, part.tile);
    wanted = divide_up(wanted, tile) * tile;
    // The parts of one block share threads out among themselves; a product's few large blocks would leave some idle. A step of a
    // recurrent layer (a product of 4 million multiplications, then its gates) is over before threads have woken for each part.
    bool heavy = least_rows(group) > 0;
    if (heavy && all <= (fewest_heavy - 1) * wanted) {
        double points = points_of_row(group) * static_cast<double>(all);
        auto blocks = points < part_shared ? static_cast<std::int64_t>(points / block_shared) : 1;
        wanted = std::max<std::int64_t>(divide_up(all, std::clamp<std::int64_t>(blocks, 1, fewest_heavy)), 1);
    }
    blocks.axis = rows.size() - 1;
    while (blocks.axis > 0 && behind * rows[blocks.axis] <= wanted) behind *= rows[blocks.axis--];
    std::int64_t size = rows[blocks.axis];
    blocks.step =
        std::clamp<std::int64_t>(wanted / std::max<std::int64_t>(behind, 1), 1, std::max<std::int64_t>(size, 1));
    if (size > 0) blocks.step = evened(size, blocks.step, behind % tile == 0 ? 1 : tile);
    blocks.rows_in_block = blocks.step * behind;
    blocks.cuts = blocks.count = divide_up(size, blocks.step);
    for (std::size_t axis = 0; axis < blocks.axis; ++axis) blocks.count *= rows[axis];
    return blocks;
}

class RowBlocks final : public Kernel {
  public:
    explicit RowBlocks(const RowGroup& group) : outside_(group.outside), rows_(group.rows), blocks_(cut(group)) {
        for (std::size_t part = 0; part < group.parts.size(); ++part) prepare(group, part);
        std::vector<Lifetime> inside = group.inside;
        for (Lifetime& life : inside) life.bytes *= static_cast<std::size_t>(blocks_.rows_in_block);
        MemoryPlan memory = plan_memory(inside);
        inside_at_ = std::move(memory.offsets);
        thread_bytes_ = memory.bytes;
        std::size_t most = 0, most_operands = 0;
        for (Part& part : parts_) {
            std::size_t& shared = part.kept ? kept_bytes_ : shared_bytes_;
            part.shared_at = shared;
            if (const Kernel* kernel = sharing(part)) shared += aligned(kernel->shared_bytes());
            for (std::size_t bytes : part.sums_bytes) {
                part.sums_at.push_back(shared_bytes_);
                if (blocks_.count != 1) shared_bytes_ += aligned(static_cast<std::size_t>(blocks_.count) * bytes);
            }
            for (const auto* kernel : {part.whole.get(), part.last.get(), part.join.get()})
                if (kernel) most = std::max(most, kernel->scratch_bytes());
            most_operands =
                std::max(most_operands, part.operands.size() + part.sums_bytes.size() + 1 + part.ahead.size());
        }
        table_at_ = thread_bytes_;
        scratch_at_ = table_at_ + aligned(most_operands * sizeof(void*));
        thread_bytes_ = scratch_at_ + aligned(most);
        slots_ = static_cast<int>(std::clamp<std::int64_t>(blocks_.count, 1, ThreadPool::instance().threads()));
    }

    std::size_t scratch_bytes() const override {
        return shared_bytes_ + thread_bytes_ * static_cast<std::size_t>(slots_);
    }
    std::string_view by() const override { return "row blocks"; }

    std::size_t shared_bytes() const override { return kept_bytes_; }
    std::string shared_format() const override {
        std::string all;
        for (const Part& part : parts_) {
            if (!part.kept) continue;
            const Kernel* kernel = sharing(part);
            std::string one = kernel ? kernel->shared_format() : "nothing";
            if (one.empty()) return "";
            all += text(one, " at ", part.shared_at, "; ");
        }
        return all;
    }
    void share(void* const* operands, std::byte* kept) const override {
        for (const Part& part : parts_) {
            const Kernel* kernel = part.kept ? sharing(part) : nullptr;
            if (!kernel) continue;
            SmallVector<void*, 16> table;
            for (std::int32_t number : part.numbers) table.push_back(number < outside_ ? operands[number] : nullptr);
            kernel->share(table.data(), kept + part.shared_at);
        }
    }

    void check(void* const* operands) const override {
        for (const Check& check : checks_) {
            SmallVector<void*, 16> table;
            for (std::int32_t number : check.numbers)
                table.push_back(number < outside_ ? operands[number] : nullptr);  // no index lies inside
            check.kernel->check(table.data());
        }
    }

    void run(void* const* operands, std::byte* scratch) const override {
        check(operands);  // blocks check their own, too: by then others have been written
        std::byte* own = scratch + shared_bytes_;
        if (blocks_.count == 1) return run_whole(operands, own);
        for (const Part& part : parts_)
            if (const Kernel* kernel = part.kept ? nullptr : sharing(part))
                kernel->share(table_of(part, 0, operands, scratch, own), scratch + part.shared_at);
        auto body = [&](std::int64_t block, int slot) {
            run_block(block, operands, scratch, own + thread_bytes_ * static_cast<std::size_t>(slot));
        };
        parallel_for(blocks_.count, body, slots_);
        for (const Part& part : parts_)
            if (part.join) join_blocks(part, operands, scratch, own);
    }

  private:
    struct Check {
        std::unique_ptr<Kernel> kernel;  // of all rows
        std::vector<std::int32_t> numbers;
    };
    struct Part {
        std::unique_ptr<Kernel> whole, last;  // of a block; of the last block of an axis, if it is shorter
        std::vector<RowOperand> operands;
        std::vector<std::int32_t> numbers;  // of the operands
        std::vector<RowOperand> ahead;      // that parts behind it read
        bool kept = false;                  // what it shares is handed to run(), else it lies in the scratch memory
        std::size_t shared_at = 0;
        std::size_t sums_from =
            0;  // of a part that reduces the rows: the first of the operands that wait for the last block,
        std::vector<std::size_t> sums_bytes, sums_at;  // how many bytes of each a block makes, and where they wait
        std::unique_ptr<Kernel> join;
    };

    static const Kernel* sharing(const Part& part) {
        for (const auto* kernel : {part.whole.get(), part.last.get()})
            if (kernel && kernel->shared_bytes() > 0) return kernel;
        return nullptr;
    }

    void prepare(const RowGroup& group, std::size_t index) {
        const RowPart& part = group.parts[index];
        Part prepared;
        prepared.operands = part.operands, prepared.kept = part.kept;
        prepared.sums_from = part.sums.first, prepared.sums_bytes = part.sums.bytes;
        for (const RowOperand& operand : part.operands) prepared.numbers.push_back(operand.number);
        if (part.indexed) checks_.push_back({part.make(rows_, {}), prepared.numbers});
        Dims rows = rows_;
        bool block = blocks_.count > 1;
        for (std::size_t axis = 0; axis < blocks_.axis; ++axis) rows[axis] = std::min<std::int64_t>(1, rows[axis]);
        if (!rows.empty()) rows[blocks_.axis] = blocks_.step;
        if (block) prepared.ahead = reads_ahead(group, index, blocks_.axis, rows);
        KernelUse use{.block = block, .kept = part.kept, .ahead = bytes_of(prepared.ahead, rows)};
        prepared.whole = part.make(rows, use);
        if (std::int64_t rest = rows.empty() ? 0 : rows_[blocks_.axis] % blocks_.step) {
            rows[blocks_.axis] = rest;
            use.first = prepared.whole.get(), use.ahead = bytes_of(prepared.ahead, rows);
            prepared.last = part.make(rows, use);
        }
        if (part.sums.join && blocks_.count != 1) prepared.join = part.sums.join(blocks_.count);
        parts_.push_back(std::move(prepared));
    }

    static std::vector<std::size_t> bytes_of(const std::vector<RowOperand>& operands, const Dims& rows) {
        std::vector<std::size_t> bytes;
        for (const RowOperand& operand : operands)
            bytes.push_back(operand.dense * static_cast<std::size_t>(element_count(rows)));
        return bytes;
    }

    // Where the part's operands lie for a block: from row `first` on of the axis that is cut; `rest` numbers those before it.
    void** table_of(const Part& part, std::int64_t block, void* const* operands, std::byte* shared,
                    std::byte* own) const {
        auto table = reinterpret_cast<void**>(own + table_at_);
        for (std::size_t i = 0; i < part.operands.size(); ++i) {
            if (part.join && i >= part.sums_from) {
                std::size_t sum = i - part.sums_from;
                table[i] = shared + part.sums_at[sum] + static_cast<std::size_t>(block) * part.sums_bytes[sum];
                continue;
            }
            const RowOperand& operand = part.operands[i];
            if (operand.number >= outside_) {
                table[i] = own + inside_at_[static_cast<std::size_t>(operand.number - outside_)];
                continue;
            }
            table[i] = address_of(operand, block, operands);
        }
        return table;
    }

    // Of an operand from outside. By numbers: what stands for a made value is no address.
    void* address_of(const RowOperand& operand, std::int64_t block, void* const* operands) const {
        std::int64_t cuts = std::max<std::int64_t>(blocks_.cuts, 1);
        auto address = reinterpret_cast<std::intptr_t>(operands[operand.number]);
        return reinterpret_cast<void*>(address + offset_of(operand, block % cuts * blocks_.step, block / cuts));
    }

    std::int64_t offset_of(const RowOperand& operand, std::int64_t first, std::int64_t rest) const {
        std::int64_t offset = first * operand.strides[blocks_.axis];
        for (std::size_t axis = blocks_.axis; axis-- > 0; rest /= rows_[axis])
            offset += rest % rows_[axis] * operand.strides[axis];
        return offset;
    }

    // The only block: its parts may use threads. What is small is run often, so this path is short.
    void run_whole(void* const* operands, std::byte* own) const {
        auto table = reinterpret_cast<void**>(own + table_at_);
        for (const Part& part : parts_) {
            void** to = table;
            for (std::int32_t number : part.numbers)
                *to++ = number < outside_ ? operands[number]
                                          : own + inside_at_[static_cast<std::size_t>(number - outside_)];
            if (kept_bytes_ > 0) *to = shared_of(part, operands, nullptr);
            part.whole->run(table, own + scratch_at_);
        }
    }

    void* shared_of(const Part& part, void* const* operands, std::byte* shared) const {
        return (part.kept && kept_bytes_ > 0 ? static_cast<std::byte*>(operands[outside_]) : shared) + part.shared_at;
    }

    void run_block(std::int64_t block, void* const* operands, std::byte* shared, std::byte* own) const {
        std::int64_t first = block % blocks_.cuts * blocks_.step;
        bool short_one = !rows_.empty() && first + blocks_.step > rows_[blocks_.axis];
        for (const Part& part : parts_) {
            void** table = table_of(part, block, operands, shared, own);
            std::size_t behind = part.operands.size();
            table[behind] = shared_of(part, operands, shared);
            for (const RowOperand& operand : part.ahead) table[++behind] = address_of(operand, block, operands);
            (short_one ? part.last : part.whole)->run(table, own + scratch_at_);
        }
    }

    void join_blocks(const Part& part, void* const* operands, std::byte* shared, std::byte* own) const {
        auto table = reinterpret_cast<void**>(own + table_at_);
        std::size_t sums = part.sums_at.size();
        for (std::size_t i = 0; i < sums; ++i) {
            table[i] = shared + part.sums_at[i];
            table[sums + i] = operands[part.numbers[part.sums_from + i]];
        }
        part.join->run(table, own + scratch_at_);
    }

    std::int32_t outside_;
    Dims rows_;
    Blocks blocks_;
    std::vector<Part> parts_;
    std::vector<Check> checks_;  // of parts that load by indices
    std::vector<std::size_t> inside_at_;
    std::size_t kept_bytes_ = 0;    // handed to run() behind its operands
    std::size_t shared_bytes_ = 0;  // at the front of the scratch memory; then each thread's own
    std::size_t thread_bytes_ = 0, table_at_ = 0, scratch_at_ = 0;
    int slots_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> row_blocks(const RowGroup& group) { return std::make_unique<RowBlocks>(group); }

}  // namespace weft
