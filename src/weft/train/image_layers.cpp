// Layers of (channels, sizes...): convolutions, pools, and what makes pictures larger. Names, defaults and layouts are nn/'s, and so
// PyTorch's.
#include "weft/base/error.h"
#include "weft/nn/pooling.h"
#include "weft/nn/resample.h"
#include "weft/ops/random.h"
#include "weft/train/builder.h"
#include "weft/train/layer_options.h"

namespace weft::train {
namespace {

/// "conv2d takes examples of shape (channels, height, width), what reaches it has shape (784,)"
[[noreturn]] void refuse(const LayerPlace& place, std::string_view layer, std::string_view takes) {
    throw ShapeError(text(layer, " takes examples of shape ", takes, ", what reaches it has shape ", place.input));
}

/// What reaches a layer must have channels and so many axes behind them.
void expect(const LayerPlace& place, int spatial, std::string_view layer) {
    static constexpr const char* takes[] = {"(channels, length)", "(channels, height, width)",
                                            "(channels, depth, height, width)"};
    if (static_cast<int>(place.input.size()) != spatial + 1) refuse(place, layer, takes[spatial - 1]);
}

template <class Layer, int spatial>
nn::Module make_convolution(const Json& o, const LayerPlace& place) {
    expect(place, spatial, text("conv", spatial, "d"));
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

Option groups_option() {
    Option groups{"groups", 1, "channels are split into so many groups"};
    groups.least = 1;
    return groups;
}

template <class Layer, int spatial>
Part<MakeLayer> convolution(const char* name) {
    Option padding = per_axis("padding", 0, "zeros on each side, or 'same' so that sizes stay");
    padding.choices = {"same"};
    Option groups{"groups", 1, "channels are split into so many groups"};
    groups.least = 1;
    return {{name,
             text("convolution over ", spatial, spatial == 1 ? " axis" : " axes", " of (channels, sizes...)"),
             {size_option("channels", "how many channels it gives"),
              per_axis("kernel_size", Json(), "how far it sees", true), per_axis("stride", 1, "how far it moves"),
              padding, per_axis("dilation", 1, "how far apart the kernel's numbers lie"), groups_option(),
              bias_option(), init_option(), bias_init_option()}},
            make_convolution<Layer, spatial>};
}

template <class Layer, int spatial>
Part<MakeLayer> transposed_convolution(const char* name) {
    auto make = [name](const Json& o, const LayerPlace& place) -> nn::Module {
        expect(place, spatial, name);
        Layer layer(place.input[0], o.at("channels").as_integer(), axes_of(o.at("kernel_size"), spatial),
                    {.stride = axes_of(o.at("stride"), spatial),
                     .padding = axes_of(o.at("padding"), spatial),
                     .output_padding = axes_of(o.at("output_padding"), spatial),
                     .dilation = axes_of(o.at("dilation"), spatial),
                     .groups = o.at("groups").as_integer(),
                     .bias = o.at("bias").as_bool(),
                     .key = random::key(place.seed)});
        initialise(layer, o, place);
        return layer;
    };
    return {{name,
             text("convolution the other way round over ", spatial, spatial == 1 ? " axis" : " axes",
                  ": a stride makes sizes so many times larger"),
             {size_option("channels", "how many channels it gives"),
              per_axis("kernel_size", Json(), "how far each number reaches", true),
              per_axis("stride", 1, "how far apart the numbers that it takes come to lie"),
              per_axis("padding", 0, "what is cut off on each side"),
              per_axis("output_padding", 0, "what is added at the far side, less than the stride"),
              per_axis("dilation", 1, "how far apart the kernel's numbers lie"), groups_option(), bias_option(),
              init_option(), bias_init_option()}},
            make};
}

template <class Layer, int spatial>
Part<MakeLayer> max_pool(const char* name) {
    auto make = [name](const Json& o, const LayerPlace& place) -> nn::Module {
        expect(place, spatial, name);
        return Layer(axes_of(o.at("kernel_size"), spatial),
                     nn::MaxPoolOptions{.stride = maybe_axes(o.at("stride"), spatial),
                                        .padding = axes_of(o.at("padding"), spatial)});
    };
    return {{name,
             "the greatest number under a window",
             {per_axis("kernel_size", Json(), "the window", true),
              per_axis("stride", Json(), "how far it moves; the window if left out"),
              per_axis("padding", 0, "on each side")},
             "kernel_size"},
            make};
}

template <class Layer, int spatial>
Part<MakeLayer> average_pool(const char* name) {
    auto make = [name](const Json& o, const LayerPlace& place) -> nn::Module {
        expect(place, spatial, name);
        return Layer(axes_of(o.at("kernel_size"), spatial),
                     nn::AvgPoolOptions{.stride = maybe_axes(o.at("stride"), spatial),
                                        .padding = axes_of(o.at("padding"), spatial)});
    };
    return {{name,
             "the mean under a window",
             {per_axis("kernel_size", Json(), "the window", true),
              per_axis("stride", Json(), "how far it moves; the window if left out"),
              per_axis("padding", 0, "zeros on each side")},
             "kernel_size"},
            make};
}

nn::Module make_upsample(const Json& o, const LayerPlace& place) {
    int spatial = static_cast<int>(place.input.size()) - 1;
    if (spatial < 1 || spatial > 3) refuse(place, "upsample", "(channels, 1 to 3 sizes)");
    std::vector<double> factors;
    for (std::int64_t factor : axes_of(o.at("scale_factor"), spatial).values)
        factors.push_back(static_cast<double>(factor));
    return nn::Upsample(std::move(factors), o.at("mode").as_string());
}

Part<MakeLayer> upsample() {
    Option factor = per_axis("scale_factor", Json(), "how many times as large", true);
    factor.least = 1;
    Option mode{"mode", "nearest", "what lies between pixels; `linear` is for 1 axis, `trilinear` for 3"};
    mode.choices = {"nearest", "linear", "bilinear", "bicubic", "trilinear"};
    return {{"upsample", "pictures so many times as large", {factor, mode}, "scale_factor"}, make_upsample};
}

nn::Module make_pixel_shuffle(const Json& o, const LayerPlace& place) {
    expect(place, 2, "pixel_shuffle");
    return nn::PixelShuffle(o.at("upscale_factor").as_integer());
}

}  // namespace

std::vector<Part<MakeLayer>> image_layers() {
    return {
        convolution<nn::Conv1d, 1>("conv1d"),
        convolution<nn::Conv2d, 2>("conv2d"),
        convolution<nn::Conv3d, 3>("conv3d"),
        transposed_convolution<nn::ConvTranspose1d, 1>("conv_transpose1d"),
        transposed_convolution<nn::ConvTranspose2d, 2>("conv_transpose2d"),
        transposed_convolution<nn::ConvTranspose3d, 3>("conv_transpose3d"),
        max_pool<nn::MaxPool1d, 1>("max_pool1d"),
        max_pool<nn::MaxPool2d, 2>("max_pool2d"),
        max_pool<nn::MaxPool3d, 3>("max_pool3d"),
        average_pool<nn::AvgPool1d, 1>("avg_pool1d"),
        average_pool<nn::AvgPool2d, 2>("avg_pool2d"),
        average_pool<nn::AvgPool3d, 3>("avg_pool3d"),
        {{"global_avg_pool", "the mean over all axes behind the channels"},
         [](const Json&, const LayerPlace&) -> nn::Module { return nn::GlobalAvgPool(); }},
        upsample(),
        {{"pixel_shuffle",
          "(channels * r * r, height, width) becomes (channels, height * r, width * r) (Shi et al., 2016)",
          {size_option("upscale_factor", "r")},
          "upscale_factor"},
         make_pixel_shuffle},
    };
}

}  // namespace weft::train
