#include "weft/compile/binding.h"

#include <exception>

#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"
#include "weft/compile/in_place.h"
#include "weft/compile/index_checks.h"
#include "weft/compile/memory.h"
#include "weft/compile/step_kernels.h"
#include "weft/compile/views.h"

namespace weft {
namespace {

class Binder {
  public:
    Binder(std::shared_ptr<const Plan> plan, const Graph& graph, const KernelCompiler& compiler,
           const BindOptions& options)
        : plan_(*plan), graph_(graph), compiler_(compiler), options_(options), binding_(std::make_shared<Binding>()) {
        binding_->plan = std::move(plan);
    }

    std::shared_ptr<const Binding> bind() {
        find_outputs();
        find_views();
        find_lifetimes();
        merge_scatters();
        choose_donors();
        protect_donors();
        plan_arena();
        bind_steps();
        for (std::size_t i = 0; i < graph_.outputs.size(); ++i) binding_->results.push_back(placed(result_view(i)));
        finish_scratch();
        return binding_;
    }

  private:
    const Place& place(std::int32_t e) const { return plan_.places[at(e)]; }

    void find_outputs() {
        output_of_.assign(plan_.slots.size(), -1);
        for (std::int32_t slot : plan_.outputs) {
            if (slot < 0 || output_of_[at(slot)] >= 0) continue;
            output_of_[at(slot)] = static_cast<std::int32_t>(binding_->outputs.size());
            Layout layout = slot_layout(slot);
            binding_->outputs.push_back({layout.dtype, layout.dims, layout.strides,
                                         static_cast<std::size_t>(layout.size()) * size_of(layout.dtype), -1});
        }
    }

    Layout slot_layout(std::int32_t slot) const { return weft::slot_layout(plan_, graph_, slot); }

    // Until the arena is planned, a slot's view has Base::arena and its number as index.
    View slot_view(std::int32_t slot) const {
        if (output_of_[at(slot)] >= 0) return {{Base::output, output_of_[at(slot)]}, 0, slot_layout(slot)};
        return {{Base::arena, slot}, 0, slot_layout(slot)};
    }

    void find_views() {
        views_.resize(graph_.entries.size());
        for (std::size_t e = 0; e < graph_.entries.size(); ++e) {
            const Place& p = plan_.places[e];
            const Node& node = *graph_.entries[e].node;
            if (p.kind == Place::leaf) {
                Dims dims = dims_of(node.shape);
                Dims strides = node.computed ? node.value.strides : contiguous_strides(dims);
                views_[e] = {{Base::leaf, p.index}, 0, {node.dtype, dims, strides}};
            } else if (p.kind == Place::made) {
                Dims dims = dims_of(node.shape);
                views_[e] = {{Base::made, 0}, 0, {node.dtype, dims, contiguous_strides(dims)}};
            } else if (p.kind == Place::view) {
                views_[e] = apply_view(node, views_[at(p.index)]);
            } else if (p.index >= 0) {
                views_[e] = slot_view(p.index);
            }
        }
    }

    void find_lifetimes() {
        last_read_.assign(plan_.slots.size(), -1);
        first_.assign(plan_.slots.size(), -1);  // stays so for slots that live inside a step
        leaf_last_.assign(graph_.leaves.size(), -1);
        for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
            for (std::int32_t slot : plan_.steps[s].stores)
                first_[at(slot)] = last_read_[at(slot)] = static_cast<std::int32_t>(s);
            for (std::int32_t load : plan_.steps[s].loads) {
                const Base& base = views_[at(load)].base;
                if (base.kind == Base::arena) last_read_[at(base.index)] = static_cast<std::int32_t>(s);
                if (base.kind == Base::leaf) leaf_last_[at(base.index)] = static_cast<std::int32_t>(s);
            }
        }
    }

    bool may_take(const Step& step, std::int32_t slot, const Base& base) const {
        return may_write_over(plan_, graph_, views_, step, slot, base);
    }

    // Scatters one after another, each over what the one before it left: all of them write to the last one's memory.
    void merge_scatters() {
        for (std::int32_t slot : plan_.outputs) {
            if (slot < 0 || start_.size() > at(output_of_[at(slot)])) continue;
            std::int32_t start = slot;
            while (true) {
                const Step& step = plan_.steps[at(first_[at(start)])];
                if (!scatters(step, graph_)) break;
                const Base base = views_[at(step.loads[0])].base;
                bool dies = base.kind == Base::arena && last_read_[at(base.index)] == first_[at(start)];
                if (!dies || !may_take(step, start, base)) break;
                start = base.index;
                output_of_[at(start)] = output_of_[at(slot)];
            }
            start_.push_back(start);
        }
        for (View& view : views_)
            if (view.base.kind == Base::arena && output_of_[at(view.base.index)] >= 0)
                view.base = {Base::output, output_of_[at(view.base.index)]};
    }

