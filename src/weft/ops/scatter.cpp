#include "weft/ops/scatter.h"

#include "weft/graph/node.h"
#include "weft/ops/batch.h"
#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

std::vector<Tensor> indices_of(const Tensor& result) {
    std::vector<Tensor> indices;
    for (std::size_t i = 2; i < result.node()->inputs.size(); ++i) indices.push_back(input_of(result, i));
    return indices;
}

Meta infer_scatter(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    ScatterMode mode = static_cast<const AttributesOf<ScatterAttributes>&>(*attributes).value.mode;
    if (is_complex(inputs[0].dtype()) && mode != ScatterMode::set && mode != ScatterMode::add) {
        throw DTypeError(
            text(operation.name, ": complex numbers have no order (", inputs[0].dtype(), "), so no ", name_of(mode)));
    }
    return {inputs[0].shape(), inputs[0].dtype()};
}

// The same scatter (same indices) of other numbers, and the gather from the same places.
Tensor scatter_like(const Tensor& result, const Tensor& x, const Tensor& updates, ScatterMode mode) {
    ScatterAttributes a = attributes_of<ScatterAttributes>(result);
    if (a.along) return put_along_axis(x, input_of(result, 2), updates, a.axis, mode);
    return scatter(x, indices_of(result), updates, a.axis, mode);
}
Tensor take_like(const Tensor& result, const Tensor& from) {
    const ScatterAttributes& a = attributes_of<ScatterAttributes>(result);
    if (a.along) return take_along_axis(from, input_of(result, 2), a.axis);
    return take(from, indices_of(result), a.axis);
}

// Of `set`: whether each update is the one that stays. Every update is numbered, the numbers are scattered, and who finds its own
// number again has stayed.
Tensor stays(const Tensor& result) {
    const Shape& shape = input_of(result, 1).shape();
    Tensor numbers = reshape(iota(element_count(shape)), shape);
    Tensor written = scatter_like(result, zeros(result.shape(), DType::int64), numbers, ScatterMode::set);
    return equal(take_like(result, written), numbers);
}

// maximum and minimum: all that reached the extreme share its derivative evenly, as for max along an axis. x's and the updates' parts
// are 1 where they reached it; `shares` says by how many to divide.
struct Extreme {
    Tensor x, updates, shares;
};
Extreme extreme_of(const Tensor& result) {
    Tensor x = input_of(result, 0), updates = input_of(result, 1);
    Extreme parts{
        astype(equal(x, result), x.dtype()), astype(equal(updates, take_like(result, result)), x.dtype()), {}};
    parts.shares = scatter_like(result, parts.x, parts.updates, ScatterMode::add);
    return parts;
}

bool is_extreme(ScatterMode mode) { return mode == ScatterMode::maximum || mode == ScatterMode::minimum; }

// x's cotangent is the result's, but 0 where `set` wrote; an update's is what stands where it went, if it stayed.
Tensor transpose_scatter(const Tensor& result, std::size_t i, const Tensor& cotangent) {
    if (is_extreme(attributes_of<ScatterAttributes>(result).mode)) {
        Extreme parts = extreme_of(result);
        return i == 0 ? parts.x * (cotangent / parts.shares)
                      : parts.updates * take_like(result, cotangent / parts.shares);
    }
    bool set = attributes_of<ScatterAttributes>(result).mode == ScatterMode::set;
    if (i == 0)
        return set ? scatter_like(result, cotangent, zeros_like(input_of(result, 1)), ScatterMode::set) : cotangent;
    Tensor there = take_like(result, cotangent);
    return set ? where(stays(result), there, zeros({}, there.dtype())) : there;
}

Tensor jvp_scatter(const Tensor& result, std::span<const Tensor> tangents) {
    if (!tangents[0] && !tangents[1]) return {};
    Tensor of_x = tangents[0] ? tangents[0] : zeros_like(input_of(result, 0));
    Tensor of_updates = tangents[1] ? tangents[1] : zeros_like(input_of(result, 1));
    ScatterMode mode = attributes_of<ScatterAttributes>(result).mode;
    if (is_extreme(mode)) {
        Extreme parts = extreme_of(result);
        return scatter_like(result, parts.x * of_x, parts.updates * of_updates, ScatterMode::add) / parts.shares;
    }
    return scatter_like(result, of_x, of_updates, mode);
}

// As take's: indices that differ between examples point along the batch's axis too.
Tensor batch_scatter(const Tensor& result, const Batch& batch) {
    ScatterAttributes a = attributes_of<ScatterAttributes>(result);
    bool same_indices = std::none_of(batch.batched.begin() + 2, batch.batched.end(), [](bool b) { return b; });
    if (same_indices) return scatter(batch.all(0), batch.inputs.subspan(2), batch.all(1), a.axis + 1, a.mode);
    auto count = static_cast<std::int64_t>(batch.inputs.size()) - 2;
    auto index_axes = static_cast<std::int64_t>(input_of(result, 2).ndim());
    auto [x, places] = detail::batched_places(batch.all(0), batch, 2, a.axis, count);
    Tensor updates = detail::moved_axes(batch.all(1), index_axes, a.axis + 1, 1);
    return detail::moved_axes(scatter(x, places, updates, 0, a.mode), count, 1, a.axis + 1);
}

Tensor batch_put(const Tensor& result, const Batch& batch) {
    ScatterAttributes a = attributes_of<ScatterAttributes>(result);
    ++a.axis;
    return batch.like(result, batch.all(), attributes(a));
}

