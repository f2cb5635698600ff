#include "weft/compile/loop_binding.h"

#include <algorithm>

#include "weft/autodiff/between.h"
#include "weft/base/integers.h"
#include "weft/compile/loop_rows.h"
#include "weft/compile/plan_cache.h"
#include "weft/compile/small_branches.h"
#include "weft/kernel/builder.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

// Of the carried values those that the results depend on.
std::vector<bool> needed_carries(const LoopAttributes& a, std::span<const LoopResultAttributes> results) {
    const Region& step = *a.step;
    std::vector<bool> needed(step.nodes.size(), false);
    for (const LoopResultAttributes& result : results) needed[static_cast<std::size_t>(result.value)] = true;
    if (a.condition) needed[*a.condition] = true;
    for (bool grows = true; grows;) {
        mark_below(step, needed);
        grows = false;
        for (std::size_t i = 0; i < a.carried; ++i) {
            std::size_t next = at(step.outputs[i]);
            if (needed[i] && !needed[next]) needed[next] = grows = true;
        }
    }
    needed.resize(a.carried);
    return needed;
}

// A copy of an array that lies with gaps, row-major.
std::unique_ptr<Kernel> copy_kernel(const KernelCompiler& compiler, const Layout& layout) {
    ProgramBuilder builder;
    builder.output(builder.input(compute_dtype(layout.dtype)));
    Loop copy;
    copy.program = builder.take();
    copy.dims = layout.dims;
    copy.loads = {{layout.dtype, layout.strides}};
    copy.stores = {{layout.dtype, contiguous_strides(layout.dims)}};
    return compiler.loop(std::move(copy), true);
}

// How many steps are computed at once, in one kernel, with what is carried in registers: of steps that are small maps, whose time is the walk
// from kernel to kernel. Of a loop that ends by a condition fewer, of fewer elements: what is computed behind its end is lost.
std::int64_t steps_at_once(const LoopAttributes& a) {
    constexpr std::int64_t most_operations = 250, worth = 64;
    const std::int64_t most_elements = a.condition ? 64 : 1024, most_steps = a.condition ? 32 : 64;
    std::int64_t operations = 0;
    for (std::size_t i = 0; i < a.step->nodes.size(); ++i) {
        const Node& node = *a.step->nodes[i].node();
        Family family = node.operation->family;
        bool small = element_count(dims_of(node.shape)) <= most_elements;
        bool map = family == Family::elementwise || family == Family::view || family == Family::constant;
        std::optional<std::int64_t> chosen = small_branches(node);
        map = map || chosen || (node.operation == &cond_result_operation && small_branches(*node.inputs[0]));
        if (i >= a.step->inputs && (!small || !map || node.operation->alias)) return 1;
        operations += chosen.value_or(family == Family::elementwise);
    }
    if (operations == 0 || (!a.condition && a.length.value() < worth)) return 1;
    return std::clamp<std::int64_t>(most_operations / operations, 1, most_steps);
}

}  // namespace

std::vector<bool> wanted_nodes(const LoopAttributes& a, std::span<const LoopResultAttributes> results) {
    std::vector<bool> wanted(a.step->nodes.size(), false);
    for (const LoopResultAttributes& result : results) wanted[static_cast<std::size_t>(result.value)] = true;
    return wanted;
}

