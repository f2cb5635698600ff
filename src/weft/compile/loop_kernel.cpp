#include "weft/compile/loop_kernel.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "weft/base/integers.h"
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

class LoopKernel final : public Kernel {
  public:
    LoopKernel(const Node& loop, std::span<const Layout> inputs, std::span<const LoopResultAttributes> results,
               const KernelCompiler& compiler, const BindOptions& options, bool as_written)
        : inputs_(inputs.size()) {
        const LoopAttributes& a = loop.attributes_as<LoopAttributes>();
        length_ = a.length.value(), reverse_ = a.reverse, carried_ = a.carried;
        bind_step(a, results, compiler, options, as_written);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            Input input;
            input.bytes = static_cast<std::size_t>(inputs[i].size()) * size_of(inputs[i].dtype);
            if (i >= a.carried && i < a.carried + a.sliced && length_ > 0)
                input.slice = input.bytes / static_cast<std::size_t>(length_);
            if (!inputs[i].contiguous()) input.copy = copy_kernel(compiler, inputs[i]);
            given_.push_back(std::move(input));
        }
        place_scratch();
    }

    std::size_t scratch_bytes() const override { return scratch_bytes_; }
    std::string_view by() const override { return "loop"; }
    std::shared_ptr<const Binding> body() const override { return step_; }
    void run(void* const* operands, std::byte* scratch) const override;

  private:
    friend class LoopRun;  // of which each run has one
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct Input {
        std::size_t bytes = 0, slice = 0;  // of all; from step to step
        std::unique_ptr<Kernel> copy;      // where it does not lie row-major
        std::size_t copied = 0;            // where the copy is, in the scratch memory
    };
    /// What one output of the step's binding is for. Results go by their number.
    struct Output {
        std::size_t bytes = 0;
        std::vector<std::size_t> carries;    // it is carried on as these
        std::vector<std::size_t> collected;  // results that hold it of each step
        std::vector<std::size_t> before;     // results that hold what it was before each step
        std::vector<std::size_t> last;       // results that it is after the last step
        std::size_t spare[2] = {0, 0};  // in the scratch memory: where it lies in turn, where no result is its place
    };
    struct Begin {  // a result that depends on what is carried before the first step
        std::size_t result, carry;
        bool collected;
    };

    void bind_step(const LoopAttributes& a, std::span<const LoopResultAttributes> results,
                   const KernelCompiler& compiler, const BindOptions& options, bool as_written);
    Output& output_of(std::size_t top);
    void place_scratch();

    std::size_t inputs_, carried_ = 0;
    std::int64_t length_ = 0;
    bool reverse_ = false;
    std::shared_ptr<const Binding> step_;
    std::unique_ptr<OperandTable> table_;
    std::vector<Input> given_;
    std::vector<Output> outputs_;
    std::vector<Begin> begins_;
    std::vector<std::size_t> shared_at_;
    std::size_t table_at_ = 0, addresses_at_ = 0, copy_scratch_at_ = 0, scratch_bytes_ = 0;
};

