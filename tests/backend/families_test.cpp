// The CPU's library kernels against the interpreter's, over random layouts (transposed, strided, reversed) and every element type.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "weft/backend/cpu/compiler.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/join.h"
#include "weft/ops/scatter.h"
#include "weft/ops/sort.h"
#include "weft/ops/window.h"
#include "weft/runtime/interpreter.h"

namespace weft {
namespace {

std::mt19937& generator() {
    static std::mt19937 engine(12345);
    return engine;
}
std::int64_t draw(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high - 1)(generator());
}

/// An array of some layout: row-major, axes in another order, with gaps, or reversed along an axis.
Array some_layout(DType dtype, const Dims& dims) {
    Dims order(dims.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    if (draw(0, 2)) std::shuffle(order.begin(), order.end(), generator());
    Dims strides(dims.size());
    std::int64_t gap = draw(0, 3) == 0 ? 2 : 1, step = gap, offset = 0;
    for (std::size_t i = order.size(); i-- > 0;) {
        auto axis = static_cast<std::size_t>(order[i]);
        strides[axis] = step;
        step *= std::max<std::int64_t>(1, dims[axis]);
    }
    Array array = Array::zeros(dtype, {step});
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (draw(0, 5) != 0 || dims[i] == 0) continue;
        offset += strides[i] * (dims[i] - 1);
        strides[i] = -strides[i];
    }
    array.dims = dims, array.strides = strides, array.offset = offset;
    return array;
}

template <class F>
void for_each_address(Array& array, F&& f) {
    Dims at(array.ndim());
    for (std::int64_t i = 0; i < array.size(); ++i) {
        std::int64_t rest = i, offset = 0;
        for (std::size_t axis = array.ndim(); axis-- > 0; rest /= array.dims[axis])
            offset += rest % array.dims[axis] * array.strides[axis];
        f(static_cast<std::byte*>(array.address()) + offset * static_cast<std::int64_t>(size_of(array.dtype)));
    }
}

// Small numbers (with equal ones and, among floating types, a few NaN if asked for), or indices of an axis of size `below`.
void fill(Array& array, std::int64_t below, bool nans) {
    with_dtype(array.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        for_each_address(array, [&](std::byte* to) {
            T& element = *reinterpret_cast<T*>(to);
            double x = static_cast<double>(draw(-40, 41)) / 8;
            if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
                element = T(static_cast<typename T::value_type>(x), static_cast<typename T::value_type>(draw(-3, 4)));
            else if constexpr (std::is_same_v<T, bool>)
                element = x > 0;
            else if constexpr (std::is_integral_v<T>)
                element = below > 0 ? static_cast<T>(draw(-below, below))
                                    : static_cast<T>(std::is_signed_v<T> ? x * 8 : std::abs(x) * 8);
            else
                element = static_cast<T>(static_cast<float>(nans && draw(0, 9) == 0 ? NAN : x));
        });
    });
}

double difference(DType dtype, const std::byte* a, const std::byte* b) {
    return with_dtype(dtype, [&](auto tag) -> double {
        using T = typename decltype(tag)::Type;
        T x = *reinterpret_cast<const T*>(a), y = *reinterpret_cast<const T*>(b);
        if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
            return static_cast<double>(std::abs(x - y));
        else if (x != x && y != y)
            return 0;
        else if constexpr (std::is_integral_v<T>)
            return x == y ? 0 : 1e300;
        else
            return std::abs(static_cast<double>(x) - static_cast<double>(y));
    });
}

struct Case {
    std::int64_t below = 0;  // int64 inputs are indices of an axis of this size
    bool nans = false;
    double tolerance = 0;  // absolute
};

void run(const KernelCompiler& compiler, const Node& node, std::span<Array> inputs, Array& output) {
    std::vector<Layout> layouts;
    std::vector<void*> operands;
    for (Array& input : inputs)
        layouts.push_back({input.dtype, input.dims, input.strides}), operands.push_back(input.address());
    operands.push_back(output.address());
    auto kernel = compiler.library(node, layouts, {output.dtype, output.dims, output.strides});
    std::vector<std::byte> scratch(kernel->scratch_bytes() + 64);
    auto start = reinterpret_cast<std::uintptr_t>(scratch.data());
    kernel->run(operands.data(), scratch.data() + (64 - start % 64));
    EXPECT_FALSE(kernel->by().empty());
}

