#include "weft/runtime/debug.h"

#include <gtest/gtest.h>

#include <limits>

#include "message.h"
#include "weft/graph/parameter.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/rewrite/rule.h"
#include "weft/runtime/function.h"

namespace weft {
namespace {

class Debug : public testing::Test {
  protected:
    void TearDown() override { debug(""); }
    Tensor x_ = Tensor::of<float>({2, 0.5f, -1});
};

TEST_F(Debug, nan_names_the_first_operation_that_made_one) {
    debug("nan");
    Tensor y = sum(sqrt(log(x_) * 2));
    std::string said = message<ValueError>([&] { y.item<float>(); });
    EXPECT_EQ(said.substr(0, said.find('\n')),
              "debug mode nan: log float32 (3,) gives nan at element 2, from finite numbers: -1");
    EXPECT_NE(said.find("debug_test.cpp:"), std::string::npos) << said;
    EXPECT_EQ(first_line<ValueError>([&] { (x_ / (x_ - 2)).eval(); }),
              "debug mode nan: divide float32 (3,) gives inf at element 0, from finite numbers: 2, 0");
}

TEST_F(Debug, nan_says_nothing_of_what_no_result_shows) {
    debug("nan");
    EXPECT_EQ(where(x_ > 0, log(x_), 0).to_vector<float>()[2], 0);
    Tensor masked = Tensor::of<float>({0, -std::numeric_limits<float>::infinity()});
    EXPECT_EQ(exp(masked).to_vector<float>()[1], 0);
}

TEST_F(Debug, nan_names_a_leaf_that_held_it_from_the_start) {
    debug("nan");
    Tensor bad = Tensor::of<float>({1, std::numeric_limits<float>::quiet_NaN()});
    EXPECT_EQ(first_line<ValueError>([&] { (bad + 1).eval(); }),
              "debug mode nan: array float32 (2,) holds nan at element 1, and a result does so too");
}

TEST_F(Debug, nan_stops_a_compiled_function_before_its_cells_change) {
    Parameter weight(Tensor::of<float>({1, 0}));
    CompiledFunction step([&](std::span<const Tensor> in) {
        weight.set(log(weight.value() * in[0]));
        return std::vector<Tensor>{sum(weight.value())};
    });
    debug("nan");
    Tensor in[] = {Tensor::of<float>({1, 1})};
    EXPECT_EQ(first_line<ValueError>([&] { step(in); }),
              "debug mode nan: log float32 (2,) gives -inf at element 1, from finite numbers: 0");
    EXPECT_EQ(weight.value().to_vector<float>(), (std::vector<float>{1, 0}));
}

TEST_F(Debug, rewrites_names_a_wrong_rule) {
    register_rule(rule(
        "planted", Phase::canonical, [](auto x) { return cosh(x); }, [](auto x) { return sinh(x); }));
    debug("rewrites");
    std::string said = first_line<InternalError>([&] { cosh(x_).eval(); });
    remove_rule("planted");
    EXPECT_NE(said.find("debug mode rewrites: planted"), std::string::npos) << said;
    EXPECT_NO_THROW((cosh(x_) + log(1 + exp(x_))).eval());
}

TEST_F(Debug, trace_prints_each_operation_with_what_it_gives) {
    debug("trace");
    testing::internal::CaptureStderr();
    (x_ * 2 + 1).eval();
    std::string shown = testing::internal::GetCapturedStderr();
    EXPECT_NE(shown.find("multiply"), std::string::npos) << shown;
    EXPECT_NE(shown.find("-1 .. 5, mean 2"), std::string::npos) << shown;
    EXPECT_NE(shown.find("debug_test.cpp:"), std::string::npos) << shown;
}

TEST_F(Debug, unknown_modes_are_refused) {
    EXPECT_EQ(message<ValueError>([] { debug("nan,rewrite"); }),
              "WEFT_DEBUG: there is no mode 'rewrite'; did you mean 'rewrites'?");
}

}  // namespace
}  // namespace weft
