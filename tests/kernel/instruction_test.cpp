// Instructions keep a constant's number, or a call's function, in sixteen bytes: whatever kind it is, to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "weft/kernel/builder.h"
#include "weft/kernel/function.h"

namespace weft {
namespace {

TEST(Instruction, keeps_numbers_of_every_kind_to_the_bit) {
    Literal numbers[] = {true,
                         false,
                         std::int64_t{-1},
                         std::numeric_limits<std::int64_t>::min(),
                         std::numeric_limits<std::uint64_t>::max(),
                         0.0,
                         -0.0,
                         0.1,
                         std::numeric_limits<double>::infinity(),
                         std::nan("17"),
                         std::complex<double>(-0.0, 2.5),
                         std::complex<double>(1, std::nan("3"))};
    for (const Literal& number : numbers)
        EXPECT_TRUE(Instruction::constant(DType::float64, number).literal().same(number)) << number;
}

TEST(Instruction, numbers_that_are_not_the_same_to_the_bit_are_different_constants) {
    auto of = [](const Literal& number) { return Instruction::constant(DType::complex128, number); };
    EXPECT_TRUE(of(std::nan("1")) == of(std::nan("1")));
    EXPECT_FALSE(of(0.0) == of(-0.0));
    EXPECT_FALSE(of(0.0) == of(std::int64_t{0}));
    EXPECT_FALSE(of(1.0) == of(std::complex<double>(1)));
    EXPECT_FALSE(of(std::complex<double>(1, 0.0)) == of(std::complex<double>(1, -0.0)));
}

TEST(Instruction, is_a_call_of_a_function_or_of_none) {
    ProgramBuilder builder;
    Scalar x = builder.input(DType::float32);
    builder.output(exp(x) * 2);
    for (const Instruction& at : builder.take().code) {
        bool calls = at.opcode == Opcode::call;
        ASSERT_EQ(at.function() != nullptr, calls) << name_of(at.opcode);
        if (calls) {
            EXPECT_EQ(at.function()->name, "exp");
        }
    }
}

TEST(Builder, what_it_expects_is_a_hint) {
    for (std::size_t expected : {0, 1, 1000}) {
        ProgramBuilder builder;
        builder.expect(expected);
        Scalar sum = builder.input(DType::float64);
        for (int i = 0; i < 100; ++i) sum = (sum + i) + (sum + i);
        builder.output(sum);
        EXPECT_EQ(builder.take().code.size(), 301u)
            << expected;  // the input, and of each turn a number, a sum, its double
    }
}

}  // namespace
}  // namespace weft
