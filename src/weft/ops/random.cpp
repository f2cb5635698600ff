#include "weft/ops/random.h"

#include <cmath>
#include <numbers>

#include "weft/core/philox.h"
#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/reduce.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

constexpr std::int64_t draws = 0, splits = 1;

Meta infer_bits(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes) {
    const Tensor& key = inputs[0];
    if (key.dtype() != DType::uint32 || !(key.shape() == Shape{2})) {
        throw ValueError(text(operation.name, ": a key is two uint32 numbers (random::key(seed) makes one), not ",
                              key.dtype(), " of shape ", key.shape()));
    }
    const RandomAttributes& a = static_cast<const AttributesOf<RandomAttributes>&>(*attributes).value;
    const Shape& shape = a.shape;
    for (Size size : shape) {
        if (size.known() && size.value() < 0)
            throw ShapeError(text(operation.name, ": the shape ", shape, " has a negative size"));
    }
    return {shape, a.dtype};
}

Tensor draw(const Shape& shape, const Tensor& key, std::int64_t stream, DType dtype = DType::uint32) {
    return make_node(random_bits_operation, {key}, attributes(RandomAttributes{shape, stream, dtype}),
                     std::source_location());
}

Tensor or_next(const Tensor& key) { return key ? key : random::next_key(); }

Tensor bits64(const Shape& shape, const Tensor& key) { return draw(shape, or_next(key), draws, DType::uint64); }

void refuse_inexact(std::string_view name, DType dtype) {
    if (!is_floating(dtype)) throw DTypeError(text("random::", name, ": draws floating numbers, not ", dtype));
}

// Uniform in [0, 1): as many upper bits as the significand holds, so that every value is exact and 1 is never reached.
Tensor unit(const Shape& shape, const Tensor& key, DType dtype) {
    if (dtype == DType::float64) return astype(bitwise_right_shift(bits64(shape, key), 11), DType::float64) * 0x1p-53;
    int kept = dtype == DType::float16 ? 11 : dtype == DType::bfloat16 ? 8 : 24;
    Tensor upper = astype(bitwise_right_shift(draw(shape, or_next(key), draws), 32 - kept), DType::float32);
    return astype(upper * std::ldexp(1.0, -kept), dtype);
}

// Uniform in (0, 1), symmetric about 1/2: the middles of 2^23 (2^52) equal pieces. float32 or float64.
Tensor middle(const Shape& shape, const Tensor& key, DType dtype) {
    if (dtype == DType::float64)
        return (astype(bitwise_right_shift(bits64(shape, key), 12), DType::float64) + 0.5) * 0x1p-52;
    return (astype(bitwise_right_shift(draw(shape, or_next(key), draws), 9), DType::float32) + 0.5) * 0x1p-23;
}

DType wide(DType dtype) { return dtype == DType::float64 ? dtype : DType::float32; }

}  // namespace

const Operation random_bits_operation{.name = "random_bits",
                                      .family = Family::random,
                                      .doc = "Uniform words of 32 or 64 bits of Philox4x32-10.",
                                      .infer = infer_bits,
                                      .differentiable = false,
                                      .samples = {{{},
                                                   [](auto) {
                                                       return random::bits({3, 5}, random::key(7));
                                                   }},
                                                  {{}, [](auto) { return random::bits({}, random::key(1)); }}}};
WEFT_REGISTER(random_bits_operation);

