// The optimizers that a file can name; the formulas are optim/'s. Every option with a "schedule" beside it is a rate that may
// change while training.
#include <limits>

#include "weft/base/error.h"
#include "weft/optim/adam.h"
#include "weft/optim/adaptive.h"
#include "weft/optim/batch_method.h"
#include "weft/optim/by_name.h"
#include "weft/optim/lion.h"
#include "weft/optim/muon.h"
#include "weft/optim/no_gradients.h"
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

[[gnu::cold]] Option number(const char* name, double fallback, const char* doc) {
    Option option{name, fallback, doc};
    option.least = 0;
    return option;
}

const Option eps = number("eps", 1e-8, "added to the divisor");
const Option decay = number("weight_decay", 0, "times each weight, added to its gradient");
Option decoupled_decay(double usual) {
    return number("weight_decay", usual, "times the rate, taken off each weight in every step");
}
const Option decoupled{"decoupled_weight_decay", false, "decay weights apart from the gradient"};
Option momentum() { return rate("momentum", 0.9, "how much of the velocity is kept"); }
Option dampening() { return number("dampening", 0, "how much of each gradient is left out of the velocity"); }

/// The options of the C++ optimizers that stand under the same name everywhere.
template <class Options>
Options with_lr(const Json& o) {
    Options options;
    options.lr = o.at("lr").as_number();
    if constexpr (requires { options.weight_decay; }) options.weight_decay = o.at("weight_decay").as_number();
    if constexpr (requires { options.eps; }) options.eps = o.at("eps").as_number();
    if constexpr (requires { options.beta1; }) {
        options.beta1 = o.at("beta1").as_number(), options.beta2 = o.at("beta2").as_number();
    }
    if constexpr (requires { options.amsgrad; }) options.amsgrad = o.at("amsgrad").as_bool();
    if constexpr (requires { options.decoupled_weight_decay; }) {
        options.decoupled_weight_decay = o.at("decoupled_weight_decay").as_bool();
    }
    return options;
}

std::unique_ptr<optim::Optimizer> sgd(const Json& o, bool nesterov) {
    auto options = with_lr<optim::SGDOptions>(o);
    if (const Json* momentum = o.find("momentum")) options.momentum = momentum->as_number();
    if (const Json* dampening = o.find("dampening")) options.dampening = dampening->as_number();
    options.nesterov = nesterov;
    return std::make_unique<optim::SGD>(options);
}

/// lr, the two betas, and what else a rule of Adam's family takes.
std::vector<Option> adam_keys(double usual_lr, std::vector<Option> others, double beta2 = 0.999) {
    std::vector<Option> keys{lr(usual_lr), number("beta1", 0.9, "how much of past gradients is kept"),
                             number("beta2", beta2, "how much of past squares is kept")};
    keys.insert(keys.end(), others.begin(), others.end());
    return keys;
}
const Option amsgrad{"amsgrad", false, "divide by the largest mean of squares so far (Reddi et al., 2018)"};

template <class Rule, class Options>
std::unique_ptr<optim::Optimizer> plain(const Json& o) {
    return std::make_unique<Rule>(with_lr<Options>(o));
}

std::unique_ptr<optim::Optimizer> rmsprop(const Json& o) {
    auto options = with_lr<optim::RMSpropOptions>(o);
    options.alpha = o.at("alpha").as_number(), options.momentum = o.at("momentum").as_number();
    options.centered = o.at("centered").as_bool();
    return std::make_unique<optim::RMSprop>(options);
}

std::unique_ptr<optim::Optimizer> adagrad(const Json& o) {
    auto options = with_lr<optim::AdagradOptions>(o);
    options.lr_decay = o.at("lr_decay").as_number(), options.initial_accumulator_value = o.at("initial").as_number();
    return std::make_unique<optim::Adagrad>(options);
}

std::unique_ptr<optim::Optimizer> adadelta(const Json& o) {
    auto options = with_lr<optim::AdadeltaOptions>(o);
    options.rho = o.at("rho").as_number();
    return std::make_unique<optim::Adadelta>(options);
}

