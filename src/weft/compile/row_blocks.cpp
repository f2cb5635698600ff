#include "weft/compile/row_blocks.h"

#include <algorithm>

#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"
#include "weft/compile/row_ahead.h"
#include "weft/compile/row_beside.h"
#include "weft/compile/row_cuts.h"
#include "weft/compile/row_places.h"
#include "weft/compile/row_turns.h"

namespace weft {
namespace {

constexpr std::int64_t beside_blocks = 16;  // that a thread claims at a time

class RowBlocks final : public Kernel {
  public:
    explicit RowBlocks(const RowGroup& group) : outside_(group.outside), rows_(group.rows), blocks_(cut(group)) {
        if (group.beside.make) prepare_beside(group);
        if (blocks_.count > 1 && !beside_) turn_ = choose_turn(group);
        for (std::size_t part = 0; part < group.parts.size(); ++part) prepare(group, part);
        if (turn_.rows > 0) find_turns(group);
        if (!turns_ && (turn_.soon || turn_.beside)) prepare_without_turns(group);
        std::vector<Lifetime> inside = group.inside;
        for (Lifetime& life : inside) life.bytes *= static_cast<std::size_t>(blocks_.rows_in_block);
        MemoryPlan memory = plan_memory(inside);
        std::size_t other = beside_ ? memory.bytes : 0;
        places_ = {blocks_, rows_, outside_, std::move(memory.offsets), other};
        thread_bytes_ = memory.bytes + other;
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
        if (beside_) most = std::max(most, beside_->scratch_bytes());
        most_operands = std::max(most_operands, beside_operands_.size());
        turns_at_ = thread_bytes_;
        thread_bytes_ += std::max(turns_.bytes(), last_turns_.bytes());
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
        auto body = [&](std::int64_t task, int slot) {
            std::byte* mine = own + thread_bytes_ * static_cast<std::size_t>(slot);
            if (!beside_) return run_block(task, operands, scratch, mine);
            run_beside(task * beside_blocks, std::min((task + 1) * beside_blocks, blocks_.count), operands, scratch,
                       mine);
        };
        parallel_for(beside_ ? divide_up(blocks_.count, beside_blocks) : blocks_.count, body, slots_);
        for (const Part& part : parts_) part.whole->finish();
        for (const auto* kernel : {beside_.get(), turn_beside_.get()})
            if (kernel) kernel->finish();
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
        KernelUse use{.block = block,
                      .kept = part.kept,
                      .ahead = bytes_of(prepared.ahead, rows),
                      .soon = turn_.soon,
                      .quiet = turn_.beside};
        prepared.whole = part.make(rows, use);
        if (std::int64_t rest = rows.empty() ? 0 : rows_[blocks_.axis] % blocks_.step) {
            rows[blocks_.axis] = rest;
            use.first = prepared.whole.get(), use.ahead = bytes_of(prepared.ahead, rows);
            prepared.last = part.make(rows, use);
        }
        if (part.sums.join && blocks_.count != 1) prepared.join = part.sums.join(blocks_.count);
        parts_.push_back(std::move(prepared));
    }

    /// Whether a block's parts take turns of a few rows: none reads what is shared.
    void find_turns(const RowGroup& group) {
        std::vector<const Kernel*> whole, last;
        for (const Part& part : parts_) {
            if (sharing(part) || !part.ahead.empty()) return;
            whole.push_back(part.whole.get());
            if (part.last) last.push_back(part.last.get());
        }
        turns_ = RowTurns(group.parts, whole, blocks_.rows_in_block, turn_.rows, turn_beside_.get());
        std::int64_t rest = rows_[blocks_.axis] % blocks_.step;
        if (turns_ && !last.empty()) {
            if (turn_beside_) last_beside_ = group.turn_beside.make(block_of(blocks_, rest));
            last_turns_ = RowTurns(group.parts, last, blocks_.rows_in_block / blocks_.step * rest, turn_.rows,
                                   last_beside_.get());
        }
    }

    /// What kernels ask for suits turns.
    void prepare_without_turns(const RowGroup& group) {
        turn_ = {}, turn_beside_ = nullptr, beside_operands_ = {};
        parts_.clear(), checks_.clear();
        for (std::size_t part = 0; part < group.parts.size(); ++part) prepare(group, part);
    }

    /// Rows of a block of so many along the axis that is cut.
    Dims block_of(const Blocks& blocks, std::int64_t step) const {
        Dims rows = rows_;
        for (std::size_t axis = 0; axis < blocks.axis; ++axis) rows[axis] = 1;
        rows[blocks.axis] = step;
        return rows;
    }

    /// Where the device does better so, with a kernel for the last part of a turn and the first of the next.
    Turn choose_turn(const RowGroup& group) {
        if (group.turn_beside.make) {
            Turn turn = turn_beside(group.parts, blocks_.rows_in_block, element_count(rows_), group.turn_beside.past);
            if (turn.rows > 0) turn_beside_ = group.turn_beside.make(block_of(blocks_, blocks_.step));
            if (turn_beside_) {
                beside_operands_ = BesideOperands(group, group.turn_beside);
                return turn;
            }
        }
        return turn_of(group.parts, blocks_.rows_in_block, element_count(rows_), group.fetches_turns);
    }

