#include <gtest/gtest.h>

#include "message.h"
#include "weft/base/error.h"
#include "weft/kernel/builder.h"
#include "weft/kernel/function.h"
#include "weft/kernel/interpreter.h"

namespace weft {
namespace {

template <class T, class... In>
T run1(const Program& program, In... in) {
    const void* inputs[] = {&in..., nullptr};
    T out{};
    void* outputs[] = {&out};
    interpret(program, inputs, outputs);
    return out;
}

/// The program of one expression of n inputs of a type.
template <class F>
Program program_of(DType dtype, int inputs, F body) {
    ProgramBuilder builder;
    std::vector<Scalar> in;
    for (int i = 0; i < inputs; ++i) in.push_back(builder.input(dtype));
    builder.output(body(in));
    return builder.take();
}

TEST(Builder, equal_instructions_are_one_and_dead_ones_are_left_out) {
    ProgramBuilder builder;
    Scalar x = builder.input(DType::float32), y = builder.input(DType::float32);
    [[maybe_unused]] Scalar dead = x / y;
    builder.output((x + 1) * (x + 1.0));
    Program program = builder.take();
    EXPECT_EQ(text(program),
              "%0 = input float32 0\n%1 = constant float32 1\n%2 = add float32 %0, %1\n"
              "%3 = multiply float32 %2, %2\nreturn %3\n");
    EXPECT_EQ(program.inputs.size(), 2u);
    EXPECT_EQ(run1<float>(program, 2.f, 0.f), 9.f);
}

TEST(Builder, hash_follows_content) {
    auto make = [](double k) { return program_of(DType::float32, 1, [&](auto& in) { return in[0] * k; }); };
    EXPECT_EQ(hash_of(make(2)), hash_of(make(2)));
    EXPECT_FALSE(hash_of(make(2)) == hash_of(make(3)));
    EXPECT_FALSE(hash_of(make(0.0)) == hash_of(make(-0.0)));
}

TEST(Scalar, type_errors_name_the_operation) {
    ProgramBuilder builder;
    Scalar f = builder.input(DType::float32), i = builder.input(DType::int32), b = builder.input(DType::bool_);
    auto message = [](auto f) -> std::string {
        try {
            f();
        } catch (const DTypeError& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_EQ(message([&] { f + i; }), "add: the operands' types differ: float32 and int32; cast one of them");
    EXPECT_EQ(message([&] { i * 0.5; }), "multiply: the number 0.5 is not a int32; cast the other operand first");
    EXPECT_EQ(message([&] { i / i; }), "divide: operands of type int32 are not taken");
    EXPECT_EQ(message([&] { exp(i); }), "exp: operands of type int32 are not taken");
    EXPECT_EQ(message([&] { select(f, 1, f); }), "select: the condition must be bool, not float32; compare it with 0");
    EXPECT_EQ(message([&] { !f; }), "!: a logical not takes bool, not float32; compare it with 0");
    EXPECT_EQ(message([&] { Scalar(1) + Scalar(2); }),
              "add: all operands are plain numbers, so there is no type to compute in");
    EXPECT_EQ(message([&] { b & 1; }), "no error");
}

TEST(Interpreter, integers_wrap_and_divide_as_numpy_does) {
    auto two = [](auto body) { return program_of(DType::int32, 2, [&](auto& in) { return body(in[0], in[1]); }); };
    auto divide = two([](Scalar a, Scalar b) { return floor_divide(a, b); });
    auto rest = two([](Scalar a, Scalar b) { return remainder(a, b); });
    auto add = two([](Scalar a, Scalar b) { return a + b; });
    auto left = two([](Scalar a, Scalar b) { return a << b; });
    auto right = two([](Scalar a, Scalar b) { return a >> b; });
    std::int32_t low = std::numeric_limits<std::int32_t>::min();
    EXPECT_EQ(run1<std::int32_t>(divide, -7, 2), -4);
    EXPECT_EQ(run1<std::int32_t>(rest, -7, 2), 1);
    EXPECT_EQ(run1<std::int32_t>(rest, 7, -2), -1);
    EXPECT_EQ(run1<std::int32_t>(divide, 7, 0), 0);
    EXPECT_EQ(run1<std::int32_t>(rest, 7, 0), 0);
    EXPECT_EQ(run1<std::int32_t>(divide, low, -1), low);
    EXPECT_EQ(run1<std::int32_t>(add, low, -1), std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(run1<std::int32_t>(left, 1, 32), 0);
    EXPECT_EQ(run1<std::int32_t>(right, -8, 40), -1);
    EXPECT_EQ(run1<std::int32_t>(right, -8, 1), -4);
}

TEST(Interpreter, casts_truncate_and_saturate) {
    auto to = [](DType from, DType into) { return program_of(from, 1, [&](auto& in) { return cast(in[0], into); }); };
    EXPECT_EQ(run1<std::int32_t>(to(DType::float32, DType::int32), -2.9f), -2);
    EXPECT_EQ(run1<std::int32_t>(to(DType::float32, DType::int32), 1e20f), std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(run1<std::int32_t>(to(DType::float32, DType::int32), std::nanf("")), 0);
    EXPECT_EQ(run1<std::uint8_t>(to(DType::float32, DType::uint8), -5.f), 0);
    EXPECT_EQ(run1<std::uint8_t>(to(DType::float64, DType::uint8), 300.0), 255);
    EXPECT_EQ(run1<std::int64_t>(to(DType::float64, DType::int64), 0x1p63), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(run1<std::uint64_t>(to(DType::float64, DType::uint64), 0x1p64),
              std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(run1<std::uint64_t>(to(DType::float64, DType::uint64), 0x1.8p63), std::uint64_t{3} << 62);
    EXPECT_EQ(run1<std::uint8_t>(to(DType::int32, DType::uint8), -1), 255);
    EXPECT_TRUE(run1<bool>(to(DType::float32, DType::bool_), 0.5f));
}

TEST(Interpreter, minimum_and_maximum_carry_nan) {
    float nan = std::nanf("");
    auto least = program_of(DType::float32, 2, [](auto& in) { return min(in[0], in[1]); });
    EXPECT_EQ(run1<float>(least, 1.f, 2.f), 1.f);
    EXPECT_TRUE(std::isnan(run1<float>(least, nan, 2.f)));
    EXPECT_TRUE(std::isnan(run1<float>(least, 2.f, nan)));
}

TEST(Interpreter, floats_divide_as_numpy_does) {
    auto divide = program_of(DType::float64, 2, [](auto& in) { return floor_divide(in[0], in[1]); });
    auto rest = program_of(DType::float64, 2, [](auto& in) { return remainder(in[0], in[1]); });
    EXPECT_EQ(run1<double>(divide, -7.5, 2.0), -4);
    EXPECT_EQ(run1<double>(rest, -7.5, 2.0), 0.5);
    EXPECT_EQ(run1<double>(rest, 5.0, -3.0), -1);
    EXPECT_EQ(run1<double>(divide, 1.0, 0.1), 9);
    EXPECT_EQ(run1<double>(divide, 1.0, 0.0), std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(run1<double>(rest, 1.0, 0.0)));
    EXPECT_TRUE(std::signbit(run1<double>(rest, 4.0, -2.0)));
}

TEST(Interpreter, complex_parts_and_absolute) {
    using C = std::complex<float>;
    auto product = program_of(DType::complex64, 2, [](auto& in) { return in[0] * in[1]; });
    auto quotient = program_of(DType::complex64, 2, [](auto& in) { return in[0] / in[1]; });
    auto size = program_of(DType::complex64, 1, [](auto& in) { return abs(in[0]); });
    auto turned = program_of(DType::complex64, 1, [](auto& in) { return make_complex(imag(in[0]), real(in[0])); });
    EXPECT_EQ(run1<C>(product, C(1, 2), C(3, -1)), C(5, 5));
    EXPECT_EQ(run1<C>(quotient, C(5, 5), C(0, 2)), C(2.5, -2.5));
    EXPECT_EQ(run1<float>(size, C(3, -4)), 5.f);
    EXPECT_EQ(run1<C>(turned, C(3, -4)), C(-4, 3));
}

TEST(Loop, reductions_of_the_interpreter) {
    ProgramBuilder builder;
    Scalar x = builder.input(DType::float32);
    builder.output(x);
    builder.output(x);
    builder.output(x * x);
    Program program = builder.take();
    Loop loop{.program = program,
              .dims = {2, 3},
              .reduced = 1,
              .loads = {{DType::float32, {3, 1}}},
              .stores = {{DType::float32, {1}}, {DType::int64, {1}}, {DType::float32, {1}}},
              .reductions = {Reduction::sum, Reduction::argmax, Reduction::maximum}};
    float in[] = {1, 5, 5, -7, 2, std::nanf("")}, sums[2], squares[2];
    std::int64_t best[2];
    const void* loads[] = {in};
    void* stores[] = {sums, best, squares};
    interpret(loop, loads, stores);
    EXPECT_EQ(sums[0], 11.f);
    EXPECT_EQ(best[0], 1);
    EXPECT_EQ(squares[0], 25.f);
    EXPECT_EQ(best[1], 2);
    EXPECT_TRUE(std::isnan(squares[1]));
}

TEST(Loop, extents_reach_backwards_and_forwards) {
    Extent extent = extent_of({DType::float32, {-10, 0, 3}}, {4, 100, 5});
    EXPECT_EQ(extent.first, -30);
    EXPECT_EQ(extent.last, 12);
    EXPECT_TRUE(extent_of({DType::float32, {1, 1}}, {2, 0}).empty());
    EXPECT_FALSE(extent_of({DType::float32, {}}, {}).empty());
}

TEST(Loop, verify_refuses_places_that_are_shared_or_beyond_64_bits) {
    Loop loop{.program = program_of(DType::float32, 1, [](auto& in) { return in[0]; }),
              .dims = {2, 3},
              .loads = {{DType::float32, {3, 1}}},
              .stores = {{DType::float32, {1, 0}}},
              .reductions = {}};
    auto said = [](const Loop& wrong) { return message<Error>([&] { verify(wrong); }); };
    EXPECT_EQ(said(loop), "loop: store 0 writes all of axis 1 to one place");
    loop.stores[0].strides = {3, std::int64_t{1} << 61};
    EXPECT_EQ(said(loop), "loop: an access with strides (3, 2305843009213693952) over (2, 3) leaves 64 bits");
    loop.dims = {2, -3};
    EXPECT_EQ(said(loop), "loop: the box (2, -3) has a negative size");
}

/// Twice the first number of each row and the second where `index` says, in rows of two.
Loop scatter_of(DType memory, ScatterMode mode) {
    Loop loop{.program = program_of(compute_dtype(memory), 1, [](auto& in) { return in[0] + in[0]; }),
              .dims = {4, 2},
              .loads = {{memory, {2, 1}}, {DType::int32, {1, 0}}},
              .stores = {{memory, {0, 1}, {{1, 3, 2, 0, "scatter"}}}},
              .reductions = {}};
    loop.program.inputs.push_back(DType::int32);
    loop.scatter = mode;
    return loop;
}

template <class T>
std::vector<T> scattered(ScatterMode mode, DType dtype, std::vector<T> x, std::vector<T> y,
                         std::vector<std::int32_t> index = {2, 0, -1, 0}) {
    const void* loads[] = {x.data(), index.data()};
    void* stores[] = {y.data()};
    interpret(scatter_of(dtype, mode), loads, stores);
    return y;
}

TEST(Loop, scatters_of_the_interpreter_join_point_after_point) {
    using Floats = std::vector<float>;
    Floats x{1, 2, 3, -4, 5, 6, -7, 8}, y{0, 1, 10, 11, 20, 21};
    EXPECT_EQ(scattered(ScatterMode::set, DType::float32, x, y), (Floats{-14, 16, 10, 11, 10, 12}));
    EXPECT_EQ(scattered(ScatterMode::add, DType::float32, x, y), (Floats{-8, 9, 10, 11, 32, 37}));
    EXPECT_EQ(scattered(ScatterMode::maximum, DType::float32, x, y), (Floats{6, 16, 10, 11, 20, 21}));
    EXPECT_EQ(scattered(ScatterMode::minimum, DType::float32, x, y), (Floats{-14, -8, 10, 11, 2, 4}));
    // One after another, in their own type: 1 is lost in 2^24, twice; in another order it would not be.
    Floats large =
        scattered(ScatterMode::add, DType::float32, Floats{0, 0, 0.5, 0, 0, 0, 0.5, 0}, Floats{0x1p24f, 0, 0, 0, 0, 0});
    EXPECT_EQ(large[0], 0x1p24f);
}

TEST(Loop, scatters_add_what_memory_of_their_type_would_hold) {
    using Halves = std::vector<Float16>;
    Halves y = scattered(ScatterMode::add, DType::float16, Halves(8, Float16(1.0f)), Halves(6, Float16(2048.0f)));
    EXPECT_EQ(static_cast<float>(y[0]), 2052.0f);
    EXPECT_EQ(static_cast<float>(y[2]), 2048.0f);
    Loop loop = scatter_of(DType::float16, ScatterMode::add);
    loop.program = program_of(DType::float32, 1, [](auto& in) { return in[0] + 1.00048828125; });
    loop.program.inputs.push_back(DType::int32);
    Halves x(8, Float16(0.0f)), sum(6, Float16(0.00048828125f));
    std::vector<std::int32_t> index{0, 1, 1, 2};
    const void* loads[] = {x.data(), index.data()};
    void* stores[] = {sum.data()};
    interpret(loop, loads,
              stores);  // 1 + 2^-11 is 1 as float16, and 1 + 2^-11 again 1; together they would be 1 + 2^-10
    EXPECT_EQ(static_cast<float>(sum[0]), 1.0f);
}

TEST(Loop, scatters_take_any_type_that_has_such_a_join) {
    using Complex = std::vector<std::complex<float>>;
    Complex x(8, {1, -2}), y(6, {0, 1});
    EXPECT_EQ(scattered(ScatterMode::add, DType::complex64, x, y)[0], (std::complex<float>(4, -7)));
    EXPECT_EQ(scattered(ScatterMode::set, DType::complex64, x, y)[4], (std::complex<float>(2, -4)));
    auto bytes = scattered<std::uint8_t>(ScatterMode::add, DType::uint8, std::vector<std::uint8_t>(8, 100),
                                         std::vector<std::uint8_t>(6, 7));
    EXPECT_EQ(bytes[0], (7 + 400) % 256);
    float nan = std::nanf("");
    std::vector<float> seen = scattered(ScatterMode::maximum, DType::float32,
                                        std::vector<float>{nan, 1, 1, 1, 1, 1, 1, 1}, {1, nan, 5, 5, 5, 5});
    EXPECT_TRUE(std::isnan(seen[1]));
    EXPECT_TRUE(std::isnan(seen[4]));
    EXPECT_EQ(seen[5], 5.0f);
}

TEST(Loop, a_scatter_refuses_an_index_before_it_writes) {
    std::vector<float> x(8, 1), y(6, 0);
    std::vector<std::int32_t> index{0, 1, 2, 3};
    const void* loads[] = {x.data(), index.data()};
    void* stores[] = {y.data()};
    EXPECT_EQ(message<IndexError>([&] { interpret(scatter_of(DType::float32, ScatterMode::add), loads, stores); }),
              "scatter: index 3 is out of bounds for axis 0 of size 3");
    EXPECT_EQ(y, std::vector<float>(6, 0));
}

TEST(Loop, verify_refuses_scatters_whose_points_meet_in_no_order) {
    auto said = [](auto change) {
        Loop loop = scatter_of(DType::float32, ScatterMode::add);
        change(loop);
        return message<InternalError>([&] { verify(loop); });
    };
    EXPECT_EQ(said([](Loop& loop) { loop.stores[0].pointers[0].stride = 1; }),
              "loop: the store of a scatter moves by 1 elements, and by 1 by shorter steps");
    EXPECT_EQ(said([](Loop& loop) {
                  loop.stores[0].strides = {5, 1};
              }),
              "loop: the store of a scatter moves by 5 elements, and by 5 by shorter steps");
    EXPECT_EQ(said([](Loop& loop) { loop.stores[0].pointers.clear(); }),
              "loop: the store of a scatter moves by no index");
    EXPECT_EQ(said([](Loop& loop) { loop.scatter.reset(); }), "loop: store 0 moves by indices without a scatter");
    EXPECT_EQ(said([](Loop& loop) { loop.stores[0].pointers[0].load = 0; }),
              "loop: store 0 is moved by load 0 of float32");
    EXPECT_EQ(said([](Loop& loop) { loop.stores[0].pointers[0].load = 7; }),
              "loop: store 0 is moved by load 7, which is none or reads otherwise than by strides");
    EXPECT_EQ(said([](Loop& loop) { loop.reductions = {Reduction::sum}; }), "loop: a scatter is a map of one output");
    Loop complex = scatter_of(DType::complex64, ScatterMode::maximum);
    EXPECT_EQ(message<InternalError>([&] { verify(complex); }), "loop: complex numbers have no maximum");
}

TEST(Loop, what_a_scatter_is_made_of_is_in_its_hash_and_its_text) {
    Loop loop = scatter_of(DType::float32, ScatterMode::add), other = loop;
    EXPECT_EQ(hash_of(loop), hash_of(other));
    other.scatter = ScatterMode::set;
    EXPECT_FALSE(hash_of(loop) == hash_of(other));
    other = loop, other.stores[0].pointers[0].size = 4;
    EXPECT_FALSE(hash_of(loop) == hash_of(other));
    EXPECT_NE(text(loop).find("store 0 float32 strides (0, 1) + 2 * load 1 of 3 add in order, elements 0..5\n"),
              std::string::npos)
        << text(loop);
}

/// Two rows of three numbers, doubled; the second row is read first.
Loop doubled_rows() {
    return {.program = program_of(DType::float32, 1, [](auto& in) { return in[0] + in[0]; }),
            .dims = {2, 3},
            .loads = {{DType::float32, {-4, 1}}},
            .stores = {{DType::float32, {3, 1}}},
            .reductions = {}};
}

TEST(Loop, shows_the_elements_that_each_access_may_touch_and_its_alignment) {
    Loop loop = doubled_rows();
    loop.stores[0].alignment = 64;
    EXPECT_EQ(accesses_text(loop),
              "load 0 float32 strides (-4, 1), elements -4..2\n"
              "store 0 float32 strides (3, 1), elements 0..5, aligned to 64 bytes\n");
    loop.dims = {2, 0};
    EXPECT_EQ(accesses_text(loop).find("load 0 float32 strides (-4, 1), no elements\n"), 0u) << loop;
}

TEST(Loop, alignments_are_in_its_hash) {
    Loop loop = doubled_rows(), other = loop;
    other.loads[0].alignment = 16;
    EXPECT_FALSE(hash_of(loop) == hash_of(other));
}

TEST(Loop, verify_refuses_alignments_that_no_address_has) {
    auto said = [](auto change) {
        Loop loop = doubled_rows();
        change(loop);
        return message<InternalError>([&] { verify(loop); });
    };
    EXPECT_EQ(said([](Loop& loop) { loop.stores[0].alignment = 48; }),
              "loop: store 0 is aligned to 48 bytes, which is no power of 2");
    EXPECT_EQ(said([](Loop& loop) { loop.loads[0].alignment = 2; }),
              "loop: load 0 is aligned to 2 bytes, less than its elements of 4");
    EXPECT_EQ(
        said([](Loop& loop) {
            loop.program = program_of(DType::int64, 1, [](auto& in) { return in[0]; });
            loop.loads[0] = {.dtype = DType::int64, .strides = {3, 1}, .source = Source::counting, .alignment = 64};
            loop.stores[0].dtype = DType::int64;
        }),
        "loop: load 0 reads no memory, and is aligned");
}

TEST(Loop, the_interpreter_refuses_an_address_that_is_not_aligned_as_promised) {
    alignas(64) float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {};
    Loop loop = doubled_rows();
    loop.loads[0].alignment = 16, loop.stores[0].alignment = 64;
    auto run = [&](const float* from, float* to) {
        const void* loads[] = {from};
        void* stores[] = {to};
        interpret(loop, loads, stores);
    };
    run(x + 4, y);
    EXPECT_EQ(y[3], 2.0f);
    EXPECT_EQ(message<InternalError>([&] { run(x + 5, y); }),
              text("loop: load 0 is aligned to 16 bytes, but its address is ", static_cast<const void*>(x + 5)));
    y[0] = -1;
    EXPECT_EQ(message<InternalError>([&] { run(x + 4, y + 1); }),
              text("loop: store 0 is aligned to 64 bytes, but its address is ", static_cast<const void*>(y + 1)));
    EXPECT_EQ(y[0], -1.0f);
    EXPECT_EQ(y[1], 12.0f);
}

TEST(Loop, verify_names_the_breach) {
    Loop loop{.program = program_of(DType::float32, 1, [](auto& in) { return in[0]; }),
              .dims = {2},
              .loads = {{DType::int32, {1}}},
              .stores = {{DType::float32, {1}}},
              .reductions = {}};
    try {
        verify(loop);
        FAIL();
    } catch (const InternalError& error) {
        EXPECT_STREQ(error.what(), "loop: load 0 reads int32 for an input of float32");
    }
}

}  // namespace
}  // namespace weft
