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
    auto said = [](const Loop& wrong) { return message<InternalError>([&] { verify(wrong); }); };
    EXPECT_EQ(said(loop), "loop: store 0 writes all of axis 1 to one place");
    loop.stores[0].strides = {3, std::int64_t{1} << 61};
    EXPECT_EQ(said(loop), "loop: an access with strides (3, 2305843009213693952) over (2, 3) leaves 64 bits");
    loop.dims = {2, -3};
    EXPECT_EQ(said(loop), "loop: the box (2, -3) has a negative size");
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
