// Random numbers from counters (core/philox.h): a draw is a pure function of its key and shape, the same on every device and for any
// number of threads. Without a key a draw takes the next one of the global generator, a Parameter: so a traced function that
// draws draws anew at each call, and a checkpoint holds the generator's state. Callers: nn/ (dropout, initial values), users.
//
// Element i of a draw of 32 bits is word i % 4 of philox({i / 4 low, i / 4 high, 0, stream}, key). Distributions are functions of
// these bits: uniform takes the upper ones, normal the inverse error function.
#pragma once

#include <optional>

#include "weft/graph/operation.h"
#include "weft/graph/parameter.h"

namespace weft {

struct RandomAttributes {
    Shape shape;
    std::int64_t stream = 0;      // keeps apart what one key is used for: 0 draws, 1 splits
    DType dtype = DType::uint32;  // or uint64: element i is the words 2i (its low half) and 2i + 1
    template <class V>
    void members(V& visit) {
        visit("shape", shape), visit("stream", stream), visit("dtype", dtype);
    }
};
extern const Operation random_bits_operation;

namespace random {

/// A key from a seed: uint32, shape (2,).
Tensor key(std::uint64_t seed);
/// `n` keys from one, shape (n, 2): independent of each other and of what is drawn with the key itself.
Tensor split(const Tensor& key, std::int64_t n = 2);
/// Sets the global generator.
void seed(std::uint64_t seed);
/// The key of the next draw of the global generator.
Tensor next_key();
/// The generator's cell, for checkpoints.
Parameter& generator();

// Each takes a key last; an empty one stands for next_key().
/// Uniform uint32.
Tensor bits(const Shape& shape, const Tensor& key = {});
/// In [low, high): multiples of 2^-24 of the range (float32; 2^-53 of float64, 2^-11 of float16, 2^-8 of bfloat16).
Tensor uniform(const Shape& shape, double low = 0, double high = 1, const Tensor& key = {},
               DType dtype = DType::float32);
/// In (0, 1), symmetric about 1/2: the middles of 2^23 (2^52) equal pieces. float32 or float64.
Tensor open_uniform(const Shape& shape, const Tensor& key = {}, DType dtype = DType::float32);
/// sqrt(2) erfinv(u), u the odd multiples of 2^-23 (float64: 2^-52) in (-1, 1): symmetric, never infinite.
Tensor normal(const Shape& shape, double mean = 0, double deviation = 1, const Tensor& key = {},
              DType dtype = DType::float32);
/// Normal numbers between low and high deviations around 0, by inversion.
Tensor truncated_normal(const Shape& shape, double low = -2, double high = 2, const Tensor& key = {},
                        DType dtype = DType::float32);
/// bool, true with probability p (a number, or a tensor that broadcasts to the shape).
Tensor bernoulli(const Operand& p, const Shape& shape, const Tensor& key = {});
/// Integers in [low, high), from 64 bits modulo the range: biased by at most range / 2^64.
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, const Tensor& key = {},
               DType dtype = DType::int64);
/// -log(1 - u) / rate.
Tensor exponential(const Shape& shape, double rate = 1, const Tensor& key = {}, DType dtype = DType::float32);
/// -log(-log(u)).
Tensor gumbel(const Shape& shape, const Tensor& key = {}, DType dtype = DType::float32);
/// location + scale times: -sign(u) log(1 - |u|) of u in (-1, 1); log(u / (1 - u)); tan(pi (u - 1/2)).
Tensor laplace(const Shape& shape, double location = 0, double scale = 1, const Tensor& key = {},
               DType dtype = DType::float32);
Tensor logistic(const Shape& shape, double location = 0, double scale = 1, const Tensor& key = {},
                DType dtype = DType::float32);
Tensor cauchy(const Shape& shape, double location = 0, double scale = 1, const Tensor& key = {},
              DType dtype = DType::float32);
// Of parameters that broadcast to the shape; without one, of theirs. By inversion: gammaincinv(a, u), betaincinv(a, b, u).
Tensor gamma(const Operand& a, const std::optional<Shape>& shape = {}, const Tensor& key = {},
             DType dtype = DType::float32);
Tensor beta(const Operand& a, const Operand& b, const std::optional<Shape>& shape = {}, const Tensor& key = {},
            DType dtype = DType::float32);
/// Trials up to the first success, each of probability p: 1, 2, ...
Tensor geometric(const Operand& p, const std::optional<Shape>& shape = {}, const Tensor& key = {},
                 DType dtype = DType::int64);

struct ChoiceOptions {
    bool replace = true;
    Tensor p = {};  // how probable each is, up to a factor; empty: all alike
};
/// Numbers below n; slices of x along the axis. ValueError for more than there are, without replacement.
Tensor choice(Size n, const Shape& shape, ChoiceOptions options = {}, const Tensor& key = {});
Tensor choice(const Tensor& x, const Shape& shape, ChoiceOptions options = {}, const Tensor& key = {},
              std::int64_t axis = 0);
/// The numbers 0 .. n - 1 in random order; x with its rows (along the axis) in random order.
Tensor permutation(Size n, const Tensor& key = {});
Tensor permutation(const Tensor& x, const Tensor& key = {}, std::int64_t axis = 0);
/// Positions along the axis, drawn with probabilities softmax(logits) (the largest of logits plus Gumbel noise).
Tensor categorical(const Operand& logits, const Tensor& key = {}, std::int64_t axis = -1);

}  // namespace random
}  // namespace weft
