#include "weft/ops/view.h"

#include <numeric>

#include "weft/graph/node.h"
#include "weft/ops/batch.h"
#include "weft/ops/contraction.h"
#include "weft/ops/declare.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"

namespace weft {
namespace {

Meta infer_reshape(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    const Shape& to = attributes_of<ReshapeAttributes>(attributes).shape;
    Size have = element_count(inputs[0].shape()), want = element_count(to);
    if (!may_equal(have, want)) {
        throw ShapeError(
            text(operation.name, ": ", inputs[0].shape(), " has ", have, " elements, ", to, " would have ", want));
    }
    return {to, inputs[0].dtype()};
}

Meta infer_permute(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    const Axes& axes = attributes_of<PermuteAttributes>(attributes).axes;
    const Shape& from = inputs[0].shape();
    Axes sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    if (!(sorted == all_axes(from.size()))) {
        throw AxisError(
            text(operation.name, ": axes ", axes, " must name each of the ", from.size(), " axes of ", from, " once"));
    }
    Shape shape;
    for (std::int64_t axis : axes) shape.push_back(from[static_cast<std::size_t>(axis)]);
    return {shape, inputs[0].dtype()};
}

Meta infer_broadcast(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    const Shape& to = attributes_of<ReshapeAttributes>(attributes).shape;
    if (!broadcasts_to(inputs[0].shape(), to))
        throw ShapeError(text(operation.name, ": ", inputs[0].shape(), " does not broadcast to ", to));
    return {to, inputs[0].dtype()};
}

Meta infer_slice(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    auto& a = attributes_of<SliceAttributes>(attributes);
    const Shape& from = inputs[0].shape();
    if (a.start.size() != from.size() || a.length.size() != from.size() || a.step.size() != from.size()) {
        throw ShapeError(text(operation.name, ": start, length and step need one entry for each of the ", from.size(),
                              " axes of ", from));
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (a.step[i] < 1)
            throw ValueError(
                text(operation.name, ": step ", a.step[i], " on axis ", i, " is not positive; use flip for backwards"));
        if (!from[i].known() || !a.length[i].known() || !a.start[i].value.known()) continue;
        std::int64_t length = a.length[i].value(), start = a.start[i].value.value();
        if (length < 0 || start < 0 || (length > 0 && start + (length - 1) * a.step[i] >= from[i].value())) {
            throw IndexError(text(operation.name, ": ", length, " elements from ", start, " in steps of ", a.step[i],
                                  " leave axis ", i, " of size ", from[i]));
        }
    }
    return {a.length, inputs[0].dtype()};
}

Meta infer_flip(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    return {inputs[0].shape(), inputs[0].dtype()};
}

Axes swapped_last(std::size_t ndim) {
    Axes axes = all_axes(ndim);
    if (ndim >= 2) std::swap(axes[ndim - 1], axes[ndim - 2]);
    return axes;
}

Tensor transpose_reshape(const Tensor& result, std::size_t, const Tensor& cotangent) {
    return reshape(cotangent, input_of(result).shape());
}
Tensor transpose_permute(const Tensor& result, std::size_t, const Tensor& cotangent) {
    const Axes& axes = result.node()->attributes_as<PermuteAttributes>().axes;
    Axes inverse(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i)
        inverse[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
    // The gradient of a transposed weight is a transposed product: written as the product of the transposes it lies as the weight
    // does, and the update reads both in order.
    const Node& node = *cotangent.node();
    bool swaps_matrices = inverse == swapped_last(inverse.size());
    if (swaps_matrices && node.operation == &matmul_operation && !node.computed) {
        return matmul(matrix_transpose(handle(node.inputs[1])), matrix_transpose(handle(node.inputs[0])));
    }
    return permute_dims(cotangent, inverse);
}
Tensor transpose_broadcast(const Tensor& result, std::size_t, const Tensor& cotangent) {
    return sum_to(cotangent, input_of(result).shape());
}
Tensor transpose_slice(const Tensor& result, std::size_t, const Tensor& cotangent) {
    auto& a = result.node()->attributes_as<SliceAttributes>();
    const Shape& whole = input_of(result).shape();
    Shape low, high;
    Dims interior;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        Size covered = a.length[i] == Size(0) ? Size(0) : (a.length[i] - 1) * a.step[i] + 1;
        low.push_back(a.start[i].value);
        high.push_back(whole[i] - a.start[i].value - covered);
        interior.push_back(a.step[i] - 1);
    }
    return pad_interior(cotangent, low, high, interior);
}
Tensor transpose_flip(const Tensor& result, std::size_t, const Tensor& cotangent) {
    return flip(cotangent, result.node()->attributes_as<PermuteAttributes>().axes);
}

// Under vmap: the same view of each example, behind the batch's axis.
Tensor batch_reshape(const Tensor& result, const Batch& batch) {
    return reshape(batch.inputs[0], batch.shape(result.shape()));
}
Tensor batch_permute(const Tensor& result, const Batch& batch) {
    Axes axes = behind_batch(result.node()->attributes_as<PermuteAttributes>().axes);
    axes.insert(0, 0);
    return permute_dims(batch.inputs[0], axes);
}
Tensor batch_broadcast(const Tensor& result, const Batch& batch) {
    Shape aligned(result.ndim() - input_of(result).ndim(), 1);
    for (Size size : input_of(result).shape()) aligned.push_back(size);
    return broadcast_to(reshape(batch.inputs[0], batch.shape(aligned)), batch.shape(result.shape()));
}
Tensor batch_slice(const Tensor& result, const Batch& batch) {
    SliceAttributes a = result.node()->attributes_as<SliceAttributes>();
    a.start.insert(0, Offset{0});
    a.length.insert(0, batch.size);
    a.step.insert(0, 1);
    return batch.like(result, batch.inputs, attributes(std::move(a)));
}
Tensor batch_flip(const Tensor& result, const Batch& batch) {
    return flip(batch.inputs[0], behind_batch(result.node()->attributes_as<PermuteAttributes>().axes));
}

// x's shape with one -1 filled in.
Shape resolve(const Tensor& x, const Shape& shape) {
    Shape resolved = shape;
    Size rest = 1;
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        bool unknown = shape[i].known() && shape[i].value() == -1;
        if (shape[i].known() && shape[i].value() < -1)
            throw ShapeError(text("reshape: the size ", shape[i], " in ", shape, " is negative"));
        if (unknown && open) throw ShapeError(text("reshape: only one size of ", shape, " may be -1"));
        if (unknown)
            open = i;
        else
            rest = rest * shape[i];
    }
    if (!open) return resolved;
    Size count = element_count(x.shape());
    bool fits = !(rest == Size(0)) && (!count.known() || !rest.known() || count.value() % rest.value() == 0);
    if (!fits)
        throw ShapeError(text("reshape: the ", count, " elements of ", x.shape(), " cannot be arranged as ", shape));
    resolved[*open] = count / rest;
    return resolved;
}

}  // namespace

