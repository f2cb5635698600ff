#include "weft/backend/cpu/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include "backend/instruction_set.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {
namespace {

struct Case {
    const char* name;
    int ndim;
    std::int64_t batch, channels;
    Spatial in, kernel, stride, pad_lo, pad_hi, dilation;
    bool ceil;
};

const Case windows[] = {
    {"halving", 2, 3, 70, {8, 6}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, false},
    {"odd sizes", 2, 2, 5, {7, 9}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, false},
    {"ceil", 2, 2, 5, {7, 9}, {2, 3}, {2, 2}, {0, 1}, {0, 1}, {1, 1}, true},
    {"ceil beyond", 2, 1, 2, {4, 5}, {2, 2}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
    {"overlapping", 2, 2, 33, {7, 7}, {3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}, false},
    {"one axis", 1, 4, 3, {11}, {3}, {2}, {1}, {1}, {1}, false},
    {"three axes", 3, 2, 4, {4, 5, 6}, {2, 3, 2}, {1, 2, 2}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}, false},
    {"one pixel", 2, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, false},
    {"long rows", 1, 2, 19, {133}, {5}, {1}, {2}, {2}, {1}, false},
    {"long rows in twos", 2, 2, 18, {4, 143}, {1, 3}, {1, 2}, {0, 1}, {0, 1}, {1, 1}, true},
    {"long rows in threes", 1, 1, 17, {200}, {2}, {3}, {1}, {1}, {1}, true},
    {"whole image", 2, 2, 3, {5, 4}, {5, 4}, {5, 4}, {0, 0}, {0, 0}, {1, 1}, false},
    {"empty batch", 2, 0, 3, {4, 4}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, false},
    {"no output", 2, 1, 3, {1, 4}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, false},
};
const Case dilated_rows = {"dilated rows", 1, 1, 16, {90}, {4}, {1}, {2}, {3}, {3}, false};
const Case dilated = {"dilated", 2, 2, 6, {9, 10}, {3, 2}, {1, 2}, {1, 1}, {1, 1}, {2, 3}, false};

PoolingShape shape_of(const Case& c, bool count_include_pad = true) {
    PoolingShape s{c.ndim,   c.batch,  c.channels, c.in,       {1, 1, 1},        c.kernel,
                   c.stride, c.pad_lo, c.pad_hi,   c.dilation, count_include_pad};
    for (int axis = 0; axis < c.ndim; ++axis)
        s.out[axis] = pooling_output_size(c.in[axis], c.kernel[axis], c.stride[axis], c.pad_lo[axis], c.pad_hi[axis],
                                          c.dilation[axis], c.ceil);
    return s;
}

enum class PictureLayout { channels_last, channels_first };

/// A value of three spatial axes, read in logical order (n, c, x0, x1, x2) whatever its layout.
template <class T>
struct Value {
    Value(const PoolingShape& s, const Spatial& sizes_, PictureLayout layout)
        : sizes{1, 1, 1}, batch(s.batch), channels(s.channels) {
        for (int axis = 0; axis < s.ndim; ++axis) sizes[axis] = sizes_[axis];
        strides = layout == PictureLayout::channels_last ? channels_last(channels, s.ndim, sizes)
                                                         : channels_first(channels, s.ndim, sizes);
        memory.assign(static_cast<std::size_t>(batch * channels * sizes[0] * sizes[1] * sizes[2]), T(9.0f));
    }
    T& at(std::int64_t n, std::int64_t c, const Spatial& x) {
        std::int64_t place = n * strides.batch + c * strides.channel;
        for (int axis = 0; axis < most_spatial; ++axis) place += x[axis] * strides.spatial[axis];
        return memory[static_cast<std::size_t>(place)];
    }
    template <class F>
    void for_each(F&& f) {
        Spatial x;
        for (std::int64_t n = 0; n < batch; ++n)
            for (std::int64_t c = 0; c < channels; ++c)
                for (x[0] = 0; x[0] < sizes[0]; ++x[0])
                    for (x[1] = 0; x[1] < sizes[1]; ++x[1])
                        for (x[2] = 0; x[2] < sizes[2]; ++x[2]) f(n, c, x);
    }
    void fill(unsigned seed) {  // few different values, so that there are ties
        std::mt19937 generator(seed);
        for_each([&](std::int64_t n, std::int64_t c, const Spatial& x) {
            at(n, c, x) = T(static_cast<float>(static_cast<int>(generator() % 7) - 3));
        });
    }
    Spatial sizes;
    std::int64_t batch, channels;
    WindowStrides strides;
    std::vector<T> memory;
};

/// The input positions of output y, in the window's order; and how many the padded input holds.
struct Window {
    std::vector<Spatial> inside;
    std::int64_t padded = 1;
};
Window window_of(const PoolingShape& s, const Spatial& y) {
    Window window;
    Spatial kernel{1, 1, 1}, k;
    for (int axis = 0; axis < s.ndim; ++axis) {
        kernel[axis] = s.kernel[axis];
        std::int64_t begin = y[axis] * s.stride[axis] - s.pad_lo[axis];
        window.padded *= std::min(begin + s.kernel[axis], s.in[axis] + s.pad_hi[axis]) - begin;
    }
    for (k[0] = 0; k[0] < kernel[0]; ++k[0])
        for (k[1] = 0; k[1] < kernel[1]; ++k[1])
            for (k[2] = 0; k[2] < kernel[2]; ++k[2]) {
                Spatial x{0, 0, 0};
                bool inside = true;
                for (int axis = 0; axis < s.ndim; ++axis) {
                    x[axis] = y[axis] * s.stride[axis] - s.pad_lo[axis] + k[axis] * s.dilation[axis];
                    inside = inside && x[axis] >= 0 && x[axis] < s.in[axis];
                }
                if (inside) window.inside.push_back(x);
            }
    return window;
}

template <class T>
void check_max(const Case& c, PictureLayout layout) {
    PoolingShape s = shape_of(c);
    Value<T> input(s, s.in, layout), output(s, s.out, layout), gradient(s, s.out, layout), result(s, s.in, layout);
    Value<double> expected(s, s.in, layout);
    Value<T> second(s, s.in, PictureLayout::channels_first), selected(s, s.out, layout);  // which may lie as it likes
    input.fill(1), gradient.fill(2), second.fill(3);
    std::fill(expected.memory.begin(), expected.memory.end(), 0.0);
    max_pool_select(dtype_of<T>, s, input.strides, input.memory.data(), second.strides, second.memory.data(),
                    selected.strides, selected.memory.data());
    constexpr bool pooled = !std::is_same_v<T, Float16>;  // half types are pooled as floats, but for gradients
    Value<T> turned(
        s, s.out,
        layout == PictureLayout::channels_last ? PictureLayout::channels_first : PictureLayout::channels_last);
    for (Value<T>* to : {&output, &turned})
        if (pooled) max_pool(dtype_of<T>, s, input.strides, input.memory.data(), to->strides, to->memory.data());
    output.for_each([&](std::int64_t n, std::int64_t ch, const Spatial& y) {
        Window window = window_of(s, y);
        ASSERT_FALSE(window.inside.empty());
        Spatial best = window.inside[0];
        for (const Spatial& x : window.inside)
            if (input.at(n, ch, x) > input.at(n, ch, best)) best = x;
        if (pooled) {
            EXPECT_EQ(output.at(n, ch, y), input.at(n, ch, best)) << c.name;
            EXPECT_EQ(turned.at(n, ch, y), input.at(n, ch, best)) << c.name;
        }
        EXPECT_EQ(selected.at(n, ch, y), second.at(n, ch, best)) << c.name;
        expected.at(n, ch, best) += static_cast<double>(gradient.at(n, ch, y));
    });
    if constexpr (!std::is_integral_v<T>) {
        max_pool_backward(dtype_of<T>, s, input.strides, input.memory.data(), gradient.strides, gradient.memory.data(),
                          result.strides, result.memory.data());
        result.for_each([&](std::int64_t n, std::int64_t ch, const Spatial& x) {
            ASSERT_EQ(static_cast<double>(result.at(n, ch, x)), expected.at(n, ch, x)) << c.name;
        });
    }
}

template <class T>
void check_average(const Case& c, PictureLayout layout, bool count_include_pad) {
    PoolingShape s = shape_of(c, count_include_pad);
    Value<T> input(s, s.in, layout), output(s, s.out, layout), gradient(s, s.out, layout), result(s, s.in, layout);
    Value<double> expected(s, s.in, layout);
    input.fill(1), gradient.fill(2);
    std::fill(expected.memory.begin(), expected.memory.end(), 0.0);
    constexpr bool pooled = !std::is_same_v<T, BFloat16>;
    if (pooled) average_pool(dtype_of<T>, s, input.strides, input.memory.data(), output.strides, output.memory.data());
    double unit = std::is_same_v<T, BFloat16> ? 0x1p-7 : 0x1p-22;
    output.for_each([&](std::int64_t n, std::int64_t ch, const Spatial& y) {
        Window window = window_of(s, y);
        double sum = 0, divisor = static_cast<double>(
                            count_include_pad ? window.padded : static_cast<std::int64_t>(window.inside.size()));
        for (const Spatial& x : window.inside) sum += static_cast<double>(input.at(n, ch, x));
        if (pooled) {
            ASSERT_NEAR(static_cast<double>(output.at(n, ch, y)), sum / divisor, 3 * unit) << c.name;
        }
        for (const Spatial& x : window.inside)
            expected.at(n, ch, x) += static_cast<double>(gradient.at(n, ch, y)) / divisor;
    });
    average_pool_backward(dtype_of<T>, s, gradient.strides, gradient.memory.data(), result.strides,
                          result.memory.data());
    result.for_each([&](std::int64_t n, std::int64_t ch, const Spatial& x) {
        ASSERT_NEAR(static_cast<double>(result.at(n, ch, x)), expected.at(n, ch, x), 40 * unit) << c.name;
    });
}

TEST(Pooling, maximum_and_its_gradient_are_their_definition) {
    int before = ThreadPool::instance().threads();
    for (int threads : {1, 2}) {
        ThreadPool::instance().set_threads(threads);
        for (PictureLayout layout : {PictureLayout::channels_last, PictureLayout::channels_first}) {
            for (const Case& c : windows) {
                check_max<float>(c, layout);
                check_max<double>(c, layout);
                check_max<Float16>(c, layout);
                check_max<std::int8_t>(c, layout);
            }
            check_max<float>(dilated, layout);
            check_max<float>(dilated_rows, layout);
        }
    }
    ThreadPool::instance().set_threads(before);
}

TEST(Pooling, average_and_its_gradient_are_their_definition) {
    for (PictureLayout layout : {PictureLayout::channels_last, PictureLayout::channels_first})
        for (bool count_include_pad : {true, false})
            for (const Case& c : windows) {
                check_average<float>(c, layout, count_include_pad);
                check_average<double>(c, layout, count_include_pad);
                check_average<BFloat16>(c, layout, count_include_pad);
            }
}

TEST(Pooling, nan_is_the_maximum_and_equal_maxima_give_the_first_the_gradient) {
    PoolingShape s{2, 1, 1, {2, 2}, {1, 1}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, true};
    WindowStrides in = channels_last(1, 2, s.in), out = channels_last(1, 2, s.out);
    float with_nan[] = {1, NAN, 3, 2}, equal[] = {5, 5, 5, 5}, lowest[] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    float output, gradient = 2, result[4];
    max_pool(float32, s, in, with_nan, out, &output);
    EXPECT_TRUE(std::isnan(output));
    max_pool_backward(float32, s, in, with_nan, out, &gradient, in, result);
    EXPECT_EQ(result[1], 2);
    EXPECT_EQ(result[0] + result[2] + result[3], 0);
    for (const float* values : {equal, lowest}) {
        max_pool_backward(float32, s, in, values, out, &gradient, in, result);
        EXPECT_EQ(result[0], 2);
        EXPECT_EQ(result[1] + result[2] + result[3], 0);
    }
}

TEST(Pooling, a_window_selects_at_its_first_nan_and_nothing_where_it_holds_nothing) {
    PoolingShape s{1, 1, 1, {4}, {3}, {2}, {2}, {0}, {2}, {1}, true};
    WindowStrides in = channels_last(1, 1, s.in), out = channels_last(1, 1, s.out);
    float values[] = {NAN, NAN, -INFINITY, -INFINITY}, second[] = {1, 2, 3, 4}, selected[3];
    max_pool_select(float32, s, in, values, in, second, out, selected);
    EXPECT_EQ(std::vector<float>(selected, selected + 3), (std::vector<float>{1, 3, 0}));
}

/// Of pictures that hold their channels, one of a vector's more or less, on each instruction set the bits of PyTorch's rule: a NaN takes a greatest
/// value's place, of equal ones (0 and -0) the first stays, sums go in the window's order.
TEST(Pooling, vectors_of_channels_have_the_bits_of_single_numbers) {
    std::mt19937 generator(3);
    for (std::int64_t channels : {1, 3, 4, 7, 8, 9, 15, 16, 17, 32, 33, 63, 70}) {
        const Case c = {"", 2, 2, channels, {7, 9}, {3, 2}, {2, 1}, {1, 1}, {1, 0}, {2, 1}, false};
        PoolingShape s = shape_of(c, false);
        WindowStrides in = channels_last(channels, 2, s.in), out = channels_last(channels, 2, s.out);
        std::vector<float> values(static_cast<std::size_t>(s.batch * in.batch));
        const float special[] = {NAN, -INFINITY, 0.0F, -0.0F, INFINITY};
        for (float& x : values)
            x = generator() % 3 == 0 ? special[generator() % 5]
                                     : std::uniform_real_distribution<float>(-1, 1)(generator);
        std::vector<float> greatest, mean;
        for (std::int64_t n = 0; n < s.batch; ++n)
            for (std::int64_t y0 = 0; y0 < s.out[0]; ++y0)
                for (std::int64_t y1 = 0; y1 < s.out[1]; ++y1)
                    for (std::int64_t ch = 0; ch < channels; ++ch) {
                        float best = -INFINITY, sum = 0, count = 0;
                        for (std::int64_t k0 = 0; k0 < 3; ++k0)
                            for (std::int64_t k1 = 0; k1 < 2; ++k1) {
                                std::int64_t x0 = 2 * y0 - 1 + 2 * k0, x1 = y1 - 1 + k1;
                                if (x0 < 0 || x0 >= s.in[0] || x1 < 0 || x1 >= s.in[1]) continue;
                                float x = values[static_cast<std::size_t>(
                                    ((n * s.in[0] + x0) * s.in[1] + x1) * channels + ch)];
                                if (x > best || x != x) best = x;
                                sum += x, ++count;
                            }
                        greatest.push_back(best), mean.push_back(sum / count);
                    }
        auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
            for (std::size_t i = 0; i < a.size(); ++i)
                if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0 && !(std::isnan(a[i]) && std::isnan(b[i])))
                    return false;
            return true;
        };
        for (Isa isa : usable_isas()) {
            InstructionSet set(isa);
            std::vector<float> got(greatest.size() + 1, 77.0F);
            max_pool(float32, s, in, values.data(), out, got.data());
            EXPECT_TRUE(same(greatest, got)) << channels << ", " << name_of(isa);
            average_pool(float32, s, in, values.data(), out, got.data());
            EXPECT_TRUE(same(mean, got)) << channels << ", " << name_of(isa);
            EXPECT_EQ(got.back(), 77.0F);
        }
    }
}

