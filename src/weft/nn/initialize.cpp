#include "weft/nn/initialize.h"

#include <cmath>

#include "weft/base/nearest.h"
#include "weft/graph/node.h"
#include "weft/graph/parameter.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/sort.h"
#include "weft/ops/view.h"

namespace weft::nn::init {
namespace {

// Numbers at once, so that a cell holds no program; in a traced function they are part of it.
Tensor now(const Tensor& value) {
    if (!CellObserver::current() && !value.node()->symbolic) value.eval();
    return value;
}

void floating(std::string_view name, DType dtype) {
    if (!is_floating(dtype)) throw DTypeError(text("init::", name, ": draws floating numbers, not ", dtype));
}

// One row an output: (outputs, the rest).
Dims matrix_of(std::string_view name, const Dims& shape) {
    if (shape.size() < 2) {
        throw ShapeError(text("init::", name, ": the shape ", shape,
                              " has fewer than two axes; a weight is (outputs, inputs, kernel...)"));
    }
    std::int64_t count = element_count(shape);
    return {shape[0], shape[0] == 0 ? 0 : count / shape[0]};
}

// Makes the rows of an m x n matrix (m <= n) orthonormal: modified Gram-Schmidt, twice, which is as exact as the type allows
// (Giraud et al., 2005). A row that vanishes (probability 0) stays 0.
void orthonormalize(std::vector<double>& a, std::size_t m, std::size_t n) {
    auto dot = [&](std::size_t i, std::size_t j) {
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) sum += a[i * n + k] * a[j * n + k];
        return sum;
    };
    for (std::size_t i = 0; i < m; ++i) {
        for (int pass = 0; pass < 2; ++pass) {
            for (std::size_t j = 0; j < i; ++j) {
                double along = dot(i, j);
                for (std::size_t k = 0; k < n; ++k) a[i * n + k] -= along * a[j * n + k];
            }
        }
        double norm = std::sqrt(dot(i, i));
        for (std::size_t k = 0; k < n; ++k) a[i * n + k] = norm > 0 ? a[i * n + k] / norm : 0;
    }
}

}  // namespace

Tensor constant(const Dims& shape, double value, DType dtype) { return now(full(shape_of(shape), value, dtype)); }
Tensor zeros(const Dims& shape, DType dtype) { return constant(shape, 0, dtype); }
Tensor ones(const Dims& shape, DType dtype) { return constant(shape, 1, dtype); }

Tensor uniform(const Dims& shape, double low, double high, const Tensor& key, DType dtype) {
    return now(random::uniform(shape_of(shape), low, high, key, dtype));
}

Tensor normal(const Dims& shape, double mean, double deviation, const Tensor& key, DType dtype) {
    return now(random::normal(shape_of(shape), mean, deviation, key, dtype));
}

Tensor truncated_normal(const Dims& shape, double mean, double deviation, double low, double high, const Tensor& key,
                        DType dtype) {
    if (!(deviation > 0))
        throw ValueError(text("init::truncated_normal: the deviation is ", deviation, "; it must be above 0"));
    Tensor standard =
        random::truncated_normal(shape_of(shape), (low - mean) / deviation, (high - mean) / deviation, key, dtype);
    return now(standard * deviation + mean);
}

Fan fan_of(const Dims& shape) {
    Dims matrix = matrix_of("fan_of", shape);
    double field = shape[1] == 0 ? 0 : static_cast<double>(matrix[1]) / static_cast<double>(shape[1]);
    return {static_cast<double>(matrix[1]), static_cast<double>(shape[0]) * field};
}

double gain(std::string_view nonlinearity, double slope) {
    if (nonlinearity == "linear" || nonlinearity == "sigmoid" || nonlinearity == "identity") return 1;
    if (nonlinearity == "tanh") return 5.0 / 3;
    if (nonlinearity == "relu") return std::sqrt(2.0);
    if (nonlinearity == "leaky_relu") return std::sqrt(2 / (1 + slope * slope));
    if (nonlinearity == "selu") return 0.75;
    throw ValueError(text("init::gain: no gain is known for '", nonlinearity, "'",
                          did_you_mean(nonlinearity, {"linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu"})));
}

Tensor xavier_uniform(const Dims& shape, double gain, const Tensor& key, DType dtype) {
    Fan fan = fan_of(shape);
    double bound = gain * std::sqrt(6 / (fan.in + fan.out));
    return uniform(shape, -bound, bound, key, dtype);
}

Tensor xavier_normal(const Dims& shape, double gain, const Tensor& key, DType dtype) {
    Fan fan = fan_of(shape);
    return normal(shape, 0, gain * std::sqrt(2 / (fan.in + fan.out)), key, dtype);
}

Tensor kaiming_uniform(const Dims& shape, double gain, const Tensor& key, DType dtype) {
    double bound = gain * std::sqrt(3 / fan_of(shape).in);
    return uniform(shape, -bound, bound, key, dtype);
}

Tensor kaiming_normal(const Dims& shape, double gain, const Tensor& key, DType dtype) {
    return normal(shape, 0, gain / std::sqrt(fan_of(shape).in), key, dtype);
}

Tensor orthogonal(const Dims& shape, double gain, const Tensor& key, DType dtype) {
    floating("orthogonal", dtype);
    Dims matrix = matrix_of("orthogonal", shape);
    auto rows = static_cast<std::size_t>(matrix[0]), columns = static_cast<std::size_t>(matrix[1]);
    bool tall = rows > columns;
    std::size_t m = std::min(rows, columns), n = std::max(rows, columns);
    std::vector<double> a =
        random::normal({static_cast<std::int64_t>(m), static_cast<std::int64_t>(n)}, 0, 1, key, DType::float64)
            .to_vector<double>();
    orthonormalize(a, m, n);
    std::vector<double> values(a.size());
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) values[i * columns + j] = gain * (tall ? a[j * n + i] : a[i * n + j]);
    }
    return now(astype(Tensor::of(values, shape), dtype));
}

Tensor sparse(const Dims& shape, std::int64_t inputs, double deviation, const Tensor& key, DType dtype) {
    floating("sparse", dtype);
    Dims matrix = matrix_of("sparse", shape);
    if (inputs < 0 || inputs > matrix[1]) {
        throw ValueError(text("init::sparse: ", inputs, " inputs an output are asked for, but each has ", matrix[1]));
    }
    Tensor keys = random::split(key ? key : random::next_key(), 2);
    auto key_at = [&](std::int64_t i) { return reshape(slice(keys, {i, 0}, {1, 2}), {2}); };
    Tensor rank = argsort(argsort(random::bits(shape_of(matrix), key_at(0)), 1), 1);  // of each input in a random order
    Tensor values = random::normal(shape_of(matrix), 0, deviation, key_at(1), dtype);
    return now(reshape(where(rank < inputs, values, 0), shape_of(shape)));
}

}  // namespace weft::nn::init
