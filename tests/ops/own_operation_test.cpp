// What a user writes to add an operation is this file alone: two records outside of weft. The matrix (matrix_test.cpp) grows by
// their rows without a word there.
#include <gtest/gtest.h>

#include <set>

#include "must_fail.h"
#include "weft/autodiff/transform.h"
#include "weft/check/check.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"

using weft::Scalar;

WEFT_COMPOSITE(
    mish2, .doc = "x tanh(softplus(x)) (Misra, 2019).", .body = [](Scalar x) { return x * tanh(log1p(exp(x))); })
WEFT_BINARY(
    smooth_distance, .doc = "sqrt(1 + (a - b)**2).", .dtype = weft::inexact,
    .body = [](Scalar a, Scalar b) { return sqrt(1 + (a - b) * (a - b)); },
    .partial = {[](Scalar a, Scalar b, Scalar y) { return (a - b) / y; },
                [](Scalar a, Scalar b, Scalar y) { return (b - a) / y; }},
    .oracle = [](long double a, long double b) { return std::sqrt(1 + (a - b) * (a - b)); }, .ulp = 3)

namespace {

// The names of the matrix' rows for one operation, as they will be run.
std::set<std::string> rows(const std::string& operation) {
    std::set<std::string> found;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int s = 0; s < all.total_test_suite_count(); ++s) {
        const testing::TestSuite& suite = *all.GetTestSuite(s);
        for (int t = 0; t < suite.total_test_count(); ++t) {
            std::string name = suite.GetTestInfo(t)->name(), start = "holds/" + operation + "__";
            if (name.starts_with(start)) found.insert(name.substr(start.size()));
        }
    }
    return found;
}

TEST(OwnOperation, is_in_the_registry_and_in_the_matrix) {
    EXPECT_EQ(weft::find_operation("mish2"), &mish2_operation);
    EXPECT_EQ(rows("mish2"), (std::set<std::string>{"values", "layouts", "specials", "fusion", "refusals",
                                                    "derivatives", "second_derivatives", "maps"}));
    EXPECT_EQ(rows("smooth_distance"),
              (std::set<std::string>{"values", "layouts", "specials", "accuracy", "promotion", "fusion", "refusals",
                                     "derivatives", "second_derivatives", "maps"}));
}

TEST(OwnOperation, has_shape_checks_a_value_and_a_gradient) {
    weft::Tensor x = weft::Tensor::of<double>({-1, 0, 2});
    EXPECT_NEAR(mish2(x).to_vector<double>()[2], 2 * std::tanh(std::log1p(std::exp(2.0))), 1e-15);
    EXPECT_NEAR(weft::grad([](const weft::Tensor& x) { return sum(mish2(x)); })(x).to_vector<double>()[1], 0.6, 1e-15);
    EXPECT_THROW(smooth_distance(x, weft::Tensor::of<double>({1, 2})), weft::ShapeError);
    EXPECT_EQ(smooth_distance(weft::Tensor::of<std::int32_t>({1}), 1).dtype(), weft::float32);
}

TEST(OwnOperation, has_up_to_eight_operands) {
    auto sum_of = [](int operands) {
        weft::Operation operation;
        operation.name = "sum_of_all", operation.arity = operands;
        operation.infer = weft::infer_elementwise, operation.takes = weft::real_number;
        operation.body = [](std::span<const Scalar> x, const weft::Attributes*) {
            Scalar sum = x[0];
            for (const Scalar& one : x.subspan(1)) sum = sum + one;
            return sum;
        };
        return operation;
    };
    weft::Operation eight = sum_of(8), nine = sum_of(9);
    std::vector<weft::Operand> x(9, weft::Tensor::of<double>({1, 2}));
    weft::Tensor found = weft::apply(eight, std::span<const weft::Operand>(x).first(8));
    EXPECT_EQ(found.to_vector<double>(), (std::vector<double>{8, 16}));
    EXPECT_PLAIN_MESSAGE(ValueError,
                         "sum_of_all: an elementwise operation has at most 8 operands, not 9; make it of several",
                         weft::apply(nine, std::span<const weft::Operand>(x)));
    std::vector<weft::Tensor> tensors(9, weft::Tensor::of<double>({1, 2}));
    EXPECT_THROW((void)weft::make_node(nine, tensors, nullptr, std::source_location::current()), weft::ValueError);
}

TEST(OwnOperation, is_checked_by_one_call) {
    testing::internal::CaptureStdout();
    int status = weft::check("mish2");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "mish2: 8 checks, 0 failed\n");
    EXPECT_EQ(status, 0);
}

}  // namespace