    void choose_donors() {
        std::vector<bool> taken(graph_.leaves.size(), false);
        for (std::size_t i = 0; i < options_.donors.size() && i < plan_.outputs.size(); ++i) {
            std::int32_t donor = options_.donors[i], slot = plan_.outputs[i];
            if (donor < 0 || slot < 0 || taken[at(donor)]) continue;
            if (std::count(plan_.outputs.begin(), plan_.outputs.end(), slot) != 1) continue;
            std::int32_t start = start_[at(output_of_[at(slot)])];
            const Step& step = plan_.steps[at(first_[at(start)])];
            bool shown = false;  // another output is a view of the donor
            for (std::int32_t output : graph_.outputs) shown |= views_[at(output)].base == Base{Base::leaf, donor};
            bool reads_last = leaf_last_[at(donor)] == first_[at(start)];
            if (shown || !reads_last || !may_take(step, start, {Base::leaf, donor})) continue;
            binding_->outputs[at(output_of_[at(slot)])].donor = donor;
            taken[at(donor)] = true;
        }
    }

    // What a donor holds must not be lost to an index that a later step refuses: it is checked before the first donor is written
    // over, or, where that cannot be, that one is not.
    void protect_donors() {
        auto written = [&](std::size_t output) { return first_[at(start_[output])]; };
        while (true) {
            checks_at_ = -1;
            for (std::size_t i = 0; i < binding_->outputs.size(); ++i) {
                bool sooner = checks_at_ < 0 || written(i) < checks_at_;
                if (binding_->outputs[i].donor >= 0 && sooner) checks_at_ = written(i);
            }
            if (checks_at_ < 0) return;
            auto late = late_checks(plan_, graph_, checks_at_, [&](std::int32_t index) {
                std::int32_t slot = slot_below(plan_, index);
                return slot < 0 || (first_[at(slot)] >= 0 && first_[at(slot)] < checks_at_);
            });
            if (late) {
                late_ = std::move(*late);
                return;
            }
            for (std::size_t i = 0; i < binding_->outputs.size(); ++i)
                if (written(i) == checks_at_) binding_->outputs[i].donor = -1;
        }
    }

    void plan_arena() {
        std::vector<Lifetime> lifetimes(plan_.slots.size());
        for (std::size_t slot = 0; slot < plan_.slots.size(); ++slot) {
            if (output_of_[slot] >= 0 || first_[slot] < 0) continue;
            Layout layout = slot_layout(static_cast<std::int32_t>(slot));
            lifetimes[slot] = {static_cast<std::size_t>(layout.size()) * size_of(layout.dtype), first_[slot],
                               last_read_[slot], -1};
        }
        for (std::size_t s = 0; s < plan_.steps.size(); ++s) reuse_in_place(static_cast<std::int32_t>(s), lifetimes);
        MemoryPlan memory = plan_memory(lifetimes);
        for (std::size_t slot = 0; slot < plan_.slots.size(); ++slot) {
            const Lifetime& life = lifetimes[slot];
            if (life.bytes == 0) continue;
            binding_->placements.push_back({plan_.slots[slot].entry, memory.offsets[slot], life.bytes, life.first,
                                            life.last, life.may_reuse >= 0});
        }
        offsets_ = std::move(memory.offsets);
        binding_->scratch_offset = memory.bytes;
    }

    void reuse_in_place(std::int32_t s, std::vector<Lifetime>& lifetimes) {
        const Step& step = plan_.steps[at(s)];
        std::vector<std::int32_t> taken;
        for (std::int32_t slot : step.stores) {
            if (output_of_[at(slot)] >= 0) continue;
            for (std::int32_t load : step.loads) {
                const Base& base = views_[at(load)].base;
                bool dies = base.kind == Base::arena && last_read_[at(base.index)] == s && base.index != slot;
                if (!dies || std::find(taken.begin(), taken.end(), base.index) != taken.end()) continue;
                if (!may_take(step, slot, base)) continue;
                lifetimes[at(slot)].may_reuse = base.index;
                taken.push_back(base.index);
                break;
            }
        }
    }

    View placed(View view) const {
        if (view.base.kind == Base::arena) {
            view.offset += static_cast<std::int64_t>(offsets_[at(view.base.index)]);
            view.base.index = 0;
        }
        return view;
    }

    View result_view(std::size_t i) const {
        return plan_.output_views[i] ? views_[at(graph_.outputs[i])] : slot_view(plan_.outputs[i]);
    }

    // Kernels are made by all threads: machine code and libraries' primitives take most of what a plan takes. A few are not worth
    // the waking of threads.
    void bind_steps() {
        constexpr std::size_t few = 4;
        binding_->steps.resize(plan_.steps.size());
        std::vector<std::exception_ptr> failed(plan_.steps.size());
        auto make = [&](std::int64_t s) {
            try {
                bind_step(static_cast<std::int32_t>(s));
            } catch (...) {
                failed[static_cast<std::size_t>(s)] = std::current_exception();
            }
        };
        parallel_for(static_cast<std::int64_t>(plan_.steps.size()), make, plan_.steps.size() < few ? 1 : 0);
        for (std::size_t s = 0; s < failed.size(); ++s)
            if (failed[s]) refuse(failed[s], binding_->steps[s]);
        for (const BoundStep& step : binding_->steps)
            scratch_bytes_ = std::max(scratch_bytes_, step.kernel->scratch_bytes());
    }

