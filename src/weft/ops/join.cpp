#include "weft/ops/join.h"

#include "weft/graph/node.h"
#include "weft/ops/batch.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

template <class T>
const T& of(const Attributes* attributes) {
    return static_cast<const AttributesOf<T>&>(*attributes).value;
}

Meta infer_concatenate(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    auto axis = static_cast<std::size_t>(of<ConcatenateAttributes>(attributes).axis);
    Shape shape = inputs[0].shape();
    for (std::size_t k = 1; k < inputs.size(); ++k) {
        const Shape& more = inputs[k].shape();
        bool fits = more.size() == shape.size();
        for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = i == axis || may_equal(shape[i], more[i]);
        if (!fits) {
            throw ShapeError(text(operation.name, ": piece ", k, " has shape ", more, ", piece 0 has ",
                                  inputs[0].shape(), "; all sizes but that of axis ", axis, " must agree"));
        }
        shape[axis] = shape[axis] + more[axis];
    }
    return {shape, inputs[0].dtype()};
}

Tensor transpose_concatenate(const Tensor& result, std::size_t i, const Tensor& cotangent) {
    std::vector<bool> wanted(result.node()->inputs.size(), false);
    wanted[i] = true;
    return parts_of_joined(result, cotangent, wanted)[i];
}

Meta infer_pad(const Operation&, std::span<const Tensor> inputs, const Attributes* attributes) {
    return {of<PadAttributes>(attributes).shape, inputs[0].dtype()};
}

Tensor transpose_pad(const Tensor& result, std::size_t, const Tensor& cotangent) {
    auto& a = result.node()->attributes_as<PadAttributes>();
    Shape start;
    Dims step;
    for (Offset before : a.before) start.push_back(before.value);
    for (std::int64_t between : a.between) step.push_back(between + 1);
    return slice(cotangent, start, result.node()->inputs[0]->shape, step);
}

// Around the value the result does not depend on x, so the tangent is padded with zeros whatever the value.
Tensor jvp_pad(const Tensor& result, std::span<const Tensor> tangents) {
    PadAttributes a = result.node()->attributes_as<PadAttributes>();
    a.value = Literal(0.0);
    return make_node(pad_operation, {tangents[0]}, attributes(std::move(a)), result.node()->where);
}

Tensor batch_concatenate(const Tensor& result, const Batch& batch) {
    std::int64_t axis = result.node()->attributes_as<ConcatenateAttributes>().axis;
    return batch.like(result, batch.all(), attributes(ConcatenateAttributes{axis + 1}));
}
Tensor batch_pad(const Tensor& result, const Batch& batch) {
    PadAttributes a = result.node()->attributes_as<PadAttributes>();
    a.before.insert(0, Offset{0});
    a.shape.insert(0, batch.size);
    a.between.insert(0, 0);
    return batch.like(result, batch.inputs, attributes(std::move(a)));
}

Tensor make_pad(const Tensor& x, const Shape& before, const Shape& after, const Dims& between, const Literal& value,
                std::source_location where) {
    Shape shape;
    Offsets low;
    for (std::size_t i = 0; i < x.ndim(); ++i) {
        Size n = x.shape()[i];
        Size spread = n == Size(0) || between[i] == 0 ? n : n + (n - 1) * between[i];
        shape.push_back(before[i] + spread + after[i]);
        low.push_back({before[i]});
    }
    if (shape == x.shape()) return x;
    return make_node(pad_operation, {x}, attributes(PadAttributes{low, shape, between, value}), where);
}

}  // namespace

const Operation concatenate_operation{.name = "concatenate",
                                      .family = Family::join,
                                      .arity = -1,
                                      .doc = "Pieces laid one after the other along an axis.",
                                      .numpy = "concatenate",
                                      .torch = "cat",
                                      .infer = infer_concatenate,
                                      .transpose = transpose_concatenate,
                                      .jointly_linear = true,
                                      .batch = batch_concatenate,
                                      .samples = {{{{2, 3}, {4, 3}},
                                                   [](auto x) {
                                                       return concatenate({x[0], x[1]});
                                                   },
                                                   "np.concatenate([x0, x1])"},
                                                  {{{2, 3}, {2, 0}, {2, 5}},
                                                   [](auto x) {
                                                       return concatenate({x[0], x[1], x[2]}, -1);
                                                   },
                                                   "np.concatenate([x0, x1, x2], -1)"},
                                                  {{{3}, {3}},
                                                   [](auto x) {
                                                       return stack({x[0], x[1]}, 1);
                                                   },
                                                   "np.stack([x0, x1], 1)"}}};
