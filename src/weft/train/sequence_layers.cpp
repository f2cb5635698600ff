// Layers for sequences, whose examples are (time, features): recurrent ones, attention, and what tells places apart. Their weights, names
// and defaults are nn/'s, and so PyTorch's.
#include <cmath>

#include "weft/base/error.h"
#include "weft/nn/given.h"
#include "weft/nn/initialize.h"
#include "weft/nn/recurrent.h"
#include "weft/nn/training.h"
#include "weft/nn/transformer.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/ops/view.h"
#include "weft/train/builder.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

/// Sequences reach the layer: (time, features).
void expect_sequence(const LayerPlace& place, std::string_view layer) {
    if (place.input.size() == 2) return;
    throw ShapeError(
        text(layer, " takes sequences, examples of shape (time, features); what reaches it has shape ", place.input,
             place.input.size() == 1 ? "; embedding makes vectors of symbols, reshape rows of a vector" : ""));
}

Option whole(const char* name, Json fallback, const char* doc) {
    Option option{name, std::move(fallback), doc};
    if (option.fallback.is_null()) option.required = true, option.kind = Json::Kind::integer;
    option.least = 1, option.most = 1e9;
    return option;
}
Option share(const char* name, double fallback, const char* doc) {
    Option option{name, fallback, doc};
    option.least = 0, option.most = 1;
    return option;
}

/// A recurrent layer of batches (batch, time, features). What is carried is a state for each row of a training batch: a step begins with
/// what the step before left, through which nothing is learned. Evaluation begins at 0 and leaves it alone.
struct Recurrent {
    nn::RNNBase layer;
    bool last = false;
    std::optional<Parameter> carried_h = {}, carried_c = {};

    Tensor operator()(const Operand& x) const {
        nn::functional::RecurrentState state;
        bool carries = carried_h && nn::training() && goes_on(x.as_tensor());
        if (carries) {
            state.h = stop_gradient(carried_h->value());
            if (carried_c) state.c = stop_gradient(carried_c->value());
        }
        auto [output, end] = layer(x, state);
        if (carries) {
            Parameter(*carried_h).set(stop_gradient(end.h));
            if (carried_c) Parameter(*carried_c).set(stop_gradient(end.c));
        }
        return last ? last_step(end.h) : output;
    }
    template <class V>
    void members(V& visit) {
        layer.members(visit);
        visit("carried_h", carried_h), visit("carried_c", carried_c);
    }

  private:
    /// Shapes alone are asked for with a batch that has a name; a training step's has a number.
    bool goes_on(const Tensor& x) const {
        Size batch = x.shape()[0], rows = carried_h->shape()[1];
        if (!batch.known()) return false;
        if (batch == rows) return true;
        throw ShapeError(
            text("carry: the state of ", rows, " rows goes on from step to step, but this batch has ", batch,
                 "; give the text as many `lanes` as `batch_size` says, or leave the rest out by `last: drop`"));
    }
    /// (batch, directions * units): each direction's state after it has seen all.
    Tensor last_step(const Tensor& h) const {
        bool both = layer.bidirectional();
        std::int64_t count = both ? 2 : 1, states = h.shape()[0].value();
        std::vector<Tensor> ends;
        for (std::int64_t i = states - count; i < states; ++i)
            ends.push_back(squeeze(slice(h, {i, 0, 0}, {1, h.shape()[1], h.shape()[2]}), {0}));
        return both ? concatenate(ends, -1) : ends[0];
    }
};