    /// Smaller blocks, each of which ends beside the next, where the device does better so.
    void prepare_beside(const RowGroup& group) {
        Blocks small = cut(group, true);
        if (small.count <= 1) return;
        beside_ = group.beside.make(block_of(small, small.step));
        if (!beside_) return;
        blocks_ = small, beside_part_ = group.beside.part;
        beside_operands_ = BesideOperands(group, group.beside);
    }

    static std::vector<std::size_t> bytes_of(const std::vector<RowOperand>& operands, const Dims& rows) {
        std::vector<std::size_t> bytes;
        for (const RowOperand& operand : operands)
            bytes.push_back(operand.dense * static_cast<std::size_t>(element_count(rows)));
        return bytes;
    }

    // Where the part's operands lie for a block; what it sums over rows, one block's behind the other's.
    void** table_of(const Part& part, std::int64_t block, void* const* operands, std::byte* shared,
                    std::byte* own) const {
        auto table = reinterpret_cast<void**>(own + table_at_);
        for (std::size_t i = 0; i < part.operands.size(); ++i) {
            if (part.join && i >= part.sums_from) {
                std::size_t sum = i - part.sums_from;
                table[i] = shared + part.sums_at[sum] + static_cast<std::size_t>(block) * part.sums_bytes[sum];
                continue;
            }
            table[i] = places_.of(part.operands[i], block, operands, own);
        }
        return table;
    }

    // The only block: its parts may use threads. What is small is run often, so this path is short.
    void run_whole(void* const* operands, std::byte* own) const {
        auto table = reinterpret_cast<void**>(own + table_at_);
        for (const Part& part : parts_) {
            void** to = table;
            for (std::int32_t number : part.numbers)
                *to++ = number < outside_ ? operands[number] : places_.inside(number, 0, own);
            if (kept_bytes_ > 0) *to = shared_of(part, operands, nullptr);
            part.whole->run(table, own + scratch_at_);
        }
    }

    void* shared_of(const Part& part, void* const* operands, std::byte* shared) const {
        return (part.kept && kept_bytes_ > 0 ? static_cast<std::byte*>(operands[outside_]) : shared) + part.shared_at;
    }

    bool is_short(std::int64_t block) const {
        return parts_.front().last && block % blocks_.cuts * blocks_.step + blocks_.step > rows_[blocks_.axis];
    }

    void run_block(std::int64_t block, void* const* operands, std::byte* shared, std::byte* own) const {
        const RowTurns& turns = is_short(block) ? last_turns_ : turns_;
        if (!turns) {
            for (const Part& part : parts_) run_part(part, block, operands, shared, own);
            return;
        }
        for (std::size_t part : turns.before()) run_part(parts_[part], block, operands, shared, own);
        turns.run(own + turns_at_, [&](std::size_t part) {
            if (part == RowTurns::beside) return table_beside(block, 0, operands, own);
            return table_of(parts_[part], block, operands, shared, own);
        });
    }

    void run_part(const Part& part, std::int64_t block, void* const* operands, std::byte* shared,
                  std::byte* own) const {
        void** table = table_of(part, block, operands, shared, own);
        std::size_t behind = part.operands.size();
        table[behind] = shared_of(part, operands, shared);
        for (const RowOperand& operand : part.ahead) table[++behind] = places_.outside(operand, block, operands);
        (is_short(block) ? part.last : part.whole)->run(table, own + scratch_at_);
    }

    // Of a part and the last one, which is so many blocks behind.
    void** table_beside(std::int64_t block, std::int64_t behind, void* const* operands, std::byte* own) const {
        auto place = [&](const RowOperand& operand, std::int64_t of) { return places_.of(operand, of, operands, own); };
        return beside_operands_.fill(reinterpret_cast<void**>(own + table_at_), block, behind, place);
    }

    // Blocks one after another, each of which ends beside the next.
    void run_beside(std::int64_t block, std::int64_t end, void* const* operands, std::byte* shared,
                    std::byte* own) const {
        bool left = false;  // the last part of the block before
        for (; block < end; ++block) {
            bool ends = is_short(block);
            if (left && ends) run_part(parts_.back(), block - 1, operands, shared, own);
            for (std::size_t part = 0; part + 1 < parts_.size(); ++part) {
                if (part != beside_part_ || !left || ends) {
                    run_part(parts_[part], block, operands, shared, own);
                    continue;
                }
                beside_->run(table_beside(block, 1, operands, own), own + scratch_at_);
            }
            left = !ends;
            if (ends) run_part(parts_.back(), block, operands, shared, own);
        }
        if (left) run_part(parts_.back(), end - 1, operands, shared, own);
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
    std::vector<Check> checks_;       // of parts that load by indices
    std::unique_ptr<Kernel> beside_;  // of part beside_part_, and of the last one for the block before
    std::unique_ptr<Kernel> turn_beside_, last_beside_;  // the same of turns; of a shorter block
    std::size_t beside_part_ = 0;
    BesideOperands beside_operands_;  // of either
    Turn turn_;
    RowTurns turns_, last_turns_;  // of a block, of a shorter one; or empty
    std::size_t turns_at_ = 0;     // in a thread's memory
    RowPlaces places_;
    std::size_t kept_bytes_ = 0;    // handed to run() behind its operands
    std::size_t shared_bytes_ = 0;  // at the front of the scratch memory; then each thread's own
    std::size_t thread_bytes_ = 0, table_at_ = 0, scratch_at_ = 0;
    int slots_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> row_blocks(const RowGroup& group) { return std::make_unique<RowBlocks>(group); }

}  // namespace weft
