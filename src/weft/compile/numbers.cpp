#include "weft/compile/numbers.h"

#include <algorithm>

#include "weft/base/integers.h"
#include "weft/compile/views.h"
#include "weft/kernel/builder.h"
#include "weft/kernel/function_program.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/fused.h"
#include "weft/ops/join.h"
#include "weft/ops/recompute.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/rewrite/number.h"

namespace weft {
namespace {

constexpr std::size_t number_lanes = 64;  // in which rows are summed

bool sums_as_it_is(DType d) { return d == DType::float32 || d == DType::float64; }

std::size_t index_of(std::int64_t place) { return static_cast<std::size_t>(place); }

Layout dense_layout(const Node& node) {
    Dims dims = dims_of(node.shape);
    return {node.dtype, dims, contiguous_strides(dims)};
}

Tensor joined_two(Reduction reduction, const Tensor& a, const Tensor& b) {
    switch (reduction) {
        case Reduction::sum:
            return a + b;
        case Reduction::product:
            return a * b;
        case Reduction::maximum:
            return maximum(a, b);
        case Reduction::minimum:
            return minimum(a, b);
        case Reduction::any:
            return a | b;
        default:
            return a & b;
    }
}

/// As kernels join a row: from the neutral value on in 64 lanes, then these by halves. What only adds the neutral value is left out, but for the
/// first number of a sum: -0 alone becomes 0.
Tensor joined_row(Reduction reduction, ArrayNumbers row) {
    if (reduction == Reduction::sum) row[0] = row[0] + constant(0, row[0].dtype());
    for (std::size_t i = number_lanes; i < row.size(); ++i)
        row[i % number_lanes] = joined_two(reduction, row[i % number_lanes], row[i]);
    row.resize(std::min(row.size(), number_lanes));
    for (std::size_t half = number_lanes / 2; half > 0; half /= 2) {
        for (std::size_t i = half; i < row.size(); ++i) row[i - half] = joined_two(reduction, row[i - half], row[i]);
        row.resize(std::min(row.size(), half));
    }
    return row[0];
}

class NumberWriter {
  public:
    NumberWriter(const Graph& graph, const std::vector<ArrayNumbers>& leaves, std::size_t most)
        : graph_(graph), numbers_(graph.entries.size()), left_(most) {
        for (std::size_t i = 0; i < leaves.size() && i < graph.leaves.size(); ++i)
            numbers_[at(graph.leaves[i])] = leaves[i];
    }

    bool run() {
        for (std::size_t e = 0; e < graph_.entries.size(); ++e) {
            if (graph_.entries[e].leaf) {
                if (numbers_[e].empty()) return false;
                continue;
            }
            const Node& node = graph_.node(static_cast<std::int32_t>(e));
            std::int64_t count = known(node.shape) ? element_count(dims_of(node.shape)) : 0;
            if (count < 1 || static_cast<std::size_t>(count) > left_ || node.operation->alias) return false;
            LineScope line(node.where);
            numbers_[e] = write(node, graph_.inputs(static_cast<std::int32_t>(e)));
            if (numbers_[e].empty()) return false;
            left_ -= std::min(left_, numbers_[e].size());
        }
        return true;
    }

    std::vector<ArrayNumbers> outputs() const {
        std::vector<ArrayNumbers> outputs;
        for (std::int32_t output : graph_.outputs) outputs.push_back(numbers_[at(output)]);
        return outputs;
    }

  private:
    using Inputs = std::span<const std::int32_t>;
    static bool known(const Shape& shape) {
        return std::all_of(shape.begin(), shape.end(), [](Size size) { return size.known(); });
    }
    const ArrayNumbers& numbers(std::int32_t entry) const { return numbers_[at(entry)]; }

    // Empty: it cannot be written so.
    ArrayNumbers write(const Node& node, Inputs inputs) {
        switch (node.operation->family) {
            case Family::constant:
                return constants(node);
            case Family::elementwise:
                return elements(node, inputs);
            case Family::view:
                return viewed(node, inputs[0]);
            case Family::join:
                return laid(node, inputs);
            case Family::reduce:
                return reduced(node, inputs[0]);
            case Family::contraction:
                return product(node, inputs);
            default:
                return {};
        }
    }

