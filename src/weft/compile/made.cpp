#include "weft/compile/made.h"

#include "weft/base/integers.h"
#include "weft/compile/gathers.h"
#include "weft/kernel/builder.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

bool is_view(const Node& node) {
    return node.operation->family == Family::view || node.operation == &stop_gradient_operation ||
           node.operation == &positive_operation;
}

// Whether a reader is a loop that makes each value once: a scatter is one for its updates. `input`: which of the reader's it is.
bool loop_reads(const Node& reader, std::size_t input, const Node& read, bool draws) {
    Family family = reader.operation->family;
    bool once = !draws || reader.shape == read.shape;
    return family == Family::reduce || family == Family::scan || (family == Family::scatter && input == 1) ||
           (family == Family::elementwise && once);
}

// The loop's loads beside the made one are written behind it: operands of the loop begin with its number.
class MadeKernel final : public Kernel {
  public:
    explicit MadeKernel(std::unique_ptr<Kernel> loop, std::size_t operands)
        : loop_(std::move(loop)), operands_(operands) {}
    std::size_t scratch_bytes() const override { return table_bytes + loop_->scratch_bytes(); }
    std::string_view by() const override { return loop_->by(); }
    void run(void* const* operands, std::byte* scratch) const override {
        void** table = reinterpret_cast<void**>(scratch);
        table[0] = nullptr;  // number 0
        for (std::size_t i = 0; i < operands_; ++i) table[i + 1] = operands[i];
        loop_->run(table, scratch + table_bytes);
    }

  private:
    static constexpr std::size_t table_bytes = 64;
    std::unique_ptr<Kernel> loop_;
    std::size_t operands_;
};

}  // namespace

bool is_made(const Node& node) { return node.operation == &iota_operation || node.operation == &random_bits_operation; }

bool in_memory(const Graph& graph, std::int32_t entry) {
    while (!graph.entries[at(entry)].leaf && graph.node(entry).operation->family == Family::view)
        entry = graph.inputs(entry)[0];
    return graph.node(entry).operation != &constant_operation;
}

std::vector<bool> made_in_loops(const Graph& graph) {
    std::size_t count = graph.entries.size();
    std::vector<bool> made(count, false);
    std::vector<bool> by_columns = joined_by_columns(graph);
    std::vector<std::int32_t> base(count, -1);  // what an entry is, or is a view of
    for (std::size_t e = 0; e < count; ++e) {
        auto entry = static_cast<std::int32_t>(e);
        if (graph.entries[e].leaf) continue;
        const Node& node = graph.node(entry);
        auto inputs = graph.inputs(entry);
        if (is_made(node)) base[e] = entry;
        if (is_made(node)) made[e] = inputs.empty() || (!by_columns[e] && in_memory(graph, inputs[0]));
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            std::int32_t from = base[at(inputs[i])];
            if (from < 0) continue;
            bool draws = graph.node(from).operation == &random_bits_operation;
            if (is_view(node) && !(draws && node.operation == &broadcast_to_operation))
                base[e] = from;
            else if (!loop_reads(node, i, graph.node(inputs[i]), draws))
                made[at(from)] = false;
        }
    }
    for (std::int32_t output : graph.outputs)
        if (base[at(output)] >= 0) made[at(base[at(output)])] = false;
    return made;
}

Access made_access(const Node& node, Dims strides, std::int32_t key, const Layout& key_layout) {
    Access access{node.dtype, std::move(strides)};
    access.source = Source::counting;
    if (node.operation == &iota_operation) {
        access.numbers = node.shape[0].value();
        return access;
    }
    access.source = Source::random;
    auto stream = static_cast<std::uint32_t>(node.attributes_as<RandomAttributes>().stream);
    access.drawn = {key, key_layout.strides[0], stream};
    return access;
}

Loop made_loop(const Node& node, std::span<const Layout> inputs, const Layout& output) {
    Loop loop;
    ProgramBuilder builder;
    builder.output(builder.input(node.dtype));
    loop.dims = output.dims;
    loop.loads.push_back(made_access(node, contiguous_strides(output.dims), 1, inputs.empty() ? Layout{} : inputs[0]));
    for (const Layout& input : inputs) {
        (void)builder.input(input.dtype);
        loop.loads.push_back({input.dtype, Dims(output.dims.size())});
    }
    loop.program = builder.take();
    loop.stores.push_back({output.dtype, output.strides});
    return loop;
}

std::unique_ptr<Kernel> made_kernel(const KernelCompiler& compiler, Loop loop) {
    std::size_t operands = loop.loads.size();  // the node's inputs and the output, in the place of the made load
    return std::make_unique<MadeKernel>(compiler.loop(std::move(loop)), operands);
}

}  // namespace weft