TEST(Pooling, output_sizes_are_pytorchs) {
    EXPECT_EQ(pooling_output_size(7, 2, 2, 0, 0, 1, false), 3);
    EXPECT_EQ(pooling_output_size(7, 2, 2, 0, 0, 1, true), 4);
    EXPECT_EQ(pooling_output_size(4, 2, 3, 1, 1, 1, true), 2);  // a third window would begin in the upper padding
    EXPECT_EQ(pooling_output_size(10, 3, 1, 1, 1, 2, false), 8);
    EXPECT_EQ(pooling_output_size(1, 2, 2, 0, 0, 1, false), 0);
    EXPECT_EQ(pooling_output_size(0, 2, 2, 0, 0, 1, false), 0);
}

TEST(Pooling, refuses_types_without_order_or_quotient) {
    PoolingShape s{2, 1, 1, {2, 2}, {1, 1}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, true};
    WindowStrides in = channels_last(1, 2, s.in), out = channels_last(1, 2, s.out);
    std::complex<float> z[4], mean;
    std::int32_t i[4] = {}, o;
    EXPECT_THROW(max_pool(complex64, s, in, z, out, &mean), DTypeError);
    EXPECT_NO_THROW(average_pool(complex64, s, in, z, out, &mean));
    try {
        average_pool(int32, s, in, i, out, &o);
        FAIL();
    } catch (const DTypeError& error) {
        EXPECT_STREQ(error.what(), "average_pool: takes floating and complex types, not int32");
    }
    s.stride[0] = 0;
    EXPECT_THROW(max_pool(int32, s, in, i, out, &o), ShapeError);
}

}  // namespace
}  // namespace weft::cpu
