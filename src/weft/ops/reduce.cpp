#include "weft/ops/reduce.h"

#include "weft/ops/batch.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/scan.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdims) {
    Shape result;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        bool gone = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
        if (!gone)
            result.push_back(shape[i]);
        else if (keepdims)
            result.push_back(1);
    }
    return result;
}

DType reduced_dtype(Reduction reduction, DType dtype) {
    switch (reduction) {
        case Reduction::any:
        case Reduction::all:
            return DType::bool_;
        case Reduction::argmax:
        case Reduction::argmin:
            return DType::int64;
        case Reduction::sum:
        case Reduction::product:
            if (kind_of(dtype) == Kind::unsigned_integer) return DType::uint64;
            return is_inexact(dtype) ? dtype : DType::int64;
        default:
            return dtype;
    }
}

Meta infer_reduce(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    const ReduceAttributes& a = attributes_of<ReduceAttributes>(attributes);
    const Tensor& x = inputs[0];
    bool needs_one = a.reduction != Reduction::sum && a.reduction != Reduction::product &&
                     a.reduction != Reduction::any && a.reduction != Reduction::all;
    if (needs_one && is_complex(x.dtype()))
        throw DTypeError(text(operation.name, ": complex numbers have no order (", x.dtype(), ")"));
    for (std::int64_t axis : a.axes) {
        if (needs_one && x.shape()[static_cast<std::size_t>(axis)] == Size(0)) {
            throw ValueError(text(operation.name, ": axis ", axis, " of shape ", x.shape(),
                                  " has no elements, so there is none to choose"));
        }
    }
    return {reduced_shape(x.shape(), a.axes, a.keepdims), reduced_dtype(a.reduction, x.dtype())};
}

// Of a reduction's result (or its cotangent): with the reduced axes back as ones, so that it broadcasts against the input.
Tensor kept(const Tensor& value, const Tensor& x, const ReduceAttributes& a) {
    return a.keepdims ? value : reshape(value, reduced_shape(x.shape(), a.axes, true));
}

Tensor transpose_sum(const Tensor& result, std::size_t, const Tensor& cotangent) {
    Tensor x = handle(result.node()->inputs[0]);
    return broadcast_to(kept(cotangent, x, attributes_of<ReduceAttributes>(result)), x.shape());
}

Tensor jvp_best(const Tensor& result, std::span<const Tensor> tangents) {
    const ReduceAttributes& a = attributes_of<ReduceAttributes>(result);
    Tensor x = handle(result.node()->inputs[0]);
    Tensor chosen = astype(equal(x, kept(result, x, a)), x.dtype());
    Tensor share = chosen / sum(chosen, a.axes, true);
    return sum(share * tangents[0], a.axes, a.keepdims);
}

Tensor jvp_prod(const Tensor& result, std::span<const Tensor> tangents) {
    // d prod = sum_i t_i * prod_{j<i} x_j * prod_{j>i} x_j: no division, so zeros are no trouble. The axes are brought together first.
    const ReduceAttributes& a = attributes_of<ReduceAttributes>(result);
    Tensor x = handle(result.node()->inputs[0]);
    Axes order;
    for (std::size_t i = 0; i < x.ndim(); ++i) {
        if (std::find(a.axes.begin(), a.axes.end(), static_cast<std::int64_t>(i)) == a.axes.end())
            order.push_back(static_cast<std::int64_t>(i));
    }
    std::size_t rest = order.size();
    for (std::int64_t axis : a.axes) order.push_back(axis);
    Shape flat = reduced_shape(x.shape(), a.axes, false);
    Size together = 1;
    for (std::int64_t axis : a.axes) together = together * x.shape()[static_cast<std::size_t>(axis)];
    flat.push_back(together);
    auto bring = [&](const Tensor& t) { return reshape(permute_dims(t, order), flat); };
    auto last = static_cast<std::int64_t>(rest);
    Tensor others = cumulative_prod(bring(x), last, {.exclusive = true}) *
                    cumulative_prod(bring(x), last, {.reverse = true, .exclusive = true});
    return reshape(sum(others * bring(tangents[0]), last), result.shape());
}

Tensor batch_reduce(const Tensor& result, const Batch& batch) {
    ReduceAttributes a = attributes_of<ReduceAttributes>(result);
    a.axes = behind_batch(a.axes);
    return batch.like(result, batch.inputs, attributes(std::move(a)));
}