template <class Layer>
nn::Module make_recurrent(const Json& o, const LayerPlace& place, const char* name) {
    expect_sequence(place, name);
    nn::RecurrentLayerOptions options{.num_layers = o.at("layers").as_integer(),
                                      .batch_first = true,
                                      .dropout = o.at("dropout").as_number(),
                                      .bidirectional = o.at("bidirectional").as_bool(),
                                      .key = random::key(place.seed)};
    if (const Json* nonlinearity = o.find("nonlinearity")) options.nonlinearity = nonlinearity->as_string();
    Recurrent layer{Layer(place.input[1], o.at("units").as_integer(), options), o.at("last").as_bool()};
    if (o.at("restart").as_bool() && !o.at("carry").as_bool())
        o.at("restart").refuse("restart: there is no state that goes on from step to step; add `carry: true`");
    if (!o.at("carry").as_bool()) return layer;
    if (options.bidirectional)
        o.at("carry").refuse(
            "carry: a layer that also reads backwards begins at the end, which nothing comes before; leave "
            "`carry` or `bidirectional` out");
    if (place.builder) place.builder->carries = o.at("carry");
    auto state = [&](const Shape& shape) { return Parameter(nn::init::zeros(dims_of(shape)), "", false); };
    layer.carried_h = state(layer.layer.shape_of_h(place.batch));
    if (layer.layer.kind() == nn::functional::Recurrence::lstm)
        layer.carried_c = state(layer.layer.shape_of_c(place.batch));
    if (o.at("restart").as_bool() && place.builder)
        for (const std::optional<Parameter>* cell : {&layer.carried_h, &layer.carried_c})
            if (*cell) place.builder->of_epoch.push_back(**cell);
    return layer;
}

template <class Layer>
Part<MakeLayer> recurrent(const char* name, const char* doc) {
    std::vector<Option> options{
        whole("units", Json(), "how many numbers its state has"),
        whole("layers", 1, "so many one behind the other"),
        {"bidirectional", false, "a second one reads backwards; it gives twice as many numbers"},
        share("dropout", 0, "between layers, while training"),
        {"last", false, "gives the state behind the last step alone: (units), not (time, units)"},
        {"carry", false, "each row of a batch goes on with the state that the step before left (text: `lanes`)"},
        {"restart", false, "carry: the state begins at zeros with each epoch, not with the run alone"}};
    if (std::string_view(name) == "rnn") {
        Option nonlinearity{"nonlinearity", "tanh", "what follows the weights"};
        nonlinearity.choices = {"tanh", "relu"};
        options.push_back(nonlinearity);
    }
    auto make = [name](const Json& o, const LayerPlace& place) { return make_recurrent<Layer>(o, place, name); };
    return {{name, doc, std::move(options), "units"}, make};
}

/// Attention of a sequence to itself; with `causal` no place sees a later one.
struct SelfAttention {
    nn::MultiheadAttention attention;
    bool causal = false;
    Tensor operator()(const Operand& x) const {
        nn::AttentionCall call{.need_weights = false};
        if (causal) {
            Size time = x.as_tensor().shape()[1];
            call.attn_mask = reshape(iota(time), {time, 1}) < reshape(iota(time), {1, time});
        }
        if (Tensor lengths = nn::Given::lengths_for(x.as_tensor()))
            call.key_padding_mask = ~nn::filled(lengths, x.as_tensor().shape()[1]);
        return attention(x, call);
    }
    template <class V>
    void members(V& visit) {
        attention.members(visit);
    }
};

nn::Module make_attention(const Json& o, const LayerPlace& place) {
    expect_sequence(place, "attention");
    std::int64_t heads = o.at("heads").as_integer();
    if (place.input[1] % heads != 0)
        o.at("heads").refuse(text("attention: ", heads, " heads cannot share the ", place.input[1],
                                  " features that reach the layer; take a number that divides them"));
    return SelfAttention{nn::MultiheadAttention(place.input[1], heads,
                                                {.dropout = o.at("dropout").as_number(),
                                                 .bias = o.at("bias").as_bool(),
                                                 .batch_first = true,
                                                 .key = random::key(place.seed)}),
                         o.at("causal").as_bool()};
}

/// x + a vector for each place, which is learned.
struct LearnedPosition {
    Parameter weight;  // (time, features)
    Tensor operator()(const Operand& operand) const {
        Tensor x = operand.as_tensor(), all = weight.value();
        Size time = x.shape()[1];  // of a bucket of short sequences less than there are places
        if (time.known() && time.value() < all.shape()[0].value()) all = slice(all, {0, 0}, {time, all.shape()[1]});
        return x + all;
    }
    template <class V>
    void members(V& visit) {
        visit("weight", weight);
    }
};