const Operation pad_operation{
    .name = "pad",
    .family = Family::join,
    .doc = "A value around an array.",
    .numpy = "pad",
    .torch = "nn.functional.pad",
    .infer = infer_pad,
    .transpose = transpose_pad,
    .jvp = jvp_pad,
    .batch = batch_pad,
    .samples = {{{{2, 3}},
                 [](auto x) {
                     return pad(x[0], {1, 0}, {0, 2});
                 },
                 "np.pad(x0, ((1, 0), (0, 2)))"},
                {{{4}}, [](auto x) { return pad(x[0], {2}, {1}, 1); }, "np.pad(x0, ((2, 1),), constant_values=1)"}}};
WEFT_REGISTER(concatenate_operation);
WEFT_REGISTER(pad_operation);

std::vector<Tensor> parts_of_joined(const Tensor& joined, const Tensor& whole, const std::vector<bool>& wanted) {
    auto axis = static_cast<std::size_t>(joined.node()->attributes_as<ConcatenateAttributes>().axis);
    Shape start(joined.ndim(), 0);
    std::vector<Tensor> parts(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const Shape& shape = joined.node()->inputs[i]->shape;
        if (wanted[i]) parts[i] = slice(whole, start, shape);
        start[axis] = start[axis] + shape[axis];
    }
    return parts;
}

Tensor concatenate(std::span<const Tensor> tensors, std::int64_t axis, std::source_location where) {
    if (tensors.empty())
        throw ValueError(text("concatenate: there is nothing to join; give at least one tensor", place(where)));
    try {
        axis = normalize_axis(axis, tensors[0].ndim(), "concatenate");
    } catch (Error& error) {
        error.add(place(where));
        throw;
    }
    DType dtype = tensors[0].dtype();
    for (const Tensor& tensor : tensors) dtype = promote(dtype, tensor.dtype());
    std::vector<Tensor> pieces;
    for (const Tensor& tensor : tensors) pieces.push_back(tensor.astype(dtype, where));
    if (pieces.size() == 1) return pieces[0];
    return make_node(concatenate_operation, pieces, attributes(ConcatenateAttributes{axis}), where);
}

Tensor concatenate(std::initializer_list<Tensor> tensors, std::int64_t axis, std::source_location where) {
    return concatenate(std::span<const Tensor>(tensors.begin(), tensors.size()), axis, where);
}

Tensor stack(std::span<const Tensor> tensors, std::int64_t axis, std::source_location where) {
    std::vector<Tensor> pieces;
    for (const Tensor& tensor : tensors) {
        if (!(tensor.shape() == tensors[0].shape())) {
            throw ShapeError(text("stack: shapes ", tensors[0].shape(), " and ", tensor.shape(),
                                  " differ; all must be the same", place(where)));
        }
        pieces.push_back(expand_dims(Operand(tensor, where), axis));
    }
    return concatenate(pieces, axis, where);
}

Tensor stack(std::initializer_list<Tensor> tensors, std::int64_t axis, std::source_location where) {
    return stack(std::span<const Tensor>(tensors.begin(), tensors.size()), axis, where);
}

Tensor pad(const Operand& x, const Dims& before, const Dims& after, const Literal& value) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (before.size() != tensor.ndim() || after.size() != tensor.ndim()) {
        throw ShapeError(text("pad: before ", before, " and after ", after, " need one entry for each axis of ",
                              tensor.shape(), place(x.where)));
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i] < 0 || after[i] < 0)
            throw ValueError(
                text("pad: widths ", before, " and ", after, " must not be negative; slice instead", place(x.where)));
    }
    return make_pad(tensor, shape_of(before), shape_of(after), Dims(tensor.ndim(), 0), value, x.where);
}

Tensor pad_interior(const Operand& x, const Shape& before, const Shape& after, const Dims& between) {
    LineScope line(x.where);
    return make_pad(x.as_tensor(), before, after, between, Literal(0.0), x.where);
}

Tensor Tensor::astype(DType dtype, std::source_location where) const {
    return weft::astype(Operand(*this, where), dtype);
}

}  // namespace weft
