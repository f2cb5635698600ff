// A function's Programs, run by the interpreter, give the bits of its element body.
#include "weft/kernel/function_program.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "effort.h"
#include "numpy_ulps.h"
#include "weft/kernel/interpreter.h"

namespace weft {
namespace {

/// Equal to the bit; NaN is NaN.
template <class T>
bool same(T a, T b) {
    return std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(b) || (std::isnan(a) && std::isnan(b));
}

/// Every exponent, small numbers, and the edges.
template <class T>
T argument(std::mt19937_64& random) {
    using L = std::numeric_limits<T>;
    static const T edges[] = {
        0, L::denorm_min(), L::min(), std::nextafter(L::min(), T{0}), L::epsilon(), L::max(), L::infinity(),
        1, L::quiet_NaN(),  T(0.5)};
    switch (random() % 8) {
        case 0: {
            T edge = edges[random() % std::size(edges)];
            return random() % 2 ? -edge : edge;
        }
        case 1:
        case 2:
        case 3:
            return static_cast<T>(std::uniform_real_distribution<double>(-20, 20)(random));
        default:
            return std::bit_cast<T>(static_cast<BitsOf<T>>(random()));
    }
}

template <class T>
T body_of(const Function& function, const T* operands) {
    if constexpr (sizeof(T) == 4)
        return function.f32(operands);
    else
        return function.f64(operands);
}

template <class T>
void programs_agree_with_the_body(const Function& function) {
    const Program* whole = program_of(function, dtype_of<T>);
    const Program* common = common_program_of(function, dtype_of<T>);
    ASSERT_EQ(whole == nullptr, common == nullptr) << function.name;
    if (!whole) return;
    ASSERT_EQ(whole->inputs.size(), static_cast<std::size_t>(function.arity));
    ASSERT_EQ(whole->outputs.size(), 1u);
    std::mt19937_64 random(7);
    int wrong = 0;
    for (std::uint64_t i = 0; i < cases(30000, 1000000) && wrong < 3; ++i) {
        T operands[] = {argument<T>(random), argument<T>(random), argument<T>(random)};
        T expected = body_of(function, operands), value = 0, quick = 0;
        bool rare = false;
        const void* inputs[] = {&operands[0], &operands[1], &operands[2]};
        void* outputs[] = {&value};
        interpret(*whole, inputs, outputs);
        void* quick_outputs[] = {&quick, &rare};
        rare = i % 4 != 0;  // of the common program, a quarter is enough
        if (!rare) interpret(*common, inputs, quick_outputs);
        wrong += !same(value, expected) || (!rare && !same(quick, expected));
        EXPECT_TRUE(same(value, expected)) << function.name << '(' << operands[0] << ", " << operands[1] << ')';
        EXPECT_TRUE(rare || same(quick, expected))
            << function.name << '(' << operands[0] << ", " << operands[1] << "), the common program";
    }
}

TEST(FunctionProgram, programs_of_float32_give_the_bits_of_the_body) {
    for (const Function* function : all_functions()) programs_agree_with_the_body<float>(*function);
}

TEST(FunctionProgram, programs_of_float64_give_the_bits_of_the_body) {
    for (const Function* function : all_functions()) programs_agree_with_the_body<double>(*function);
}

TEST(FunctionProgram, is_made_once) {
    EXPECT_NE(program_of(exp_function, DType::float32), nullptr);
    EXPECT_EQ(program_of(exp_function, DType::float32), program_of(exp_function, DType::float32));
    EXPECT_EQ(program_of(exp_function, DType::complex64), nullptr);
}

}  // namespace
}  // namespace weft