    // Here, not where it was thrown: only the caller's thread knows its modules.
    [[noreturn]] static void refuse(const std::exception_ptr& failure, const BoundStep& step) {
        try {
            std::rethrow_exception(failure);
        } catch (Error& error) {
            error.add(weft::place(step.where));
            throw;
        }
    }

    void bind_step(std::int32_t s) {
        const Step& step = plan_.steps[at(s)];
        BoundStep& bound = binding_->steps[at(s)];
        if (!step.members.empty()) {
            const Node& node = graph_.node(namesake(step));
            bound.operation = node.operation;
            bound.where = node.where;
        }
        bound.fails_at = bound.where;
        AccessFacts facts(plan_, graph_, views_, output_of_, binding_->outputs);
        StepKernels kernels(plan_, graph_, compiler_, views_, facts);
        bound.kernel = kernels.kernel(step);
        bound.product_operations = kernels.product_operations(step);
        if (options_.keep_loops) bound.loops = kernels.loops(step);
        add_operands(step, bound);
        if (s == checks_at_ && !late_.empty()) add_checks(kernels, bound);
    }

    void add_operands(const Step& step, BoundStep& bound) const {
        for (std::int32_t load : step.loads) bound.operands.push_back(placed(views_[at(load)]));
        for (std::int32_t slot : step.stores) bound.operands.push_back(placed(slot_view(slot)));
    }

    void add_checks(const StepKernels& kernels, BoundStep& bound) const {
        std::vector<CheckBefore> checks;
        for (std::int32_t s : late_) {
            const Step& step = plan_.steps[at(s)];
            checks.push_back({kernels.kernel(step), graph_.node(step.members.back()).where, bound.operands.size()});
            add_operands(step, bound);
        }
        bound.kernel = checked_first(std::move(checks), std::move(bound.kernel), bound.fails_at);
        bound.fails_at = {};
    }

    // What a step is named after: the last that it computes; of row blocks, the product or convolution in them, which takes longest.
    std::int32_t namesake(const Step& step) const {
        for (const Step& part : step.parts) {
            Family family = graph_.node(part.space).operation->family;
            if (family == Family::contraction || family == Family::window) return part.space;
        }
        return step.members.back();
    }

    void finish_scratch() { binding_->arena_bytes = binding_->scratch_offset + (scratch_bytes_ + 63) / 64 * 64; }

    const Plan& plan_;
    const Graph& graph_;
    const KernelCompiler& compiler_;
    const BindOptions& options_;
    std::shared_ptr<Binding> binding_;
    std::vector<View> views_;
    std::vector<std::int32_t> output_of_, first_, last_read_, leaf_last_;
    std::vector<std::int32_t> start_;  // of each output: the slot that is written first in its memory
    std::int32_t checks_at_ = -1;      // before this step the indices of those after it, in late_, are checked
    std::vector<std::int32_t> late_;
    std::vector<std::size_t> offsets_;
    std::size_t scratch_bytes_ = 0;
};

}  // namespace

std::shared_ptr<const Binding> bind(std::shared_ptr<const Plan> plan, const Graph& graph,
                                    const KernelCompiler& compiler, const BindOptions& options) {
    return Binder(std::move(plan), graph, compiler, options).bind();
}

std::size_t output_bytes(const Binding& binding) {
    std::size_t bytes = 0;
    for (const BoundOutput& output : binding.outputs) bytes += output.bytes;
    return bytes;
}

std::string Binding::str() const {
    std::ostringstream out;
    out << steps.size() << " steps, arena " << scratch_offset << " bytes, scratch " << arena_bytes - scratch_offset
        << " bytes\n";
    for (std::size_t s = 0; s < steps.size(); ++s) {
        const BoundStep& step = steps[s];
        out << "  " << s << ' ' << (step.operation ? step.operation->name : "copy") << " by " << step.kernel->by()
            << ':';
        for (const View& view : step.operands) {
            if (view.base.kind == Base::made) {
                out << " made " << view.layout.dtype << view.layout.dims;
                continue;
            }
            const char* base = view.base.kind == Base::arena  ? "arena"
                               : view.base.kind == Base::leaf ? "leaf"
                                                              : "output";
            out << ' ' << base;
            if (view.base.kind == Base::arena)
                out << '+' << view.offset;
            else
                out << view.base.index;
            out << ' ' << view.layout.dtype << view.layout.dims;
        }
        out << '\n';
    }
    return out.str();
}

}  // namespace weft
