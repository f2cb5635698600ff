// Layers for models that are more than a classifier: maxout, noise, and those that add to the cost (nn/variational.h).
#include "weft/base/error.h"
#include "weft/nn/dropout.h"
#include "weft/nn/maxout.h"
#include "weft/nn/noise.h"
#include "weft/nn/variational.h"
#include "weft/ops/random.h"
#include "weft/train/builder.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

Option number_from(const char* name, double fallback, const char* doc, double least = 0,
                   double most = std::numeric_limits<double>::infinity()) {
    Option option{name, fallback, doc};
    option.least = least, option.most = most;
    return option;
}

Option needed_size(const char* name, const char* doc) {
    Option option{name, Json(), doc, true, Json::Kind::integer};
    option.least = 1, option.most = 1e9;
    return option;
}

/// Vectors of this many numbers reach the layer.
std::int64_t width(const LayerPlace& place, const char* layer) {
    if (place.input.empty()) throw ShapeError(text(layer, " takes vectors, what reaches it are single numbers"));
    return place.input.back();
}

/// A layer with weights, and behind it the greatest of every few of its numbers: made with `pieces` times its size.
struct Maxout {
    nn::Module affine;
    nn::MaxPieces greatest;
    Tensor operator()(const Operand& x) const { return greatest(affine(x)); }
    template <class V>
    void members(V& visit) {
        visit("", affine), visit("greatest", greatest);
    }
};

Part<MakeLayer> with_pieces(const Part<MakeLayer>& part, std::string name, std::string size) {
    Part<MakeLayer> maxout = part;
    maxout.name = std::move(name);
    maxout.doc = text("the greatest of several of ", part.name, "'s numbers (Goodfellow et al., 2013)");
    maxout.bare.clear();
    maxout.options.insert(maxout.options.begin() + 1,
                          needed_size("pieces", "of how many numbers each is the greatest"));
    maxout.make = [make = part.make, size](const Json& o, const LayerPlace& place) -> nn::Module {
        std::int64_t pieces = o.at("pieces").as_integer();
        Json whole = o;
        whole[size] = o.at(size).as_integer() * pieces;
        return Maxout{make(whole, place), nn::MaxPieces(pieces, size == "units")};
    };
    return maxout;
}

nn::Module make_dropout(const Json& o, const LayerPlace&) {
    if (const Json* scale = o.find("scale")) return nn::MaskingNoise(o.at("p").as_number(), scale->as_number());
    return nn::Dropout(o.at("p").as_number());
}

nn::Module make_variational(const Json& o, const LayerPlace& place) {
    return nn::Variational(width(place, "variational"), o.at("units").as_integer(),
                           {.factor = o.at("factor").as_number(),
                            .sampled = o.at("evaluate").as_string() == "sample",
                            .key = random::key(place.seed)});
}

nn::Module make_contractive(const Json& o, const LayerPlace& place) {
    return nn::Contractive(
        nn::Linear(width(place, "contractive"), o.at("units").as_integer(), {.key = random::key(place.seed)}),
        o.at("activation").as_string(), o.at("factor").as_number());
}

nn::Module make_activity_penalty(const Json& o, const LayerPlace&) {
    nn::ActivityOptions options{.l1 = o.at("l1").as_number(), .l2 = o.at("l2").as_number()};
    if (const Json* target = o.find("target")) options.target = target->as_number();
    options.factor = o.at("factor").as_number();
    if (options.l1 == 0 && options.l2 == 0 && !options.target)
        throw ValueError("there is nothing that it penalises; give l1, l2 or target");
    return nn::ActivityPenalty(options);
}

nn::Module make_tied(const Json& o, const LayerPlace& place) {
    const Json& to = o.at("to");
    const nn::Module& layer = place.builder->made(to);
    const nn::Linear* linear = layer.get<nn::Linear>();
    if (const auto* contractive = layer.get<nn::Contractive>()) linear = &contractive->linear;
    if (!linear)
        to.refuse(text("the layer '", to.as_string(), "' is ", layer.held_type(),
                       "; tied takes the weights of a linear or contractive layer"));
    std::int64_t takes = linear->weight.shape()[0].value();
    if (width(place, "tied") != takes)
        throw ShapeError(text("tied to '", to.as_string(), "', which gives ", takes, " numbers, so it takes ", takes,
                              "; what reaches it has shape ", place.input));
    return nn::Tied(*linear);
}

