// Distributions as functions of uniform numbers, by inversion where there is an inverse; orders and choices.
#include <cmath>
#include <numbers>

#include "weft/ops/creation.h"
#include "weft/ops/declare.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/scan.h"
#include "weft/ops/sort.h"
#include "weft/ops/special.h"
#include "weft/ops/view.h"

namespace weft::random {
namespace {

void refuse_inexact(std::string_view name, DType dtype) {
    if (!is_floating(dtype)) throw DTypeError(text("random::", name, ": draws floating numbers, not ", dtype));
}

// The type in which a distribution is computed.
DType wide(DType dtype) { return dtype == DType::float64 ? dtype : DType::float32; }

// The shape of the draws of a distribution with parameters: what is asked for, to which they broadcast, or their own.
Shape shape_of(std::string_view name, std::span<const Operand> parameters, const std::optional<Shape>& asked) {
    Shape own;
    for (const Operand& parameter : parameters) {
        Shape more = parameter.as_tensor().shape();
        std::optional<Shape> both = broadcast(own, more);
        if (!both)
            throw ShapeError(text("random::", name, ": parameters of shapes ", own, " and ", more, " do not broadcast",
                                  place(parameter.where)));
        own = *both;
    }
    if (asked && !broadcasts_to(own, *asked))
        throw ShapeError(text("random::", name, ": parameters of shape ", own, " do not broadcast to ", *asked,
                              place(parameters[0].where)));
    return asked.value_or(own);
}

}  // namespace

Tensor normal(const Shape& shape, double mean, double deviation, const Tensor& key, DType dtype) {
    refuse_inexact("normal", dtype);
    Tensor standard = erfinv(open_uniform(shape, key, wide(dtype)) * 2 - 1) * (std::numbers::sqrt2 * deviation);
    return astype(mean == 0 ? standard : standard + mean, dtype);
}

Tensor truncated_normal(const Shape& shape, double low, double high, const Tensor& key, DType dtype) {
    refuse_inexact("truncated_normal", dtype);
    if (!(low < high)) throw ValueError(text("random::truncated_normal: low ", low, " must lie below high ", high));
    double from = std::erf(low / std::numbers::sqrt2), to = std::erf(high / std::numbers::sqrt2);
    Tensor x = erfinv(open_uniform(shape, key, wide(dtype)) * (to - from) + from) * std::numbers::sqrt2;
    return astype(clip(x, low, high), dtype);
}

Tensor exponential(const Shape& shape, double rate, const Tensor& key, DType dtype) {
    refuse_inexact("exponential", dtype);
    return astype(log1p(-uniform(shape, 0, 1, key, wide(dtype))) * (-1 / rate), dtype);
}

Tensor gumbel(const Shape& shape, const Tensor& key, DType dtype) {
    refuse_inexact("gumbel", dtype);
    return astype(-log(-log(open_uniform(shape, key, wide(dtype)))), dtype);
}

Tensor laplace(const Shape& shape, double location, double scale, const Tensor& key, DType dtype) {
    refuse_inexact("laplace", dtype);
    Tensor u = open_uniform(shape, key, wide(dtype)) * 2 - 1;
    return astype(sign(u) * log1p(-abs(u)) * -scale + location, dtype);
}

Tensor logistic(const Shape& shape, double location, double scale, const Tensor& key, DType dtype) {
    refuse_inexact("logistic", dtype);
    return astype(special::logit(open_uniform(shape, key, wide(dtype))) * scale + location, dtype);
}

Tensor cauchy(const Shape& shape, double location, double scale, const Tensor& key, DType dtype) {
    refuse_inexact("cauchy", dtype);
    Tensor half_turns = open_uniform(shape, key, wide(dtype)) - 0.5;
    return astype(tan(half_turns * std::numbers::pi) * scale + location, dtype);
}

Tensor gamma(const Operand& a, const std::optional<Shape>& shape, const Tensor& key, DType dtype) {
    refuse_inexact("gamma", dtype);
    LineScope line(a.where);
    const Operand parameters[] = {a};
    Tensor u = open_uniform(shape_of("gamma", parameters, shape), key, wide(dtype));
    return astype(special::gammaincinv(a.as(wide(dtype)), u), dtype);
}

Tensor beta(const Operand& a, const Operand& b, const std::optional<Shape>& shape, const Tensor& key, DType dtype) {
    refuse_inexact("beta", dtype);
    LineScope line(a.where);
    const Operand parameters[] = {a, b};
    Tensor u = open_uniform(shape_of("beta", parameters, shape), key, wide(dtype));
    return astype(special::betaincinv(a.as(wide(dtype)), b.as(wide(dtype)), u), dtype);
}

Tensor geometric(const Operand& p, const std::optional<Shape>& shape, const Tensor& key, DType dtype) {
    if (!is_integer(dtype)) throw DTypeError(text("random::geometric: draws integers, not ", dtype));
    LineScope line(p.where);
    const Operand parameters[] = {p};
    Tensor u = open_uniform(shape_of("geometric", parameters, shape), key, DType::float64);
    return astype(maximum(ceil(log(u) / log1p(-astype(p, DType::float64))), 1), dtype);
}

Tensor choice(Size n, const Shape& shape, ChoiceOptions options, const Tensor& key) {
    Size count = element_count(shape);
    bool some = !(count == Size(0));
    if (some && n == Size(0)) throw ValueError(text("random::choice: ", count, " draws from nothing"));
    if (options.p && !(options.p.shape() == Shape{n}))
        throw ShapeError(text("random::choice: ", n, " things have probabilities of shape ", options.p.shape()));
    if (!options.replace && n.known() && count.known() && count.value() > n.value())
        throw ValueError(text("random::choice: ", count, " draws from ", n,
                              " things, each at most once; draw fewer, or "
                              "with replacement"));
    if (options.replace && !options.p) return randint(0, n.value(), shape, key);
    if (options.replace) {
        Tensor below = cumulative_sum(astype(options.p, DType::float64));
        Tensor total = slice(below, {n - 1}, {1});
        return minimum(searchsorted(below / total, uniform(shape, 0, 1, key, DType::float64), true), n.value() - 1);
    }
    // The largest of log p + Gumbel noise are drawn as one by one without replacement (Vieira, 2014).
    Tensor order = options.p
                       ? argsort(log(astype(options.p, DType::float64)) + gumbel({n}, key, DType::float64), 0, true)
                       : permutation(n, key);
    return reshape(slice(order, {0}, {count}), shape);
}

Tensor choice(const Tensor& x, const Shape& shape, ChoiceOptions options, const Tensor& key, std::int64_t axis) {
    axis = normalize_axis(axis, x.ndim(), "random::choice");
    return take(x, choice(x.shape()[static_cast<std::size_t>(axis)], shape, std::move(options), key), axis);
}

Tensor categorical(const Operand& logits, const Tensor& key, std::int64_t axis) {
    LineScope line(logits.where);
    Tensor tensor = logits.as_tensor();
    tensor = tensor.astype(inexact(tensor.dtype()), logits.where);
    return argmax(Operand(tensor + gumbel(tensor.shape(), key, wide(tensor.dtype())), logits.where), axis);
}

}  // namespace weft::random
