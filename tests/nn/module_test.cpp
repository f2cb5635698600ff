// A module names its parts: parameters, state, loading and printing follow.
#include "weft/nn/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "message.h"
#include "weft/nn/activation.h"
#include "weft/nn/convolution.h"
#include "weft/nn/dropout.h"
#include "weft/nn/linear.h"
#include "weft/nn/normalization.h"
#include "weft/nn/pooling.h"
#include "weft/nn/sequential.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"

namespace weft::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names(const std::vector<Parameter>& cells) {
    std::vector<std::string> result;
    for (const Parameter& cell : cells) result.push_back(cell.name());
    return result;
}

struct Mlp {
    Linear fc1{4, 3}, fc2{3, 2};
    Tensor operator()(const Tensor& x) const { return fc2(relu(fc1(x))); }
    template <class Visitor>
    void members(Visitor& visit) {
        visit("fc1", fc1), visit("fc2", fc2);
    }
};

struct Everything {
    std::vector<Linear> stack;
    std::optional<Linear> absent, present;
    std::shared_ptr<Mlp> shared = std::make_shared<Mlp>();
    std::unique_ptr<BatchNorm1d> norm = std::make_unique<BatchNorm1d>(2);
    Parameter scale{Tensor(1.0f)};
    Everything() {
        stack.emplace_back(1, 1, LinearOptions{.bias = false});
        stack.emplace_back(1, 1);
        present.emplace(2, 2, LinearOptions{.bias = false});
    }
    template <class Visitor>
    void members(Visitor& visit) {
        visit("stack", stack), visit("absent", absent), visit("present", present), visit("shared", shared),
            visit("norm", norm);
        visit("scale", scale);
    }
};

TEST(Module, parameters_are_named_by_their_path_in_order) {
    Mlp model;
    EXPECT_THAT(names(parameters(model)), ElementsAre("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"));
    EXPECT_EQ(parameters(model)[0].shape(), (Shape{3, 4}));
    EXPECT_EQ(parameter_count(model), 3 * 4 + 3 + 2 * 3 + 2);
}

TEST(Module, every_kind_of_part_is_visited) {
    Everything model;
    EXPECT_THAT(names(state(model)),
                ElementsAre("stack.0.weight", "stack.1.weight", "stack.1.bias", "present.weight", "shared.fc1.weight",
                            "shared.fc1.bias", "shared.fc2.weight", "shared.fc2.bias", "norm.weight", "norm.bias",
                            "norm.running_mean", "norm.running_var", "norm.num_batches_tracked", "scale"));
    EXPECT_EQ(parameters(model).size(), state(model).size() - 3);  // running statistics are not trained
}

TEST(Module, frozen_cells_are_state_but_not_parameters) {
    Mlp model;
    model.fc1.weight.freeze();
    EXPECT_THAT(names(parameters(model)), ElementsAre("fc1.bias", "fc2.weight", "fc2.bias"));
    EXPECT_EQ(state(model).size(), 4u);
}

TEST(Module, a_shared_cell_counts_once_and_stands_under_both_names) {
    struct Tied {
        Linear a{2, 2}, b{2, 2};
        Tied() { b.weight = a.weight; }
        void members(Visitor& visit) { visit("a", a), visit("b", b); }
    } model;
    EXPECT_THAT(names(parameters(model)), ElementsAre("a.weight", "a.bias", "b.bias"));
    EXPECT_EQ(named(model)[2].name, "b.weight");
}

TEST(Module, the_longest_path_names_a_cell_whatever_was_asked_first) {
    Mlp model;
    EXPECT_THAT(names(parameters(model.fc1)), ElementsAre("weight", "bias"));
    EXPECT_THAT(names(parameters(model)), ElementsAre("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"));
    EXPECT_EQ(model.fc1.weight.name(), "fc1.weight");
    parameters(model.fc1);
    EXPECT_EQ(model.fc1.weight.name(), "fc1.weight");
}

TEST(Module, state_names_and_shapes_are_PyTorchs) {
    Sequential model(Conv2d(1, 4, 3), BatchNorm2d(4), ReLU(), MaxPool2d(2), Flatten(), Linear(4, 10));
    std::vector<std::string> lines;
    for (const Parameter& cell : state(model)) lines.push_back(text(cell.name(), ' ', cell.shape(), ' ', cell.dtype()));
    EXPECT_THAT(lines,
                ElementsAre("0.weight (4, 1, 3, 3) float32", "0.bias (4,) float32", "1.weight (4,) float32",
                            "1.bias (4,) float32", "1.running_mean (4,) float32", "1.running_var (4,) float32",
                            "1.num_batches_tracked () int64", "5.weight (10, 4) float32", "5.bias (10,) float32"));
}

