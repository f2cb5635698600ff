// The layers that `model: sequential:` can name. Input widths are inferred from what reaches a layer; names, defaults and layouts are
// nn/'s, and so PyTorch's. The unary operations of nn::activation_names() come by their own names.
#include "weft/base/error.h"
#include "weft/nn/activation.h"
#include "weft/nn/convolution.h"
#include "weft/nn/dropout.h"
#include "weft/nn/linear.h"
#include "weft/nn/normalization.h"
#include "weft/nn/pooling.h"
#include "weft/ops/random.h"
#include "weft/ops/view.h"
#include "weft/train/builder.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

/// One integer, or a list with one for each spatial axis; null: nothing.
Option per_axis(const char* name, Json fallback, const char* doc) {
    Option option{name, std::move(fallback), text(doc, ": an integer, or one for each axis"), false, Json::Kind::null};
    option.required = option.fallback.is_null() && std::string_view(name) == "kernel_size";
    option.several = true;
    option.least = 0, option.most = 1e9;
    return option;
}

const Option init_option = [] {
    Option option{"init", Json(), "of the weights; PyTorch's if left out"};
    option.also = "init";
    return option;
}();
const Option bias_init_option = [] {
    Option option{"bias_init", Json(), "of what is added; 0 where `init` is given, and PyTorch's if both are left out"};
    option.also = "init";
    return option;
}();
const Option bias_option{"bias", true, "whether something is added"};

nn::PerAxis axes_of(const Json& value, int spatial) {
    if (value.is_integer()) return value.as_integer();
    if (static_cast<int>(value.items().size()) != spatial) {
        value.refuse(text("expected an integer, or a list of ", spatial, ", found ", value.describe()));
    }
    Dims dims;
    for (const Json& item : value.items()) dims.push_back(item.as_integer());
    return dims;
}

std::optional<nn::PerAxis> maybe_axes(const Json& value, int spatial) {
    if (value.is_null()) return std::nullopt;
    return axes_of(value, spatial);
}

/// What reaches a layer must have these axes: "conv2d takes (channels, height, width), found (784,)".
void expect(const LayerPlace& place, std::size_t ndim, std::string_view layer, const char* takes) {
    if (place.input.size() == ndim) return;
    throw ShapeError(text(layer, " takes examples of shape ", takes, ", what reaches it has shape ", place.input));
}

void initialise(Parameter& parameter, const Json& init, std::uint64_t seed) {
    Chosen chosen = choose(init, "init");
    parameter.set(chosen.make<MakeInit>()(chosen.options, dims_of(parameter.shape()), seed));
}

/// Who says how weights begin does not mean that what is added begins at random: zero weights give equal scores.
template <class Layer>
void initialise(Layer& layer, const Json& options, const LayerPlace& place) {
    const Json& init = options.at("init");
    const Json* bias_init = options.find("bias_init");
    bool given = bias_init && !bias_init->is_null();
    if (given && !layer.bias)
        bias_init->refuse("`bias: false` leaves nothing to begin with a value; leave one of both out");
    if (!init.is_null()) initialise(layer.weight, init, place.seed);
    if (layer.bias && (given || !init.is_null()))
        initialise(*layer.bias, given ? *bias_init : Json("zeros"), place.seed + 1);
}

nn::Module make_linear(const Json& o, const LayerPlace& place) {
    if (place.input.empty()) throw ShapeError("linear takes vectors, what reaches it are single numbers");
    nn::Linear layer(place.input.back(), o.at("units").as_integer(),
                     {.bias = o.at("bias").as_bool(), .key = random::key(place.seed)});
    initialise(layer, o, place);
    return layer;
}

