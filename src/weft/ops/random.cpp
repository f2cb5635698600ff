#include "weft/ops/random.h"

#include <array>
#include <cmath>

#include "weft/core/philox.h"
#include "weft/graph/node.h"
#include "weft/ops/batch.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
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

// The four words of each counter of a stream, as philox_rounds (core/philox.h) makes them, but of keys that are Tensors: the counters'
// low halves, broadcast against the keys. Elementwise nodes, so one kernel.
std::array<Tensor, 4> philox_words(const Tensor& counter, std::int64_t stream, Tensor key0, Tensor key1) {
    auto word = [](const Tensor& x) { return astype(x, DType::uint32); };
    auto high = [&](const Tensor& x) { return word(bitwise_right_shift(x, 32)); };
    Tensor wide = astype(counter, DType::uint64);
    Tensor c0 = word(wide), c1 = high(wide), c2 = zeros_like(c0), c3 = full(Shape(), stream, DType::uint32) + c2;
    for (int round = 0; round < 10; ++round) {
        Tensor p0 = astype(c0, DType::uint64) * 0xD2511F53u, p1 = astype(c2, DType::uint64) * 0xCD9E8D57u;
        c0 = bitwise_xor(bitwise_xor(high(p1), c1), key0);
        c2 = bitwise_xor(bitwise_xor(high(p0), c3), key1);
        c1 = word(p1);
        c3 = word(p0);
        key0 = key0 + 0x9E3779B9u;
        key1 = key1 + 0xBB67AE85u;
    }
    return {c0, c1, c2, c3};
}

// With a key for each example: the words of whole counters, of which the first ones are taken.
Tensor batch_bits(const Tensor& result, const Batch& batch) {
    const RandomAttributes& a = result.node()->attributes_as<RandomAttributes>();
    Size count = element_count(a.shape);
    std::int64_t of_counter = a.dtype == DType::uint64 ? 2 : 4;
    Size counters = (count + (of_counter - 1)) / of_counter;
    auto key_at = [&](std::int64_t i) { return slice(batch.inputs[0], {0, i}, {batch.size, 1}); };
    auto words = philox_words(reshape(iota(counters), {1, counters}), a.stream, key_at(0), key_at(1));
    std::vector<Tensor> each;
    for (std::size_t i = 0; i < 4; i += a.dtype == DType::uint64 ? 2 : 1) {
        Tensor low = astype(words[i], a.dtype);
        each.push_back(
            a.dtype == DType::uint32 ? low : bitwise_or(low, bitwise_left_shift(astype(words[i + 1], a.dtype), 32)));
    }
    Tensor all = reshape(stack(each, 2), {batch.size, counters * of_counter});
    return reshape(slice(all, {0, 0}, {batch.size, count}), batch.shape(a.shape));
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

}  // namespace

const Operation random_bits_operation{.name = "random_bits",
                                      .family = Family::random,
                                      .doc = "Uniform words of 32 or 64 bits of Philox4x32-10.",
                                      .infer = infer_bits,
                                      .batch = batch_bits,
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

Tensor open_uniform(const Shape& shape, const Tensor& key, DType dtype) {
    if (dtype == DType::float64)
        return (astype(bitwise_right_shift(bits64(shape, key), 12), DType::float64) + 0.5) * 0x1p-52;
    return (astype(bitwise_right_shift(draw(shape, or_next(key), draws), 9), DType::float32) + 0.5) * 0x1p-23;
}

Tensor uniform(const Shape& shape, double low, double high, const Tensor& key, DType dtype) {
    refuse_inexact("uniform", dtype);
    Tensor u = unit(shape, key, dtype);
    return low == 0 && high == 1 ? u : u * (high - low) + low;
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

Tensor permutation(Size n, const Tensor& key) { return argsort(bits64({n}, key)); }

Tensor permutation(const Tensor& x, const Tensor& key, std::int64_t axis) {
    axis = normalize_axis(axis, x.ndim(), "random::permutation");
    return take(x, permutation(x.shape()[static_cast<std::size_t>(axis)], key), axis);
}

}  // namespace random
}  // namespace weft
