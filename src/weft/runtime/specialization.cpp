#include "weft/runtime/specialization.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "weft/autodiff/region.h"
#include "weft/autodiff/vmap.h"
#include "weft/compile/plan_cache.h"
#include "weft/runtime/debug.h"
#include "weft/runtime/declared.h"

namespace weft {

Tensor Spares::take(const BoundOutput& output) {
    for (Tensor& tensor : spares_) {
        const Node& node = *tensor.node();
        if (node.references.load(std::memory_order_acquire) == 1 && node.value().buffer.use_count() == 1) return tensor;
    }
    Tensor made(Array{output.dtype, output.dims, output.strides, 0, Buffer::allocate(output.bytes)});
    if (spares_.size() < 3) spares_.push_back(made);
    return made;
}

void Spares::give(Tensor tensor, const BoundOutput& output) {
    const Array& old = tensor.node()->value();
    if (hold(tensor)) return;  // it came from here
    bool alike =
        old.dtype == output.dtype && old.dims == output.dims && old.strides == output.strides && old.offset == 0;
    if (alike && spares_.size() < 3) spares_.push_back(std::move(tensor));
}

bool Spares::hold(const Tensor& tensor) const {
    return std::any_of(spares_.begin(), spares_.end(), [&](const Tensor& spare) { return spare.is(tensor); });
}

Specialization::Specialization(Trace trace, std::span<const Tensor> arguments, const CompileOptions& options,
                               bool keeps) {
    options_.products = options.matmul_precision;
    for (const Tensor& argument : arguments) signature_.push_back({argument.shape(), argument.dtype()});
    results_ = trace.results.size();
    std::vector<Node*> outputs;
    for (const Tensor& result : trace.results) outputs.push_back(result.node());
    for (const Trace::CellUse& use : trace.cells) {
        if (use.written) outputs.push_back(use.written.node());
    }
    graph_ = gather(outputs);
    find_sources(trace, graph_);
    options_.donors.assign(results_, -1);
    for (const Use& use : cells_) {
        if (use.output >= 0) options_.donors.push_back(use.leaf);
    }
    for (const Source& source : sources_) {
        if (!keeps) break;
        options_.steady.push_back(source.kind == Source::constant ||
                                  (source.kind == Source::cell && cells_[source.index].output < 0));
    }
    runner_ = std::make_unique<Runner>(make_binding(graph_, options_));
    leaves_.resize(sources_.size());
    held_.resize(sources_.size());
    contents_.resize(sources_.size());
    outputs_.resize(runner_->binding().outputs.size());
    given_.resize(outputs_.size());
    spares_.resize(outputs_.size());
    constexpr std::size_t of_entry = 450,
                          of_step = 5000;  // measured: chains of 400 operations, an LSTM's training step
    bytes_ = of_entry * graph_.entries.size() + of_step * runner_->binding().steps.size();
    for (const BoundOutput& output : runner_->binding().outputs) bytes_ += output.donor < 0 ? output.bytes : 0;
}

void Specialization::find_sources(const Trace& trace, const Graph& graph) {
    std::unordered_map<const Node*, std::int32_t> leaf_of;
    for (std::size_t i = 0; i < graph.leaves.size(); ++i)
        leaf_of[&graph.node(graph.leaves[i])] = static_cast<std::int32_t>(i);
    sources_.assign(graph.leaves.size(), {Source::constant, 0});
    for (std::size_t i = 0; i < trace.arguments.size(); ++i) {
        auto at = leaf_of.find(trace.arguments[i].node());
        if (at != leaf_of.end()) sources_[static_cast<std::size_t>(at->second)] = {Source::argument, i};
    }
    auto next = static_cast<std::int32_t>(results_);
    for (const Trace::CellUse& use : trace.cells) {
        Use cell{use.cell, -1, -1};
        if (use.written) cell.output = next++;
        auto at = use.placeholder ? leaf_of.find(use.placeholder.node()) : leaf_of.end();
        if (at != leaf_of.end()) {
            cell.leaf = at->second;
            sources_[static_cast<std::size_t>(at->second)] = {Source::cell, cells_.size()};
        }
        cells_.push_back(std::move(cell));
    }
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        if (sources_[i].kind != Source::constant) continue;
        const Node& node = graph.node(graph.leaves[i]);
        if (!node.computed) {
            const auto& a = node.attributes_as<InputAttributes>();
            if (a.name == mapped_name) {
                throw ValueError(
                    "vmap: what depends on an example leaves the mapped function by another way than its "
                    "result (a parameter that it sets, a variable); return it");
            }
            if (const FrozenFunction* frozen = frozen_function(a.name)) {
                throw ValueError(text(frozen->function, ": what ", frozen->part,
                                      " computes leaves it by another way than its results (a parameter that it sets, "
                                      "a variable); return it",
                                      place(node.where)));
            }
            throw ValueError(text("a function uses the declared input '", a.name, "' ", node.dtype, " ", node.shape,
                                  ", which is not among its arguments", place(node.where)));
        }
        sources_[i].index = constants_.size();
        constants_.push_back(handle(graph.entries[static_cast<std::size_t>(graph.leaves[i])].node));
    }
}

