#include "weft/compile/loop_kernel.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "weft/autodiff/between.h"
#include "weft/base/integers.h"
#include "weft/base/thread_pool.h"
#include "weft/compile/loop_rows.h"
#include "weft/compile/operand_table.h"
#include "weft/compile/plan_cache.h"
#include "weft/kernel/builder.h"

namespace weft {
namespace {

// Of the carried values those that the results depend on.
std::vector<bool> needed_carries(const LoopAttributes& a, std::span<const LoopResultAttributes> results) {
    const Region& step = *a.step;
    std::unordered_map<const Node*, std::size_t> number;
    for (std::size_t i = 0; i < step.nodes.size(); ++i) number[step.nodes[i].node()] = i;
    std::vector<bool> needed(step.nodes.size(), false);
    for (const LoopResultAttributes& result : results) needed[static_cast<std::size_t>(result.value)] = true;
    for (bool grows = true; grows;) {
        for (std::size_t i = step.nodes.size(); i-- > step.inputs;)
            if (needed[i])
                for (const Node* input : step.nodes[i].node()->inputs) needed[number.at(input)] = true;
        grows = false;
        for (std::size_t i = 0; i < a.carried; ++i) {
            std::size_t next = at(step.outputs[i]);
            if (needed[i] && !needed[next]) needed[next] = grows = true;
        }
    }
    needed.resize(a.carried);
    return needed;
}

// Of the region's nodes those that results show.
std::vector<bool> wanted_nodes(const LoopAttributes& a, std::span<const LoopResultAttributes> results) {
    std::vector<bool> wanted(a.step->nodes.size(), false);
    for (const LoopResultAttributes& result : results) wanted[static_cast<std::size_t>(result.value)] = true;
    return wanted;
}

double product_operations_of(const LoopAttributes& a) {
    double sum = 0;
    for (const Tensor& x : a.step->nodes) {
        const Node& node = *x.node();
        if (node.operation == &loop_operation) sum += loop_product_operations(node);
        if (node.operation->family != Family::contraction) continue;
        sum += 2 * static_cast<double>(element_count(dims_of(node.shape))) *
               static_cast<double>(node.inputs[0]->shape.back().value());
    }
    return sum * static_cast<double>(a.length.value());
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
// from kernel to kernel.
std::int64_t steps_at_once(const LoopAttributes& a) {
    constexpr std::int64_t most_elements = 1024, most_steps = 64, most_operations = 250, worth = 64;
    std::int64_t operations = 0;
    for (std::size_t i = 0; i < a.step->nodes.size(); ++i) {
        const Node& node = *a.step->nodes[i].node();
        Family family = node.operation->family;
        bool small = element_count(dims_of(node.shape)) <= most_elements;
        bool map = family == Family::elementwise || family == Family::view || family == Family::constant;
        if (i >= a.step->inputs && (!small || !map || node.operation->alias)) return 1;
        operations += family == Family::elementwise;
    }
    if (operations == 0 || a.length.value() < worth) return 1;
    return std::clamp<std::int64_t>(most_operations / operations, 1, most_steps);
}

class LoopKernel final : public Kernel {
  public:
    /// `rows`: of independent ones (loop_rows.h), as many as a run is for; 0: all, whatever they are.
    LoopKernel(const Node& loop, std::span<const Layout> inputs, std::span<const LoopResultAttributes> results,
               const KernelCompiler& compiler, const BindOptions& options, bool as_written, std::int64_t rows = 0)
        : a_(loop.attributes_as<LoopAttributes>()),
          results_(results.begin(), results.end()),
          inputs_(inputs.size()),
          carried_(a_.carried),
          length_(a_.length.value()),
          reverse_(a_.reverse) {
        needed_ = needed_carries(a_, results);
        nodes_ = rows > 0 ? nodes_of_rows(a_, wanted_nodes(a_, results), rows) : a_.step->nodes;
        auto row_bytes = [&](std::size_t node) {  // of what has rows
            const Tensor &whole = a_.step->nodes[node], &here = nodes_[node];
            return here.is(whole)
                       ? 0
                       : static_cast<std::size_t>(element_count(dims_of(here.shape())) / rows) * size_of(here.dtype());
        };
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            Input input;
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
        }
        for (std::size_t i = 0; i < results.size(); ++i)
            if (value_of(i) < carried_) of_carried_.push_back({i, value_of(i), results[i].collected});
        std::int64_t at_once = as_written ? 1 : steps_at_once(a_), blocks = length_ / at_once;
        if (blocks > 0) phases_.push_back(phase(at_once, blocks, 0, compiler, options, as_written));
        if (std::int64_t rest = length_ - blocks * at_once)
            phases_.push_back(phase(1, rest, blocks * at_once, compiler, options, as_written));
        place_scratch();
    }

    std::size_t scratch_bytes() const override { return scratch_bytes_; }
    std::string_view by() const override { return "loop"; }
    std::shared_ptr<const Binding> body() const override { return phases_.empty() ? nullptr : phases_[0].step; }
    void run(void* const* operands, std::byte* scratch) const override { run_rows(operands, scratch, 0); }
    /// For the rows from this one on.
    void run_rows(void* const* operands, std::byte* scratch, std::int64_t first) const;

  private:
    friend class LoopRun;  // of which each run has one
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct Input {
        std::size_t bytes = 0, slice = 0;  // of all; from step to step
        std::size_t row = 0,
                    carried = 0;       // from row to row (0: it has none); of what is carried, for the rows of a run
        std::unique_ptr<Kernel> copy;  // where it does not lie row-major
        std::size_t copied = 0;        // where the copy is, in the scratch memory
    };
    struct Leaf {  // of a phase's binding: an input, of what is sliced the slice of this step of the block
        std::size_t input;
        std::int64_t step;
    };
    struct
        Row {  // of a result that is collected, what belongs to this step of the block; of a trail, to the one before
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
            std::uint32_t position;
            std::int64_t bytes;
        };
        std::vector<Move> moves;                 // of the table: what goes on by as much from block to block
        std::vector<OperandTable::Patch> turns;  // what does not
        std::vector<std::size_t> active;         // outputs that are carried on, or belong in several places
        Output& output(std::size_t top);
    };
    struct OfCarried {  // a result that shows a carried value
        std::size_t result, carry;
        bool collected;
    };

