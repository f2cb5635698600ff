// The work of bind() (binding.h): a plan with its sizes filled in. In two files: where values lie and the kernels of steps (binding.cpp),
// which memory is shared, taken over and when (binding_memory.cpp). Used once, for one binding.
// Callers: compile/binding.cpp.
#pragma once

#include "weft/base/integers.h"
#include "weft/compile/memory.h"
#include "weft/compile/step_kernels.h"

namespace weft {

class Binder {
  public:
    Binder(std::shared_ptr<const Plan> plan, const Graph& graph, const KernelCompiler& compiler,
           const BindOptions& options, bool places_pieces = true)
        : plan_(*plan),
          graph_(graph),
          compiler_(compiler),
          options_(options),
          places_pieces_(places_pieces),
          binding_(std::make_shared<Binding>()),
          facts_(plan_, graph_, views_, output_of_, binding_->outputs, !options.step_of_loop) {
        binding_->plan = std::move(plan);
    }

    /// Where everything lies, without kernels.
    void lay_out();
    /// What a run takes, as it was laid out: the arena, and results that take over no leaf's memory.
    std::size_t bytes() const;
    /// Whether joins' results hold pieces from when these are made.
    bool joins_in_place() const { return !host_.empty(); }
    std::shared_ptr<const Binding> bind();

  private:
    const Place& place(std::int32_t e) const { return plan_.places[at(e)]; }
    // Of memory of its own.
    Layout slot_layout(std::int32_t slot) const { return weft::slot_layout(plan_, graph_, slot); }
    std::size_t slot_bytes(std::int32_t slot) const {
        Layout layout = slot_layout(slot);
        return static_cast<std::size_t>(layout.size()) * size_of(layout.dtype);
    }
    // Whether it lies within the result of a join; or is one that holds pieces so.
    bool lies_within(std::int32_t slot) const { return !host_.empty() && host_[at(slot)] >= 0; }
    bool holds_pieces(std::int32_t slot) const { return !host_.empty() && holds_[at(slot)]; }
    void finish_scratch() { binding_->arena_bytes = binding_->scratch_offset + (scratch_bytes_ + 63) / 64 * 64; }

    void find_outputs();
    View own_view(std::int32_t slot) const;
    View slot_view(std::int32_t slot) const;
    void find_views();
    void find_pieces();
    View placed(View view, std::int32_t step) const;
    View result_view(std::size_t i) const;
    void find_kept_leaves();
    void bind_steps();
    [[noreturn]] static void refuse(const std::exception_ptr& failure, const BoundStep& step);
    void find_alike();
    void bind_step(std::int32_t s);
    StepKernels step_kernels(std::int32_t s) const;
    // Whether it is the step before which indices of others are checked.
    bool checks_late(std::int32_t s) const { return s == checks_at_ && !late_.empty(); }
    bool owns(std::int32_t s, std::int32_t slot) const;
    void add_operands(std::int32_t s, BoundStep& bound) const;
    void add_checks(const StepKernels& kernels, BoundStep& bound) const;
    std::int32_t namesake(const Step& step) const;

    void find_lifetimes();
    std::size_t life_of(std::int32_t slot, std::int32_t step) const;
    bool may_take(const Step& step, std::int32_t slot, const Base& base) const;
    void merge_scatters();
    void choose_donors();
    void protect_donors();
    void plan_arena();
    void reuse_in_place(std::int32_t s, std::vector<Lifetime>& lifetimes);

    const Plan& plan_;
    const Graph& graph_;
    const KernelCompiler& compiler_;
    const BindOptions& options_;
    bool places_pieces_;
    std::shared_ptr<Binding> binding_;
    Views views_;
    AccessFacts facts_;
    std::vector<bool> kept_leaves_;  // of which kernels keep copies as they read them
    std::vector<std::int32_t> output_of_, leaf_last_;
    std::vector<std::int32_t> first_, last_read_;  // of each slot; behind these of second lives: when it is made again
    std::vector<std::int32_t> host_;               // of each slot: the join's result that it lies in (pieces.h)
    std::vector<bool> holds_;                      // of each slot: whether others lie in it
    std::vector<std::int32_t> again_;              // of each slot: its second life; -1: none
    std::vector<std::int32_t> start_;              // of each output: the slot that is written first in its memory
    std::int32_t checks_at_ = -1;  // before this step the indices of those after it, in late_, are checked
    std::vector<std::int32_t> late_;
    std::vector<std::size_t> offsets_;
    std::vector<std::int32_t> alike_;  // of each step the first that is like it, whose kernel it has
    std::size_t scratch_bytes_ = 0;
};

}  // namespace weft
