// Convolutions with what is made of their images: one step, the values of the steps one by one.
#include "compile/programs.h"
#include "effort.h"
#include "weft/autodiff/derivative.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/ops/window.h"

namespace weft {
namespace {

// The kinds of steps, "rows(window map window) reduce": what a plan is made of.
std::string form(const Graph& graph, const std::vector<Step>& steps) {
    std::string result;
    for (const Step& step : steps) {
        if (!result.empty()) result += " ";
        if (step.kind == Step::rows)
            result += text("rows(", form(graph, step.parts), ")");
        else if (step.kind == Step::library)
            result += name_of(graph.node(step.space).operation->family);
        else
            result += step.kind == Step::map ? "map" : step.kind == Step::reduce ? "reduce" : "copy";
    }
    return result;
}
std::string form(const std::vector<Tensor>& outputs) {
    KeepPending keep;
    Graph graph = rewritten_graph(outputs);
    return form(graph, make_plan(graph).steps);
}

struct Pictures {
    Tensor x, w, bias, gain, y;  // y: like conv2d(x, w), padded to the size of x
};

Pictures operands(std::int64_t images, std::int64_t in, std::int64_t out, std::int64_t size, DType dtype) {
    return {numbers("x", {images, in, size, size}, dtype), numbers("w", {out, in, 3, 3}, dtype),
            numbers("b", {out}, dtype), numbers("g", {out, 1, 1}, dtype),
            numbers("y", {images, out, size, size}, dtype)};
}
Tensor convolved(const Pictures& o) { return conv2d(o.x, o.w, o.bias, {.padding = {1}}); }

using PicturesForm = Tensor (*)(const Pictures&);
struct Case {
    const char *name, *form;
    PicturesForm program;
};
const std::vector<Case> followed{
    {"bias and relu", "rows(window map)", [](const Pictures& o) { return relu(convolved(o)); }},
    {"bias, relu and pooling", "rows(window map window)",
     [](const Pictures& o) { return max_pool2d(relu(convolved(o)), {2}); }},
    {"a residual", "rows(window map)", [](const Pictures& o) { return relu(convolved(o) + o.y); }},
    {"scale and shift of channels", "rows(window map)",
     [](const Pictures& o) { return tanh(conv2d(o.x, o.w, {}, {.padding = {1}}) * o.gain + o.gain); }},
    {"the mean of each channel", "rows(window reduce constant map)",
     [](const Pictures& o) {
         return mean(relu(convolved(o)), Axes{2, 3});
     }},
    {"what is read is made before", "rows(map window map)",
     [](const Pictures& o) { return sigmoid(conv2d(exp(o.x) * 0.5, o.w, {}, {.padding = {1}})); }},
    {"the transposed convolution", "rows(window map)",
     [](const Pictures& o) { return relu(conv_transpose2d(o.y, o.w, {}, {.padding = {1}})); }},
    {"groups and strides", "rows(window map)",
     [](const Pictures& o) {
         std::int64_t channels = o.w.shape()[0].value();
         Tensor each = slice(o.w, {0, 0, 0, 0}, {channels, 1, 3, 3});
         return relu(conv2d(o.y, each, o.bias, {.stride = {2}, .groups = channels}));
     }},
};

TEST(Images, what_follows_a_convolution_is_one_step_with_it) {
    for (const Case& c : followed) {
        SCOPED_TRACE(c.name);
        for (std::int64_t images : {1, 3, 40})
            EXPECT_EQ(form({c.program(operands(images, 2, 4, 8, DType::float32))}), c.form);
    }
}

TEST(Images, blocks_give_the_values_of_the_steps_one_by_one) {
    for (const Case& c : followed) {
        for (DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
            // One block; blocks of several images and a shorter last one; blocks of a single image, which under sanitizers has fewer channels.
            const std::int64_t many = share_under_sanitizers > 1 ? 12 : 24;
            for (auto [images, in, out, size] :
                 {std::array<std::int64_t, 4>{3, 2, 4, 8}, {37, 3, 16, 12}, {4, many, 24, 20}}) {
                bool plain_loops = dtype == DType::bfloat16 || share_under_sanitizers > 1;
                if (size * images > 100 && plain_loops) continue;  // seconds each, most of them the oracle's
                if (size == 20 && dtype != DType::float32) continue;
                SCOPED_TRACE(text(c.name, " ", dtype, " ", images));
                KeepPending keep;
                expect_values({c.program(operands(images, in, out, size, dtype))}, 9 * 24);
            }
        }
    }
}

TEST(Images, a_weight_with_as_many_rows_as_there_are_images_is_no_image) {
    for (std::int64_t images : {4, 20}) {
        if (images > 4 && share_under_sanitizers > 1) continue;  // minutes
        Pictures o = operands(images, images, images, 6, DType::float32);
        KeepPending keep;
        // The weight is made; so is a value of the images' shape that is used as one.
        Tensor weights = tanh(o.w);
        expect_values({relu(conv2d(o.x, weights, o.bias, {.padding = {1}}))}, 9 * 20);
        Tensor square = numbers("s", {images, images, 3, 3});
        expect_values({relu(conv2d(square, square, o.bias, {.padding = {1}})) + square}, 9 * 20);
        Tensor made = tanh(square);
        expect_values({relu(conv2d(made, made, o.bias, {.padding = {1}}))}, 9 * 20);
        Tensor twice = conv2d(square, square, {}, {.padding = {1}});
        expect_values({relu(conv2d(twice, twice, {}, {.padding = {1}}))}, 9 * 20 * 20);
    }
}

TEST(Images, a_training_step_has_the_same_gradients) {
    Pictures o = operands(share_under_sanitizers > 1 ? 5 : 21, 3, 16, 16, DType::float32);
    Tensor second = numbers("v", {8, 16, 3, 3});
    KeepPending keep;
    Tensor h = max_pool2d(relu(convolved(o)), {2});
    Tensor loss = sum(square(avg_pool2d(relu(conv2d(h, second, {}, {.padding = {1}})), {2})));
    std::vector<Tensor> all = gradient(loss, {{o.w, o.bias, second, o.x}});
    all.push_back(loss);
    expect_values(all, 1e5);
}

}  // namespace
}  // namespace weft
