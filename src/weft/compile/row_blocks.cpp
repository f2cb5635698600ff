#include "weft/compile/row_blocks.h"

#include <algorithm>

#include "weft/base/thread_pool.h"

namespace weft {
namespace {

constexpr std::size_t block_bytes = std::size_t{1}
                                    << 17;  // what a block's rows touch: half of a small second-level cache
constexpr std::int64_t alone = 32768;       // elements below which a group is one block
constexpr std::int64_t blocks_wanted = 16;  // beyond: enough for threads to share

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

class RowBlocks final : public Kernel {
  public:
    RowBlocks(const KernelCompiler& compiler, const RowGroup& group)
        : outside_(group.outside),
          rows_(group.parts[0].loop.dims.begin(),
                group.parts[0].loop.dims.begin() + static_cast<std::ptrdiff_t>(group.rows)) {
        choose_blocks(group);
        for (const RowGroup::Part& part : group.parts) prepare(compiler, part);
        for (std::size_t bytes : group.row_bytes) {
            inside_at_.push_back(thread_bytes_);
            thread_bytes_ += aligned(bytes * static_cast<std::size_t>(rows_in_block_));
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
        slots_ = static_cast<int>(std::clamp<std::int64_t>(blocks_, 1, ThreadPool::instance().threads()));
    }

    std::size_t scratch_bytes() const override { return thread_bytes_ * static_cast<std::size_t>(slots_); }
    std::string_view by() const override { return "row blocks"; }

    void check(void* const* operands) const override {
        for (const Check& check : checks_) {
            SmallVector<void*, 16> table;
            for (std::int32_t number : check.operands)
                table.push_back(number < outside_ ? operands[number] : nullptr);  // no index lies inside
            check.kernel->check(table.data());
        }
    }

    void run(void* const* operands, std::byte* scratch) const override {
        check(operands);  // blocks check their own, too: by then others have been written
        auto body = [&](std::int64_t block, int slot) {
            run_block(block, operands, scratch + thread_bytes_ * static_cast<std::size_t>(slot));
        };
        if (blocks_ == 1)
            body(0, 0);  // its parts may use threads
        else
            parallel_for(blocks_, body, slots_);
    }

  private:
    struct Operand {
        std::int32_t number;
        std::int64_t element;  // bytes
        Dims strides;          // of the rows, in elements
    };
    struct Check {
        std::unique_ptr<Kernel> kernel;  // of all rows
        std::vector<std::int32_t> operands;
    };
    struct Part {
        std::unique_ptr<Kernel> whole, last;  // of a block; of the last block of an axis, if it is shorter
        std::vector<Operand> operands;
    };

    // Axis `cut_` is cut into blocks; those before it are walked one by one, those after it lie whole in a block.
    void choose_blocks(const RowGroup& group) {
        std::int64_t rows = element_count(rows_), elements = 0;
        std::size_t row_bytes = 0;
        for (const RowGroup::Part& part : group.parts) {
            std::int64_t of_part = element_count(part.loop.dims) / std::max<std::int64_t>(rows, 1);
            elements = std::max(elements, of_part);
            for (const Access& load : part.loop.loads)
                row_bytes += static_cast<std::size_t>(of_part) * size_of(load.dtype);
        }
        auto fit = static_cast<std::int64_t>(block_bytes / std::max<std::size_t>(row_bytes, 1));
        fit = std::min(fit, (rows + blocks_wanted - 1) / blocks_wanted);
        fit = std::max(fit, alone / std::max<std::int64_t>(elements, 1));  // a block is worth its calls
        bool huge = row_bytes > 8 * block_bytes;                           // a row has work for all threads
        if (rows <= 1 || huge) fit = std::max<std::int64_t>(rows, 1);
        if (rows_.empty()) return;  // one block
        std::int64_t behind = 1;
        cut_ = rows_.size() - 1;
        while (cut_ > 0 && behind * rows_[cut_] <= fit) behind *= rows_[cut_--];
        step_ = std::max<std::int64_t>(std::min(fit / std::max<std::int64_t>(behind, 1), rows_[cut_]), 1);
        rows_in_block_ = step_ * behind;
        cuts_ = (rows_[cut_] + step_ - 1) / step_;
        blocks_ = cuts_;
        for (std::size_t axis = 0; axis < cut_; ++axis) blocks_ *= rows_[axis];
    }

    void prepare(const KernelCompiler& compiler, const RowGroup::Part& part) {
        Part prepared;
        std::vector<Access> accesses = part.loop.loads;
        accesses.insert(accesses.end(), part.loop.stores.begin(), part.loop.stores.end());
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            Dims strides(accesses[i].strides.begin(),
                         accesses[i].strides.begin() + static_cast<std::ptrdiff_t>(rows_.size()));
            prepared.operands.push_back(
                {part.operands[i], static_cast<std::int64_t>(size_of(accesses[i].dtype)), strides});
        }
        Loop loop = part.loop;
        if (loop.indexed()) checks_.push_back({compiler.loop(loop), part.operands});
        if (rows_.empty()) {
            prepared.whole = compiler.loop(std::move(loop));
            parts_.push_back(std::move(prepared));
            return;
        }
        for (std::size_t axis = 0; axis < cut_; ++axis) loop.dims[axis] = std::min<std::int64_t>(1, loop.dims[axis]);
        loop.dims[cut_] = step_;
        prepared.whole = compiler.loop(loop);
        if (rows_[cut_] % step_ != 0) {
            loop.dims[cut_] = rows_[cut_] % step_;
            prepared.last = compiler.loop(std::move(loop));
        }
        parts_.push_back(std::move(prepared));
    }

    void run_block(std::int64_t block, void* const* operands, std::byte* scratch) const {
        std::int64_t cut = block % cuts_, first = cut * step_, rest = block / cuts_;
        bool short_one = !rows_.empty() && first + step_ > rows_[cut_];
        auto table = reinterpret_cast<void**>(scratch + table_at_);
        for (const Part& part : parts_) {
            for (std::size_t i = 0; i < part.operands.size(); ++i) {
                const Operand& operand = part.operands[i];
                if (operand.number >= outside_) {
                    table[i] = scratch + inside_at_[static_cast<std::size_t>(operand.number - outside_)];
                    continue;
                }
                std::int64_t offset = rows_.empty() ? 0 : first * operand.strides[cut_], left = rest;
                for (std::size_t axis = cut_; axis-- > 0; left /= rows_[axis])
                    offset += left % rows_[axis] * operand.strides[axis];
                table[i] = static_cast<std::byte*>(operands[operand.number]) + offset * operand.element;
            }
            (short_one ? part.last : part.whole)->run(table, scratch + scratch_at_);
        }
    }

    std::int32_t outside_;
    Dims rows_;
    std::size_t cut_ = 0;
    std::int64_t step_ = 1, cuts_ = 1, blocks_ = 1, rows_in_block_ = 1;
    std::vector<Part> parts_;
    std::vector<Check> checks_;  // of parts that load by indices
    std::vector<std::size_t> inside_at_;
    std::size_t thread_bytes_ = 0, table_at_ = 0, scratch_at_ = 0;
    int slots_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> row_blocks(const KernelCompiler& compiler, const RowGroup& group) {
    return std::make_unique<RowBlocks>(compiler, group);
}

}  // namespace weft