std::vector<Part<MakeLayer>> noises() {
    Option scale{"scale", Json(), "what the numbers that stay are multiplied by; 1 / (1 - p) if left out", false,
                 Json::Kind::number};
    scale.brief = true;
    return {
        {{"dropout",
          "while training, numbers become 0 with probability p (Srivastava et al., 2014)",
          {number_from("p", 0.5, "the probability", 0, 1), scale},
          "p"},
         make_dropout},
        {{"binarize",
          "1 where a number is above `at`, else 0; always",
          {{"at", 0.5, "the greatest that becomes 0"}},
          "at"},
         [](const Json& o, const LayerPlace&) -> nn::Module { return nn::Binarize{o.at("at").as_number()}; }},
        {{"gaussian_noise",
          "while training, normal numbers are added",
          {number_from("deviation", 0.1, "their deviation")},
          "deviation"},
         [](const Json& o, const LayerPlace&) -> nn::Module {
             return nn::GaussianNoise(o.at("deviation").as_number());
         }},
        {{"masking_noise",
          "while training, numbers become 0 with probability p, the others stay (Vincent et al., 2010)",
          {number_from("p", 0.25, "the probability", 0, 1)},
          "p"},
         [](const Json& o, const LayerPlace&) -> nn::Module { return nn::MaskingNoise(o.at("p").as_number()); }},
        {{"salt_and_pepper",
          "while training, numbers become low or high with probability p / 2 each",
          {number_from("p", 0.2, "the probability", 0, 1),
           {"low", 0.0, "what some become"},
           {"high", 1.0, "what others become"}},
          "p"},
         [](const Json& o, const LayerPlace&) -> nn::Module {
             return nn::SaltAndPepper(o.at("p").as_number(), o.at("low").as_number(), o.at("high").as_number());
         }},
    };
}

std::vector<Part<MakeLayer>> layers_with_costs() {
    Option evaluate{"evaluate", "sample", "what evaluation hands on: a draw, as the bound wants, or the mean"};
    evaluate.choices = {"sample", "mean"};
    Option activation{"activation", "sigmoid", "what follows the weights, number by number"};
    Option target{"target", Json(), "what each unit's mean over the batch should be", false, Json::Kind::number};
    target.least = 0, target.most = 1, target.brief = true;
    return {
        {{"variational",
          "normal numbers, drawn about a mean; adds their divergence from standard ones (Kingma and Welling, 2014)",
          {needed_size("units", "how many"), number_from("factor", 1, "times the divergence"), evaluate},
          "units"},
         make_variational},
        {{"contractive",
          "a linear layer and an activation; adds the squared norm of its derivative (Rifai et al., 2011)",
          {needed_size("units", "how many outputs"), activation, number_from("factor", 0.1, "times the squared norm")}},
         make_contractive},
        {{"activity_penalty",
          "hands on what it is given; adds l1 |h| + l2 h^2 / 2, and with a target what keeps units mostly at rest",
          {number_from("l1", 0, "times the sum of sizes"), number_from("l2", 0, "times half the sum of squares"),
           target, number_from("factor", 1, "times the divergence from the target")}},
         make_activity_penalty},
        {{"tied",
          "a decoder: the weights of a layer before, turned round, and a bias of its own",
          {{"to", Json(), "the path of that layer, as --dry-run shows it", true, Json::Kind::string}},
          "to"},
         make_tied},
    };
}

}  // namespace

std::vector<Part<MakeLayer>> layers_of_models(const std::vector<Part<MakeLayer>>& simple) {
    std::vector<Part<MakeLayer>> made = noises();
    for (Part<MakeLayer>& part : layers_with_costs()) made.push_back(std::move(part));
    for (const Part<MakeLayer>& part : simple) {
        if (part.name == "linear") made.push_back(with_pieces(part, "maxout", "units"));
        if (part.name.starts_with("conv")) made.push_back(with_pieces(part, "maxout_" + part.name, "channels"));
    }
    return made;
}

}  // namespace weft::train
