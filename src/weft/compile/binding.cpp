#include "weft/compile/binding.h"

#include <exception>
#include <map>
#include <sstream>
#include <tuple>
#include <unordered_map>

#include "weft/base/thread_pool.h"
#include "weft/compile/alike_steps.h"
#include "weft/compile/binder.h"
#include "weft/compile/frugal.h"
#include "weft/compile/index_checks.h"
#include "weft/compile/order.h"
#include "weft/compile/pieces.h"
#include "weft/compile/row_groups.h"
#include "weft/compile/views.h"
#include "weft/core/pages.h"

namespace weft {

void Binder::lay_out() {
    find_outputs();
    find_views();
    if (places_pieces_) find_pieces();
    find_lifetimes();
    merge_scatters();
    choose_donors();
    protect_donors();
    plan_arena();
}

std::shared_ptr<const Binding> Binder::bind() {
    find_kept_leaves();
    bind_steps();
    auto last = static_cast<std::int32_t>(plan_.steps.size());
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) binding_->results.push_back(placed(result_view(i), last));
    finish_scratch();
    return binding_;
}

std::size_t Binder::bytes() const {
    std::size_t sum = binding_->scratch_offset;
    for (const BoundOutput& output : binding_->outputs)
        if (output.donor < 0) sum += output.bytes;
    return sum;
}

void Binder::find_outputs() {
    output_of_.assign(plan_.slots.size(), -1);
    for (std::int32_t slot : plan_.outputs) {
        if (slot < 0 || output_of_[at(slot)] >= 0) continue;
        output_of_[at(slot)] = static_cast<std::int32_t>(binding_->outputs.size());
        Layout layout = slot_layout(slot);
        binding_->outputs.push_back({layout.dtype, layout.dims, layout.strides,
                                     static_cast<std::size_t>(layout.size()) * size_of(layout.dtype), -1});
    }
}

// Until the arena is planned, a slot's view has Base::arena and its number as index.
View Binder::slot_view(std::int32_t slot) const {
    const View* view = weft::slot_view(plan_, views_, slot);
    return view ? *view : own_view(slot);
}

View Binder::own_view(std::int32_t slot) const {
    if (output_of_[at(slot)] >= 0) return {{Base::output, output_of_[at(slot)]}, 0, slot_layout(slot)};
    return {{Base::arena, slot}, 0, slot_layout(slot)};
}

void Binder::find_views() {
    views_ = Views(graph_.entries.size());
    for (std::size_t e = 0; e < graph_.entries.size(); ++e) {
        const Place& p = plan_.places[e];
        const Node& node = *graph_.entries[e].node;
        if (p.kind == Place::leaf) {
            Dims dims = dims_of(node.shape);
            Dims strides = node.computed ? node.value().strides : contiguous_strides(dims);
            views_.set(e, {{Base::leaf, p.index}, 0, {node.dtype, dims, strides}});
        } else if (p.kind == Place::made) {
            Dims dims = dims_of(node.shape);
            views_.set(e, {{Base::made, 0}, 0, {node.dtype, dims, contiguous_strides(dims)}});
        } else if (p.kind == Place::view) {
            views_.set(e, apply_view(node, views_[at(p.index)]));
        } else if (p.index >= 0) {
            views_.set(e, own_view(p.index));
        }
    }
}

void Binder::find_pieces() {
    host_ = place_pieces(plan_, graph_, views_, output_of_);
    holds_.assign(host_.size(), false);
    for (std::int32_t host : host_)
        if (host >= 0) holds_[at(host)] = true;
}

View Binder::placed(View view, std::int32_t step) const {
    if (view.base.kind == Base::arena) {
        view.offset += static_cast<std::int64_t>(offsets_[life_of(view.base.index, step)]);
        view.base.index = 0;
    }
    return view;
}

View Binder::result_view(std::size_t i) const {
    return plan_.output_views[i] ? views_[at(graph_.outputs[i])] : slot_view(plan_.outputs[i]);
}

// Those that stay as they are from run to run, and matrices that several products of one run read alike, as the steps of a recurrent layer
// do: one copy serves them all, though the next run wants another.
void Binder::find_kept_leaves() {
    constexpr int several = 4;
    std::map<std::tuple<std::int32_t, std::int64_t, std::vector<std::int64_t>>, int> readers;
    auto count = [&](const Step& step) {
        bool product = step.kind == Step::library && step.loads.size() == 2 &&
                       graph_.node(step.members[0]).operation->family == Family::contraction;
        if (!product) return;
        const View& view = views_[at(step.loads[1])];
        if (view.base.kind != Base::leaf) return;
        const Dims& strides = view.layout.strides;
        ++readers[{view.base.index, view.offset, {strides.begin(), strides.end()}}];
    };
    for (const Step& step : plan_.steps) {
        count(step);
        for (const Step& part : step.parts) count(part);
    }
    kept_leaves_ = options_.steady;
    kept_leaves_.resize(graph_.leaves.size(), false);
    for (const auto& [view, times] : readers)
        if (times >= several) kept_leaves_[at(std::get<0>(view))] = true;
}

// Kernels are made by all threads: machine code and libraries' primitives take most of what a plan takes. A few are not worth
// the waking of threads.
void Binder::bind_steps() {
    constexpr std::size_t few = 4, of_entry = 128;  // bytes, half of what kernels of one vector take
    ready_heap(of_entry * graph_.entries.size());
    binding_->steps.resize(plan_.steps.size());
    find_alike();
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
    for (std::size_t s = 0; s < alike_.size(); ++s) {
        BoundStep& bound = binding_->steps[s];
        if (!bound.kernel) bound.kernel = binding_->steps[at(alike_[s])].kernel;
        if (bound.kernel->shared_bytes() > 0)
            bound.kept_of = step_kernels(static_cast<std::int32_t>(s)).kept_of(plan_.steps[s]);
        scratch_bytes_ = std::max(scratch_bytes_, bound.kernel->scratch_bytes());
    }
}