    std::size_t value_of(std::size_t result) const { return static_cast<std::size_t>(results_[result].value); }
    Phase phase(std::int64_t at_once, std::int64_t blocks, std::int64_t first, const KernelCompiler& compiler,
                const BindOptions& options, bool as_written) const;
    void find_moves(Phase& phase) const;
    void place_scratch();

    LoopAttributes a_;
    std::vector<LoopResultAttributes> results_;
    std::size_t inputs_, carried_;
    std::int64_t length_;
    bool reverse_;
    std::vector<bool> needed_;   // which carried values are
    std::vector<Tensor> nodes_;  // of the region, for the rows of a run
    std::vector<Input> given_;
    std::vector<std::size_t> result_rows_, result_slices_;  // bytes from row to row (0: it has none), from step to step
    std::vector<OfCarried> of_carried_;
    std::vector<Phase> phases_;
    std::size_t carries_at_ = 0, bases_at_ = 0, results_at_ = 0, copy_scratch_at_ = 0, scratch_bytes_ = 0;
};

LoopKernel::Output& LoopKernel::Phase::output(std::size_t top) {
    const View& view = step->results[top];
    promise(view.base.kind == Base::output && view.offset == 0 && view.layout.contiguous(),
            "what a step of a loop makes comes to dense memory of its own");
    return outputs[at(view.base.index)];
}

LoopKernel::Phase LoopKernel::phase(std::int64_t at_once, std::int64_t blocks, std::int64_t first,
                                    const KernelCompiler& compiler, const BindOptions& options, bool as_written) const {
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
    for (std::int64_t j = 0; j < at_once; ++j) {
        for (std::size_t i = carried_; i < carried_ + a_.sliced; ++i) {
            now[i] = j == 0 ? nodes[i] : input(step_value_name, nodes[i].shape(), nodes[i].dtype());
            add_leaf(now[i], i, j);
        }
        std::vector<Tensor> made = j == 0 ? wanted : replaced(wanted, from, now);
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

    std::vector<Node*> leaf_nodes, top_nodes;
    for (const Tensor& x : leaves) leaf_nodes.push_back(x.node());
    for (const Tensor& x : tops) top_nodes.push_back(x.node());
    BindOptions inner;
    for (const Leaf& leaf : phase.leaves) inner.steady.push_back(leaf.input >= carried_ + a_.sliced);
    inner.keep_loops = options.keep_loops, inner.bfloat16_products = options.bfloat16_products;
    phase.step = make_step_binding(gather(top_nodes, leaf_nodes), std::move(inner), compiler, as_written);
    phase.table = std::make_unique<OperandTable>(*phase.step);

    phase.outputs.resize(phase.step->outputs.size());
    for (std::size_t i = 0; i < phase.outputs.size(); ++i) phase.outputs[i].bytes = phase.step->outputs[i].bytes;
    for (const auto& [top, row] : rows) phase.output(top).collected.push_back(row);
    for (std::size_t i = 0; i < carried_; ++i)
        if (needed_[i]) phase.output(of_carry[i]).carries.push_back(i);
    for (const OfCarried& of : of_carried_) {
        if (!of.collected) phase.output(of_carry[of.carry]).last.push_back(of.result);
    }
    find_moves(phase);
    return phase;
}

void LoopKernel::find_moves(Phase& phase) const {
    std::int64_t blocks = reverse_ ? -phase.at_once : phase.at_once;
    for (std::size_t o = 0; o < phase.outputs.size(); ++o)
        if (!phase.outputs[o].carries.empty() || phase.outputs[o].collected.size() != 1) phase.active.push_back(o);
    for (const OperandTable::Patch& patch : phase.table->outside()) {
        bool leaf = patch.base.kind == Base::leaf;
        std::size_t i = at(patch.base.index);
        const std::vector<Row>* rows = leaf ? nullptr : &phase.outputs[i].collected;
        std::size_t slice = leaf            ? given_[phase.leaves[i].input].slice
                            : rows->empty() ? 0
                                            : result_slices_[(*rows)[0].result];
        bool carried = leaf && phase.leaves[i].input < carried_;
        bool turns = leaf ? carried : std::find(phase.active.begin(), phase.active.end(), i) != phase.active.end();
        if (turns)
            phase.turns.push_back(patch);
        else if (slice > 0)
            phase.moves.push_back({patch.position, blocks * static_cast<std::int64_t>(slice)});
    }
}

void LoopKernel::place_scratch() {
    std::size_t most = 0;
    auto take = [&](std::size_t bytes) {
        std::size_t place = scratch_bytes_;
        scratch_bytes_ += aligned(bytes);
        return place;
    };
    for (const Phase& phase : phases_) most = std::max(most, phase.step->arena_bytes);
    (void)take(most);  // stands first
    carries_at_ = take(carried_ * sizeof(void*)), bases_at_ = take(inputs_ * sizeof(void*));
    results_at_ = take(results_.size() * sizeof(void*));
    for (Phase& phase : phases_) {
        phase.table_at = take(phase.table->empty().size() * sizeof(void*));
        phase.addresses_at = take((phase.leaves.size() + phase.outputs.size()) * sizeof(void*));
        for (const OperandTable::Shared& shared : phase.table->shared()) phase.shared_at.push_back(take(shared.bytes));
        for (Output& output : phase.outputs)
            for (std::size_t& spare : output.spare) spare = take(output.carries.empty() ? 0 : output.bytes);
    }
    most = 0;
    for (Input& input : given_) {
        if (!input.copy) continue;
        input.copied = take(input.bytes);
        most = std::max(most, input.copy->scratch_bytes());
    }
    copy_scratch_at_ = take(most);
}

/// One run: where everything lies now.
class LoopRun {
  public:
    LoopRun(const LoopKernel& kernel, void* const* operands, std::byte* scratch, std::int64_t row)
        : k_(kernel),
          results_(reinterpret_cast<void**>(scratch + kernel.results_at_)),
          scratch_(scratch),
          carries_(reinterpret_cast<void**>(scratch + kernel.carries_at_)),
          bases_(reinterpret_cast<void**>(scratch + kernel.bases_at_)) {
        auto from_row = [&](void* base, std::size_t bytes) {
            return static_cast<std::byte*>(base) + static_cast<std::size_t>(row) * bytes;
        };
        for (std::size_t i = 0; i < k_.inputs_; ++i) bases_[i] = from_row(dense(i, operands[i]), k_.given_[i].row);
        for (std::size_t i = 0; i < k_.results_.size(); ++i)
            results_[i] = from_row(operands[k_.inputs_ + i], k_.result_rows_[i]);
        std::copy(bases_, bases_ + k_.carried_, carries_);
        for (const LoopKernel::OfCarried& of : k_.of_carried_) {
            if (of.collected) put(this->row({of.result, 0, true}, 0), carries_[of.carry], k_.given_[of.carry].carried);
        }
    }

    void all() {
        for (const LoopKernel::Phase& phase : k_.phases_) run_phase(phase);
        for (const LoopKernel::OfCarried& of : k_.of_carried_)
            if (!of.collected) put(results_[of.result], carries_[of.carry], k_.given_[of.carry].carried);
    }

  private:
    using Phase = LoopKernel::Phase;
    using Output = LoopKernel::Output;

    void* dense(std::size_t i, void* given) {
        const LoopKernel::Input& input = k_.given_[i];
        if (!input.copy) return given;
        void* operands[] = {given, scratch_ + input.copied};
        input.copy->run(operands, scratch_ + k_.copy_scratch_at_);
        return operands[1];
    }

    static void put(void* place, const void* from, std::size_t bytes) {
        if (place != from) std::memcpy(place, from, bytes);
    }

    /// Where the slice of a step lies in an array of all.
    void* slice_of(void* base, std::size_t bytes, std::int64_t step, bool trail = false) const {
        std::int64_t slice = k_.reverse_ ? k_.length_ - (trail ? 0 : 1) - step : step;
        return static_cast<std::byte*>(base) + static_cast<std::size_t>(slice) * bytes;
    }
    void* row(const LoopKernel::Row& row, std::int64_t first) const {
        return slice_of(results_[row.result], k_.result_slices_[row.result], first + row.step, row.trail);
    }

    void run_phase(const Phase& phase) {
        table_ = reinterpret_cast<void**>(scratch_ + phase.table_at);
        leaves_ = reinterpret_cast<void**>(scratch_ + phase.addresses_at);
        made_ = leaves_ + phase.leaves.size();
        const std::vector<void*>& empty = phase.table->empty();
        std::copy(empty.begin(), empty.end(), table_);
        phase.table->place_arena(table_, scratch_);
        place(phase);
        share(phase);
        for (std::int64_t block = 0; block < phase.blocks; ++block) {
            if (block > 0) go_on(phase, block);
            run_steps(phase);
            hand_on(phase, block);
        }
    }

    /// Where a block writes an output: where it stays, if there is such a place; else in turn, since the block reads the last one.
    void* place_of(const Phase& phase, const Output& output, std::int64_t block) const {
        bool ends = block + 1 == phase.blocks;
        std::int64_t first = phase.first + block * phase.at_once;
        if (!output.collected.empty()) return row(output.collected[0], first);
        if (ends && !output.last.empty() && &phase == &k_.phases_.back()) return results_[output.last[0]];
        return scratch_ + output.spare[block & 1];
    }

    // The first block of a phase.
    void place(const Phase& phase) {
        for (std::size_t i = 0; i < phase.leaves.size(); ++i) {
            const LoopKernel::Leaf& leaf = phase.leaves[i];
            leaves_[i] = i < k_.carried_ ? carries_[i] : bases_[leaf.input];
            if (std::size_t bytes = k_.given_[leaf.input].slice)
                leaves_[i] = slice_of(bases_[leaf.input], bytes, phase.first + leaf.step);
        }
        for (std::size_t o = 0; o < phase.outputs.size(); ++o) made_[o] = place_of(phase, phase.outputs[o], 0);
        phase.table->place_outside(table_, {leaves_, phase.leaves.size()}, {made_, phase.outputs.size()});
    }

    // Any further block.
    void go_on(const Phase& phase, std::int64_t block) {
        for (const Phase::Move& move : phase.moves)
            table_[move.position] = static_cast<std::byte*>(table_[move.position]) + move.bytes;
        std::copy(carries_, carries_ + k_.carried_, leaves_);
        for (std::size_t o : phase.active) made_[o] = place_of(phase, phase.outputs[o], block);
        for (const OperandTable::Patch& patch : phase.turns)
            OperandTable::place(table_, patch, {leaves_, phase.leaves.size()}, {made_, phase.outputs.size()});
    }

    // What kernels keep of matrices that are the same in each step.
    void share(const Phase& phase) {
        for (std::size_t i = 0; i < phase.shared_at.size(); ++i) {
            const OperandTable::Shared& shared = phase.table->shared()[i];
            std::byte* place = scratch_ + phase.shared_at[i];
            phase.step->steps[shared.step].kernel->share(table_ + phase.table->first(shared.step), place);
            for (std::uint32_t position : shared.positions) table_[position] = place;
        }
    }

    void run_steps(const Phase& phase) {
        const std::vector<BoundStep>& steps = phase.step->steps;
        std::byte* scratch = scratch_ + phase.step->scratch_offset;
        std::size_t s = 0;
        try {
            for (; s < steps.size(); ++s) steps[s].kernel->run(table_ + phase.table->first(s), scratch);
        } catch (Error& error) {
            error.add(weft::place(error.where.line() ? error.where : steps[s].fails_at));
            error.where = {};  // it has been said
            throw;
        }
    }

    void hand_on(const Phase& phase, std::int64_t block) {
        std::int64_t first = phase.first + block * phase.at_once;
        for (std::size_t o : phase.active) {
            const Output& output = phase.outputs[o];
            for (const LoopKernel::Row& to : output.collected) put(row(to, first), made_[o], output.bytes);
            for (std::size_t carry : output.carries) carries_[carry] = made_[o];
        }
    }

    const LoopKernel& k_;
    void** results_;
    std::byte* scratch_;
    void **carries_, **bases_;                                        // what is carried; inputs
    void **table_ = nullptr, **leaves_ = nullptr, **made_ = nullptr;  // of the phase that runs
};

void LoopKernel::run_rows(void* const* operands, std::byte* scratch, std::int64_t first) const {
    LoopRun(*this, operands, scratch, first).all();
}

/// A loop of independent rows, some of them a thread.
class RowsKernel final : public Kernel {
  public:
    struct Part {
        std::int64_t first = 0;
        const LoopKernel* loop = nullptr;
        std::size_t scratch = 0;
    };
    /// `make`: the kernel for so many rows.
    template <class Make>
    RowsKernel(std::int64_t rows, std::int64_t parts, Make make) {
        std::int64_t first = 0;
        for (std::int64_t p = 0; p < parts; ++p) {
            std::int64_t count = rows / parts + (p < rows % parts);
            if (p == 0 || p == rows % parts) loops_.push_back(make(count));  // the last of them are a row shorter
            parts_.push_back({first, loops_.back().get(), scratch_bytes_});
            scratch_bytes_ += aligned(loops_.back()->scratch_bytes());
            first += count;
        }
    }
    std::size_t scratch_bytes() const override { return scratch_bytes_; }
    std::string_view by() const override { return "loop"; }
    std::shared_ptr<const Binding> body() const override { return loops_[0]->body(); }
    void run(void* const* operands, std::byte* scratch) const override {
        parallel_for(static_cast<std::int64_t>(parts_.size()), [&](std::int64_t p) {
            const Part& part = parts_[static_cast<std::size_t>(p)];
            part.loop->run_rows(operands, scratch + part.scratch, part.first);
        });
    }

  private:
    std::vector<std::unique_ptr<LoopKernel>> loops_;
    std::vector<Part> parts_;
    std::size_t scratch_bytes_ = 0;
};

// Parts of independent rows, each worth a thread of its own and large enough for products to be made as those of all rows are.
std::int64_t parts_of_rows(const LoopAttributes& a, std::int64_t rows) {
    constexpr std::int64_t least_rows = 8;
    constexpr double least_work = 1e6;  // additions and multiplications of products in a loop
    if (rows < 2 * least_rows || product_operations_of(a) < least_work) return 1;
    return std::min<std::int64_t>(ThreadPool::instance().threads(), rows / least_rows);
}

}  // namespace

std::unique_ptr<Kernel> loop_kernel(const Node& loop, std::span<const Layout> inputs,
                                    std::span<const LoopResultAttributes> results, const KernelCompiler& compiler,
                                    const BindOptions& options, bool as_written) {
    const LoopAttributes& a = loop.attributes_as<LoopAttributes>();
    auto make = [&](std::int64_t rows) {
        return std::make_unique<LoopKernel>(loop, inputs, results, compiler, options, as_written, rows);
    };
    std::int64_t rows = as_written ? 0 : independent_rows(a, wanted_nodes(a, results)), parts = parts_of_rows(a, rows);
    if (parts < 2) return make(0);
    return std::make_unique<RowsKernel>(rows, parts, make);
}

double loop_product_operations(const Node& loop) { return product_operations_of(loop.attributes_as<LoopAttributes>()); }

bool loop_may_fail(const Node& loop) {
    const Region& step = *loop.attributes_as<LoopAttributes>().step;
    return std::any_of(step.nodes.begin(), step.nodes.end(), [](const Tensor& x) {
        const Node& node = *x.node();
        Family family = node.operation->family;
        return family == Family::gather || family == Family::scatter ||
               (node.operation == &loop_operation && loop_may_fail(node));
    });
}

}  // namespace weft
