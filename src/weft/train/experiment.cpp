#include "weft/train/experiment.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/base/nearest.h"

namespace weft::train {
namespace {

Option integer(const char* name, Json fallback, const char* doc, double least) {
    Option option{name, std::move(fallback), doc};
    option.least = least;
    return option;
}

const std::vector<Option>& keys() {
    static const std::vector<Option> all{
        {"data", Json(), "the sets train, valid and test, and prepare: what is done to them", true, Json::Kind::object},
        {"model", Json(), "the network: {sequential: [layers]}", true, Json::Kind::object},
        {"cost", Json(), "what is minimised: a cost, or a list whose sum it is", true},
        {"optimizer", Json(), "how it is minimised", true},
        integer("batch_size", 100, "examples a step", 1),
        {"last",
         "keep",
         "a last batch that is not full: shorter, left out, or filled up",
         false,
         Json::Kind::string,
         {"keep", "drop", "pad"}},
        {"stop_when", Json::object({{"epochs", 10, {}}}), "when the run ends: a stop rule, or {any: [rules]}", false,
         Json::Kind::object},
        {"keep_best", Json(), "{of: valid.error, mode: min}: which model is kept beside the last", false,
         Json::Kind::object},
        integer("seed", 1, "of initial values, shuffling and dropout", 0),
        {"monitor", Json::object(), "{every: epoch, on: [train, valid]}: what stands in the log", false,
         Json::Kind::object},
        {"checkpoint", Json::object(), "{steps: 0, seconds: 0}: checkpoints within epochs", false, Json::Kind::object},
    };
    return all;
}

const std::vector<Option>& data_keys() {
    static const std::vector<Option> all{
        {"train", Json(), "what the network learns from", true},
        {"valid", Json(), "what decides which model is kept"},
        {"test", Json(), "what the kept model is judged by"},
        {"prepare", Json::array(), "steps of preparation, in order", false, Json::Kind::array},
    };
    return all;
}

const std::vector<Option>& model_keys() {
    static const std::vector<Option> all{{"sequential", Json(), "layers, one after another", true, Json::Kind::array}};
    return all;
}

const std::vector<Option>& watch_keys() {
    static const std::vector<Option> all{
        {"of", Json(), "a figure of the log, as in valid.error", true, Json::Kind::string},
        {"mode", "min", "whether less or more is better", false, Json::Kind::string, {"min", "max"}}};
    return all;
}

const std::vector<Option>& monitor_keys() {
    static const std::vector<Option> all{
        {"every", "epoch", "a line an epoch, or also one a step", false, Json::Kind::string, {"epoch", "step"}},
        {"on", Json(), "the sets; train and valid if left out", false, Json::Kind::array}};
    return all;
}

const std::vector<Option>& checkpoint_keys() {
    static const std::vector<Option> all{integer("steps", 0, "after every so many steps", 0),
                                         integer("seconds", 0.0, "when so many seconds have passed", 0)};
    return all;
}

/// Keys that the documentation of experiments names, for versions to come.
void refuse_what_is_to_come(const Json& description) {
    for (const char* key : {"include", "let", "phases", "sweep", "cv", "augment"}) {
        if (!description.is_object() || !description.find(key)) continue;
        for (const Json::Member& member : description.members()) {
            if (member.key == key)
                throw ConfigError(text(member.where, "'", key, "' is not built yet in this version of weft"));
        }
    }
}

/// ${name} would be taken literally where a string is meant.
void refuse_substitution(const Json& value) {
    if (value.is_string() && value.as_string().find("${") != std::string::npos) {
        value.refuse(
            text("'", value.as_string(), "': substitution of ${...} is not built yet in this version of weft"));
    }
    if (value.is_array())
        for (const Json& item : value.items()) refuse_substitution(item);
    if (value.is_object())
        for (const Json::Member& member : value.members()) refuse_substitution(member.value);
}

void check_channel(const std::string& channel, const Position& where, const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), channel) != known.end()) return;
    std::vector<std::string_view> names(known.begin(), known.end());
    throw ConfigError(text(where, "no figure of this run is called '", channel, "'", did_you_mean(channel, names)));
}

data::Last last_named(const std::string& name) {
    return name == "keep" ? data::Last::keep : name == "drop" ? data::Last::drop : data::Last::pad;
}

Json read_data(Experiment& experiment, const Json& given) {
    Json resolved = complete(given, data_keys(), "data");
    for (const char* name : {"train", "valid", "test"}) {
        Json& description = resolved[name];
        if (description.is_null()) continue;
        data::ChosenSource source(description);
        description = Json::object({{source.source().name, source.options(), description.where()}});
        experiment.sets.emplace_back(name, std::move(source));
    }
    experiment.prepare = resolved.at("prepare");
    (void)data::Preparation(experiment.prepare);  // refuses what is wrong in it
    return resolved;
}

Json read_model(Experiment& experiment, const Json& given) {
    Json resolved = complete(given, model_keys(), "model");
    Json list = Json::array();
    if (!resolved.at("sequential").size()) resolved.at("sequential").refuse("a network has at least one layer");
    for (const Json& layer : resolved.at("sequential").items()) {
        experiment.layers.push_back(choose(layer, "model"));
        list.push_back(experiment.layers.back().resolved());
    }
    resolved["sequential"] = list;
    return resolved;
}