std::unique_ptr<optim::Optimizer> nadam(const Json& o) {
    auto options = with_lr<optim::NAdamOptions>(o);
    options.momentum_decay = o.at("momentum_decay").as_number();
    return std::make_unique<optim::NAdam>(options);
}

std::unique_ptr<optim::Optimizer> muon(const Json& o) {
    auto options = with_lr<optim::MuonOptions>(o);
    options.momentum = o.at("momentum").as_number(), options.nesterov = o.at("nesterov").as_bool();
    options.ns_steps = o.at("ns_steps").as_integer();
    options.match_rms_adamw = o.at("match_rms_adamw").as_bool();
    options.others = optim::MuonOthers{.lr = o.at("others_lr").as_number()};
    return std::make_unique<optim::Muon>(options);
}

Option line_search(const char* usual, std::vector<std::string> names) {
    return {"line_search", usual, "how far each step goes", false, Json::Kind::string, std::move(names)};
}
const Option across{"across_batches", false,
                    "what was learned of one batch is used for the next: for batches that are the whole set"};
Option count(const char* name, std::int64_t usual, const char* doc) {
    return {name, usual, doc, false, Json::Kind::null, {}, 1};
}

optim::LineSearch search_of(const Json& o, optim::LineSearch wolfe) {
    return optim::line_search_named(o.at("line_search").as_string(), wolfe);
}

std::unique_ptr<optim::Optimizer> conjugate_gradient(const Json& o, optim::Conjugate formula) {
    return std::make_unique<optim::ConjugateGradient>(optim::ConjugateGradientOptions{
        .formula = formula,
        .line_search = search_of(o, optim::strict_wolfe),
        .iterations = o.at("iterations").as_integer(),
        .lr = o.at("lr").as_number(),
        .across_batches = o.find("across_batches") && o.at("across_batches").as_bool()});
}

std::unique_ptr<optim::Optimizer> lbfgs(const Json& o) {
    return std::make_unique<optim::LBFGS>(optim::LBFGSOptions{.lr = o.at("lr").as_number(),
                                                              .max_iter = o.at("iterations").as_integer(),
                                                              .max_eval = std::numeric_limits<std::int64_t>::max(),
                                                              .tolerance_grad = o.at("tolerance_grad").as_number(),
                                                              .tolerance_change = o.at("tolerance_change").as_number(),
                                                              .history_size = o.at("history").as_integer(),
                                                              .line_search = search_of(o, optim::strong_wolfe),
                                                              .across_batches = o.at("across_batches").as_bool()});
}

/// Methods that search along lines, for large batches or the whole set; what is done around steps is not for them.
std::vector<Part<MakeOptimizer>> batch_methods() {
    const std::vector<std::string> searches{"strong_wolfe", "armijo", "exhaustive"};
    Option first_step = number("lr", 0.1, "the step that is tried first; in the log the one that was taken");
    return {
        {{"batch_gradient_descent",
          "down the gradient of a large batch, as far as a line search says",
          {first_step, count("iterations", 10, "steps on each batch"), line_search("exhaustive", searches)}},
         [](const Json& o) { return conjugate_gradient(o, optim::Conjugate::none); }},
        {{"conjugate_gradient",
          "nonlinear conjugate gradients on large batches, what is random held fixed while it searches",
          {first_step,
           count("iterations", 10, "steps on each batch"),
           line_search("strong_wolfe", searches),
           {"formula",
            "polak_ribiere",
            "of the part that is kept of a direction (PR+, or Fletcher and Reeves)",
            false,
            Json::Kind::string,
            {"polak_ribiere", "fletcher_reeves"}},
           across}},
         [](const Json& o) {
             bool reeves = o.at("formula").as_string() == "fletcher_reeves";
             return conjugate_gradient(o, reeves ? optim::Conjugate::fletcher_reeves : optim::Conjugate::polak_ribiere);
         }},
        {{"lbfgs",
          "L-BFGS on large batches (Liu and Nocedal, 1989), what is random held fixed while it searches",
          {number("lr", 1, "the step that is tried first, or taken without a search"),
           count("iterations", 20, "steps on each batch, fewer where it is done"),
           count("history", 10, "pairs of steps and changes that are remembered"),
           line_search("strong_wolfe", {"strong_wolfe", "armijo", "exhaustive", "none"}),
           number("tolerance_grad", 1e-7, "a batch is done when no number of its gradient is above this"),
           number("tolerance_change", 1e-9, "or when steps, or the loss, change by less"), across}},
         lbfgs},
    };
}