    static ArrayNumbers constants(const Node& node) {
        if (node.shape.empty()) return {handle(const_cast<Node*>(&node))};
        ArrayNumbers made;
        if (node.operation != &iota_operation) return made;
        for (std::int64_t i = 0; i < node.shape[0].value(); ++i) made.push_back(constant(i, node.dtype));
        return made;
    }

    ArrayNumbers elements(const Node& node, Inputs inputs) const {
        Dims dims = dims_of(node.shape);
        std::vector<std::vector<std::int64_t>> places;
        for (std::int32_t input : inputs)
            places.push_back(places_of(dims, broadcast_strides(dense_layout(graph_.node(input)), dims)));
        ArrayNumbers made;
        std::vector<Tensor> operands(inputs.size());
        for (std::size_t i = 0; i < places[0].size(); ++i) {
            for (std::size_t k = 0; k < inputs.size(); ++k) operands[k] = numbers(inputs[k])[index_of(places[k][i])];
            made.push_back(make_node(*node.operation, operands, node.attributes, node.where));
        }
        return made;
    }

    ArrayNumbers picked(std::int32_t from, const std::vector<std::int64_t>& places) const {
        ArrayNumbers made;
        for (std::int64_t place : places) made.push_back(numbers(from)[index_of(place)]);
        return made;
    }

    ArrayNumbers viewed(const Node& node, std::int32_t from) const {
        if (node.operation == &recompute_operation) return {};  // what is kept apart here would be one again
        View view = apply_view(node, {{}, 0, dense_layout(graph_.node(from))});
        return picked(from, places_of(view.layout.dims, view.layout.strides,
                                      view.offset / static_cast<std::int64_t>(size_of(node.dtype))));
    }

    ArrayNumbers laid(const Node& node, Inputs inputs) const {
        Dims dims = dims_of(node.shape), strides = contiguous_strides(dims);
        ArrayNumbers made(static_cast<std::size_t>(element_count(dims)));
        auto put = [&](std::int32_t input, const Dims& steps, std::int64_t offset) {
            std::vector<std::int64_t> places = places_of(dims_of(graph_.node(input).shape), steps, offset);
            for (std::size_t i = 0; i < places.size(); ++i) made[index_of(places[i])] = numbers(input)[i];
        };
        if (node.operation == &concatenate_operation) {
            auto axis = static_cast<std::size_t>(node.attributes_as<ConcatenateAttributes>().axis);
            std::int64_t start = 0;
            for (std::int32_t input : inputs) {
                put(input, strides, start * strides[axis]);
                start += graph_.node(input).shape[axis].value();
            }
            return made;
        }
        if (node.operation != &pad_operation) return {};
        const PadAttributes& a = node.attributes_as<PadAttributes>();
        std::fill(made.begin(), made.end(), constant(a.value, node.dtype));
        Dims steps = strides;
        std::int64_t offset = 0;
        for (std::size_t axis = 0; axis < dims.size(); ++axis) {
            steps[axis] *= 1 + a.between[axis];
            offset += a.before[axis].value.value() * strides[axis];
        }
        put(inputs[0], steps, offset);
        return made;
    }

    // Rows by halves; what is joined across rows, row after row.
    ArrayNumbers reduced(const Node& node, std::int32_t from) const {
        const ReduceAttributes& a = node.attributes_as<ReduceAttributes>();
        const Node& whole = graph_.node(from);
        bool adds = a.reduction == Reduction::sum || a.reduction == Reduction::product;
        bool places = a.reduction == Reduction::argmax || a.reduction == Reduction::argmin;
        bool truths = a.reduction == Reduction::any || a.reduction == Reduction::all;
        if (places || node.dtype != (truths ? DType::bool_ : whole.dtype) || (adds && !sums_as_it_is(node.dtype)))
            return {};
        Layout layout = dense_layout(whole);
        Dims kept, kept_strides, summed, summed_strides;
        for (std::size_t axis = 0; axis < layout.dims.size(); ++axis) {
            bool gone = std::find(a.axes.begin(), a.axes.end(), static_cast<std::int64_t>(axis)) != a.axes.end();
            (gone ? summed : kept).push_back(layout.dims[axis]);
            (gone ? summed_strides : kept_strides).push_back(layout.strides[axis]);
        }
        bool along_rows = !summed_strides.empty() && summed_strides.back() == 1;
        ArrayNumbers made;
        for (std::int64_t first : places_of(kept, kept_strides)) {
            ArrayNumbers row = picked(from, places_of(summed, summed_strides, first));
            if (truths && whole.dtype != DType::bool_)
                for (Tensor& x : row) x = x != 0;
            if (along_rows) {
                made.push_back(joined_row(a.reduction, std::move(row)));
                continue;
            }
            Tensor total = joined_row(a.reduction, {row[0]});
            for (std::size_t i = 1; i < row.size(); ++i) total = joined_two(a.reduction, total, row[i]);
            made.push_back(total);
        }
        return made;
    }

