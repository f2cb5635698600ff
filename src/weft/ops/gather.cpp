#include "weft/ops/gather.h"

#include "weft/graph/node.h"
#include "weft/ops/batch.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/scatter.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Meta infer_take(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    auto axis = static_cast<std::size_t>(attributes_of<GatherAttributes>(attributes).axis);
    return {detail::gathered_shape(inputs[0].shape(), axis, inputs.size() - 1, inputs[1].shape()), inputs[0].dtype()};
}

Meta infer_along(const Operation&, std::span<const Tensor> inputs, const Attributes*) {
    return {inputs[1].shape(), inputs[0].dtype()};
}

Tensor transpose_take(const Tensor& result, std::size_t, const Tensor& cotangent) {
    std::vector<Tensor> indices;
    for (std::size_t i = 1; i < result.node()->inputs.size(); ++i) indices.push_back(input_of(result, i));
    return scatter(zeros_like(input_of(result, 0)), indices, cotangent, attributes_of<GatherAttributes>(result).axis,
                   ScatterMode::add);
}

Tensor transpose_along(const Tensor& result, std::size_t, const Tensor& cotangent) {
    return put_along_axis(zeros_like(input_of(result, 0)), input_of(result, 1), cotangent,
                          attributes_of<GatherAttributes>(result).axis, ScatterMode::add);
}

// Indices that differ between examples point along the batch's axis too: example i's into example i.
Tensor batch_take(const Tensor& result, const Batch& batch) {
    std::int64_t axis = attributes_of<GatherAttributes>(result).axis;
    std::span<const Tensor> indices = batch.inputs.subspan(1);
    bool same_indices = std::none_of(batch.batched.begin() + 1, batch.batched.end(), [](bool b) { return b; });
    if (same_indices) return take(batch.inputs[0], indices, axis + 1);
    auto count = static_cast<std::int64_t>(indices.size());
    auto index_axes = static_cast<std::int64_t>(input_of(result, 1).ndim());
    if (!batch.batched[0]) {  // x[:axis], batch, indices, the rest
        std::vector<Tensor> all = batch.all();
        return moveaxis(take(batch.inputs[0], std::span<const Tensor>(all).subspan(1), axis), axis, 0);
    }
    auto [x, places] = detail::batched_places(batch.inputs[0], batch, 1, axis, count);
    return detail::moved_axes(take(x, places, 0), index_axes, 1, axis + 1);
}

Tensor batch_along(const Tensor& result, const Batch& batch) {
    GatherAttributes a = attributes_of<GatherAttributes>(result);
    ++a.axis;
    return batch.like(result, batch.all(), attributes(a));
}

}  // namespace

namespace detail {

Tensor moved_axes(const Tensor& x, std::int64_t count, std::int64_t from, std::int64_t to) {
    Axes sources, places;
    for (std::int64_t i = 0; i < count; ++i) sources.push_back(from + i), places.push_back(to + i);
    return from == to ? x : moveaxis(x, sources, places);
}

std::pair<Tensor, std::vector<Tensor>> batched_places(const Tensor& x, const Batch& batch, std::size_t first,
                                                      std::int64_t axis, std::int64_t count) {
    std::vector<Tensor> places;
    for (std::size_t i = first; i < batch.inputs.size(); ++i) places.push_back(batch.all(i));
    Shape examples(places[0].ndim(), 1);
    examples[0] = batch.size;
    places.insert(places.begin(), broadcast_to(reshape(iota(batch.size), examples), places[0].shape()));
    return {moved_axes(x, count, axis + 1, 1), places};
}

std::vector<Tensor> index_tensors(std::string_view operation, std::span<const Tensor> indices,
                                  std::source_location where) {
    if (indices.empty())
        throw ValueError(text(operation, ": there are no indices; give at least one integer tensor", place(where)));
    Shape shape = indices[0].shape();
    for (const Tensor& index : indices) {
        if (!is_integer(index.dtype())) {
            throw DTypeError(text(operation, ": indices must be integers, not ", index.dtype(), place(where)));
        }
        std::optional<Shape> joined = broadcast(shape, index.shape());
        if (!joined)
            throw ShapeError(
                text(operation, ": index shapes ", shape, " and ", index.shape(), " do not broadcast", place(where)));
        shape = *joined;
    }
    std::vector<Tensor> result;
    for (const Tensor& index : indices)
        result.push_back(broadcast_to(Operand(index.astype(DType::int64, where), where), shape));
    return result;
}

Shape gathered_shape(const Shape& x, std::size_t axis, std::size_t count, const Shape& indices) {
    Shape shape(x.begin(), x.begin() + axis);
    for (Size size : indices) shape.push_back(size);
    for (std::size_t i = axis + count; i < x.size(); ++i) shape.push_back(x[i]);
    return shape;
}

std::pair<Tensor, Tensor> along_operands(std::string_view operation, const Tensor& x, const Tensor& indices,
                                         std::int64_t axis, std::source_location where) {
    if (!is_integer(indices.dtype()))
        throw DTypeError(text(operation, ": indices must be integers, not ", indices.dtype(), place(where)));
    auto at = static_cast<std::size_t>(axis);
    Shape of_x = x.shape(), of_indices = indices.shape();
    bool fits = of_x.size() == of_indices.size();
    for (std::size_t i = 0; fits && i < of_x.size(); ++i) {
        if (i == at) continue;
        std::optional<Shape> size = broadcast({of_x[i]}, {of_indices[i]});
        fits = size.has_value();
        if (fits) of_x[i] = of_indices[i] = (*size)[0];
    }
    if (!fits) {
        throw ShapeError(text(operation, ": indices of shape ", indices.shape(), " do not fit x of shape ", x.shape(),
                              ": both need the same number of axes, with sizes that broadcast, but for axis ", axis,
                              place(where)));
    }
    return {broadcast_to(Operand(x, where), of_x),
            broadcast_to(Operand(indices.astype(DType::int64, where), where), of_indices)};
}

}  // namespace detail

