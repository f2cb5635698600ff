// The kernel of a loop, put together once for known sizes: the bindings of its steps, and where everything lies in the scratch memory; runs
// (loop_run.cpp) share nothing. Callers: compile/loop_kernel.cpp.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "weft/autodiff/loop.h"
#include "weft/compile/loop_numbers.h"
#include "weft/compile/operand_table.h"
#include "weft/compile/plan_cache.h"

namespace weft {

/// Of the region's nodes those that results show.
std::vector<bool> wanted_nodes(const LoopAttributes& a, std::span<const LoopResultAttributes> results);

/// All steps are run in one or two phases: many at a time where they are small, then those that are left. Where a condition says how many
/// there are, some are run one by one, then many at a time: a loop that ends soon computes no step that nobody wants. Nothing is chosen within
/// such a block, for a choice in each step would be one more thing that the next one waits for: a block in which the loop ends is left, and its
/// steps are run one by one.
class LoopKernel final : public Kernel {
  public:
    /// `rows`: of independent ones (loop_rows.h), as many as a run is for; 0: all, whatever they are.
    LoopKernel(const LoopAttributes& loop, std::span<const Layout> inputs,
               std::span<const LoopResultAttributes> results, const KernelCompiler& compiler,
               const BindOptions& options, bool as_written, std::int64_t rows = 0);
    /// Of the numbers that arrays are made of; `arrays` inputs has the loop itself, `shown` results.
    LoopKernel(const LoopOfNumbers& loop, std::size_t arrays, std::size_t shown, const KernelCompiler& compiler,
               const BindOptions& options);

    std::size_t scratch_bytes() const override { return scratch_bytes_; }
    std::string_view by() const override { return "loop"; }
    Bodies bodies() const override { return phases_.empty() ? Bodies{} : Bodies{{"", phases_[0].step}}; }
    void run(void* const* operands, std::byte* scratch) const override {
        run_rows(operands, scratch, 0);
        fill_token(operands);
    }
    /// The loop's own number, behind its results: nobody reads it but who prints every value.
    void fill_token(void* const* operands) const { *static_cast<float*>(operands[arrays_ + shown_]) = 0; }
    /// For the rows from this one on.
    void run_rows(void* const* operands, std::byte* scratch, std::int64_t first) const;

  private:
    friend class LoopRun;  // of which each run has one (loop_run.cpp)
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct Input {
        std::size_t bytes = 0, slice = 0;  // of all; from step to step
        std::size_t array = 0;             // the operand that it is, or a number of
        std::int64_t offset = 0;           // where it begins there, in bytes
        std::size_t row = 0;               // from row to row; 0: it has none
        std::size_t carried = 0;           // of what is carried, for the rows of a run
        std::unique_ptr<Kernel> copy;      // where it does not lie row-major
        std::size_t copied = 0;            // where the copy is, in the scratch memory
    };
    /// Of a phase's binding: an input, of what is sliced the slice of this step of the block.
    struct Leaf {
        std::size_t input;
        std::int64_t step;
    };
    /// Of a result that is collected, what belongs to this step of the block; of a trail, to the one before.
    struct Row {
        std::size_t result;
        std::int64_t step;
        bool trail;
    };
    /// What one output of a phase's binding is for. Results go by their number.
    struct Output {
        std::size_t bytes = 0;
        std::vector<std::size_t> carries;  // it is carried on as these
        std::vector<Row> collected;        // it is collected there
        std::vector<std::size_t> last;     // results that it is after the last step
        std::size_t spare[2] = {0, 0};     // in the scratch memory: where it lies in turn, where no result is its place
    };
    /// Steps that are run alike: `blocks` times `at_once` steps.
    struct Phase {
        std::int64_t at_once = 1, blocks = 0, first = 0;
        std::shared_ptr<const Binding> step;
        std::unique_ptr<OperandTable> table;
        std::vector<Leaf> leaves;
        std::vector<Output> outputs;
        std::size_t table_at = 0, addresses_at = 0;
        std::vector<std::size_t> shared_at;
        struct Move {
            std::uint32_t position, count;  // neighbours
            std::int64_t bytes;
        };
        std::vector<Move> moves;                 // of the table: what goes on by as much from block to block
        std::vector<OperandTable::Patch> turns;  // what does not
        // The same again, from the third block on: what goes on by as much into each even, into each odd block.
        struct Swing {
            std::uint32_t position, count;  // neighbours
            std::int64_t bytes[2];
        };
        std::vector<Swing> swings;
        bool alternates = false;           // nothing goes on: there are two tables, of even and of odd blocks
        std::vector<std::size_t> several;  // outputs that belong in several places
        std::size_t of_condition = none;   // the output that says whether there is a further step
        std::size_t whole = none;  // the output that says whether there was one after each but the last of a block
        Output& output(std::size_t top);
    };
    /// A result that shows a carried value.
    struct OfCarried {
        std::size_t result, carry;
        bool collected;
    };

    std::size_t value_of(std::size_t result) const { return static_cast<std::size_t>(results_[result].value); }
    void add_phases(std::int64_t at_once, const KernelCompiler& compiler, const BindOptions& options, StepForm form);
    Phase phase(std::int64_t at_once, std::int64_t blocks, std::int64_t first, const KernelCompiler& compiler,
                const BindOptions& options, StepForm form) const;
    void rewrite_step(const BindOptions& options);
    void find_moves(Phase& phase) const;
    void find_swings(Phase& phase) const;
    void place_scratch();
    void place_spares(Phase& phase, std::size_t turn);

    LoopAttributes a_;
    std::vector<LoopResultAttributes> results_;
    std::size_t inputs_, carried_, arrays_,
        shown_;  // operands: the arrays that inputs are, then the results that are shown
    std::int64_t length_;
    bool reverse_;
    std::size_t
        condition_;  // of the carried values the one that says whether there is a further step; none: length_ does
    std::vector<bool> needed_;   // which carried values are
    std::vector<Tensor> nodes_;  // of the region, for the rows of a run
    std::vector<Input> given_;
    std::vector<std::size_t> result_rows_, result_slices_;  // bytes from row to row (0: it has none), from step to step
    std::vector<OfArray> result_places_;                    // the result shown that each is, or a number of
    std::vector<OfCarried> of_carried_;
    std::vector<Phase> phases_;
    std::size_t carries_at_ = 0, bases_at_ = 0, results_at_ = 0, copy_scratch_at_ = 0, scratch_bytes_ = 0;
};

}  // namespace weft
