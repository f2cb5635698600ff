// Declared functions: updates together, givens, what is refused; derivatives of declared expressions.
#include "weft/runtime/declared.h"

#include <gtest/gtest.h>

#include "../message.h"
#include "weft/autodiff/declared.h"
#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"

namespace weft {
namespace {

float number(const Tensor& x) { return x.item<float>(); }

TEST(Declared, updates_take_effect_together_after_the_outputs) {
    Parameter a(Tensor(1.0f), "a"), b(Tensor(2.0f), "b");
    CompiledFunction swap = function({}, {a.value() + b.value()}, {{a, b.value()}, {b, a.value()}});
    EXPECT_EQ(number(swap({})[0]), 3);
    EXPECT_EQ(number(a.value()), 2);
    EXPECT_EQ(number(b.value()), 1);
}

TEST(Declared, givens_stand_in_the_place_of_inputs_parameters_and_values) {
    Tensor x = input("x", {"n"}), row = ones({3});
    Parameter w(Tensor(2.0f), "w");
    Tensor scaled = x * w.value(), total = sum(exp(scaled));
    FunctionOptions options;
    options.givens = {{x, row}, {w.value(), Tensor(0.0f)}};
    EXPECT_EQ(number(function({}, {total}, {}, options)({})[0]), 3);
    options.givens = {{scaled, x - x}};
    Tensor given[] = {row};
    EXPECT_EQ(number(function({x}, {total}, {}, options)(given)[0]), 3);
}

TEST(Declared, what_does_not_fit_is_refused_by_name) {
    Tensor x = input("x", {}), y = input("y", {});
    Parameter w(ones({2}), "w");
    EXPECT_NE(message<ValueError>([&] { function({x}, {x + y}); }).find("the input 'y' is needed, but is not among"),
              std::string::npos);
    EXPECT_NE(message<ValueError>([&] {
                  function({x, y}, {x});
              }).find("the input 'y' is used by no output"),
              std::string::npos);
    EXPECT_NE(message<ShapeError>([&] {
                  function({x}, {}, {{w, x}});
              }).find("the parameter 'w' has shape (2,)"),
              std::string::npos);
}

TEST(Declared, a_parameter_given_another_value_is_still_what_derivatives_are_taken_of) {
    Parameter w(Tensor(3.0f), "w");
    Tensor x = input("x", {}), loss = x * w.value() * w.value();
    w.set(Tensor(5.0f));
    Tensor slope = gradient(loss, {w}, {})[0];
    Tensor given[] = {Tensor(2.0f)};
    EXPECT_EQ(number(function({x}, {slope})(given)[0]), 20);
}

TEST(Declared, a_known_gradient_takes_the_place_of_what_the_loss_gives) {
    Tensor x = input("x", {}), y = x * x, loss = x * y, given[] = {Tensor(3.0f)};
    Tensor known = gradient(loss, {x}, {.known_grads = {{y, Tensor(10.0f)}}})[0];
    EXPECT_EQ(number(function({x}, {known})(given)[0]), 9 + 10 * 6);
    Tensor held = gradient(loss, {x}, {.consider_constant = {y}})[0];
    EXPECT_EQ(number(function({x}, {held})(given)[0]), 9);
}

}  // namespace
}  // namespace weft