const Operation take_operation{.name = "take",
                               .family = Family::gather,
                               .arity = -1,
                               .doc = "What stands at given indices along an axis (or several).",
                               .numpy = "take",
                               .torch = "index_select",
                               .infer = infer_take,
                               .transpose = transpose_take,
                               .batch = batch_take,
                               .samples = {{{{5, 3}, {4}},
                                            [](auto x) { return take(x[0], x[1]); },
                                            "np.take(x0, x1, 0)",
                                            {DType::float32, DType::int64},
                                            5},
                                           {{{2, 5, 3}, {2, 2}},
                                            [](auto x) { return take(x[0], x[1], 1); },
                                            "np.take(x0, x1, 1)",
                                            {DType::float32, DType::int64},
                                            5},
                                           {{{4}, {}},
                                            [](auto x) { return take(x[0], x[1], -1); },
                                            "np.take(x0, x1, -1)",
                                            {DType::float32, DType::int32},
                                            4},
                                           {{{3, 5}, {0}},
                                            [](auto x) { return take(x[0], x[1], 1); },
                                            "np.take(x0, x1, 1)",
                                            {DType::float32, DType::int64},
                                            5},
                                           {{{4, 4, 2}, {3, 1}, {2}},
                                            [](auto x) { return take(x[0], x.subspan(1, 2)); },
                                            "x0[x1, x2]",
                                            {DType::float32, DType::int64, DType::int64},
                                            4}}};
const Operation take_along_axis_operation{
    .name = "take_along_axis",
    .family = Family::gather,
    .arity = 2,
    .doc = "What stands at given indices along an axis, for each place off the axis.",
    .numpy = "take_along_axis",
    .torch = "gather",
    .infer = infer_along,
    .transpose = transpose_along,
    .batch = batch_along,
    .samples = {{{{3, 4}, {3, 2}},
                 [](auto x) { return take_along_axis(x[0], x[1]); },
                 "np.take_along_axis(x0, x1, -1)",
                 {DType::float32, DType::int64},
                 4},
                {{{4, 1, 3}, {2, 5, 3}},
                 [](auto x) { return take_along_axis(x[0], x[1], 0); },
                 "np.take_along_axis(x0, x1, 0)",
                 {DType::float32, DType::int64},
                 4}}};
WEFT_REGISTER(take_operation);
WEFT_REGISTER(take_along_axis_operation);

Tensor take(const Operand& x, std::span<const Tensor> indices, std::int64_t axis) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    std::vector<Tensor> inputs = detail::index_tensors("take", indices, x.where);
    auto count = static_cast<std::int64_t>(inputs.size());
    axis = checked_axis(x, axis, tensor.ndim(), "take");
    (void)checked_axis(x, axis + count - 1, tensor.ndim(), "take");
    inputs.insert(inputs.begin(), tensor);
    return make_node(take_operation, inputs, attributes(GatherAttributes{axis, false}), x.where);
}

Tensor take(const Operand& x, const Operand& indices, std::int64_t axis) {
    LineScope line(x.where);
    Tensor index = indices.as_tensor();
    return take(x, std::span<const Tensor>(&index, 1), axis);
}

Tensor take_along_axis(const Operand& x, const Operand& indices, std::int64_t axis) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    axis = checked_axis(x, axis, tensor.ndim(), "take_along_axis");
    auto [values, index] = detail::along_operands("take_along_axis", tensor, indices.as_tensor(), axis, x.where);
    return make_node(take_along_axis_operation, {values, index}, attributes(GatherAttributes{axis, true}), x.where);
}

}  // namespace weft