const Operation reshape_operation{.name = "reshape",
                                  .family = Family::view,
                                  .doc = "The numbers in row-major order under another shape.",
                                  .numpy = "reshape",
                                  .torch = "reshape",
                                  .infer = infer_reshape,
                                  .transpose = transpose_reshape,
                                  .batch = batch_reshape,
                                  .samples = {{{{3, 4}},
                                               [](auto x) {
                                                   return reshape(x[0], {2, -1});
                                               },
                                               "x0.reshape(2, -1)"},
                                              {{{}},
                                               [](auto x) {
                                                   return reshape(x[0], {1, 1});
                                               },
                                               "x0.reshape(1, 1)"},
                                              {{{0, 3}},
                                               [](auto x) {
                                                   return reshape(x[0], {3, 0});
                                               },
                                               "x0.reshape(3, 0)"},
                                              {{{2, 3, 4}},
                                               [](auto x) {
                                                   return reshape(permute_dims(x[0]), {6, 4});
                                               },
                                               "x0.T.reshape(6, 4)"}}};
const Operation permute_dims_operation{.name = "permute_dims",
                                       .family = Family::view,
                                       .doc = "Axes in another order.",
                                       .numpy = "transpose",
                                       .torch = "permute",
                                       .infer = infer_permute,
                                       .transpose = transpose_permute,
                                       .batch = batch_permute,
                                       .samples = {{{{2, 3, 4}}, [](auto x) { return permute_dims(x[0]); }, "x0.T"},
                                                   {{{2, 3, 4}},
                                                    [](auto x) {
                                                        return permute_dims(x[0], {1, 2, 0});
                                                    },
                                                    "x0.transpose(1, 2, 0)"}}};