void Binder::find_alike() {
    AlikeSteps alike(plan_, graph_, views_, output_of_, binding_->outputs, kept_leaves_);
    std::unordered_map<Hash128, std::int32_t> known;
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(plan_.steps.size()); ++s) {
        alike_.push_back(s);
        if (checks_late(s)) continue;
        auto key = alike.key(plan_.steps[at(s)], [&](std::int32_t slot) { return owns(s, slot); });
        if (key) alike_.back() = known.emplace(*key, s).first->second;
    }
}

// Here, not where it was thrown: only the caller's thread knows its modules.
void Binder::refuse(const std::exception_ptr& failure, const BoundStep& step) {
    try {
        std::rethrow_exception(failure);
    } catch (Error& error) {
        error.add(weft::place(step.where));
        throw;
    }
}

void Binder::bind_step(std::int32_t s) {
    const Step& step = plan_.steps[at(s)];
    BoundStep& bound = binding_->steps[at(s)];
    if (!step.members.empty()) {
        const Node& node = graph_.node(namesake(step));
        bound.operation = node.operation;
        bound.where = node.where;
    }
    if (step.kind != Step::loop) bound.fails_at = bound.where;  // a loop's steps say it themselves
    StepKernels kernels = step_kernels(s);
    if (alike_[at(s)] == s) bound.kernel = kernels.kernel(step);
    bound.product_operations = kernels.product_operations(step);
    if (options_.keep_loops) bound.loops = kernels.loops(step);
    add_operands(s, bound);
    if (checks_late(s)) add_checks(kernels, bound);
}

StepKernels Binder::step_kernels(std::int32_t s) const {
    static const std::vector<bool> none;
    return StepKernels(plan_, graph_, compiler_, views_, facts_, checks_late(s) ? none : kept_leaves_, options_,
                       [this, s](std::int32_t slot) { return owns(s, slot); });
}

// Whether the memory of a slot that the step stores is the step's own: nothing that it reads lies there.
bool Binder::owns(std::int32_t s, std::int32_t slot) const {
    View stored = slot_view(slot);
    if (stored.base.kind == Base::output)
        return !options_.step_of_loop && binding_->outputs[at(stored.base.index)].donor < 0;
    auto range = [&](std::int32_t of) {  // of what holds it, if it is a piece
        Layout layout = slot_layout(of);
        std::size_t first = offsets_[life_of(of, s)];
        return std::pair(first, first + static_cast<std::size_t>(layout.size()) * size_of(layout.dtype));
    };
    auto [first, end] = range(stored.base.index);
    for (std::int32_t load : plan_.steps[at(s)].loads) {
        const Base& base = views_[at(load)].base;
        if (base.kind != Base::arena) continue;
        auto [other_first, other_end] = range(base.index);
        if (first < other_end && other_first < end) return false;
    }
    return true;
}

void Binder::add_operands(std::int32_t s, BoundStep& bound) const {
    const Step& step = plan_.steps[at(s)];
    bound.operands.reserve(bound.operands.size() + step.loads.size() + step.stores.size());
    for (std::int32_t load : step.loads) bound.operands.push_back(placed(views_[at(load)], s));
    for (std::int32_t slot : step.stores) bound.operands.push_back(placed(slot_view(slot), s));
}

void Binder::add_checks(const StepKernels& kernels, BoundStep& bound) const {
    std::vector<CheckBefore> checks;
    for (std::int32_t s : late_) {
        const Step& step = plan_.steps[at(s)];
        checks.push_back({kernels.kernel(step), graph_.node(step.members.back()).where, bound.operands.size()});
        add_operands(s, bound);
    }
    bound.kernel = checked_first(std::move(checks), std::move(bound.kernel), bound.fails_at);
    bound.fails_at = {};
}

// What a step is named after: the last that it computes; of row blocks, the product or convolution in them, which takes longest.
std::int32_t Binder::namesake(const Step& step) const {
    for (const Step& part : step.parts) {
        Family family = graph_.node(part.space).operation->family;
        if (family == Family::contraction || family == Family::window) return part.space;
    }
    return step.members.back();
}

std::shared_ptr<const Binding> bind(std::shared_ptr<const Plan> plan, const Graph& graph,
                                    const KernelCompiler& compiler, const BindOptions& options) {
    if (plan->by_steps) {
        Plan sized = grouped_rows(*plan->by_steps, graph);
        order_steps(sized, graph);
        plan = std::make_shared<const Plan>(std::move(sized));
    }
    auto best = std::make_unique<Binder>(plan, graph, compiler, options);
    best->lay_out();
    if (plan->as_written || options.step_of_loop || best->bytes() < options.thrift.all) return best->bind();
    auto consider = [&](std::shared_ptr<const Plan> of, bool places_pieces) {
        auto other = std::make_unique<Binder>(std::move(of), graph, compiler, options, places_pieces);
        other->lay_out();
        if (other->bytes() <= best->bytes() - best->bytes() / 16) best = std::move(other);
    };
    if (best->joins_in_place()) consider(plan, false);  // a result lives longer than its last piece
    consider(std::make_shared<const Plan>(frugal_plan(*plan, graph, options)), best->joins_in_place());
    return best->bind();
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