NamedArrays arrays_of(ModuleRef model) {
    NamedArrays arrays;
    for (const NamedParameter& entry : named(model)) arrays[entry.name] = entry.parameter.value().array();
    return arrays;
}

TEST(LoadState, sets_every_cell) {
    Mlp from, to;
    load_state(to, arrays_of(from));
    EXPECT_EQ(to.fc2.weight.value().to_vector<float>(), from.fc2.weight.value().to_vector<float>());
}

TEST(LoadState, names_what_is_missing_and_unexpected_and_changes_nothing) {
    Mlp model;
    std::vector<float> before = model.fc1.weight.value().to_vector<float>();
    NamedArrays arrays = arrays_of(Mlp());
    arrays["fc3.bias"] = arrays["fc2.bias"];
    arrays.erase("fc2.bias");
    EXPECT_EQ(message<ValueError>([&] { load_state(model, arrays); }),
              "load_state: the state does not fit the model; missing: 'fc2.bias'; unexpected: 'fc3.bias'; did you mean "
              "'fc1.bias'?");
    arrays = arrays_of(Mlp());
    arrays["fc2.weight"] = Array::zeros(DType::float32, {2, 4});
    EXPECT_EQ(message<ShapeError>([&] { load_state(model, arrays); }),
              "load_state: 'fc2.weight' has shape (2, 4) in the state, (2, 3) in the model");
    arrays["fc2.weight"] = Array::zeros(DType::float64, {2, 3});
    EXPECT_EQ(message<DTypeError>([&] { load_state(model, arrays); }),
              "load_state: 'fc2.weight' holds float64 in the state, float32 in the model; convert one of them");
    EXPECT_EQ(model.fc1.weight.value().to_vector<float>(), before);
}

TEST(Summary, prints_the_tree_with_settings_shapes_and_counts) {
    Mlp model;
    model.fc2.bias->freeze();
    EXPECT_EQ(summary(model),
              "Mlp()\n"
              "  fc1: Linear(in_features=4, out_features=3)\n"
              "    weight float32 (3, 4)\n"
              "    bias float32 (3,)\n"
              "  fc2: Linear(in_features=3, out_features=2)\n"
              "    weight float32 (2, 3)\n"
              "    bias float32 (2,), not trained\n"
              "23 numbers, 21 of them trained\n");
}

TEST(Errors, name_the_layer_by_its_path) {
    Mlp model;
    parameters(model);
    EXPECT_THAT(message<ShapeError>([&] {
                    model(ones({5, 7}));
                }),
                HasSubstr("Linear: the input has shape (5, 7), but its last axis must hold 4 features\n  in fc1\n"));
}

TEST(Sequential, applies_its_modules_in_order_and_takes_functions_and_structs) {
    Sequential model(
        Mlp(), [](const Operand& x) { return x * 0; }, Identity());
    model.add(static_cast<Tensor (*)(const Operand&)>(relu), "end");
    EXPECT_EQ(model.size(), 4u);
    EXPECT_EQ(model(ones({5, 4})).shape(), (Shape{5, 2}));
    EXPECT_THAT(names(parameters(model)), ElementsAre("0.fc1.weight", "0.fc1.bias", "0.fc2.weight", "0.fc2.bias"));
    ASSERT_NE(model[0].get<Mlp>(), nullptr);
    EXPECT_EQ(model[0].get<Linear>(), nullptr);
    EXPECT_EQ(message<ValueError>([&] { model.add(Identity(), "end"); }),
              "Sequential: a module named 'end' is there already; names must differ");
    Sequential nested(Sequential(Linear(4, 4)), Linear(4, 1));
    EXPECT_THAT(names(parameters(nested)), ElementsAre("0.0.weight", "0.0.bias", "1.weight", "1.bias"));
}

TEST(Activation, is_found_by_name_among_the_operations) {
    EXPECT_EQ(activation("relu")(Tensor::of<float>({-1, 2})).to_vector<float>(), (std::vector<float>{0, 2}));
    EXPECT_EQ(message<ValueError>([] { activation("rellu"); }),
              "no elementwise function is called 'rellu'; did you mean 'relu'?");
}

TEST(TypeName, is_the_bare_name) {
    EXPECT_EQ(type_name<Mlp>(), "Mlp");
    EXPECT_EQ(type_name<std::vector<std::vector<int>>>(), "vector");
    auto lambda = [] {};
    EXPECT_EQ(type_name<decltype(lambda)>(), "function");
}

}  // namespace
}  // namespace weft::nn
