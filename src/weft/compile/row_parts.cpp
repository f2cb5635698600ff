#include "weft/compile/row_parts.h"

#include <algorithm>

#include "weft/compile/access_facts.h"
#include "weft/kernel/builder.h"

namespace weft {
namespace {

constexpr std::int64_t product_tile = 32, fewest_product_rows = 8;

// How an operand moves with the rows, in bytes.
Dims row_strides(DType dtype, const Dims& strides, std::size_t rows) {
    Dims bytes;
    for (std::size_t axis = 0; axis < rows; ++axis)
        bytes.push_back(strides[axis] * static_cast<std::int64_t>(size_of(dtype)));
    return bytes;
}

// Results of blocks, [block, element], joined over the blocks.
Loop join_of(const Loop& loop, std::int64_t blocks) {
    Loop join;
    auto kept = static_cast<std::ptrdiff_t>(loop.dims.size() - loop.reduced);
    std::int64_t count = element_count(Dims(loop.dims.begin(), loop.dims.begin() + kept));
    join.dims = {count, blocks};
    join.reduced = 1;
    join.reductions = loop.reductions;
    ProgramBuilder builder;
    for (const Access& store : loop.stores) {
        builder.output(builder.input(store.dtype));
        join.loads.push_back({store.dtype, {1, count}});
        join.stores.push_back({store.dtype, {1}});
        join.stores.back().alignment = store.alignment;
    }
    join.program = builder.take();
    return join;
}

// An access of a loop over one of several blocks of rows: what lies inside the step lies at one place for all of them.
void move_over_rows(Access& access, const RowOperand& operand, bool inside) {
    if (!inside) AccessFacts::move(access, operand.strides);
}

// A loop whose first axes are the rows, and how it is cut to blocks of them.
class BlockLoop {
  public:
    BlockLoop(const Loop& loop, std::size_t rows, const std::vector<bool>& inside) : whole_(loop), of_blocks_(loop) {
        for (auto* accesses : {&of_blocks_.loads, &of_blocks_.stores})
            for (Access& access : *accesses) {
                bool load = accesses == &of_blocks_.loads;
                operands_.push_back({0, row_strides(access.dtype, access.strides, rows),
                                     load ? dense_row(access, rows) : 0, bytes_of_row(access, rows)});
                move_over_rows(access, operands_.back(), inside[operands_.size() - 1]);
            }
    }
    const std::vector<RowOperand>& operands() const { return operands_; }
    Loop of(const Dims& block, const KernelUse& use) const {
        Loop cut = use.block ? of_blocks_ : whole_;
        std::copy(block.begin(), block.end(), cut.dims.begin());
        for (std::size_t i = 0; use.block && i < cut.loads.size(); ++i) {
            Access& load = cut.loads[i];
            if (use.quiet) load.passes = 0;
            if (load.passes > 0) load.next = to_next(operands_[i].strides, block), load.soon = use.soon;
        }
        return cut;
    }

  private:
    std::size_t dense_row(const Access& access, std::size_t rows) const {
        std::int64_t size = 1;
        for (std::size_t axis = whole_.dims.size(); axis-- > rows; size *= whole_.dims[axis])
            if (whole_.dims[axis] != 1 && access.strides[axis] != size) return 0;
        return access.plain() ? static_cast<std::size_t>(size) * size_of(access.dtype) : 0;
    }
    std::size_t bytes_of_row(const Access& access, std::size_t rows) const {
        bool moves = std::any_of(access.strides.begin(), access.strides.begin() + static_cast<std::ptrdiff_t>(rows),
                                 [](std::int64_t stride) { return stride != 0; });
        std::int64_t elements = moves ? 1 : 0;
        for (std::size_t axis = rows; axis < access.strides.size(); ++axis)
            if (access.strides[axis] != 0) elements *= whole_.dims[axis];
        return static_cast<std::size_t>(elements) * size_of(access.dtype);
    }
    /// Bytes from a block to the next: along the axis that is cut, which is the last that is not whole.
    std::int64_t to_next(const Dims& strides, const Dims& block) const {
        for (std::size_t axis = block.size(); axis-- > 0;)
            if (block[axis] < whole_.dims[axis]) return block[axis] * strides[axis];
        return 0;
    }