Json read_cost(Experiment& experiment, const Json& given) {
    Json resolved = Json::array();
    bool of_output = false;
    for (const Json& cost : given.is_array() ? given.items() : std::vector<Json>{given}) {
        experiment.costs.push_back(choose(cost, "cost"));
        const Chosen& chosen = experiment.costs.back();
        resolved.push_back(chosen.resolved());
        of_output = of_output || chosen.make<MakeCost>()(chosen.options).of_output;
    }
    if (!of_output) given.refuse("no cost here depends on what the network says; add one, as in cross_entropy");
    return resolved;
}

/// A rate may be a schedule; that its schedule can be made is checked here.
Json read_optimizer(Experiment& experiment, const Json& given) {
    experiment.optimizer = choose(given, "optimizer");
    for (const Option& option : experiment.optimizer.entry->options) {
        if (option.also == "schedule") (void)schedule_of(experiment.optimizer.options.at(option.name));
    }
    return experiment.optimizer.resolved();
}

Json read_monitor(Experiment& experiment, const Json& given) {
    Json resolved = complete(given, monitor_keys(), "monitor");
    experiment.log_steps = resolved.at("every").as_string() == "step";
    if (resolved.at("on").is_null()) {
        Json on = Json::array();
        for (const auto& [name, source] : experiment.sets) {
            if (name != "test") on.push_back(name);
        }
        resolved["on"] = on;
    }
    std::vector<std::string_view> names;
    for (const auto& [name, source] : experiment.sets) names.push_back(name);
    for (const Json& name : resolved.at("on").items()) {
        if (!experiment.set(name.as_string())) {
            name.refuse(
                text("the experiment has no set '", name.as_string(), "'", did_you_mean(name.as_string(), names)));
        }
        experiment.monitored.push_back(name.as_string());
    }
    return resolved;
}

Json read_keep_best(Experiment& experiment, const Json& given) {
    if (given.is_null()) return given;
    Json resolved = complete(given, watch_keys(), "keep_best");
    experiment.keep_best = Watch{resolved.at("of").as_string(), resolved.at("mode").as_string() == "max"};
    check_channel(experiment.keep_best->channel, resolved.at("of").where(), experiment.channels());
    return resolved;
}

Json read_stop(Experiment& experiment, const Json& given) {
    Json resolved;
    experiment.stop = stop_rule(given, resolved);
    for (const auto& [channel, where] : experiment.stop.channels) check_channel(channel, where, experiment.channels());
    return resolved;
}

Json read_checkpoint(Experiment& experiment, const Json& given) {
    Json resolved = complete(given, checkpoint_keys(), "checkpoint");
    experiment.checkpoint_steps = resolved.at("steps").as_integer();
    experiment.checkpoint_seconds = resolved.at("seconds").as_number();
    return resolved;
}

}  // namespace

Experiment::Experiment(const Json& description) {
    if (!description.is_object())
        description.refuse(text("an experiment is a mapping, found ", description.describe()));
    refuse_what_is_to_come(description);
    refuse_substitution(description);
    config = complete(description, keys(), "the experiment");
    config["data"] = read_data(*this, config.at("data"));
    config["model"] = read_model(*this, config.at("model"));
    config["cost"] = read_cost(*this, config.at("cost"));
    config["optimizer"] = read_optimizer(*this, config.at("optimizer"));
    batch_size = config.at("batch_size").as_integer();
    last = last_named(config.at("last").as_string());
    config["monitor"] = read_monitor(*this, config.at("monitor"));
    config["stop_when"] = read_stop(*this, config.at("stop_when"));
    config["keep_best"] = read_keep_best(*this, config.at("keep_best"));
    config["checkpoint"] = read_checkpoint(*this, config.at("checkpoint"));
    seed = static_cast<std::uint64_t>(config.at("seed").as_integer());
}

const data::ChosenSource* Experiment::set(std::string_view name) const {
    for (const auto& [known, source] : sets) {
        if (known == name) return &source;
    }
    return nullptr;
}

bool Experiment::counts_errors() const {
    return std::any_of(costs.begin(), costs.end(),
                       [](const Chosen& chosen) { return chosen.make<MakeCost>()(chosen.options).counts_errors; });
}

std::vector<std::string> Experiment::channels() const {
    std::vector<std::string> all;
    for (const std::string& name : monitored) {
        all.push_back(name + ".loss");
        if (counts_errors()) all.push_back(name + ".error");
    }
    return all;
}

std::string help_on_experiment() {
    return text("An experiment is a file of YAML (or JSON) with these keys:\n\n", help_on(keys()), "\ndata:\n",
                help_on(data_keys()), "\nmodel:\n", help_on(model_keys()), "\nmonitor:\n", help_on(monitor_keys()),
                "\nkeep_best:\n", help_on(watch_keys()), "\ncheckpoint:\n", help_on(checkpoint_keys()),
                "\nA value is replaced with --set, as in --set optimizer.momentum.lr=0.02\n");
}

}  // namespace weft::train
