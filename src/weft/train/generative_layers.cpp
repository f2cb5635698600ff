// Layers that are models of their data by themselves: a Boltzmann machine, and two networks against each other.
#include "weft/base/error.h"
#include "weft/nn/adversarial.h"
#include "weft/nn/dbm.h"
#include "weft/nn/rbm.h"
#include "weft/ops/random.h"
#include "weft/train/builder.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

constexpr std::int64_t most_units = 1'000'000'000;

Option whole_number(const char* name, Json fallback, const char* doc, double least) {
    Option option{name, std::move(fallback), doc};
    if (option.fallback.is_null()) option.required = true, option.kind = Json::Kind::integer;
    option.least = least, option.most = most_units;
    return option;
}

nn::Module make_rbm(const Json& o, const LayerPlace& place) {
    if (place.input.size() != 1) throw ShapeError(text("rbm takes vectors, what reaches it has shape ", place.input));
    return nn::RBM(place.input[0], o.at("units").as_integer(),
                   {.steps = o.at("steps").as_integer(),
                    .chains = o.at("chains").as_integer(),
                    .gaussian = o.at("visible").as_string() == "gaussian",
                    .key = random::key(place.seed)});
}

nn::Module make_dbm(const Json& o, const LayerPlace& place) {
    if (place.input.size() != 1) throw ShapeError(text("dbm takes vectors, what reaches it has shape ", place.input));
    const Json& hidden = o.at("hidden");
    if (hidden.size() != 2) hidden.refuse("dbm has two hidden layers: {hidden: [500, 1000]}");
    for (const Json& units : hidden.items())
        if (units.as_integer() < 1 || units.as_integer() > most_units)
            units.refuse("a hidden layer has 1 unit or more");
    return nn::DBM(place.input[0], hidden.item(0).as_integer(), hidden.item(1).as_integer(),
                   {.steps = o.at("steps").as_integer(),
                    .chains = o.at("chains").as_integer(),
                    .mean_field = o.at("mean_field").as_integer(),
                    .key = random::key(place.seed)});
}

nn::Module make_adversarial(const Json& o, const LayerPlace& place) {
    std::int64_t latent = o.at("latent").as_integer();
    LayerPlace from = LayerBuilder::inside(place, "generator", 0),
               judge = LayerBuilder::inside(place, "discriminator", 1);
    from.input = {latent}, from.dtype = DType::float32;
    nn::Module generator = place.builder->make(o.at("generator"), from);
    if (LayerPlace made = LayerBuilder::behind(generator, from); made.input != place.input)
        o.at("generator")
            .refuse(
                text("the generator gives examples of shape ", made.input, ", the data's have shape ", place.input));
    nn::Module discriminator = place.builder->make(o.at("discriminator"), judge);
    if (LayerPlace said = LayerBuilder::behind(discriminator, judge); said.input != Dims{1})
        o.at("discriminator")
            .refuse(text("the discriminator gives one logit, of shape (1,), this one gives ", said.input,
                         "; {linear: 1} at its end does"));
    const Json* margin = o.find("margin");
    return nn::Adversarial(generator, discriminator,
                           {.latent = latent,
                            .margin = margin ? std::optional(margin->as_number()) : std::nullopt,
                            .key = random::key(place.seed)});
}

Option network(const char* name, const char* doc) {
    Option option{name, Json(), doc, true, Json::Kind::array};
    option.also = "model", option.list_of = "model";
    return option;
}

}  // namespace

std::vector<Part<MakeLayer>> generative_layers() {
    Option visible{"visible", "bernoulli", "what the data are: from 0 to 1, or real numbers of deviation 1"};
    visible.choices = {"bernoulli", "gaussian"};
    Option margin{"margin", Json(), "a network does not learn while the discriminator's costs are so far from ln 2",
                  false, Json::Kind::number};
    margin.least = 0, margin.brief = true;
    return {
        {{"rbm",
          "a restricted Boltzmann machine; adds contrastive divergence's cost; gives hidden probabilities",
          {whole_number("units", Json(), "hidden ones", 1), whole_number("steps", 1, "Gibbs steps", 1),
           whole_number("chains", 0, "that go on from step to step (PCD; Tieleman, 2008); 0: begin at the data (CD)",
                        0),
           visible},
          "units"},
         make_rbm},
        {{"dbm",
          "a Boltzmann machine of two hidden layers (Salakhutdinov and Hinton, 2009); adds the cost of data at their "
          "mean "
          "field against chains; gives the means of the second",
          {{"hidden", Json(), "units of the two layers, as in [500, 1000]", true, Json::Kind::array},
           whole_number("steps", 5, "Gibbs steps of the chains", 1),
           whole_number("chains", 100, "that go on from step to step", 1),
           whole_number("mean_field", 10, "rounds over both hidden layers", 1)},
          "hidden"},
         make_dbm},
        {{"adversarial",
          "a generator and a discriminator; adds the cost of each against the other (Goodfellow et al., 2014)",
          {network("generator", "layers from latent numbers to an example"),
           network("discriminator", "layers from an example to one logit"),
           whole_number("latent", 100, "standard normal numbers that the generator takes", 1), margin}},
         make_adversarial},
    };
}

}  // namespace weft::train