// The node's kernel on random operands, twice: by the CPU's compiler and by the interpreter.
void check(const Tensor& result, Case options = {}) {
    const Node& node = *result.node();
    for (int round = 0; round < 4; ++round) {
        std::vector<Array> inputs;
        for (Node* input : node.inputs) {
            inputs.push_back(some_layout(input->dtype, dims_of(input->shape)));
            fill(inputs.back(), input->dtype == DType::int64 ? options.below : 0, options.nans);
        }
        Array fast = some_layout(node.dtype, dims_of(node.shape)), slow = some_layout(node.dtype, dims_of(node.shape));
        fill(fast, 0, false);
        run(cpu_compiler(), node, inputs, fast);
        run(InterpreterCompiler(), node, inputs, slow);
        std::vector<const std::byte*> expected;
        for_each_address(slow, [&](std::byte* at) { expected.push_back(at); });
        std::size_t i = 0;
        double worst = 0;
        for_each_address(fast,
                         [&](std::byte* at) { worst = std::max(worst, difference(node.dtype, at, expected[i++])); });
        ASSERT_LE(worst, options.tolerance) << node.operation->name << ' ' << node.dtype << ' ' << node.shape;
    }
}

Tensor x(const Shape& shape, DType dtype = DType::float32) { return input("x", shape, dtype); }
Tensor indices(const Shape& shape) { return input("i", shape, DType::int64); }

TEST(CpuFamilies, take_agrees_with_the_interpreter) {
    for (DType dtype : all_dtypes()) {
        check(take(x({7, 5}, dtype), indices({4})), {.below = 7});
        check(take(x({3, 7, 2}, dtype), indices({2, 3}), 1), {.below = 7});
        check(take(x({3, 7}, dtype), indices({}), 1), {.below = 7});
        check(take(x({2, 4, 4, 3}, dtype), std::vector<Tensor>{indices({5, 1}), indices({3})}, 1), {.below = 4});
        check(take(x({30, 9}, dtype), indices({3, 20}), 1), {.below = 9});
        check(take_along_axis(x({4, 7, 2}, dtype), indices({4, 3, 2}), 1), {.below = 7});
        check(take_along_axis(x({6, 7}, dtype), indices({6, 50}), 1), {.below = 7});
    }
    check(take(x({7, 3}), indices({0})), {.below = 7});
    check(take(x({3, 70000}), indices({2})), {.below = 3});
    check(take(x({100, 3}), indices({40000})), {.below = 100});
    check(take(x({5, 0}), indices({3})), {.below = 5});
}

TEST(CpuFamilies, scatter_agrees_with_the_interpreter) {
    for (DType dtype : all_dtypes()) {
        for (ScatterMode mode : {ScatterMode::set, ScatterMode::add, ScatterMode::maximum, ScatterMode::minimum}) {
            if (is_complex(dtype) && mode != ScatterMode::set && mode != ScatterMode::add) continue;
            check(scatter(x({5, 3}, dtype), indices({9}), x({9, 3}, dtype), 0, mode), {.below = 5, .nans = true});
            check(scatter(x({2, 5, 3}, dtype), indices({2, 4}), x({2, 2, 4, 3}, dtype), 1, mode),
                  {.below = 5, .nans = true});
            check(scatter(x({5, 300}, dtype), indices({9}), x({9, 300}, dtype), 0, mode), {.below = 5, .nans = true});
            check(scatter(x({5, 40}, dtype), indices({40}), x({5, 40}, dtype), 1, mode), {.below = 40, .nans = true});
            check(scatter(x({4, 4, 2}, dtype), std::vector<Tensor>{indices({6}), indices({6})}, x({6, 2}, dtype), 0,
                          mode),
                  {.below = 4});
            check(put_along_axis(x({5, 3}, dtype), indices({8, 3}), x({8, 3}, dtype), 0, mode),
                  {.below = 5, .nans = true});
        }
    }
    check(scatter(x({50, 600}), indices({300}), x({300, 600}), 0, ScatterMode::add), {.below = 50});
    check(scatter(x({0, 3}), indices({0}), x({0, 3})));
}

