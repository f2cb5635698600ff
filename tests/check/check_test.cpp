// The judge is judged: records that are wrong in one way each, and what the matrix says of them.
#include "weft/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "must_fail.h"
#include "weft/check/cases.h"
#include "weft/check/compare.h"
#include "weft/ops/elementwise.h"

using testing::HasSubstr;
using weft::Scalar;

WEFT_UNARY(
    wrong_value, .doc = "sin, but for its oracle.", .dtype = weft::inexact, .body = [](Scalar x) { return sin(x); },
    .partial = {[](Scalar x, Scalar) { return cos(x); }}, .oracle = [](long double x) { return std::cos(x); })
WEFT_UNARY(
    wrong_slope, .doc = "sin, but for its derivative.", .dtype = weft::inexact, .body = [](Scalar x) { return sin(x); },
    .partial = {[](Scalar x, Scalar) { return cos(x) + 1e-3; }})
WEFT_UNARY(
    wrong_types, .doc = "Says that it takes complex numbers, and compares them.", .takes = weft::any_number,
    .body = [](Scalar x) { return select(x < 0, x, x); }, .partial = {[](Scalar, Scalar) { return Scalar(1); }})

namespace weft {
namespace {

Failures failures(std::string_view operation, std::string_view check) {
    for (const Check& one : all_checks()) {
        if (one.name == check) return one.run(*find_operation(operation));
    }
    return {"no such check"};
}

TEST(Check, a_value_that_is_not_its_oracles_is_found) {
    EXPECT_THAT(failures("wrong_value", "accuracy"), testing::SizeIs(4));
    EXPECT_THAT(failures("wrong_value", "accuracy")[2], HasSubstr("units, allowed 1"));
    EXPECT_THAT(failures("wrong_value", "values"), testing::IsEmpty());
}

TEST(Check, a_derivative_that_is_off_by_a_thousandth_is_found) {
    EXPECT_THAT(failures("wrong_slope", "derivatives"), testing::Not(testing::IsEmpty()));
    EXPECT_THAT(failures("wrong_slope", "derivatives")[0], HasSubstr("differences give"));
}

TEST(Check, a_body_that_does_not_take_what_the_record_says_is_found) {
    EXPECT_THAT(failures("wrong_types", "values"), testing::Not(testing::IsEmpty()));
}

TEST(Check, prints_what_fails_and_says_so_in_its_status) {
    testing::internal::CaptureStdout();
    int status = check("wrong_slope");
    std::string printed = testing::internal::GetCapturedStdout();
    EXPECT_EQ(status, 1);
    EXPECT_THAT(printed, HasSubstr("derivatives: wrong_slope float64(5,): output 0 at 0: derivative "));
    EXPECT_THAT(printed, testing::EndsWith("wrong_slope: 8 checks, 1 failed\n"));
}

TEST(Check, names_the_nearest_operation) {
    EXPECT_PLAIN_MESSAGE(ValueError, "check: there is no operation 'sigmiod'; did you mean 'sigmoid'?",
                         check("sigmiod"));
}

TEST(Draw, is_the_same_everywhere) {
    Draw draw("a seed");
    EXPECT_EQ(draw.bits(), Draw("a seed").bits());
    EXPECT_NE(Draw("a seed").bits(), Draw("another").bits());
}

TEST(LaidOut, shows_the_same_numbers_in_every_form) {
    Draw draw("forms");
    for (const Dims& dims : {Dims{}, Dims{0}, Dims{5}, Dims{3, 4}, Dims{2, 0, 3}, Dims{2, 3, 4}}) {
        Array array = draw.array(DType::float32, dims);
        for (Form form : all_forms) {
            Array laid = laid_out(array, form);
            if (form == Form::repeated)
                EXPECT_EQ(laid.dims, array.dims);
            else
                EXPECT_EQ(difference(array, laid), "") << name_of(form) << ' ' << dims;
        }
    }
    EXPECT_EQ(laid_out(Array::zeros(DType::float32, {3, 4}), Form::transposed).strides, (Dims{1, 3}));
    EXPECT_EQ(laid_out(Array::zeros(DType::float32, {3, 4}), Form::strided).strides, (Dims{16, 2}));
    EXPECT_EQ(laid_out(Array::zeros(DType::float32, {3, 4}), Form::reversed).strides, (Dims{-4, -1}));
    EXPECT_EQ(laid_out(Array::zeros(DType::float32, {3, 4}), Form::repeated).strides, (Dims{0, 1}));
}

TEST(Difference, tells_zeros_apart_and_nans_not) {
    Array a = Array::from(std::vector<float>{0.0f, std::nanf("")}, {2}),
          b = Array::from(std::vector<float>{-0.0f, -std::nanf("1")}, {2});
    EXPECT_EQ(difference(a, a), "");
    EXPECT_EQ(difference(a, b), "at (0,) of float32(2,): -0 in place of 0");
    EXPECT_EQ(difference(a, b, 0, 0), "");
    EXPECT_EQ(difference(a, Array::zeros(DType::float64, {2})), "dtype float64 in place of float32");
    EXPECT_EQ(difference(a, Array::zeros(DType::float32, {1})), "shape (1,) in place of (2,)");
}

}  // namespace
}  // namespace weft