std::vector<Part<MakeOptimizer>> rules() {
    return {
        {{"sgd", "stochastic gradient descent", {lr(0.01), decay}, "lr"}, [](const Json& o) { return sgd(o, false); }},
        {{"momentum", "gradient descent with momentum (Polyak, 1964)", {lr(0.01), momentum(), dampening(), decay}},
         [](const Json& o) { return sgd(o, false); }},
        {{"nesterov",
          "gradient descent with Nesterov's momentum (Sutskever et al., 2013)",
          {lr(0.01), momentum(), decay}},
         [](const Json& o) { return sgd(o, true); }},
        {{"rmsprop",
          "divides by the root of a running mean of squares (Tieleman and Hinton, 2012)",
          {lr(0.01),
           number("alpha", 0.99, "how much of the past is kept"),
           eps,
           decay,
           number("momentum", 0, "how much of the velocity is kept"),
           {"centered", false, "divide by the deviation"}}},
         rmsprop},
        {{"adagrad",
          "divides by the root of the sum of squares (Duchi et al., 2011)",
          {lr(0.01), number("lr_decay", 0, "the rate is divided by 1 + steps * lr_decay"), decay,
           number("initial", 0, "what the sum of squares starts at"), number("eps", 1e-10, "added to the divisor")}},
         adagrad},
        {{"adadelta",
          "steps as large as past steps were, over the size of past gradients (Zeiler, 2012)",
          {lr(1), number("rho", 0.9, "how much of the past is kept"), number("eps", 1e-6, "added under both roots"),
           decay}},
         adadelta},
        {{"adam", "Adam (Kingma and Ba, 2015)", adam_keys(1e-3, {eps, decay, amsgrad, decoupled}), "lr"},
         plain<optim::Adam, optim::AdamOptions>},
        {{"adamw", "Adam with decay apart from the gradient (Loshchilov and Hutter, 2019)",
          adam_keys(1e-3, {eps, decoupled_decay(0.01), amsgrad}), "lr"},
         plain<optim::AdamW, optim::AdamWOptions>},
        {{"nadam", "Adam with Nesterov's momentum (Dozat, 2016)",
          adam_keys(2e-3,
                    {eps, decay, number("momentum_decay", 4e-3, "how fast the momentum grows to beta1"), decoupled}),
          "lr"},
         nadam},
        {{"radam", "Adam that trusts its mean of squares only when it is one of many (Liu et al., 2020)",
          adam_keys(1e-3, {eps, decay, decoupled}), "lr"},
         plain<optim::RAdam, optim::RAdamOptions>},
        {{"adamax", "Adam with the largest gradient in place of the mean of squares (Kingma and Ba, 2015)",
          adam_keys(2e-3, {eps, decay}), "lr"},
         plain<optim::Adamax, optim::AdamaxOptions>},
        {{"lion", "every weight moves by the rate, up or down (Chen et al., 2023)",
          adam_keys(1e-4, {decoupled_decay(0)}, 0.99), "lr"},
         plain<optim::Lion, optim::LionOptions>},
        {{"muon",
          "steps of matrices made orthogonal (Jordan et al., 2024); AdamW for all that is no matrix",
          {lr(1e-3),
           number("momentum", 0.95, "how much of the velocity is kept"),
           {"nesterov", true, "look ahead"},
           number("eps", 1e-7, "the norm is not divided by less"),
           decoupled_decay(0.1),
           {"ns_steps", 5, "steps of Newton and Schulz's iteration", false, Json::Kind::null, {}, 1},
           {"match_rms_adamw", false, "steps as large as AdamW's (Liu et al., 2025)"},
           rate("others_lr", 1e-3, "the rate of parameters that are no matrices")}},
         muon},
    };
}