template <class Layer, int spatial>
nn::Module make_convolution(const Json& o, const LayerPlace& place) {
    static constexpr const char* takes[] = {"(channels, length)", "(channels, height, width)",
                                            "(channels, depth, height, width)"};
    expect(place, spatial + 1, text("conv", spatial, "d"), takes[spatial - 1]);
    const Json& padding = o.at("padding");
    bool same = padding.is_string();
    if (same && padding.as_string() != "same")
        padding.refuse(text("expected a number, or 'same', found ", padding.describe()));
    Layer layer(place.input[0], o.at("channels").as_integer(), axes_of(o.at("kernel_size"), spatial),
                {.stride = axes_of(o.at("stride"), spatial),
                 .padding = same ? nn::PerAxis(0) : axes_of(padding, spatial),
                 .dilation = axes_of(o.at("dilation"), spatial),
                 .groups = o.at("groups").as_integer(),
                 .bias = o.at("bias").as_bool(),
                 .same = same,
                 .key = random::key(place.seed)});
    initialise(layer, o, place);
    return layer;
}

template <class Layer, int spatial>
Part<MakeLayer> convolution(const char* name) {
    Option padding = per_axis("padding", 0, "zeros on each side, or 'same' so that sizes stay");
    padding.choices = {"same"};
    Option groups{"groups", 1, "channels are split into so many groups"};
    groups.least = 1;
    return {{name,
             text("convolution over ", spatial, spatial == 1 ? " axis" : " axes", " of (channels, sizes...)"),
             {size_option("channels", "how many channels it gives"), per_axis("kernel_size", Json(), "how far it sees"),
              per_axis("stride", 1, "how far it moves"), padding,
              per_axis("dilation", 1, "how far apart the kernel's numbers lie"), groups, bias_option, init_option,
              bias_init_option}},
            make_convolution<Layer, spatial>};
}

template <class Layer, int spatial>
Part<MakeLayer> max_pool(const char* name) {
    auto make = [name](const Json& o, const LayerPlace& place) -> nn::Module {
        expect(place, spatial + 1, name, "(channels, sizes...)");
        return Layer(axes_of(o.at("kernel_size"), spatial),
                     nn::MaxPoolOptions{.stride = maybe_axes(o.at("stride"), spatial),
                                        .padding = axes_of(o.at("padding"), spatial)});
    };
    return {{name,
             "the greatest number under a window",
             {per_axis("kernel_size", Json(), "the window"),
              per_axis("stride", Json(), "how far it moves; the window if left out"),
              per_axis("padding", 0, "on each side")},
             "kernel_size"},
            make};
}

template <class Layer, int spatial>
Part<MakeLayer> average_pool(const char* name) {
    auto make = [name](const Json& o, const LayerPlace& place) -> nn::Module {
        expect(place, spatial + 1, name, "(channels, sizes...)");
        return Layer(axes_of(o.at("kernel_size"), spatial),
                     nn::AvgPoolOptions{.stride = maybe_axes(o.at("stride"), spatial),
                                        .padding = axes_of(o.at("padding"), spatial)});
    };
    return {{name,
             "the mean under a window",
             {per_axis("kernel_size", Json(), "the window"),
              per_axis("stride", Json(), "how far it moves; the window if left out"),
              per_axis("padding", 0, "zeros on each side")},
             "kernel_size"},
            make};
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
          {size_option("units", "how many outputs"), bias_option, init_option, bias_init_option},
          "units"},
         make_linear},
        convolution<nn::Conv1d, 1>("conv1d"),
        convolution<nn::Conv2d, 2>("conv2d"),
        convolution<nn::Conv3d, 3>("conv3d"),
        max_pool<nn::MaxPool1d, 1>("max_pool1d"),
        max_pool<nn::MaxPool2d, 2>("max_pool2d"),
        max_pool<nn::MaxPool3d, 3>("max_pool3d"),
        average_pool<nn::AvgPool1d, 1>("avg_pool1d"),
        average_pool<nn::AvgPool2d, 2>("avg_pool2d"),
        average_pool<nn::AvgPool3d, 3>("avg_pool3d"),
        {{"global_avg_pool", "the mean over all axes behind the channels"},
         [](const Json&, const LayerPlace&) -> nn::Module { return nn::GlobalAvgPool(); }},
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