// The address of a leaf's numbers. The plan takes arguments and cells as dense; others are laid out anew.
const void* Specialization::address(const Tensor& tensor, std::size_t slot) {
    tensor.eval();
    const Array& array = tensor.node()->value();
    if (sources_[slot].kind == Source::constant || array.contiguous()) {
        held_[slot] = tensor;
        return array.address();
    }
    held_[slot] = Tensor(contiguous(array));
    return held_[slot].node()->value().address();
}

// Each output's memory: its donor's, if nobody else can see that; else a spare.
void Specialization::choose_memory() {
    const auto& outputs = runner_->binding().outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        Tensor memory;
        if (outputs[i].donor >= 0 && !debug_modes().any()) {  // a debug mode may refuse the result
            auto leaf = static_cast<std::size_t>(outputs[i].donor);
            const std::shared_ptr<Cell>& cell = cells_[sources_[leaf].index].cell;
            const Node& node = *held_[leaf].node();
            std::uint32_t holders = spares_[i].hold(held_[leaf]) ? 3 : 2;  // the cell, held_, and who lent the memory
            bool ours = held_[leaf].is(cell->value) && node.references.load(std::memory_order_acquire) == holders &&
                        node.value().buffer.use_count() == 1 && node.value().offset == 0;
            if (ours) memory = held_[leaf];
        }
        given_[i] = memory ? memory : spares_[i].take(outputs[i]);
        outputs_[i] = given_[i].node()->memory().address();
    }
}

Tensor Specialization::output_tensor(std::size_t graph_output) const {
    const View& view = runner_->binding().results[graph_output];
    const Array* whole = nullptr;
    if (view.base.kind == Base::output) {
        const Tensor& tensor = given_[static_cast<std::size_t>(view.base.index)];
        whole = &tensor.node()->value();
        if (view.offset == 0 && view.layout.dims == whole->dims && view.layout.strides == whole->strides) return tensor;
    } else {
        whole = &held_[static_cast<std::size_t>(view.base.index)].node()->value();
    }
    return Tensor(result_array(view, whole->buffer, whole->offset * static_cast<std::int64_t>(size_of(whole->dtype))));
}

void Specialization::find_leaves(std::span<const Tensor> arguments) {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        const Source& source = sources_[i];
        const Tensor& tensor = source.kind == Source::argument ? arguments[source.index]
                               : source.kind == Source::cell   ? cells_[source.index].cell->value
                                                               : constants_[source.index];
        leaves_[i] = const_cast<void*>(address(tensor, i));
        contents_[i] = held_[i].node()->value().buffer->content();
    }
}

void Specialization::release_leaves() {
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (sources_[i].kind != Source::constant) held_[i] = Tensor();
    }
}

Explanation Specialization::explain(std::span<const Tensor> arguments) {
    find_leaves(arguments);
    Explanation explanation = explain_graph(graph_, leaves_, options_);
    release_leaves();
    return explanation;
}

// The outputs as expressions of arrays, copied: a run may write over the leaves' memory.
std::vector<Tensor> Specialization::with_numbers() const {
    std::vector<Tensor> outputs, from, to;
    for (std::int32_t output : graph_.outputs)
        outputs.push_back(handle(graph_.entries[static_cast<std::size_t>(output)].node));
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        if (sources_[i].kind == Source::constant) continue;
        from.push_back(handle(graph_.entries[static_cast<std::size_t>(graph_.leaves[i])].node));
        Array copy = Array::empty(from.back().dtype(), from.back().dims());
        std::memcpy(copy.address(), leaves_[i], static_cast<std::size_t>(copy.size()) * size_of(copy.dtype));
        to.emplace_back(copy);
    }
    return substitute(outputs, from, to, [](std::string_view) { return std::optional<std::int64_t>(); });
}

void Specialization::run(std::span<const Tensor> arguments, std::vector<Tensor>& results) {
    find_leaves(arguments);
    std::vector<Tensor> concrete;
    if (debug_modes().any()) concrete = with_numbers();
    choose_memory();
    try {
        runner_->run(leaves_, outputs_, contents_);
    } catch (...) {  // an index outside its axis: cells keep their values, and what is held here lets go of them
        release_leaves();
        for (Tensor& tensor : given_) tensor = Tensor();
        throw;
    }
    if (!concrete.empty()) {
        std::vector<Array> values;
        for (std::size_t i = 0; i < concrete.size(); ++i) values.push_back(output_tensor(i).array());
        debug_run(concrete, values);
    }
    results.resize(results_);
    for (std::size_t i = 0; i < results_; ++i) results[i] = output_tensor(i);
    for (const Use& use : cells_) {  // all together, after the outputs
        if (use.output < 0) continue;
        Tensor value = output_tensor(static_cast<std::size_t>(use.output));
        if (value.is(use.cell->value)) continue;
        Tensor old = std::exchange(use.cell->value, std::move(value));
        const View& view = runner_->binding().results[static_cast<std::size_t>(use.output)];
        auto output = static_cast<std::size_t>(view.base.index);
        if (view.base.kind == Base::output) spares_[output].give(std::move(old), runner_->binding().outputs[output]);
    }
    release_leaves();
    for (Tensor& tensor : given_) tensor = Tensor();
}

}  // namespace weft