/// Each part under its glob; rates that change are called by both.
std::unique_ptr<optim::Optimizer> by_name(const Json& options, Schedules& schedules) {
    std::vector<optim::ByName::Part> parts;
    for (const Json::Member& member : options.at("parts").members()) {
        Schedules own;
        parts.push_back({member.key, optimizer_of(choose(member.value, "optimizer"), own)});
        for (auto& [rate, schedule] : own) schedules.emplace_back(text(member.key, " ", rate), std::move(schedule));
    }
    return std::make_unique<optim::ByName>(std::move(parts));
}

Part<MakeOptimizer> several() {
    Option parts{"parts", Json(),
                 "{\"generator.*\": {adam: {...}}, \"*\": ...}: the first that matches takes a parameter", true,
                 Json::Kind::object};
    parts.map_of = "optimizer";
    return {{"by_name", "several optimizers, each for the parameters that its glob names", {parts}}, [](const Json& o) {
                Schedules schedules;
                return by_name(o, schedules);
            }};
}

Part<MakeOptimizer> none() {
    return {{std::string(of_layers_alone), "none: layers learn by rules of their own, as kmeans and pca do"},
            [](const Json&) { return std::make_unique<optim::NoGradients>(); }};
}

}  // namespace

const std::vector<Part<MakeOptimizer>>& optimizers() {
    static const std::vector<Part<MakeOptimizer>> all = [] {
        std::vector<Part<MakeOptimizer>> made = rules();
        for (Part<MakeOptimizer>& part : made)
            part.options.insert(part.options.end(), step_keys().begin(), step_keys().end());
        for (Part<MakeOptimizer>& method : batch_methods()) made.push_back(std::move(method));
        made.push_back(several());
        made.push_back(none());
        return made;
    }();
    return all;
}

std::string as_named(const Chosen& chosen, std::string_view what) {
    std::size_t colon = what.find(": ");
    bool named = colon != what.npos && what.substr(0, colon).find(' ') == what.npos;
    return named ? text(chosen.entry->name, what.substr(colon)) : std::string(what);
}

namespace {

/// The option of which "adam: beta1 is 1; it must be ..." speaks; null if it is none that stands in the file.
const Json* option_in(const Chosen& chosen, std::string_view what) {
    for (const Json::Member& option : chosen.options.members())
        if (option.value.where().file && what.starts_with(text(chosen.entry->name, ": ", option.key, " is ")))
            return &option.value;
    return nullptr;
}

}  // namespace

std::unique_ptr<optim::Optimizer> optimizer_of(const Chosen& chosen, Schedules& schedules) {
    Json options = chosen.options;
    if (options.find("parts")) {
        try {
            return by_name(options, schedules);
        } catch (const ValueError& error) {
            throw ConfigError(text(chosen.where, error.what()));
        }
    }
    for (const Option& option : chosen.entry->options) {
        if (option.also != "schedule" || options.at(option.name).is_number()) continue;
        RateSchedule schedule = schedule_of(options.at(option.name));
        options[option.name] = schedule.value({0, 1});
        schedules.emplace_back(option.name, std::move(schedule));
    }
    try {
        std::unique_ptr<optim::Optimizer> optimizer = chosen.make<MakeOptimizer>()(options);
        optimizer->set_groups(groups_of(options));
        optimizer->configure(step_options_of(options));
        return optimizer;
    } catch (const ValueError& error) {
        std::string what = as_named(chosen, error.what());
        const Json* option = option_in(chosen, what);
        throw ConfigError(text(option ? option->where() : chosen.where, what));
    }
}

}  // namespace weft::train