LoopKernel::LoopKernel(const LoopAttributes& loop, std::span<const Layout> inputs,
                       std::span<const LoopResultAttributes> results, const KernelCompiler& compiler,
                       const BindOptions& options, bool as_written, std::int64_t rows)
    : a_(loop),
      results_(results.begin(), results.end()),
      inputs_(inputs.size()),
      carried_(a_.carried),
      arrays_(inputs.size()),
      shown_(results.size()),
      length_(a_.length.value()),
      reverse_(a_.reverse),
      condition_(a_.condition.value_or(none)) {
    needed_ = needed_carries(a_, results);
    nodes_ = rows > 0     ? nodes_of_rows(a_, wanted_nodes(a_, results), rows)
             : as_written ? a_.step->nodes
                          : with_small_branches_chosen(a_.step->nodes);
    auto row_bytes = [&](std::size_t node) {  // of what has rows
        const Tensor &whole = a_.step->nodes[node], &here = nodes_[node];
        return rows == 0 || here.is(whole)
                   ? 0
                   : static_cast<std::size_t>(element_count(dims_of(here.shape())) / rows) * size_of(here.dtype());
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        Input input;
        input.array = i;
        input.bytes = static_cast<std::size_t>(inputs[i].size()) * size_of(inputs[i].dtype);
        input.row = row_bytes(i);
        input.carried = input.row > 0 ? input.row * static_cast<std::size_t>(rows) : input.bytes;
        if (i >= a_.carried && i < a_.carried + a_.sliced && length_ > 0)
            input.slice = input.bytes / static_cast<std::size_t>(length_);
        if (!inputs[i].contiguous()) input.copy = copy_kernel(compiler, inputs[i]);
        given_.push_back(std::move(input));
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Tensor& whole = a_.step->nodes[value_of(i)];
        result_rows_.push_back(row_bytes(value_of(i)));
        result_slices_.push_back(static_cast<std::size_t>(element_count(dims_of(whole.shape()))) *
                                 size_of(whole.dtype()));
        result_places_.push_back({.array = i});
    }
    std::int64_t at_once = as_written ? 1 : steps_at_once(a_);
    bool rewritten = a_.condition && at_once > 1;
    if (rewritten) rewrite_step(options);
    add_phases(at_once, compiler, options,
               as_written  ? StepForm::as_written
               : rewritten ? StepForm::rewritten_before
                           : StepForm::rewritten_now);
}

LoopKernel::LoopKernel(const LoopOfNumbers& loop, std::size_t arrays, std::size_t shown, const KernelCompiler& compiler,
                       const BindOptions& options)
    : a_(loop.loop),
      results_(loop.results),
      inputs_(loop.inputs.size()),
      carried_(a_.carried),
      arrays_(arrays),
      shown_(shown),
      length_(a_.length.value()),
      reverse_(a_.reverse),
      condition_(a_.condition.value_or(none)),
      needed_(needed_carries(a_, results_)),
      nodes_(a_.step->nodes),
      result_rows_(loop.results.size(), 0),
      result_places_(loop.places) {
    for (std::size_t i = 0; i < inputs_; ++i) {
        const OfArray& place = loop.inputs[i];
        Input input;
        input.array = place.array, input.offset = place.offset, input.slice = static_cast<std::size_t>(place.slice);
        input.bytes = input.carried = size_of(nodes_[i].dtype());
        given_.push_back(std::move(input));
    }
    for (const OfArray& place : loop.places) result_slices_.push_back(static_cast<std::size_t>(place.slice));
    std::int64_t at_once = numbers_at_once(loop.instructions),
                 lost = 32;  // behind the end of one that ends by a condition
    add_phases(a_.condition ? std::min(at_once, lost) : at_once, compiler, options, StepForm::rewritten_before);
}

void LoopKernel::add_phases(std::int64_t at_once, const KernelCompiler& compiler, const BindOptions& options,
                            StepForm form) {
    for (std::size_t i = 0; i < results_.size(); ++i)
        if (value_of(i) < carried_) of_carried_.push_back({i, value_of(i), results_[i].collected});
    std::int64_t blocks = length_ / at_once;
    if (a_.condition) {
        constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max(), one_by_one = 16;
        if (at_once > 1) phases_.push_back(phase(1, one_by_one, 0, compiler, options, form));
        phases_.push_back(phase(at_once, any_number, 0, compiler, options, form));
    }
    if (blocks > 0) phases_.push_back(phase(at_once, blocks, 0, compiler, options, form));
    if (std::int64_t rest = length_ - blocks * at_once)
        phases_.push_back(phase(1, rest, blocks * at_once, compiler, options, form));
    place_scratch();
    for (Phase& phase : phases_) find_swings(phase);
}

LoopKernel::Output& LoopKernel::Phase::output(std::size_t top) {
    const View& view = step->results[top];
    promise(view.base.kind == Base::output && view.offset == 0 && view.layout.contiguous(),
            "what a step of a loop makes comes to dense memory of its own");
    return outputs[at(view.base.index)];
}