    // Each element as gemm makes it: one chain of fused multiply-adds in the order of k.
    ArrayNumbers product(const Node& node, Inputs inputs) {
        bool plain = node.operation == &matmul_operation && precision_of(node) == MatmulPrecision::float32;
        if (!plain || !sums_as_it_is(node.dtype)) return {};
        const Shape &a = graph_.node(inputs[0]).shape, &b = graph_.node(inputs[1]).shape;
        auto rows = static_cast<std::size_t>(a[a.size() - 2].value());
        auto inner = static_cast<std::size_t>(a[a.size() - 1].value());
        auto columns = static_cast<std::size_t>(b[b.size() - 1].value());
        std::size_t all = static_cast<std::size_t>(element_count(dims_of(node.shape)));
        if (all * inner > left_) return {};
        left_ -= all * inner;
        ArrayNumbers made;
        for (std::size_t i = 0; i < all; ++i) {
            std::size_t batch = i / (rows * columns), row = i / columns % rows, column = i % columns;
            Tensor total = constant(0, node.dtype);
            for (std::size_t k = 0; k < inner; ++k)
                total = fused_multiply_add(numbers(inputs[0])[(batch * rows + row) * inner + k],
                                           numbers(inputs[1])[(batch * inner + k) * columns + column], total);
            made.push_back(total);
        }
        return made;
    }

    const Graph& graph_;
    std::vector<ArrayNumbers> numbers_;  // of each entry
    std::size_t left_;                   // expressions that may still be written
};

}  // namespace

std::optional<std::vector<ArrayNumbers>> by_numbers(const Graph& graph, const std::vector<ArrayNumbers>& leaves,
                                                    std::size_t most) {
    KeepPending keep;
    NumberWriter writer(graph, leaves, most);
    return writer.run() ? std::optional(writer.outputs()) : std::nullopt;
}

std::vector<std::int64_t> places_of(const Dims& dims, const Dims& strides, std::int64_t offset) {
    std::vector<std::int64_t> places{offset};
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        std::vector<std::int64_t> longer;
        for (std::int64_t place : places)
            for (std::int64_t i = 0; i < dims[axis]; ++i) longer.push_back(place + i * strides[axis]);
        places = std::move(longer);
    }
    return places;
}

namespace {

std::int64_t instructions_of(const Program& program) {
    constexpr std::int64_t of_loop = 30;  // a function that is no program
    std::int64_t count = 0;
    for (const Instruction& one : program.code) {
        const Program* inside = one.function() ? common_program_of(*one.function(), one.dtype) : nullptr;
        bool computes = one.opcode != Opcode::input && one.opcode != Opcode::constant;
        count += inside ? instructions_of(*inside) : one.function() ? of_loop : computes;
    }
    return count;
}

}  // namespace

std::int64_t instructions_of(const Node& node) {
    if (node.operation->family != Family::elementwise || node.inputs.empty()) return 0;
    ProgramBuilder builder;
    std::vector<Scalar> operands;
    for (const Node* input : node.inputs) operands.push_back(builder.input(compute_dtype(input->dtype)));
    builder.output(inline_body(*node.operation, operands, meeting_dtype(node), node.dtype, node.attributes.get()));
    return instructions_of(builder.take());
}

}  // namespace weft