struct Declared {
    Reduction reduction;
    std::string_view doc = "", numpy = "", torch = "";
    std::function<Tensor(const Tensor&, std::size_t, const Tensor&)> transpose = {};
    std::function<Tensor(const Tensor&, std::span<const Tensor>)> jvp = {};
    std::vector<Domain> domain = {};
};

using Call = Tensor (*)(const Operand&, const Axes&, bool);
Operation record(std::string_view name, const Declared& declared, Call call);

Tensor reduce(const Operation& operation, Reduction reduction, const Operand& x, const Axes& axes, bool keepdims) {
    Tensor tensor = x.as_tensor();
    Axes normal;
    try {
        normal = normalize_axes(axes, tensor.ndim(), operation.name);
    } catch (Error& error) {
        error.add(place(x.where));
        throw;
    }
    return make_node(operation, {tensor}, attributes(ReduceAttributes{reduction, normal, keepdims}), x.where);
}

std::vector<Sample> samples_of(std::string_view name, Call call);

}  // namespace

#define WEFT_REDUCE(name, ...)                                                                        \
    const Operation name##_operation = record(#name, Declared{__VA_ARGS__}, static_cast<Call>(name)); \
    WEFT_REGISTER(name##_operation);                                                                  \
    Tensor name(const Operand& x) { return name(x, all_axes(x.tensor ? x.tensor.ndim() : 0)); }       \
    Tensor name(const Operand& x, const Axes& axes, bool keepdims) {                                  \
        return reduce(name##_operation, Declared{__VA_ARGS__}.reduction, x, axes, keepdims);          \
    }
#include "weft/ops/reduce.inc"

namespace {

Operation record(std::string_view name, const Declared& declared, Call call) {
    Operation operation{
        .name = name, .family = Family::reduce, .doc = declared.doc, .numpy = declared.numpy, .torch = declared.torch};
    operation.infer = infer_reduce;
    operation.transpose = declared.transpose;
    operation.jvp = declared.jvp;
    operation.batch = batch_reduce;
    operation.domain = declared.domain;
    operation.differentiable = declared.transpose || declared.jvp;
    operation.samples = samples_of(name, call);
    return operation;
}

// Every reduction over the same calls: all axes, one, several, kept, a 0-d value.
std::vector<Sample> samples_of(std::string_view name, Call call) {
    static std::vector<std::string>* texts = new std::vector<std::string>;  // what the samples' NumPy words point into
    texts->reserve(1024);
    std::vector<Sample> samples;
    bool positions = name == "argmax" || name == "argmin";
    auto add = [&](Shape shape, std::optional<Axes> axes, bool keepdims) {
        if (positions && axes && axes->size() != 1) return;  // NumPy's takes one axis
        std::string axis = !axes ? "None" : axes->size() == 1 ? text((*axes)[0]) : str(*axes);
        texts->push_back(text("np.", name, "(x0, axis=", axis, ", keepdims=", keepdims ? "True" : "False", ")"));
        samples.push_back({{shape},
                           [call, axes, keepdims](std::span<const Tensor> x) {
                               return call(x[0], axes ? *axes : all_axes(x[0].ndim()), keepdims);
                           },
                           texts->back()});
    };
    add({}, std::nullopt, false);
    add({3, 4}, std::nullopt, false);
    add({3, 4, 5}, Axes{1}, false);
    add({3, 4, 5}, Axes{-1}, true);
    add({3, 4, 5}, Axes{0, 2}, false);
    add({7, 130}, Axes{0}, false);
    add({2, 1030}, Axes{1}, false);
    return samples;
}

}  // namespace

Tensor sum_to(const Tensor& x, const Shape& shape) {
    if (x.shape() == shape) return x;
    std::size_t shift = x.ndim() - shape.size();
    Axes axes;
    for (std::size_t i = 0; i < x.ndim(); ++i) {
        if (i < shift || (shape[i - shift] == Size(1) && !(x.shape()[i] == Size(1))))
            axes.push_back(static_cast<std::int64_t>(i));
    }
    Tensor joined = axes.empty() ? x : sum(x, axes);
    return joined.shape() == shape ? joined : reshape(joined, shape);
}

}  // namespace weft