void LoopKernel::bind_step(const LoopAttributes& a, std::span<const LoopResultAttributes> results,
                           const KernelCompiler& compiler, const BindOptions& options, bool as_written) {
    const Region& step = *a.step;
    std::vector<bool> needed = needed_carries(a, results);
    std::vector<Node*> leaves, tops;
    for (std::size_t i = 0; i < step.inputs; ++i) leaves.push_back(step.nodes[i].node());
    std::vector<std::size_t> of_carry(a.carried, none), of_result(results.size(), none);
    for (std::size_t i = 0; i < a.carried; ++i)
        if (needed[i]) of_carry[i] = tops.size(), tops.push_back(step.output(i).node());
    auto value = [&](std::size_t i) { return static_cast<std::size_t>(results[i].value); };
    for (std::size_t i = 0; i < results.size(); ++i)
        if (value(i) >= a.carried) of_result[i] = tops.size(), tops.push_back(step.nodes[value(i)].node());

    BindOptions inner;
    inner.steady.assign(step.inputs, false);
    std::fill(inner.steady.begin() + static_cast<std::ptrdiff_t>(a.carried + a.sliced), inner.steady.end(), true);
    inner.keep_loops = options.keep_loops, inner.bfloat16_products = options.bfloat16_products;
    step_ = make_step_binding(gather(tops, leaves), std::move(inner), compiler, as_written);
    table_ = std::make_unique<OperandTable>(*step_);

    outputs_.resize(step_->outputs.size());
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i].bytes = step_->outputs[i].bytes;
    for (std::size_t i = 0; i < a.carried; ++i)
        if (of_carry[i] != none) output_of(of_carry[i]).carries.push_back(i);
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (of_result[i] != none) {
            output_of(of_result[i]).collected.push_back(i);
            continue;
        }
        Output& carried = output_of(of_carry[value(i)]);
        (results[i].collected ? carried.before : carried.last).push_back(i);
        begins_.push_back({i, value(i), results[i].collected});
    }
}

LoopKernel::Output& LoopKernel::output_of(std::size_t top) {
    const View& view = step_->results[top];
    promise(view.base.kind == Base::output && view.offset == 0 && view.layout.contiguous(),
            "what a step of a loop makes comes to dense memory of its own");
    return outputs_[at(view.base.index)];
}