LoopKernel::Phase LoopKernel::phase(std::int64_t at_once, std::int64_t blocks, std::int64_t first,
                                    const KernelCompiler& compiler, const BindOptions& options, StepForm form) const {
    const std::vector<Tensor>& nodes = nodes_;
    Phase phase;
    phase.at_once = at_once, phase.blocks = blocks, phase.first = first;
    std::vector<Tensor> from(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(a_.carried + a_.sliced)),
        leaves;
    auto add_leaf = [&](const Tensor& x, std::size_t input, std::int64_t step) {
        leaves.push_back(x), phase.leaves.push_back({input, step});
    };
    for (std::size_t i = 0; i < carried_; ++i) add_leaf(nodes[i], i, 0);
    for (std::size_t i = carried_ + a_.sliced; i < inputs_; ++i) add_leaf(nodes[i], i, 0);

    // What the block makes: after it what is carried, of each step what is collected.
    std::vector<Tensor> now(from), wanted, tops;
    std::vector<std::size_t> collected;
    for (std::size_t i = 0; i < carried_; ++i) wanted.push_back(nodes[at(a_.step->outputs[i])]);
    for (std::size_t i = 0; i < results_.size(); ++i)
        if (results_[i].collected) wanted.push_back(nodes[value_of(i)]), collected.push_back(i);
    std::vector<std::pair<std::size_t, Row>> rows;  // top, where it is collected
    Tensor whole;
    for (std::int64_t j = 0; j < at_once; ++j) {
        for (std::size_t i = carried_; i < carried_ + a_.sliced; ++i) {
            now[i] = j == 0 ? nodes[i] : input(step_value_name, nodes[i].shape(), nodes[i].dtype());
            add_leaf(now[i], i, j);
        }
        std::vector<Tensor> made = j == 0 ? wanted : replaced(wanted, from, now);
        if (a_.condition && j > 0) whole = whole ? whole & now[condition_] : now[condition_];
        for (std::size_t k = 0; k < collected.size(); ++k) {
            std::size_t value = value_of(collected[k]);
            bool trail = value < carried_;
            rows.push_back({tops.size(), {collected[k], trail ? j + 1 : j, trail}});
            tops.push_back(trail ? made[value] : made[carried_ + k]);
        }
        std::copy(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(carried_), now.begin());
    }
    std::vector<std::size_t> of_carry(carried_, none);
    for (std::size_t i = 0; i < carried_; ++i)
        if (needed_[i]) of_carry[i] = tops.size(), tops.push_back(now[i]);
    if (whole) tops.push_back(whole);

    std::vector<Node*> leaf_nodes, top_nodes;
    for (const Tensor& x : leaves) leaf_nodes.push_back(x.node());
    for (const Tensor& x : tops) top_nodes.push_back(x.node());
    BindOptions inner;
    bool once = length_ == 1 && !a_.condition;  // nothing is worth keeping then
    for (const Leaf& leaf : phase.leaves) inner.steady.push_back(!once && leaf.input >= carried_ + a_.sliced);
    inner.keep_loops = options.keep_loops, inner.products = options.products;
    phase.step = make_step_binding(gather(top_nodes, leaf_nodes), std::move(inner), compiler, form);
    phase.table = std::make_unique<OperandTable>(*phase.step);

    phase.outputs.resize(phase.step->outputs.size());
    for (std::size_t i = 0; i < phase.outputs.size(); ++i) phase.outputs[i].bytes = phase.step->outputs[i].bytes;
    for (const auto& [top, row] : rows) phase.output(top).collected.push_back(row);
    for (std::size_t i = 0; i < carried_; ++i)
        if (needed_[i]) phase.output(of_carry[i]).carries.push_back(i);
    if (whole) phase.whole = static_cast<std::size_t>(&phase.output(tops.size() - 1) - phase.outputs.data());
    for (const OfCarried& of : of_carried_) {
        if (!of.collected) phase.output(of_carry[of.carry]).last.push_back(of.result);
    }
    find_moves(phase);
    return phase;
}

// One step alone, before many are put together: so no rule regroups what several steps add or multiply, and how many steps there are does not
// depend on how many are computed at once.
void LoopKernel::rewrite_step(const BindOptions& options) {
    KeepPending keep;
    std::vector<Node*> leaves, tops;
    for (std::size_t i = 0; i < inputs_; ++i) leaves.push_back(nodes_[i].node());
    for (std::int64_t output : a_.step->outputs) tops.push_back(nodes_[at(output)].node());
    Graph step = rewritten_for(gather(tops, leaves), options, true);
    for (std::size_t i = 0; i < step.outputs.size(); ++i)
        nodes_[at(a_.step->outputs[i])] = handle(step.entries[at(step.outputs[i])].node);
}

}  // namespace weft