const Operation broadcast_to_operation{
    .name = "broadcast_to",
    .family = Family::view,
    .doc = "Repeats along axes of size one.",
    .numpy = "broadcast_to",
    .torch = "broadcast_to",
    .infer = infer_broadcast,
    .transpose = transpose_broadcast,
    .batch = batch_broadcast,
    .samples = {{{{3, 1}},
                 [](auto x) {
                     return broadcast_to(x[0], {2, 3, 4});
                 },
                 "np.broadcast_to(x0, (2, 3, 4))"},
                {{{}}, [](auto x) { return broadcast_to(x[0], {3}); }, "np.broadcast_to(x0, (3,))"}}};
const Operation slice_operation{.name = "slice",
                                .family = Family::view,
                                .doc = "A box of the elements.",
                                .infer = infer_slice,
                                .transpose = transpose_slice,
                                .batch = batch_slice,
                                .samples = {{{{5, 7}},
                                             [](auto x) {
                                                 return slice(x[0], {1, 2}, {3, 2}, {1, 3});
                                             },
                                             "x0[1:4, 2:8:3]"},
                                            {{{5}}, [](auto x) { return slice(x[0], {2}, {0}); }, "x0[2:2]"}}};
const Operation flip_operation{.name = "flip",
                               .family = Family::view,
                               .doc = "Reversed along axes.",
                               .numpy = "flip",
                               .torch = "flip",
                               .infer = infer_flip,
                               .transpose = transpose_flip,
                               .batch = batch_flip,
                               .samples = {{{{3, 4}}, [](auto x) { return flip(x[0]); }, "np.flip(x0)"},
                                           {{{3, 4}}, [](auto x) { return flip(x[0], {1}); }, "np.flip(x0, 1)"}}};
WEFT_REGISTER(reshape_operation);
WEFT_REGISTER(permute_dims_operation);
WEFT_REGISTER(broadcast_to_operation);
WEFT_REGISTER(slice_operation);
WEFT_REGISTER(flip_operation);

Tensor reshape(const Operand& x, const Shape& shape) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    Shape resolved = checked(x, [&] { return resolve(tensor, shape); });
    if (resolved == tensor.shape()) return tensor;
    return make_node(reshape_operation, {tensor}, attributes(ReshapeAttributes{resolved}), x.where);
}

Tensor permute_dims(const Operand& x, const Axes& axes) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    Axes normal;
    for (std::int64_t axis : axes)
        normal.push_back(checked(x, [&] { return normalize_axis(axis, tensor.ndim(), "permute_dims"); }));
    if (normal == all_axes(tensor.ndim())) return tensor;
    if (tensor.node()->operation == &permute_dims_operation &&
        !tensor.computed()) {  // of a permutation: one permutation
        Axes both;
        for (std::int64_t axis : normal)
            both.push_back(tensor.node()->attributes_as<PermuteAttributes>().axes[static_cast<std::size_t>(axis)]);
        return permute_dims(Operand(handle(tensor.node()->inputs[0]), x.where), both);
    }
    return make_node(permute_dims_operation, {tensor}, attributes(PermuteAttributes{normal}), x.where);
}

Tensor permute_dims(const Operand& x) {
    LineScope line(x.where);
    Axes axes = all_axes(x.tensor ? x.tensor.ndim() : 0);
    std::reverse(axes.begin(), axes.end());
    return permute_dims(x, axes);
}

Tensor broadcast_to(const Operand& x, const Shape& shape) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (tensor.shape() == shape) return tensor;
    return make_node(broadcast_to_operation, {tensor}, attributes(ReshapeAttributes{shape}), x.where);
}

Tensor slice(const Operand& x, const Shape& start, const Shape& length, const Dims& step) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    SliceAttributes a{{}, length, step.empty() ? Dims(tensor.ndim(), 1) : step};
    bool whole = length == tensor.shape();
    for (Size s : start) a.start.push_back({s}), whole &= s == Size(0);
    if (whole && start.size() == tensor.ndim()) return tensor;
    return make_node(slice_operation, {tensor}, attributes(std::move(a)), x.where);
}

Tensor flip(const Operand& x, const Axes& axes) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    Axes normal = checked(x, [&] { return normalize_axes(axes, tensor.ndim(), "flip"); });
    if (normal.empty()) return tensor;
    return make_node(flip_operation, {tensor}, attributes(PermuteAttributes{normal}), x.where);
}

Tensor flip(const Operand& x) { return flip(x, all_axes(x.tensor ? x.tensor.ndim() : 0)); }

Tensor Tensor::T(std::source_location where) const { return permute_dims(Operand(*this, where)); }
Tensor Tensor::reshape(const Shape& shape, std::source_location where) const {
    return weft::reshape(Operand(*this, where), shape);
}

}  // namespace weft
