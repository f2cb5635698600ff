// The layers that `model: sequential:` can name. Input widths are inferred from what reaches a layer; names, defaults and layouts are
// nn/'s, and so PyTorch's. The unary operations of nn::activation_names() come by their own names.
#include "weft/base/error.h"
#include "weft/nn/activation.h"
#include "weft/nn/dropout.h"
#include "weft/nn/linear.h"
#include "weft/nn/normalization.h"
#include "weft/ops/random.h"
#include "weft/ops/view.h"
#include "weft/train/builder.h"
#include "weft/train/layer_options.h"

namespace weft::train {
namespace {

nn::Module make_linear(const Json& o, const LayerPlace& place) {
    if (place.input.empty()) throw ShapeError("linear takes vectors, what reaches it are single numbers");
    nn::Linear layer(place.input.back(), o.at("units").as_integer(),
                     {.bias = o.at("bias").as_bool(), .key = random::key(place.seed)});
    initialise(layer, o, place);
    return layer;
}

nn::Module make_batch_norm(const Json& o, const LayerPlace& place) {
    if (place.input.empty() || place.input.size() > 4)
        throw ShapeError(text("batch_norm takes (channels, sizes...), found ", place.input));
    nn::BatchNormOptions options{.eps = o.at("eps").as_number(), .momentum = o.at("momentum").as_number()};
    if (place.input.size() <= 2) return nn::BatchNorm1d(place.input[0], options);
    if (place.input.size() == 3) return nn::BatchNorm2d(place.input[0], options);
    return nn::BatchNorm3d(place.input[0], options);
}

nn::Module make_layer_norm(const Json& o, const LayerPlace& place) {
    if (place.input.empty()) throw ShapeError("layer_norm takes vectors, what reaches it are single numbers");
    return nn::LayerNorm(place.input.back(), {.eps = o.at("eps").as_number()});
}

nn::Module make_group_norm(const Json& o, const LayerPlace& place) {
    if (place.input.empty())
        throw ShapeError("group_norm takes (channels, sizes...), what reaches it are single numbers");
    return nn::GroupNorm(o.at("groups").as_integer(), place.input[0], {.eps = o.at("eps").as_number()});
}

nn::Module make_embedding(const Json& o, const LayerPlace& place) {
    return nn::Embedding(o.at("count").as_integer(), o.at("units").as_integer(), {.key = random::key(place.seed)});
}

/// Each example in another shape.
struct Reshape {
    Dims shape;
    Tensor operator()(const Operand& x) const {
        Tensor value = x.as_tensor();
        Shape whole{value.shape()[0]};
        for (std::int64_t size : shape) whole.push_back(size);
        return reshape(value, whole);
    }
    template <class V>
    void members(V& visit) {
        visit("shape", shape);
    }
};

nn::Module make_reshape(const Json& o, const LayerPlace& place) {
    Reshape layer;
    for (const Json& item : o.at("shape").items()) layer.shape.push_back(item.as_integer());
    if (element_count(layer.shape) != element_count(place.input)) {
        throw ShapeError(text("reshape to ", layer.shape, " takes ", element_count(layer.shape),
                              " numbers, what reaches it has shape ", place.input));
    }
    return layer;
}

/// Rows first .. last-1 of the first axis behind the batch.
struct Slice {
    std::int64_t first = 0, last = 0;
    Tensor operator()(const Operand& x) const {
        Shape start(x.as_tensor().ndim(), Size(0)), length = x.as_tensor().shape();
        start[1] = first, length[1] = last - first;
        return slice(x, start, length);
    }
    template <class V>
    void members(V& visit) {
        visit("first", first), visit("last", last);
    }
};

nn::Module make_slice(const Json& o, const LayerPlace& place) {
    const Json& range = o.at("range");
    if (range.size() != 2) range.refuse("a range is two integers: [first, beyond the last]");
    Slice layer{range.item(0).as_integer(), range.item(1).as_integer()};
    if (place.input.empty()) throw ShapeError("slice takes vectors, what reaches it are single numbers");
    if (layer.first < 0 || layer.last <= layer.first || layer.last > place.input[0]) {
        range.refuse(text("[", layer.first, ", ", layer.last, "] is no part of the ", place.input[0],
                          " that reach it (shape ", place.input, "); it takes 0 <= first < last <= ", place.input[0]));
    }
    return layer;
}

Option portion(const char* name, double fallback, const char* doc) {
    Option option{name, fallback, doc};
    option.least = 0, option.most = 1;
    return option;
}

std::vector<Part<MakeLayer>> own_layers() {
    Option eps{"eps", 1e-5, "added to the variance"};
    eps.least = 0;
    return {
        {{"linear",
          "each unit a weighted sum of its inputs",
          {size_option("units", "how many outputs"), bias_option(), init_option(), bias_init_option()},
          "units"},
         make_linear},
        {{"batch_norm",
          "mean 0 and deviation 1 over the batch, for each channel (Ioffe and Szegedy, 2015)",
          {eps, portion("momentum", 0.1, "how far the running estimates move")}},
         make_batch_norm},
        {{"layer_norm", "mean 0 and deviation 1 over the last axis of each example (Ba et al., 2016)", {eps}},
         make_layer_norm},
        {{"group_norm",
          "the same over groups of channels (Wu and He, 2018)",
          {size_option("groups", "how many groups"), eps},
          "groups"},
         make_group_norm},
        {{"embedding",
          "a learned vector for each integer",
          {size_option("count", "how many integers there are"), size_option("units", "the length of the vectors")}},
         make_embedding},
        {{"identity", "hands on what it is given"},
         [](const Json&, const LayerPlace&) -> nn::Module { return nn::Identity(); }},
        {{"slice",
          "a part of each example along its first axis: columns, channels",
          {{"range", Json(), "[first, beyond the last]", true, Json::Kind::array}},
          "range"},
         make_slice},
        {{"flatten", "each example one vector"},
         [](const Json&, const LayerPlace&) -> nn::Module { return nn::Flatten(); }},
        {{"reshape",
          "each example in another shape of as many numbers",
          {{"shape", Json(), "the shape, as in [1, 28, 28]", true, Json::Kind::array}},
          "shape"},
         make_reshape},
        {{"softmax", "exponentials that sum to 1 over the last axis"},
         [](const Json&, const LayerPlace&) -> nn::Module { return nn::Softmax(); }},
        {{"log_softmax", "their logarithms"},
         [](const Json&, const LayerPlace&) -> nn::Module { return nn::LogSoftmax(); }},
        {{"leaky_relu",
          "x above 0, negative_slope * x below",
          {{"negative_slope", 0.01, "the slope below 0"}},
          "negative_slope"},
         [](const Json& o, const LayerPlace&) -> nn::Module {
             return nn::LeakyReLU{o.at("negative_slope").as_number()};
         }},
        {{"elu", "x above 0, alpha * (exp(x) - 1) below", {{"alpha", 1.0, "the limit below 0"}}, "alpha"},
         [](const Json& o, const LayerPlace&) -> nn::Module { return nn::ELU{o.at("alpha").as_number()}; }},
    };
}

}  // namespace

Option size_option(const char* name, const char* doc) {
    Option option{name, Json(), doc, true, Json::Kind::integer};
    option.least = 1, option.most = 1e9;
    return option;
}

const std::vector<Part<MakeLayer>>& layers() {
    static const std::vector<Part<MakeLayer>> all = [] {
        std::vector<Part<MakeLayer>> made = own_layers();
        for (Part<MakeLayer>& part : image_layers()) made.push_back(std::move(part));
        for (Part<MakeLayer>& part : layers_of_models(made)) made.push_back(std::move(part));
        for (std::string_view name : nn::activation_names()) {
            auto same = [&](const Part<MakeLayer>& part) { return part.name == name; };
            if (std::any_of(made.begin(), made.end(), same)) continue;
            made.push_back({{std::string(name), text(name, " of each number")},
                            [name](const Json&, const LayerPlace&) { return nn::activation(name); }});
        }
        for (Part<MakeLayer>& part : sequence_layers()) made.push_back(std::move(part));
        for (Part<MakeLayer>& part : generative_layers()) made.push_back(std::move(part));
        for (Part<MakeLayer>& part : learning_layers()) made.push_back(std::move(part));
        for (Part<MakeLayer>& part : layers_of_layers()) made.push_back(std::move(part));
        for (Part<MakeLayer>& part : made) {
            part.options.insert(part.options.end(), layer_options().begin(), layer_options().end());
        }
        return made;
    }();
    return all;
}

}  // namespace weft::train
