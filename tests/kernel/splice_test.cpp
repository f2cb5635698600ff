#include "weft/kernel/splice.h"

#include <gtest/gtest.h>

#include "weft/base/error.h"

namespace weft {
namespace {

TEST(Splice, writes_a_program_into_another) {
    ProgramBuilder of_sum;
    Scalar a = of_sum.input(DType::float32), b = of_sum.input(DType::float32);
    of_sum.output(a + b);
    of_sum.output(a * 2);
    Program sum = of_sum.take();

    ProgramBuilder builder;
    Scalar x = builder.input(DType::float32);
    std::vector<Scalar> inputs{x, x * 2};
    std::vector<Scalar> outputs = splice(builder, sum, inputs);
    ASSERT_EQ(outputs.size(), 2u);
    builder.output(outputs[0] - outputs[1]);
    EXPECT_EQ(text(builder.take()),
              "%0 = input float32 0\n%1 = constant float32 2\n%2 = multiply float32 %0, %1\n"
              "%3 = add float32 %0, %2\n%4 = subtract float32 %3, %2\nreturn %4\n");
}

}  // namespace
}  // namespace weft