    Loop whole_, of_blocks_;
    std::vector<RowOperand> operands_;
};

// A map, and the reduction of what it stores: the first operand of the second is the last of the first.
class OneAfterOther final : public Kernel {
  public:
    OneAfterOther(std::unique_ptr<Kernel> map, std::unique_ptr<Kernel> reduction, std::size_t loads)
        : map_(std::move(map)), reduction_(std::move(reduction)), loads_(loads) {}
    std::size_t scratch_bytes() const override { return std::max(map_->scratch_bytes(), reduction_->scratch_bytes()); }
    std::string_view by() const override { return map_->by(); }
    void finish() const override { map_->finish(), reduction_->finish(); }
    void run(void* const* operands, std::byte* scratch) const override {
        map_->run(operands, scratch);
        reduction_->run(operands + loads_, scratch);
    }

  private:
    std::unique_ptr<Kernel> map_, reduction_;
    std::size_t loads_;
};

// Of a product whose second matrix is the same for all batches, their rows are rows of one product.
void count_rows(RowPart& part, const KernelCompiler& compiler, const Node& node, std::vector<Layout> inputs,
                Layout output, bool one_second) {
    std::size_t batches = output.dims.size() - 2;
    if (one_second)
        for (std::size_t axis = 0; axis < batches; ++axis) {
            inputs[0].dims[batches] *= output.dims[axis], output.dims[batches] *= output.dims[axis];
        }
    part.least_rows = compiler.least_rows(node, inputs, output);
    part.fewest_rows = std::max(fewest_product_rows, compiler.fewest_rows(node, inputs, output));
}

}  // namespace

double elements_of_row(const Dims& dims, std::size_t rows) {
    double count = 1;
    for (std::size_t axis = rows; axis < dims.size(); ++axis) count *= static_cast<double>(dims[axis]);
    return count;
}

RowPart row_sums_part(const KernelCompiler& compiler, const Loop& loop, const std::vector<bool>& inside) {
    RowPart part;
    std::size_t rows = loop.reduced, kept = loop.dims.size() - rows;
    for (const Access& load : loop.loads) {
        Dims strides(load.strides.begin() + static_cast<std::ptrdiff_t>(kept), load.strides.end());
        part.operands.push_back({0, row_strides(load.dtype, strides, rows)});
    }
    part.points = 1;
    for (std::size_t axis = 0; axis < kept; ++axis) part.points *= static_cast<double>(loop.dims[axis]);
    Loop of_blocks = loop;  // results of a block wait in memory of their own
    for (std::size_t i = 0; i < loop.loads.size(); ++i) move_over_rows(of_blocks.loads[i], part.operands[i], inside[i]);
    for (Access& store : of_blocks.stores) store.alignment = 0;
    part.sums.first = part.operands.size();
    for (const Access& store : loop.stores) {
        part.operands.push_back({0, Dims(rows, 0)});
        part.sums.bytes.push_back(static_cast<std::size_t>(part.points) * size_of(store.dtype));
    }
    for (const Access& load : loop.loads) part.bytes += part.points * static_cast<double>(size_of(load.dtype));
    part.indexed = loop.indexed();
    part.make = [&compiler, loop, of_blocks, kept](const Dims& block, const KernelUse& use) {
        Loop cut = use.block ? of_blocks : loop;
        std::copy(block.begin(), block.end(), cut.dims.begin() + static_cast<std::ptrdiff_t>(kept));
        return compiler.loop(std::move(cut), use.block);
    };
    part.sums.join = [&compiler, loop](std::int64_t blocks) { return compiler.loop(join_of(loop, blocks)); };
    return part;
}

RowPart loop_part(const KernelCompiler& compiler, const Loop& loop, std::size_t rows, const std::vector<bool>& inside) {
    RowPart part;
    BlockLoop cut(loop, rows, inside);
    part.operands = cut.operands();
    part.points = elements_of_row(loop.dims, rows);
    for (const Access& load : loop.loads) part.bytes += part.points * static_cast<double>(size_of(load.dtype));
    part.indexed = loop.indexed();
    part.make = [&compiler, cut](const Dims& block, const KernelUse& use) {
        return compiler.loop(cut.of(block, use), use.block);
    };
    return part;
}

RowPart stored_reduction_part(const KernelCompiler& compiler, const Loop& map, const Loop& reduction, std::size_t rows,
                              const std::vector<bool>& inside, const std::vector<bool>& inside_of_reduction) {
    RowPart part = loop_part(compiler, map, rows, inside);
    BlockLoop first(map, rows, inside), second(reduction, rows, inside_of_reduction);
    part.operands.insert(part.operands.end(), second.operands().begin() + 1, second.operands().end());
    part.bytes += part.points * static_cast<double>(size_of(reduction.loads[0].dtype));
    part.stores_much = map.program.computes_much();
    part.make = [&compiler, first, second](const Dims& block, const KernelUse& use) -> std::unique_ptr<Kernel> {
        Loop map = first.of(block, use), reduction = second.of(block, use);
        if (auto both = compiler.stored_reduction(&map, reduction)) return both;
        std::size_t loads = map.loads.size();
        return std::make_unique<OneAfterOther>(compiler.loop(std::move(map), use.block),
                                               compiler.loop(std::move(reduction), use.block), loads);
    };
    return part;
}

RowBeside beside_part(const KernelCompiler& compiler, const Loop* map, const Loop& reduction, const Loop& behind,
                      std::size_t rows, const std::vector<std::vector<bool>>& inside, bool turns) {
    RowBeside beside;
    BlockLoop first(map ? *map : reduction, rows, inside[0]), second(reduction, rows, inside[1]),
        last(behind, rows, inside[2]);
    bool maps = map != nullptr;
    beside.loads = map ? map->loads.size() : reduction.loads.size(), beside.made = maps ? 1 : 0;
    beside.make = [&compiler, maps, first, second, last, turns](const Dims& block) {
        KernelUse use{.block = true, .quiet = turns};
        Loop made = first.of(block, use), joined = second.of(block, use), ended = last.of(block, use);
        for (Access& load : ended.loads) load.next *= 2;  // the block that is being made is there
        return compiler.stored_reduction(maps ? &made : nullptr, joined, &ended, turns);
    };
    return beside;
}

RowPart product_part(const KernelCompiler& compiler, const Node& node, const std::vector<Layout>& inputs,
                     const Layout& output, std::size_t rows) {
    RowPart part;
    std::size_t batches = output.dims.size() - 2, of_second = std::min(rows, batches);
    Dims second = row_strides(inputs[1].dtype, inputs[1].strides, of_second);
    second.resize(rows, 0);
    part.operands = {{0, row_strides(inputs[0].dtype, inputs[0].strides, rows)},
                     {0, second},
                     {0, row_strides(output.dtype, output.strides, rows)}};
    // Some thirty multiplications cost as much as a loop's point; those of a vector, which wait for memory, as many.
    auto inner = static_cast<double>(inputs[0].dims.back());
    part.points = elements_of_row(output.dims, rows) * (output.dims.back() == 1 ? inner : inner / 32);
    part.bytes = elements_of_row(output.dims, rows) * static_cast<double>(size_of(output.dtype));
    bool one_second = std::all_of(second.begin(), second.end(), [](std::int64_t stride) { return stride == 0; });
    count_rows(part, compiler, node, inputs, output, one_second);
    part.tile = product_tile;
    part.make = [&compiler, &node, inputs, output, of_second, one_second](const Dims& block, KernelUse use) {
        std::vector<Layout> in = inputs;
        Layout out = output;
        std::copy(block.begin(), block.end(), in[0].dims.begin());
        std::copy(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(of_second), in[1].dims.begin());
        std::copy(block.begin(), block.end(), out.dims.begin());
        use.block = use.block && one_second, use.kept = use.kept && one_second;
        return compiler.library(node, in, out, use);
    };
    return part;
}

RowPart window_part(const KernelCompiler& compiler, const Node& node, const std::vector<Layout>& inputs,
                    const Layout& output, bool convolution) {
    RowPart part;
    std::vector<bool> images(inputs.size(), true);
    if (convolution) images[1] = false;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        part.operands.push_back({0, images[i] ? row_strides(inputs[i].dtype, inputs[i].strides, 1) : Dims{0}});
    part.operands.push_back({0, row_strides(output.dtype, output.strides, 1)});
    part.points = elements_of_row(output.dims, 1);
    part.bytes = part.points * static_cast<double>(size_of(output.dtype));
    if (convolution) part.points *= elements_of_row(inputs[1].dims, 1) / 32;  // as a product's multiplications
    if (convolution) part.least_rows = compiler.least_rows(node, inputs, output);
    part.make = [&compiler, &node, inputs, output, images](const Dims& block, const KernelUse& use) {
        std::vector<Layout> in = inputs;
        Layout out = output;
        for (std::size_t i = 0; i < in.size(); ++i)
            if (images[i]) in[i].dims[0] = block[0];
        out.dims[0] = block[0];
        return compiler.library(node, in, out, use);
    };
    return part;
}

}  // namespace weft