TEST(CpuFamilies, an_index_outside_its_axis_is_refused_before_anything_is_written) {
    for (std::int64_t wrong : {std::int64_t{3}, std::int64_t{-4}, INT64_MAX, INT64_MIN}) {
        for (bool along : {false, true}) {
            Tensor i = Tensor::of<std::int64_t>({0, wrong, 1});
            Tensor node = along ? put_along_axis(zeros({3}), i, ones({3})) : scatter(zeros({3}), i, ones({3}));
            Array x_array = Array::zeros(DType::float32, {3}), output = Array::zeros(DType::float32, {3}),
                  updates = Array::from<float>({1, 1, 1}, {3});
            std::vector<Array> inputs{x_array, updates, i.array()};
            output.data<float>()[0] = 7;
            try {
                run(cpu_compiler(), *node.node(), inputs, output);
                FAIL();
            } catch (const IndexError& error) {
                EXPECT_EQ(std::string(error.what()), text(node.node()->operation->name, ": index ", wrong,
                                                          " is out of bounds for axis 0 of size 3"));
            }
            EXPECT_EQ(output.data<float>()[0], 7);
        }
    }
}

TEST(CpuFamilies, sorting_agrees_with_the_interpreter) {
    for (DType dtype : all_dtypes()) {
        for (bool descending : {false, true}) {
            bool nans = !is_complex(dtype);
            check(argsort(x({3, 7}, dtype), -1, descending), {.nans = nans});
            check(argsort(x({6, 1, 4}, dtype), 0, descending), {.nans = nans});
            check(argsort(x({2, 400}, dtype), 1, descending), {.nans = nans});
            check(sort(x({5, 7}, dtype), -1, descending), {.nans = nans});
            check(sort(x({6, 1, 4}, dtype), 0, descending), {.nans = nans});
            check(sort(x({2, 400}, dtype), 1, descending), {.nans = nans});
            check(topk(x({3, 400}, dtype), 5, 1, descending).second, {.nans = nans});
        }
        check(argsort(x({0, 3}, dtype), 0));
        check(sort(x({0, 3}, dtype), 0));
    }
}

TEST(CpuFamilies, joins_agree_with_the_interpreter) {
    for (DType dtype : all_dtypes()) {
        check(concatenate({x({2, 3}, dtype), x({2, 0}, dtype), x({2, 5}, dtype)}, 1));
        check(concatenate({x({2, 3, 2}, dtype), x({4, 3, 2}, dtype)}, 0));
        check(pad(x({2, 3}, dtype), {1, 0}, {0, 2}, 3));
        check(pad_interior(x({3, 2}, dtype), {0, 1}, {2, 0}, {1, 2}));
    }
    check(concatenate({x({50000}), x({30000})}));
    check(pad(x({0, 3}), {1, 1}, {1, 1}));
}

TEST(CpuFamilies, constants_agree_with_the_interpreter) {
    for (DType dtype : all_dtypes()) check(size_as_tensor(5, dtype));
}

TEST(CpuFamilies, products_of_matrices_agree_with_the_interpreter) {
    for (DType dtype : all_dtypes()) {
        double tolerance = is_half(dtype) ? 0.5 : is_inexact(dtype) ? 1e-4 : 0;
        check(matmul(x({5, 7}, dtype), x({7, 3}, dtype)), {.tolerance = tolerance});
        check(matmul(x({2, 3, 5, 4}, dtype), x({2, 3, 4, 6}, dtype)), {.tolerance = tolerance});
        check(matmul(x({3, 0}, dtype), x({0, 2}, dtype)));
        check(matmul(x({4, 1, 3}, dtype), x({4, 3, 1}, dtype)), {.tolerance = tolerance});
    }
}