/// x + sin and cos of the place, at wavelengths from 2 pi to 20000 pi (Vaswani et al., 2017, 3.5): features 2i and 2i + 1 have
/// sin and cos of place / 10000^(2i / features).
struct SinusoidalPosition {
    Tensor operator()(const Operand& operand) const {
        Tensor x = operand.as_tensor();
        Size time = x.shape()[1], features = x.shape()[2];
        Tensor place = astype(reshape(iota(time), {time, 1}), x.dtype()), feature = iota(features);
        Tensor odd = feature - floor_divide(feature, 2) * 2;
        Tensor pair = astype(feature - odd, x.dtype()) / size_as_tensor(features, x.dtype());
        Tensor angle = place * exp(pair * -std::log(10000.0));
        return x + where(odd == 1, cos(angle), sin(angle));
    }
    template <class V>
    void members(V&) {}
};

nn::Module make_position(const Json& o, const LayerPlace& place) {
    expect_sequence(place, "position");
    if (o.at("kind").as_string() == "sinusoidal") return SinusoidalPosition{};
    return LearnedPosition{
        Parameter(nn::init::normal({place.input[0], place.input[1]}, 0, 0.02, random::key(place.seed)))};
}

/// The axes of each example in another order; they are numbered from 0, the batch not counted.
struct Transpose {
    Axes axes;  // of the batch
    Tensor operator()(const Operand& x) const { return permute_dims(x, axes); }
    template <class V>
    void members(V&) {}
};

nn::Module make_transpose(const Json& o, const LayerPlace& place) {
    auto ndim = static_cast<std::int64_t>(place.input.size());
    Transpose layer{{0}};
    const Json& axes = o.at("axes");
    if (axes.is_null()) {
        for (std::int64_t axis = ndim; axis > 0; --axis) layer.axes.push_back(axis);
        return layer;
    }
    std::vector<bool> seen(place.input.size());
    for (const Json& axis : axes.items()) {
        std::int64_t at = axis.as_integer();
        if (at < 0 || at >= ndim || seen[static_cast<std::size_t>(at)])
            axis.refuse(text("transpose: the axes of what reaches the layer, of shape ", place.input, ", are 0 to ",
                             ndim - 1, ", each named once"));
        seen[static_cast<std::size_t>(at)] = true;
        layer.axes.push_back(at + 1);
    }
    if (layer.axes.size() != seen.size() + 1)
        axes.refuse(text("transpose: what reaches the layer has ", ndim, " axes (shape ", place.input, "); name each"));
    return layer;
}

}  // namespace

std::vector<Part<MakeLayer>> sequence_layers() {
    Option kind{"kind", "learned", "a learned vector for each place, or sines and cosines of it"};
    kind.choices = {"learned", "sinusoidal"};
    Option axes{"axes", Json(), "the order, counted from 0 without the batch, as in [1, 0]; backwards if left out",
                false, Json::Kind::array};
    return {
        recurrent<nn::RNN>("rnn", "Elman's network over (time, features): each step sees the state of the one before"),
        recurrent<nn::GRU>("gru", "gated recurrent units over (time, features) (Cho et al., 2014)"),
        recurrent<nn::LSTM>("lstm", "long short-term memory over (time, features) (Hochreiter and Schmidhuber, 1997)"),
        {{"attention",
          "attention of each place of (time, features) to all, in several heads (Vaswani et al., 2017)",
          {whole("heads", 1, "so many, which share the features"),
           {"causal", false, "no place sees a later one"},
           share("dropout", 0, "of the weights of attention, while training"),
           {"bias", true, "whether something is added"}},
          "heads"},
         make_attention},
        {{"position", "adds to each place of (time, features) a vector that tells it from others", {kind}, "kind"},
         make_position},
        {{"transpose",
          "the axes of each example in another order: (time, classes) becomes (classes, time)",
          {axes},
          "axes"},
         make_transpose},
    };
}

}  // namespace weft::train
