#include "weft/ops/creation.h"

#include <cmath>

#include "weft/graph/node.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

Meta infer_iota(const Operation&, std::span<const Tensor>, const Attributes* attributes) {
    return {{static_cast<const AttributesOf<IotaAttributes>&>(*attributes).value.count}, DType::int64};
}

Meta infer_size(const Operation&, std::span<const Tensor>, const Attributes* attributes) {
    return {{}, static_cast<const AttributesOf<SizeAttributes>&>(*attributes).value.dtype};
}

bool whole(const Literal& literal) { return literal.kind != Kind::floating && literal.kind != Kind::complex; }

void refuse_negative(const Shape& shape) {
    for (Size size : shape) {
        if (size.known() && size.value() < 0) throw ShapeError(text("a shape has a negative size: ", shape));
    }
}

}  // namespace

const Operation iota_operation{.name = "iota",
                               .family = Family::constant,
                               .arity = 0,
                               .doc = "0, 1, ..., n - 1.",
                               .numpy = "arange",
                               .infer = infer_iota,
                               .differentiable = false,
                               .samples = {{{}, [](auto) { return iota(7); }, "np.arange(7)"}}};
const Operation size_operation{
    .name = "size",
    .family = Family::constant,
    .arity = 0,
    .doc = "The number of elements along an axis, as a number.",
    .infer = infer_size,
    .differentiable = false,
    .samples = {{{}, [](auto) { return size_as_tensor(7, DType::float32); }, "np.float32(7)"}}};
WEFT_REGISTER(iota_operation);
WEFT_REGISTER(size_operation);

Tensor size_as_tensor(Size size, DType dtype) {
    return make_node(size_operation, std::initializer_list<Tensor>{}, attributes(SizeAttributes{size, dtype}),
                     std::source_location());
}

Tensor full(const Shape& shape, const Literal& value, DType dtype) {
    refuse_negative(shape);
    return broadcast_to(constant(value, dtype), shape);
}
Tensor full(const Shape& shape, const Literal& value) { return full(shape, value, default_dtype(value.kind)); }
Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }
Tensor zeros_like(const Tensor& x) { return zeros(x.shape(), x.dtype()); }
Tensor ones_like(const Tensor& x) { return ones(x.shape(), x.dtype()); }
Tensor full_like(const Tensor& x, const Literal& value) { return full(x.shape(), value, x.dtype()); }

Tensor iota(Size n, std::source_location where) {
    refuse_negative({n});
    return make_node(iota_operation, std::initializer_list<Tensor>{}, attributes(IotaAttributes{n}), where);
}

Tensor arange(const Literal& start, const Literal& stop, const Literal& step, std::optional<DType> dtype) {
    double first = start.as<double>(), last = stop.as<double>(), by = step.as<double>();
    if (by == 0) throw ValueError("arange: the step is 0; give a step that leads from start to stop");
    double count = std::max(0.0, std::ceil((last - first) / by));
    if (!(count < 0x1p62))
        throw ValueError(
            text("arange: from ", start, " to ", stop, " in steps of ", step, " is not a finite number of elements"));
    Tensor positions = iota(static_cast<std::int64_t>(count));
    if (whole(start) && whole(stop) && whole(step)) {
        Tensor numbers = positions * step.as<std::int64_t>() + start.as<std::int64_t>();
        return dtype ? astype(numbers, *dtype) : numbers;
    }
    return astype(astype(positions, DType::float64) * by + first, dtype.value_or(DType::float32));
}

Tensor linspace(double start, double stop, std::int64_t count, DType dtype, bool endpoint) {
    if (count < 0) throw ValueError(text("linspace: the count ", count, " is negative"));
    std::int64_t steps = endpoint ? count - 1 : count;
    Tensor positions = astype(iota(count), DType::float64);
    double step = steps > 0 ? (stop - start) / static_cast<double>(steps) : 0;
    Tensor line = positions * step + start;
    if (endpoint && steps > 0) line = where(positions == static_cast<double>(steps), stop, line);
    return astype(is_integer(dtype) ? floor(line) : line, dtype);  // as NumPy has it; a conversion would go towards 0
}

Tensor linspace(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint) {
    LineScope line(start.where);
    if (count < 0) throw ValueError(text("linspace: the count ", count, " is negative", place(start.where)));
    Tensor both = start.as_tensor() + stop.as_tensor();  // the shape and the type in which they meet
    auto spread = [&](const Operand& x) {
        return expand_dims(broadcast_to(astype(x, inexact(both.dtype())), both.shape()), 0);
    };
    Tensor first = spread(start), last = spread(stop);
    std::int64_t steps = endpoint ? count - 1 : count;
    Shape along(first.ndim(), 1);
    along[0] = count;
    Tensor positions = astype(reshape(iota(count), along), first.dtype());
    Tensor found = first + positions * ((last - first) / static_cast<double>(std::max<std::int64_t>(steps, 1)));
    if (endpoint && steps > 0) found = where(positions == static_cast<double>(steps), last, found);
    return found;
}

Tensor eye(std::int64_t rows, std::int64_t columns, std::int64_t diagonal, DType dtype) {
    Tensor i = expand_dims(iota(rows), 1), j = expand_dims(iota(columns < 0 ? rows : columns), 0);
    return astype(j - i == diagonal, dtype);
}

Tensor one_hot(const Operand& labels, Size classes, DType dtype) {
    LineScope line(labels.where);
    Tensor tensor = labels.as_tensor();
    if (!is_integer(tensor.dtype()))
        throw DTypeError(text("one_hot: labels must be integers, not ", tensor.dtype(), place(labels.where)));
    return astype(
        equal(Operand(expand_dims(labels, static_cast<std::int64_t>(tensor.ndim())), labels.where), iota(classes)),
        dtype);
}

namespace {

Tensor below(const Operand& x, std::int64_t k, const char* name) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() == 0) throw ShapeError(text(name, ": needs an axis, not shape ()", place(x.where)));
    // A vector is every row of a square, as NumPy has it.
    Tensor i = expand_dims(iota(tensor.shape()[tensor.ndim() == 1 ? 0 : tensor.ndim() - 2]), 1),
           j = expand_dims(iota(tensor.shape()[tensor.ndim() - 1]), 0);
    return j - i <= k;
}

}  // namespace

Tensor tril(const Operand& x, std::int64_t k) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    return where(below(x, k, "tril"), tensor, zeros({}, tensor.dtype()));
}
Tensor triu(const Operand& x, std::int64_t k) {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    return where(below(x, k - 1, "triu"), zeros({}, tensor.dtype()), tensor);
}

}  // namespace weft