TEST(CpuFamilies, convolutions_agree_with_the_interpreter) {
    for (DType dtype : all_dtypes()) {
        double tolerance = is_half(dtype) ? 1 : is_inexact(dtype) ? 2e-4 : 0;
        ConvolutionOptions options{
            .stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2, .padding_high = {0, 1}};
        Tensor y = convolution(x({2, 4, 6, 7}, dtype), x({6, 2, 3, 2}, dtype), options);
        check(y, {.tolerance = tolerance});
        check(y.node()->operation->transpose(y, 0, x(y.shape(), dtype)), {.tolerance = tolerance});
        check(y.node()->operation->transpose(y, 1, x(y.shape(), dtype)), {.tolerance = tolerance});
    }
    check(convolution(x({2, 3, 9}), x({4, 3, 3})), {.tolerance = 1e-4});
    check(convolution(x({1, 2, 4, 5, 3}), x({3, 2, 2, 2, 2}), {.padding = {1}}), {.tolerance = 1e-4});
    check(convolution_transpose(x({2, 4, 3, 4}), x({4, 3, 2, 3}),
                                {.stride = {2, 1}, .padding = {1}, .output_padding = {1, 0}}),
          {.tolerance = 1e-4});
}

TEST(CpuFamilies, pools_agree_with_the_interpreter) {
    for (DType dtype : all_dtypes()) {
        if (is_complex(dtype)) continue;
        for (bool ceil : {false, true}) {
            Tensor y = max_pool(x({2, 3, 7, 6}, dtype), {3, 2}, {.stride = {2}, .padding = {1}, .ceil_mode = ceil});
            check(y, {.nans = true});
            if (!is_floating(dtype)) continue;
            Tensor t[] = {x({2, 3, 7, 6}, dtype)};
            Tensor tangent = y.node()->operation->jvp(y, t);
            check(tangent, {.nans = true});
            check(tangent.node()->operation->transpose(tangent, 1, x(y.shape(), dtype)));
        }
    }
    for (DType dtype : {DType::float16, DType::float32, DType::float64, DType::complex64}) {
        double tolerance = is_half(dtype) ? 0.02 : 1e-5;
        for (bool count : {false, true}) {
            Tensor y = avg_pool(x({2, 3, 7, 6}, dtype), {3, 2},
                                {.stride = {2}, .padding = {1}, .ceil_mode = true, .count_include_pad = count});
            check(y, {.tolerance = tolerance});
            check(y.node()->operation->transpose(y, 0, x(y.shape(), dtype)), {.tolerance = tolerance});
        }
        for (std::int64_t channels : {3, 20}) {
            Tensor y = avg_pool_of_parts(x({2, channels, 7, 5}, dtype), {3, 6});
            check(y, {.tolerance = tolerance});
            check(y.node()->operation->transpose(y, 0, x(y.shape(), dtype)), {.tolerance = tolerance});
        }
    }
    check(max_pool(x({1, 2, 10}), {3}, {.stride = {1}, .dilation = {2}}));
    check(max_pool(x({1, 2, 4, 5, 6}), {2}));
    check(avg_pool(x({1, 2, 4, 5, 6}), {2}), {.tolerance = 1e-5});
}

// Also where several windows' shares are added, each rounded: 1 and less than half of its last digit, twice, stays 1.
TEST(CpuFamilies, pools_of_halves_are_rounded_as_their_definition_is) {
    for (DType dtype : {DType::float16, DType::bfloat16}) {
        Tensor y = avg_pool(x({2, 20, 6, 8}, dtype), {2});
        check(y);
        check(y.node()->operation->transpose(y, 0, x(y.shape(), dtype)));
        y = max_pool(x({2, 20, 6, 8}, dtype), {2});
        check(y);
        check(y.node()->operation->jvp(y, std::vector<Tensor>{x({2, 20, 6, 8}, dtype)}));
        Tensor means = avg_pool(x({1, 1, 11}, dtype), {9}, {.stride = {1}});
        std::vector<float> shares{9, 13.5f * 0x1p-9f, 13.5f * 0x1p-9f};
        if (dtype == DType::float16) shares = {9, 13.5f * 0x1p-12f, 13.5f * 0x1p-12f};
        Tensor given = astype(Tensor::of(shares, {1, 1, 3}), dtype);
        Tensor got = astype(means.node()->operation->transpose(means, 0, given), DType::float32);
        EXPECT_EQ(got.to_vector<float>()[5], 1);
    }
}

}  // namespace
}  // namespace weft
