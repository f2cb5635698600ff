// The optimizers that a file can name; the formulas are optim/'s. Every option with a "schedule" beside it is a rate that may
// change while training.
#include "weft/base/error.h"
#include "weft/optim/adam.h"
#include "weft/optim/adaptive.h"
#include "weft/optim/sgd.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

Option rate(const char* name, Json fallback, const char* doc) {
    Option option{name, std::move(fallback), doc};
    if (option.fallback.is_null()) option.required = true, option.kind = Json::Kind::number;
    option.least = 0;
    option.also = "schedule";
    return option;
}

Option lr(double usual) { return rate("lr", usual, "the learning rate"); }

Option number(const char* name, double fallback, const char* doc) {
    Option option{name, fallback, doc};
    option.least = 0;
    return option;
}

const Option decay = number("weight_decay", 0, "times each weight, added to its gradient");
const Option groups{"groups", Json::array(),
                    "parameters with rates of their own: [{match: \"*.bias\", lr: 2, weight_decay: 0}]"};

std::vector<optim::Group> groups_of(const Json& list) {
    static const std::vector<Option> keys{
        {"match", Json(), "names, as in *.bias", true, Json::Kind::string},
        number("lr", 1, "times the optimizer's rate"),
        {"weight_decay", Json(), "in place of the optimizer's", false, Json::Kind::number, {}, 0}};
    std::vector<optim::Group> all;
    for (const Json& item : list.items()) {
        Json group = complete(item, keys, "groups");
        const Json& own = group.at("weight_decay");
        all.push_back({group.at("match").as_string(), group.at("lr").as_number(),
                       own.is_null() ? std::nullopt : std::optional<double>(own.as_number())});
    }
    return all;
}

std::unique_ptr<optim::Optimizer> sgd(const Json& o, bool nesterov) {
    const Json* momentum = o.find("momentum");
    return std::make_unique<optim::SGD>(optim::SGDOptions{.lr = o.at("lr").as_number(),
                                                          .momentum = momentum ? momentum->as_number() : 0,
                                                          .weight_decay = o.at("weight_decay").as_number(),
                                                          .nesterov = nesterov,
                                                          .groups = groups_of(o.at("groups"))});
}

template <class Options>
Options adam_options(const Json& o) {
    return {.lr = o.at("lr").as_number(),
            .beta1 = o.at("beta1").as_number(),
            .beta2 = o.at("beta2").as_number(),
            .eps = o.at("eps").as_number(),
            .weight_decay = o.at("weight_decay").as_number(),
            .groups = groups_of(o.at("groups"))};
}

std::vector<Option> adam_keys(double usual_decay, const char* doc) {
    return {lr(1e-3),
            number("beta1", 0.9, "how much of past gradients is kept"),
            number("beta2", 0.999, "how much of past squares is kept"),
            number("eps", 1e-8, "added to the divisor"),
            number("weight_decay", usual_decay, doc),
            groups};
}

}  // namespace

const std::vector<Part<MakeOptimizer>>& optimizers() {
    static const std::vector<Part<MakeOptimizer>> all{
        {{"sgd", "stochastic gradient descent", {lr(0.01), decay, groups}, "lr"},
         [](const Json& o) { return sgd(o, false); }},
        {{"momentum",
          "gradient descent with momentum (Polyak, 1964)",
          {lr(0.01), rate("momentum", 0.9, "how much of the velocity is kept"), decay, groups}},
         [](const Json& o) { return sgd(o, false); }},
        {{"nesterov",
          "gradient descent with Nesterov's momentum (Sutskever et al., 2013)",
          {lr(0.01), rate("momentum", 0.9, "how much of the velocity is kept"), decay, groups}},
         [](const Json& o) { return sgd(o, true); }},
        {{"rmsprop",
          "divides by the root of a running mean of squares (Tieleman and Hinton, 2012)",
          {lr(0.01),
           number("alpha", 0.99, "how much of the past is kept"),
           number("eps", 1e-8, "added to the divisor"),
           decay,
           number("momentum", 0, "how much of the velocity is kept"),
           {"centered", false, "divide by the deviation"},
           groups}},
         [](const Json& o) {
             return std::make_unique<optim::RMSprop>(
                 optim::RMSpropOptions{.lr = o.at("lr").as_number(),
                                       .alpha = o.at("alpha").as_number(),
                                       .eps = o.at("eps").as_number(),
                                       .weight_decay = o.at("weight_decay").as_number(),
                                       .momentum = o.at("momentum").as_number(),
                                       .centered = o.at("centered").as_bool(),
                                       .groups = groups_of(o.at("groups"))});
         }},
        {{"adagrad",
          "divides by the root of the sum of squares (Duchi et al., 2011)",
          {lr(0.01), number("lr_decay", 0, "the rate is divided by 1 + steps * lr_decay"), decay,
           number("initial", 0, "what the sum of squares starts at"), number("eps", 1e-10, "added to the divisor"),
           groups}},
         [](const Json& o) {
             return std::make_unique<optim::Adagrad>(
                 optim::AdagradOptions{.lr = o.at("lr").as_number(),
                                       .lr_decay = o.at("lr_decay").as_number(),
                                       .weight_decay = o.at("weight_decay").as_number(),
                                       .initial_accumulator_value = o.at("initial").as_number(),
                                       .eps = o.at("eps").as_number(),
                                       .groups = groups_of(o.at("groups"))});
         }},
        {{"adam", "Adam (Kingma and Ba, 2015)", adam_keys(0, "times each weight, added to its gradient"), "lr"},
         [](const Json& o) { return std::make_unique<optim::Adam>(adam_options<optim::AdamOptions>(o)); }},
        {{"adamw", "Adam with decay apart from the gradient (Loshchilov and Hutter, 2019)",
          adam_keys(0.01, "times the rate, taken off each weight in every step"), "lr"},
         [](const Json& o) { return std::make_unique<optim::AdamW>(adam_options<optim::AdamWOptions>(o)); }},
    };
    return all;
}

std::unique_ptr<optim::Optimizer> optimizer_of(const Chosen& chosen,
                                               std::vector<std::pair<std::string, optim::Schedule>>& schedules) {
    Json options = chosen.options;
    for (const Option& option : chosen.entry->options) {
        if (option.also != "schedule" || options.at(option.name).is_number()) continue;
        optim::Schedule schedule = schedule_of(options.at(option.name));
        options[option.name] = schedule({0, 1});
        schedules.emplace_back(option.name, std::move(schedule));
    }
    try {
        return chosen.make<MakeOptimizer>()(options);
    } catch (const ValueError& error) {
        throw ConfigError(text(chosen.where, error.what()));
    }
}

}  // namespace weft::train