void LoopKernel::place_scratch() {
    std::size_t most = 0;
    auto take = [&](std::size_t bytes) {
        std::size_t place = scratch_bytes_;
        scratch_bytes_ += aligned(bytes);
        return place;
    };
    (void)take(step_->arena_bytes);  // stands first
    table_at_ = take(table_->empty().size() * sizeof(void*));
    addresses_at_ = take((2 * inputs_ + outputs_.size()) * sizeof(void*));
    for (const OperandTable::Shared& shared : table_->shared()) shared_at_.push_back(take(shared.bytes));
    for (Output& output : outputs_)
        for (std::size_t& spare : output.spare) spare = take(output.carries.empty() ? 0 : output.bytes);
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
    LoopRun(const LoopKernel& kernel, void* const* operands, std::byte* scratch)
        : k_(kernel),
          results_(operands + kernel.inputs_),
          scratch_(scratch),
          table_(reinterpret_cast<void**>(scratch + kernel.table_at_)),
          leaves_(reinterpret_cast<void**>(scratch + kernel.addresses_at_)),
          bases_(leaves_ + kernel.inputs_),
          made_(bases_ + kernel.inputs_) {
        for (std::size_t i = 0; i < k_.inputs_; ++i) leaves_[i] = bases_[i] = dense(i, operands[i]);
    }

    void all() {
        for (const LoopKernel::Begin& b : k_.begins_) {
            std::size_t bytes = k_.given_[b.carry].bytes;
            if (k_.length_ > 0 && b.collected) std::memcpy(row(b.result, bytes, 0), leaves_[b.carry], bytes);
            if (k_.length_ == 0 && !b.collected) std::memcpy(results_[b.result], leaves_[b.carry], bytes);
        }
        if (k_.length_ == 0) return;
        const std::vector<void*>& empty = k_.table_->empty();
        std::copy(empty.begin(), empty.end(), table_);
        k_.table_->place_arena(table_, scratch_);
        place(0);
        share();
        for (std::int64_t i = 0; i < k_.length_; ++i) {
            if (i > 0) place(i);
            run_steps();
            hand_on(i);
        }
        for (std::size_t o = 0; o < k_.outputs_.size(); ++o)
            for (std::size_t last : k_.outputs_[o].last) put(results_[last], o);
    }

  private:
    void* dense(std::size_t i, void* given) {
        const LoopKernel::Input& input = k_.given_[i];
        if (!input.copy) return given;
        void* operands[] = {given, scratch_ + input.copied};
        input.copy->run(operands, scratch_ + k_.copy_scratch_at_);
        return operands[1];
    }

    /// Of a collected result what belongs to step i.
    void* row(std::size_t result, std::size_t bytes, std::int64_t i) const {
        std::int64_t slice = k_.reverse_ ? k_.length_ - 1 - i : i;
        return static_cast<std::byte*>(results_[result]) + static_cast<std::size_t>(slice) * bytes;
    }

    /// Where step i writes an output: where it stays, if there is such a place; else in turn, since the step reads the last one.
    void* place_of(const LoopKernel::Output& output, std::int64_t i) const {
        bool ends = i + 1 == k_.length_;
        if (!ends && !output.before.empty()) return row(output.before[0], output.bytes, i + 1);
        if (!output.collected.empty()) return row(output.collected[0], output.bytes, i);
        if (ends && !output.last.empty()) return results_[output.last[0]];
        return scratch_ + output.spare[i & 1];
    }

    void place(std::int64_t i) {
        std::int64_t slice = k_.reverse_ ? k_.length_ - 1 - i : i;
        for (std::size_t k = k_.carried_; k < k_.inputs_ && k_.given_[k].slice > 0; ++k)
            leaves_[k] = static_cast<std::byte*>(bases_[k]) + static_cast<std::size_t>(slice) * k_.given_[k].slice;
        for (std::size_t o = 0; o < k_.outputs_.size(); ++o) made_[o] = place_of(k_.outputs_[o], i);
        k_.table_->place_outside(table_, {leaves_, k_.inputs_}, {made_, k_.outputs_.size()});
    }

    // What kernels keep of matrices that are the same in each step.
    void share() {
        for (std::size_t i = 0; i < k_.shared_at_.size(); ++i) {
            const OperandTable::Shared& shared = k_.table_->shared()[i];
            std::byte* place = scratch_ + k_.shared_at_[i];
            k_.step_->steps[shared.step].kernel->share(table_ + k_.table_->first(shared.step), place);
            for (std::uint32_t position : shared.positions) table_[position] = place;
        }
    }

    void run_steps() {
        const std::vector<BoundStep>& steps = k_.step_->steps;
        std::byte* scratch = scratch_ + k_.step_->scratch_offset;
        std::size_t s = 0;
        try {
            for (; s < steps.size(); ++s) steps[s].kernel->run(table_ + k_.table_->first(s), scratch);
        } catch (Error& error) {
            error.add(weft::place(error.where.line() ? error.where : steps[s].fails_at));
            error.where = {};  // it has been said
            throw;
        }
    }

    void put(void* place, std::size_t output) const {
        if (place != made_[output]) std::memcpy(place, made_[output], k_.outputs_[output].bytes);
    }

    void hand_on(std::int64_t i) {
        for (std::size_t o = 0; o < k_.outputs_.size(); ++o) {
            const LoopKernel::Output& output = k_.outputs_[o];
            for (std::size_t collected : output.collected) put(row(collected, output.bytes, i), o);
            if (i + 1 < k_.length_)
                for (std::size_t before : output.before) put(row(before, output.bytes, i + 1), o);
            for (std::size_t carry : output.carries) leaves_[carry] = made_[o];
        }
    }

    const LoopKernel& k_;
    void* const* results_;
    std::byte* scratch_;
    void **table_, **leaves_, **bases_, **made_;
};

void LoopKernel::run(void* const* operands, std::byte* scratch) const { LoopRun(*this, operands, scratch).all(); }

}  // namespace

std::unique_ptr<Kernel> loop_kernel(const Node& loop, std::span<const Layout> inputs,
                                    std::span<const LoopResultAttributes> results, const KernelCompiler& compiler,
                                    const BindOptions& options, bool as_written) {
    return std::make_unique<LoopKernel>(loop, inputs, results, compiler, options, as_written);
}

double loop_product_operations(const Node& loop) {
    const LoopAttributes& a = loop.attributes_as<LoopAttributes>();
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
