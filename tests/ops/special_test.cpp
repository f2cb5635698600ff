// Special functions as operations: what the operation matrix and NumPy's judge do not ask.
#include <gtest/gtest.h>

#include "refusal.h"
#include "weft/weft.h"

namespace weft {
namespace {

Tensor number(double x) { return Tensor(x, DType::float64); }

TEST(SpecialOperations, hyp2f1_is_what_closed_forms_give) {
    // DLMF 15.4: logarithms, powers, arc tangents; a polynomial; Gauss's theorem at 1; a logarithmic case next to 1.
    EXPECT_NEAR(special::hyp2f1(number(1), number(1), number(2), number(0.5)).item<double>(), 2 * std::log(2.0), 1e-15);
    EXPECT_NEAR(special::hyp2f1(number(1), number(1), number(2), number(-8)).item<double>(), std::log(9.0) / 8, 1e-16);
    EXPECT_NEAR(special::hyp2f1(number(0.5), number(1), number(1.5), number(-1)).item<double>(), std::atan(1.0), 1e-15);
    EXPECT_NEAR(special::hyp2f1(number(2.5), number(3), number(3), number(0.75)).item<double>(), 32, 1e-13);
    EXPECT_EQ(special::hyp2f1(number(-2), number(3), number(1), number(2)).item<double>(), 13);
    EXPECT_NEAR(special::hyp2f1(number(0.5), number(0.5), number(1.5), number(1)).item<double>(), std::acos(0.0),
                1e-15);
    EXPECT_NEAR(special::hyp2f1(number(1), number(1), number(2), number(1 - 0x1p-30)).item<double>(),
                30 * std::log(2.0) / (1 - 0x1p-30), 1e-12);
    EXPECT_EQ(special::hyp2f1(number(1), number(1), number(1), number(1)).item<double>(),
              std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(special::hyp2f1(number(1), number(1), number(1.5), number(2)).item<double>()));
}

TEST(SpecialOperations, hyp2f1_is_differentiated_in_its_argument_alone) {
    Tensor a = number(1), x = number(0.5), value = special::hyp2f1(a, number(1), number(2), x);
    // of -log(1 - x) / x
    EXPECT_NEAR(gradient(value, x).item<double>(), 1 / (0.5 * 0.5) + std::log(0.5) / 0.25, 1e-14);
    EXPECT_THROW((void)gradient(value, a), NotDifferentiable);
}

TEST(SpecialOperations, multigammaln_of_dimension_1_is_lgamma_and_of_0_refused) {
    EXPECT_EQ(special::multigammaln(number(2.75), 1).item<double>(), lgamma(number(2.75)).item<double>());
    EXPECT_THROW((void)special::multigammaln(number(2.75), 0), ValueError);
}

TEST(SpecialOperations, an_unknown_derivative_is_refused_only_where_it_is_asked_for) {
    Tensor a = number(2.5), x = number(1.5), value = special::gammainc(a, x);
    EXPECT_NEAR(gradient(value, x).item<double>(), std::pow(1.5, 1.5) * std::exp(-1.5) / std::tgamma(2.5), 1e-15);
    EXPECT_REFUSED(NotDifferentiable, gradient(value, a),
                   "gammainc: its derivative in its parameter a is not known; hold that constant with stop_gradient");
}

}  // namespace
}  // namespace weft
