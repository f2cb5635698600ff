#include "weft/backend/cpu/convolution.h"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "weft/backend/cpu/isa.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"

namespace weft::cpu {
namespace {

struct Threads {
    explicit Threads(int threads) : before(ThreadPool::instance().threads()) {
        ThreadPool::instance().set_threads(threads);
    }
    ~Threads() { ThreadPool::instance().set_threads(before); }
    int before;
};

struct Case {
    const char* name;
    int ndim;
    std::int64_t batch, in_channels, out_channels, groups;
    Spatial in, kernel, stride, pad_lo, pad_hi, dilation;
};

const Case cases[] = {
    {"one pixel", 2, 1, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"plain", 2, 2, 3, 4, 1, {6, 7}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"same", 2, 3, 8, 16, 1, {9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"many rows", 2, 5, 1, 32, 1, {28, 28}, {5, 5}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"second layer", 2, 2, 16, 24, 1, {12, 12}, {5, 5}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"strided", 2, 2, 9, 5, 1, {11, 12}, {3, 4}, {2, 3}, {1, 2}, {0, 1}, {1, 1}},
    {"stride above kernel", 2, 2, 3, 2, 1, {10, 9}, {1, 2}, {3, 3}, {0, 0}, {0, 0}, {1, 1}},
    {"dilated", 2, 2, 4, 3, 1, {12, 13}, {3, 2}, {1, 2}, {2, 1}, {2, 3}, {2, 3}},
    {"wide padding", 2, 1, 2, 2, 1, {2, 2}, {2, 2}, {1, 1}, {4, 3}, {3, 4}, {1, 1}},
    {"groups", 2, 2, 18, 12, 2, {7, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"many groups", 2, 2, 12, 6, 6, {5, 6}, {2, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise", 2, 2, 20, 20, 20, {8, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise strided", 2, 2, 5, 5, 5, {8, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 2}},
    {"depthwise multiplied", 2, 2, 4, 8, 4, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise, several vectors", 2, 3, 70, 70, 70, {9, 11}, {5, 5}, {1, 1}, {2, 2}, {2, 2}, {1, 1}},
    {"depthwise, long kernel", 2, 2, 33, 33, 33, {4, 20}, {1, 9}, {1, 1}, {0, 4}, {0, 4}, {1, 1}},
    {"depthwise, one axis", 1, 2, 17, 17, 17, {30}, {7}, {2}, {3}, {3}, {2}},
    {"depthwise, kernel beyond the picture", 2, 1, 8, 8, 8, {3, 2}, {5, 6}, {1, 1}, {3, 4}, {3, 4}, {1, 1}},
    {"depthwise, padding beyond the kernel", 2, 1, 4, 4, 4, {3, 3}, {2, 2}, {1, 1}, {3, 3}, {2, 2}, {1, 1}},
    {"depthwise, many rows", 2, 9, 6, 6, 6, {40, 3}, {3, 2}, {1, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"pointwise", 2, 3, 16, 24, 1, {5, 4}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"pointwise strided", 2, 3, 16, 8, 1, {7, 6}, {1, 1}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
    {"one axis", 1, 3, 5, 7, 1, {20}, {4}, {2}, {3}, {1}, {1}},
    {"one axis, long", 1, 1, 8, 8, 1, {700}, {3}, {1}, {1}, {1}, {1}},
    {"three axes", 3, 2, 3, 4, 1, {5, 4, 6}, {2, 3, 2}, {1, 2, 1}, {1, 1, 0}, {0, 1, 1}, {1, 1, 2}},
    {"three axes, groups", 3, 1, 16, 4, 2, {4, 4, 4}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {"few channels", 2, 3, 3, 8, 1, {12, 11}, {5, 3}, {2, 3}, {2, 0}, {1, 2}, {1, 2}},
    {"few channels, three axes", 3, 2, 2, 9, 1, {5, 4, 6}, {2, 3, 2}, {1, 2, 1}, {1, 1, 0}, {0, 1, 1}, {1, 1, 2}},
    {"empty batch", 2, 0, 2, 3, 1, {4, 4}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"no output", 2, 2, 2, 3, 1, {2, 2}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
    {"no input channels", 2, 2, 0, 3, 1, {4, 4}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
};

// Enough work for several blocks of the batch, the last one smaller.
const Case several_blocks = {"several blocks", 2, 5, 32, 64, 1, {12, 12}, {5, 5}, {1, 1}, {0, 0}, {0, 0}, {1, 1}};
// Enough work for several parts of the only picture: of rows that differ by one, of strided ones, along one axis alone.
const Case pictures[] = {
    {"two parts", 2, 1, 64, 72, 1, {15, 16}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"four parts, strided", 2, 1, 96, 104, 1, {57, 14}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"four parts of one axis, dilated", 1, 1, 64, 80, 1, {1200}, {3}, {1}, {2}, {2}, {2}},
};

ConvolutionShape shape_of(const Case& c) {
    ConvolutionShape s;
    s.ndim = c.ndim, s.batch = c.batch, s.in_channels = c.in_channels, s.out_channels = c.out_channels,
    s.groups = c.groups;
    s.in = c.in, s.kernel = c.kernel, s.stride = c.stride, s.pad_lo = c.pad_lo, s.dilation = c.dilation;
    for (int axis = 0; axis < c.ndim; ++axis)
        s.out[axis] = convolution_output_size(c.in[axis], c.kernel[axis], c.stride[axis], c.pad_lo[axis],
                                              c.pad_hi[axis], c.dilation[axis]);
    return s;
}

enum class Layout { channels_last, channels_first, strided };

WindowStrides strides_of(Layout layout, std::int64_t channels, int ndim, const Spatial& sizes) {
    if (layout == Layout::channels_last) return channels_last(channels, ndim, sizes);
    if (layout == Layout::channels_first) return channels_first(channels, ndim, sizes);
    WindowStrides strides = channels_last(2 * channels + 1, ndim, sizes);  // gaps between channels and between pixels
    strides.channel = 2;
    return strides;
}

/// A logical (batch, channel, spatial) value in some layout; `at` calls f with the element's place and its logical
/// indices.
template <class T>
struct Value {
    Value(std::int64_t batch_, std::int64_t channels_, int ndim_, const Spatial& sizes_, Layout layout)
        : batch(batch_), channels(channels_), ndim(ndim_), strides(strides_of(layout, channels_, ndim_, sizes_)) {
        sizes = {1, 1, 1};
        for (int axis = 0; axis < ndim; ++axis) sizes[axis] = sizes_[axis];
        for (int axis = ndim; axis < most_spatial; ++axis) strides.spatial[axis] = 0;
        std::int64_t all = batch * (2 * channels + 1);
        for (std::int64_t size : sizes) all *= size;
        memory.assign(static_cast<std::size_t>(all + 1), T(0.0f));
    }
    void fill(unsigned seed) {  // whole numbers, so that every type sums them exactly
        std::mt19937 generator(seed);
        for (T& element : memory) element = static_cast<T>(static_cast<float>(generator() % 4));
    }
    T& at(std::int64_t n, std::int64_t c, std::int64_t x, std::int64_t y, std::int64_t z) {
        return memory[static_cast<std::size_t>(n * strides.batch + c * strides.channel + x * strides.spatial[0] +
                                               y * strides.spatial[1] + z * strides.spatial[2])];
    }
    std::int64_t batch, channels;
    int ndim;
    Spatial sizes;
    WindowStrides strides;
    std::vector<T> memory;
};

template <class T>
struct Operands {
    Operands(const ConvolutionShape& s, Layout layout)
        : input(s.batch, s.in_channels, s.ndim, s.in, layout),
          weight(s.out_channels, s.in_channels / s.groups, s.ndim, s.kernel,
                 layout == Layout::channels_last ? Layout::channels_first : layout),
          output(s.batch, s.out_channels, s.ndim, s.out, layout) {}
    ConvolutionStrides strides() const { return {input.strides, weight.strides, output.strides}; }
    Value<T> input, weight, output;
};

/// The definition: calls f(n, o, y, c within the group, k, x) for every product of the convolution.
template <class F>
void for_each_product(const ConvolutionShape& s, F&& f) {
    std::int64_t in_each = s.in_channels / s.groups, out_each = s.out_channels / s.groups;
    Spatial out{1, 1, 1}, in{1, 1, 1}, kernel{1, 1, 1}, y, k, x;
    for (int axis = 0; axis < s.ndim; ++axis)
        out[axis] = s.out[axis], in[axis] = s.in[axis], kernel[axis] = s.kernel[axis];
    for (std::int64_t n = 0; n < s.batch; ++n)
        for (std::int64_t o = 0; o < s.out_channels; ++o)
            for (y[0] = 0; y[0] < out[0]; ++y[0])
                for (y[1] = 0; y[1] < out[1]; ++y[1])
                    for (y[2] = 0; y[2] < out[2]; ++y[2])
                        for (k[0] = 0; k[0] < kernel[0]; ++k[0])
                            for (k[1] = 0; k[1] < kernel[1]; ++k[1])
                                for (k[2] = 0; k[2] < kernel[2]; ++k[2]) {
                                    bool inside = true;
                                    for (int axis = 0; axis < most_spatial; ++axis) {
                                        x[axis] = axis < s.ndim ? y[axis] * s.stride[axis] - s.pad_lo[axis] +
                                                                      k[axis] * s.dilation[axis]
                                                                : 0;
                                        inside = inside && x[axis] >= 0 && x[axis] < in[axis];
                                    }
                                    for (std::int64_t c = 0; inside && c < in_each; ++c)
                                        f(n, o, y, o / out_each * in_each + c, c, k, x);
                                }
}

template <class T>
std::vector<std::byte> run(ConvolutionKind kind, const ConvolutionShape& s, Operands<T>& operands) {
    Convolution convolution(dtype_of<T>, kind, s, operands.strides());
    std::vector<std::byte> scratch(convolution.scratch_bytes() + 64);
    void* aligned = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
    Value<T>& first = kind == ConvolutionKind::backward_input ? operands.output : operands.input;
    Value<T>& second = kind == ConvolutionKind::backward_weight ? operands.output : operands.weight;
    Value<T>& result = kind == ConvolutionKind::forward          ? operands.output
                       : kind == ConvolutionKind::backward_input ? operands.input
                                                                 : operands.weight;
    std::fill(result.memory.begin(), result.memory.end(), T(77.0f));
    convolution.run(first.memory.data(), second.memory.data(), result.memory.data(), aligned);
    auto bytes = std::as_bytes(std::span(result.memory));
    return {bytes.begin(), bytes.end()};
}

/// The sums in the wide type, in the result's layout; what is no element of the result stays 77.
template <class T, class Wide>
std::vector<T> expected(ConvolutionKind kind, const ConvolutionShape& s, Operands<T>& operands, Operands<Wide>& wide) {
    Value<Wide>& sums = kind == ConvolutionKind::forward          ? wide.output
                        : kind == ConvolutionKind::backward_input ? wide.input
                                                                  : wide.weight;
    for_each_product(s, [&](std::int64_t n, std::int64_t o, const Spatial& y, std::int64_t c, std::int64_t c_each,
                            const Spatial& k, const Spatial& x) {
        auto input = [&]() -> T& { return operands.input.at(n, c, x[0], x[1], x[2]); };
        auto weight = [&]() -> T& { return operands.weight.at(o, c_each, k[0], k[1], k[2]); };
        auto output = [&]() -> T& { return operands.output.at(n, o, y[0], y[1], y[2]); };
        if (kind == ConvolutionKind::forward) wide.output.at(n, o, y[0], y[1], y[2]) += Wide(input()) * Wide(weight());
        if (kind == ConvolutionKind::backward_input)
            wide.input.at(n, c, x[0], x[1], x[2]) += Wide(output()) * Wide(weight());
        if (kind == ConvolutionKind::backward_weight)
            wide.weight.at(o, c_each, k[0], k[1], k[2]) += Wide(input()) * Wide(output());
    });
    std::vector<T> values(sums.memory.size(), T(77.0f));
    for (std::int64_t n = 0; n < sums.batch; ++n)
        for (std::int64_t c = 0; c < sums.channels; ++c)
            for (std::int64_t x = 0; x < sums.sizes[0]; ++x)
                for (std::int64_t y = 0; y < sums.sizes[1]; ++y)
                    for (std::int64_t z = 0; z < sums.sizes[2]; ++z) {
                        Wide& sum = sums.at(n, c, x, y, z);
                        values[static_cast<std::size_t>(&sum - sums.memory.data())] = static_cast<T>(sum);
                    }
    return values;
}

constexpr ConvolutionKind kinds[] = {ConvolutionKind::forward, ConvolutionKind::backward_input,
                                     ConvolutionKind::backward_weight};

template <class T, class Wide>
void check(const Case& c, Layout layout, std::span<const ConvolutionKind> which = kinds) {
    ConvolutionShape s = shape_of(c);
    for (ConvolutionKind kind : which) {
        Operands<T> operands(s, layout);
        Operands<Wide> wide(s, layout);
        operands.input.fill(1), operands.weight.fill(2), operands.output.fill(3);
        std::vector<T> want = expected(kind, s, operands, wide);
        for (int threads : {1, 2}) {
            Threads guard(threads);
            std::vector<std::byte> got = run(kind, s, operands);
            ASSERT_EQ(got.size(), want.size() * sizeof(T));
            EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size()), 0)
                << c.name << ", kind " << static_cast<int>(kind) << ", layout " << static_cast<int>(layout) << ", "
                << threads << " threads";
        }
    }
}

template <class T, class Wide>
void check_all() {
    for (const Case& c : cases)
        for (Layout layout : {Layout::channels_last, Layout::channels_first, Layout::strided})
            check<T, Wide>(c, layout);
}

TEST(Convolution, float32_is_its_definition) { check_all<float, double>(); }
TEST(Convolution, float64_is_its_definition) { check_all<double, double>(); }
TEST(Convolution, bfloat16_is_its_definition) { check_all<BFloat16, float>(); }
TEST(Convolution, int32_is_its_definition) { check_all<std::int32_t, std::int64_t>(); }

TEST(Convolution, blocks_of_the_batch_join_to_the_whole) {
    check<float, double>(several_blocks, Layout::channels_last);
    check<float, double>(several_blocks, Layout::channels_first);
}

TEST(Convolution, parts_of_a_single_picture_join_to_the_whole) {
    for (const Case& c : pictures)
        for (Layout layout : {Layout::channels_last, Layout::channels_first})
            check<float, double>(c, layout, std::span(kinds).first(1));  // only forward is cut so
}

TEST(Convolution, own_kernels_run_on_every_instruction_set) {
    Isa before = best_isa();
    for (Isa isa : usable_isas()) {
        use_isa(isa);
        for (int i : {2, 3, 5, 9}) check<double, double>(cases[i], Layout::channels_last);
    }
    use_isa(before);
}

template <class T>
void fill_at_random(Operands<T>& operands) {
    std::mt19937 generator(5);
    for (auto* value : {&operands.input, &operands.weight, &operands.output})
        for (T& x : value->memory) x = std::uniform_real_distribution<T>(-1, 1)(generator);
}

TEST(Convolution, depthwise_gradients_are_the_same_bits_on_every_instruction_set) {
    Isa before = best_isa();
    for (const Case& c : cases) {
        if (c.groups < 2 || c.groups != c.in_channels || c.groups != c.out_channels) continue;
        ConvolutionShape s = shape_of(c);
        Operands<float> operands(s, Layout::channels_last);
        fill_at_random(operands);
        std::vector<std::byte> reference;
        for (Isa isa : usable_isas()) {
            use_isa(isa);
            check<float, double>(c, Layout::channels_last);
            std::vector<std::byte> got = run(ConvolutionKind::backward_weight, s, operands);
            if (reference.empty()) reference = got;
            EXPECT_EQ(got, reference) << c.name << ", " << name_of(isa);
        }
    }
    use_isa(before);
}

/// Random values: not exact, so the order of sums shows.
TEST(Convolution, results_are_the_same_bits_for_any_number_of_threads) {
    std::vector<Case> all(std::begin(cases), std::end(cases));
    all.push_back(several_blocks);
    all.insert(all.end(), std::begin(pictures), std::end(pictures));
    for (const Case& c : all)
        for (Layout layout : {Layout::channels_last, Layout::channels_first})
            for (ConvolutionKind kind : kinds) {
                ConvolutionShape s = shape_of(c);
                std::vector<std::byte> reference;
                for (int threads : {1, 2, 3}) {
                    Threads guard(threads);
                    Operands<float> operands(s, layout);
                    fill_at_random(operands);
                    std::vector<std::byte> got = run(kind, s, operands);
                    if (threads == 1) reference = got;
                    EXPECT_EQ(got, reference)
                        << c.name << ", kind " << static_cast<int>(kind) << ", " << threads << " threads";
                }
            }
}

TEST(Convolution, one_may_be_run_by_several_threads_at_once) {
    ConvolutionShape s = shape_of(several_blocks);
    Operands<float> operands(s, Layout::channels_last);
    operands.input.fill(1), operands.weight.fill(2);
    Convolution convolution(float32, ConvolutionKind::forward, s, operands.strides());
    std::vector<std::vector<float>> results(3, std::vector<float>(operands.output.memory.size()));
    auto use = [&](std::vector<float>& result) {
        BufferHandle scratch = Buffer::allocate(convolution.scratch_bytes());
        for (int i = 0; i < 10; ++i)
            convolution.run(operands.input.memory.data(), operands.weight.memory.data(), result.data(),
                            scratch->data());
    };
    std::thread first(use, std::ref(results[0])), second(use, std::ref(results[1]));
    first.join(), second.join();
    use(results[2]);
    EXPECT_EQ(results[0], results[2]);
    EXPECT_EQ(results[1], results[2]);
}

void expect_refusal(ConvolutionShape s, const std::string& message) {
    try {
        Convolution(float32, ConvolutionKind::forward, s,
                    {channels_last(s.in_channels, 2, s.in), channels_first(1, 2, s.kernel),
                     channels_last(s.out_channels, 2, s.out)});
        FAIL() << message;
    } catch (const ShapeError& error) {
        EXPECT_EQ(error.what(), message);
    }
}

TEST(Convolution, refuses_sizes_that_do_not_fit) {
    ConvolutionShape s = shape_of(cases[1]);
    s.stride[1] = 0;
    expect_refusal(s, "convolution: a stride must be at least 1, but it is 0");
    s = shape_of(cases[1]);
    s.pad_lo[0] = -1;
    expect_refusal(s, "convolution: padding must not be negative, but it is -1");
    s = shape_of(cases[1]);
    s.groups = 2;
    expect_refusal(s, "convolution: 2 groups must divide the channels, but there are 3 in and 4 out");
}

}  // namespace
}  // namespace weft::cpu