std::int64_t checked_axes(const Operand& x, std::int64_t axis, std::size_t count, std::string_view operation) {
    axis = checked_axis(x, axis, x.tensor.ndim(), operation);
    (void)checked_axis(x, axis + static_cast<std::int64_t>(count) - 1, x.tensor.ndim(), operation);
    return axis;
}

Tensor fitted_updates(std::string_view operation, const Operand& updates, DType dtype, const Shape& shape,
                      const Operand& x) {
    Tensor tensor = updates.as(dtype).astype(dtype, x.where);
    if (!broadcasts_to(tensor.shape(), shape)) {
        throw ShapeError(text(operation, ": updates of shape ", tensor.shape(), " do not broadcast to ", shape,
                              ", the shape of the places", place(x.where)));
    }
    return broadcast_to(Operand(tensor, x.where), shape);
}

}  // namespace

const Operation scatter_operation{
    .name = "scatter",
    .family = Family::scatter,
    .arity = -1,
    .doc = "A copy with elements written at given indices along an axis (or several): set, added, or the extreme.",
    .numpy = "put",
    .torch = "index_put",
    .infer = infer_scatter,
    .transpose = transpose_scatter,
    .jvp = jvp_scatter,
    .jointly_linear = true,
    .batch = batch_scatter,
    .samples = {{{{5, 3}, {2}, {2, 3}},
                 [](auto x) { return scatter(x[0], x[1], x[2]); },
                 "(lambda y: (y.__setitem__(x1, x2), y)[1])(x0.copy())",
                 {DType::float32, DType::int64, DType::float32},
                 5},
                {{{5, 3}, {7}, {7, 3}},
                 [](auto x) { return scatter(x[0], x[1], x[2], 0, ScatterMode::add); },
                 "(lambda y: (np.add.at(y, x1, x2), y)[1])(x0.copy())",
                 {DType::float32, DType::int64, DType::float32},
                 5},
                {{{3, 5}, {2, 3}, {3, 2, 3}},
                 [](auto x) { return scatter(x[0], x[1], x[2], 1, ScatterMode::maximum); },
                 "(lambda y: (np.maximum.at(y, (slice(None), x1), x2), y)[1])(x0.copy())",
                 {DType::float32, DType::int64, DType::float32},
                 5},
                {{{4, 4}, {6}, {6}, {6}},
                 [](auto x) { return scatter(x[0], x.subspan(1, 2), x[3], 0, ScatterMode::minimum); },
                 "(lambda y: (np.minimum.at(y, (x1, x2), x3), y)[1])(x0.copy())",
                 {DType::float32, DType::int64, DType::int64, DType::float32},
                 4}}};
const Operation put_along_axis_operation{
    .name = "put_along_axis",
    .family = Family::scatter,
    .arity = 3,
    .doc = "A copy with elements written at given indices along an axis, for each place off the axis.",
    .numpy = "put_along_axis",
    .torch = "scatter",
    .infer = infer_scatter,
    .transpose = transpose_scatter,
    .jvp = jvp_scatter,
    .jointly_linear = true,
    .batch = batch_put,
    .samples = {{{{3, 4}, {3, 1}, {3, 1}},
                 [](auto x) { return put_along_axis(x[0], x[1], x[2], 1); },
                 "(lambda y: (np.put_along_axis(y, x1, x2, 1), y)[1])(x0.copy())",
                 {DType::float32, DType::int64, DType::float32},
                 4},
                {{{4, 2}, {6, 2}, {6, 2}},
                 [](auto x) { return put_along_axis(x[0], x[1], x[2], 0, ScatterMode::add); },
                 "(lambda y: (np.add.at(y, (x1, np.arange(2)), x2), y)[1])(x0.copy())",
                 {DType::float32, DType::int64, DType::float32},
                 4}}};
WEFT_REGISTER(scatter_operation);
WEFT_REGISTER(put_along_axis_operation);

Tensor scatter(const Operand& x, std::span<const Tensor> indices, const Operand& updates, std::int64_t axis,
               ScatterMode mode) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    Operand whole(tensor, x.where);
    std::vector<Tensor> places = detail::index_tensors("scatter", indices, x.where);
    axis = checked_axes(whole, axis, places.size(), "scatter");
    Shape shape =
        detail::gathered_shape(tensor.shape(), static_cast<std::size_t>(axis), places.size(), places[0].shape());
    std::vector<Tensor> inputs{tensor, fitted_updates("scatter", updates, tensor.dtype(), shape, whole)};
    inputs.insert(inputs.end(), places.begin(), places.end());
    return make_node(scatter_operation, inputs, attributes(ScatterAttributes{axis, false, mode}), x.where);
}

Tensor scatter(const Operand& x, const Operand& indices, const Operand& updates, std::int64_t axis, ScatterMode mode) {
    LineScope line(x.where);
    Tensor index = indices.as_tensor();
    return scatter(x, std::span<const Tensor>(&index, 1), updates, axis, mode);
}

Tensor put_along_axis(const Operand& x, const Operand& indices, const Operand& updates, std::int64_t axis,
                      ScatterMode mode) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    Operand whole(tensor, x.where);
    axis = checked_axes(whole, axis, 1, "put_along_axis");
    auto [values, index] = detail::along_operands("put_along_axis", tensor, indices.as_tensor(), axis, x.where);
    Tensor fitted = fitted_updates("put_along_axis", updates, tensor.dtype(), index.shape(), whole);
    return make_node(put_along_axis_operation, {values, fitted, index}, attributes(ScatterAttributes{axis, true, mode}),
                     x.where);
}

}  // namespace weft