namespace random {

Tensor key(std::uint64_t seed) {
    return Tensor(Array::from(
        std::vector<std::uint32_t>{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}, {2}));
}

Tensor split(const Tensor& key, std::int64_t n) {
    if (n < 0) throw ValueError(text("random::split: ", n, " keys; the number must not be negative"));
    return draw({n, 2}, key, splits);
}

Parameter& generator() {
    static Parameter* cell = new Parameter(key(0), "random.generator", false);
    return *cell;
}

void seed(std::uint64_t seed) { generator().set(key(seed)); }

Tensor next_key() {
    Tensor state = generator().value();
    auto key_at = [](const Tensor& keys, std::int64_t i) { return reshape(slice(keys, {i, 0}, {1, 2}), {2}); };
    if (!CellObserver::current() && state.computed()) {
        // Outside of a traced function the split is done here and now: the same words as split's, without a program for eight bytes.
        Array words = contiguous(state.array());
        const std::uint32_t* k = words.data<std::uint32_t>();
        PhiloxCounter next = philox({0, 0, 0, static_cast<std::uint32_t>(splits)}, {k[0], k[1]});
        generator().set(Tensor(Array::from(std::vector<std::uint32_t>{next[0], next[1]}, {2})));
        return Tensor(Array::from(std::vector<std::uint32_t>{next[2], next[3]}, {2}));
    }
    Tensor keys = split(state, 2);
    generator().set(key_at(keys, 0));
    return key_at(keys, 1);
}

Tensor bits(const Shape& shape, const Tensor& key) { return draw(shape, or_next(key), draws); }

Tensor uniform(const Shape& shape, double low, double high, const Tensor& key, DType dtype) {
    refuse_inexact("uniform", dtype);
    Tensor u = unit(shape, key, dtype);
    return low == 0 && high == 1 ? u : u * (high - low) + low;
}

Tensor normal(const Shape& shape, double mean, double deviation, const Tensor& key, DType dtype) {
    refuse_inexact("normal", dtype);
    Tensor standard = erfinv(middle(shape, key, wide(dtype)) * 2 - 1) * (std::numbers::sqrt2 * deviation);
    return astype(mean == 0 ? standard : standard + mean, dtype);
}

Tensor truncated_normal(const Shape& shape, double low, double high, const Tensor& key, DType dtype) {
    refuse_inexact("truncated_normal", dtype);
    if (!(low < high)) throw ValueError(text("random::truncated_normal: low ", low, " must lie below high ", high));
    double from = std::erf(low / std::numbers::sqrt2), to = std::erf(high / std::numbers::sqrt2);
    Tensor x = erfinv(middle(shape, key, wide(dtype)) * (to - from) + from) * std::numbers::sqrt2;
    return astype(clip(x, low, high), dtype);
}

Tensor bernoulli(const Operand& p, const Shape& shape, const Tensor& key) {
    LineScope line(p.where);
    Tensor probability = p.as(DType::float32);
    if (!broadcasts_to(probability.shape(), shape)) {
        throw ShapeError(text("random::bernoulli: probabilities of shape ", probability.shape(),
                              " do not broadcast to ", shape, place(p.where)));
    }
    return unit(shape, key, DType::float32) < probability;
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, const Tensor& key, DType dtype) {
    if (!is_integer(dtype)) throw DTypeError(text("random::randint: draws integers, not ", dtype));
    if (low >= high) throw ValueError(text("random::randint: no integer lies in [", low, ", ", high, ")"));
    std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    Tensor offset = astype(remainder(bits64(shape, key), range), DType::int64);
    return astype(offset + low, dtype);
}

Tensor exponential(const Shape& shape, double rate, const Tensor& key, DType dtype) {
    refuse_inexact("exponential", dtype);
    return astype(log1p(-unit(shape, key, wide(dtype))) * (-1 / rate), dtype);
}

Tensor gumbel(const Shape& shape, const Tensor& key, DType dtype) {
    refuse_inexact("gumbel", dtype);
    return astype(-log(-log(middle(shape, key, wide(dtype)))), dtype);
}

Tensor permutation(Size n, const Tensor& key) { return argsort(bits64({n}, key)); }

Tensor permutation(const Tensor& x, const Tensor& key, std::int64_t axis) {
    axis = normalize_axis(axis, x.ndim(), "random::permutation");
    return take(x, permutation(x.shape()[static_cast<std::size_t>(axis)], key), axis);
}

Tensor categorical(const Operand& logits, const Tensor& key, std::int64_t axis) {
    LineScope line(logits.where);
    Tensor tensor = logits.as_tensor();
    tensor = tensor.astype(inexact(tensor.dtype()), logits.where);
    return argmax(Operand(tensor + gumbel(tensor.shape(), key, wide(tensor.dtype())), logits.where), axis);
}

}  // namespace random
}  // namespace weft
