#include "weft/train/phase.h"

#include <algorithm>
#include <cctype>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/train/keys.h"

namespace weft::train {
namespace {

data::Last last_named(const std::string& name) {
    return name == "keep" ? data::Last::keep : name == "drop" ? data::Last::drop : data::Last::pad;
}

/// The description becomes complete.
void read_set(Phase& phase, const std::string& name, Json& description) {
    data::ChosenSource source(description);
    description = Json::object({{source.source().name, source.options(), description.where()}});
    phase.sets.emplace_back(name, std::move(source));
}

/// Figures are called SET.FIGURE, and `train` has a meaning.
void read_others(Phase& phase, Json& others) {
    std::vector<Json::Member> members;
    for (Json::Member member : others.members()) {
        bool word = !member.key.empty() && std::all_of(member.key.begin(), member.key.end(), [](unsigned char c) {
            return std::isalnum(c) || c == '_' || c == '-' || c >= 0x80;
        });
        if (!word || phase.set(member.key))
            throw ConfigError(text(member.where, "others: '", member.key, "' ",
                                   word ? "is the name of a set already" : "is no word of letters, digits, _ and -",
                                   "; its figures would be called ", member.key, ".loss"));
        if (member.value.is_null()) member.value.refuse("expected the name of a data set, found nothing");
        read_set(phase, member.key, member.value);
        members.push_back(std::move(member));
    }
    Position where = others.where();
    others = Json::object(std::move(members));
    others.set_where(where);
}

Json read_data(Phase& phase, const Json& given) {
    Json resolved = given;
    for (const char* name : {"train", "valid", "test"})
        if (!resolved.at(name).is_null()) read_set(phase, name, resolved[name]);
    if (!resolved.at("others").is_null()) read_others(phase, resolved["others"]);
    phase.prepare = resolved.at("prepare");
    (void)data::Preparation(phase.prepare);  // refuses what is wrong in it
    data::Augmentation augment(resolved.at("augment"));
    if (!augment.empty()) phase.augment = std::make_shared<data::Augmentation>(std::move(augment));
    phase.shuffle = resolved.at("shuffle").as_bool(), phase.window = resolved.at("window").as_integer();
    phase.keeps_nan = resolved.at("nan").as_string() == "keep";
    phase.buckets = resolved.at("buckets").as_integer();
    phase.readers = static_cast<int>(std::min<std::int64_t>(resolved.at("readers").as_integer(), 1024));
    return resolved;
}

/// A layer; a list is short for `sequential`.
Json read_model(Phase& phase, const Json& given) {
    Json layer = given;
    if (given.is_array()) layer = Json::object({{"sequential", given, given.where()}});
    layer.set_where(given.where());
    phase.model = choose(layer, "model").resolved();
    return phase.model;
}

Json read_cost(Phase& phase, const Json& given) {
    Json resolved = Json::array();
    bool of_batch = false;
    for (const Json& cost : given.is_array() ? given.items() : std::vector<Json>{given}) {
        phase.costs.push_back(choose(cost, "cost"));
        const Chosen& chosen = phase.costs.back();
        resolved.push_back(chosen.resolved());
        CostTerm term = chosen.make<MakeCost>()(chosen.options);
        of_batch = of_batch || term.of_output || term.of_layers;
    }
    if (!of_batch) given.refuse("no cost here depends on what the network says; add one, as in cross_entropy");
    return resolved;
}

Json read_monitor(Phase& phase, const Json& given) {
    std::vector<std::string> sets;
    for (const auto& [name, source] : phase.sets) sets.push_back(name);
    phase.monitor = Monitor(given, sets, phase.counts_errors());
    return phase.monitor.config;
}

Json read_keep_best(Phase& phase, const Json& given) {
    if (given.is_null()) return given;
    std::string channel = given.at("of").as_string(), mode = given.at("mode").as_string();
    check_channel(channel, given.at("of").where(), phase);
    phase.keep_best = Watch{channel, mode == "max" || (mode == "auto" && phase.monitor.more(channel))};
    return given;
}

/// That it can be made, with its schedules, is checked here; after the monitor, whose figures a schedule may read.
Json read_optimizer(Phase& phase, const Json& given) {
    phase.optimizer = choose(given, "optimizer");
    Schedules schedules;
    (void)optimizer_of(phase.optimizer, schedules);
    for (const auto& [rate, schedule] : schedules) {
        for (const auto& [channel, where] : schedule.channels) check_channel(channel, where, phase);
    }
    return phase.optimizer.resolved();
}

Json read_stop(Phase& phase, const Json& given) {
    Chosen chosen = choose(given, "stop");
    phase.stop = chosen.make<MakeStop>()(chosen.options);
    for (const auto& [channel, where] : phase.stop.channels) check_channel(channel, where, phase);
    return chosen.resolved();
}

/// Globs that are no text, or empty ones, are found here; whether they match anything, where the network is made.
void read_freeze(Phase& phase) {
    if (const Json* freeze = phase.config.find("freeze")) phase.freeze = *freeze;
    if (phase.freeze.is_null()) return;
    for (const Json& glob : phase.freeze.items()) {
        if (glob.as_string().empty())
            glob.refuse("expected the names of parameters, as in 0.weight or encoder.*, found nothing");
    }
}

void read_load(Phase& phase) {
    phase.load = Json::array();
    const Json* load = phase.config.find("load");
    if (!load || load->is_null()) return;
    phase.load = load->is_array() ? *load : Json::array({*load});
    for (const Json& one : phase.load.items()) {
        for (const Json::Member& name : one.at("map").members()) (void)name.value.as_string();
    }
}

}  // namespace

namespace {

/// What gives a phase a figure of this name, which it has not; empty: nothing that is known.
std::string how_measured(const std::string& figure, const Phase& phase) {
    std::size_t dot = figure.find('.');
    std::string set = figure.substr(0, dot), behind = dot == figure.npos ? "" : figure.substr(dot + 1);
    bool of_classes = phase.counts_errors();
    for (const Part<MakeChannel>& part : channels()) {
        auto required = [](const Option& option) { return option.required; };
        if (std::any_of(part.options.begin(), part.options.end(), required)) continue;
        Channel channel = part.make(complete(Json(), part.options, part.name));
        bool fits =
            channel.targets == Channel::Targets::any || (channel.targets == Channel::Targets::classes) == of_classes;
        if (channel.name != (channel.of_run ? figure : behind) || !channel.alone || !fits) continue;
        if (!channel.of_run && !phase.set(set)) return text("; `data:` has no set '", set, "'");
        if (!channel.of_run && !phase.monitor.watches(set))
            return set == "test"
                       ? text(
                             "; the test set is for the kept model alone, and not measured while a run goes on: "
                             "name a figure of another set, as valid.",
                             behind)
                       : text("; `monitor: on:` leaves the set '", set, "' out");
        std::string names;
        for (const Channel& one : phase.monitor.channels) {
            if (one.name == channel.name) return "; `monitor: only:` leaves it out";
            names += one.name + ", ";
        }
        return text("; add `", part.name, "` to `monitor: channels:` (now ", names.substr(0, names.size() - 2), ")");
    }
    return "";
}

}  // namespace

void check_channel(const std::string& channel, const Position& where, const Phase& phase) {
    std::vector<std::string> known = phase.channels();
    if (std::find(known.begin(), known.end(), channel) != known.end()) return;
    std::string way_out = how_measured(channel, phase);
    std::vector<std::string_view> names(known.begin(), known.end());
    throw ConfigError(text(where, "no figure of this run is called '", channel, "'",
                           way_out.empty() ? did_you_mean(channel, names) : way_out));
}

Phase::Phase(const Json& description) {
    if (const Json* given = description.find("name")) name = given->as_string();
    config = complete(description, phase_keys(), name.empty() ? "the experiment" : text("phase '", name, "'"));
    config["data"] = read_data(*this, config.at("data"));
    config["model"] = read_model(*this, config.at("model"));
    read_load(*this);
    read_freeze(*this);
    config["cost"] = read_cost(*this, config.at("cost"));
    batch_size = config.at("batch_size").as_integer();
    last = last_named(config.at("last").as_string());
    compile.matmul_precision = MatmulPrecision(config.at("matmul_precision").as_string());
    config["monitor"] = read_monitor(*this, config.at("monitor"));
    config["optimizer"] = read_optimizer(*this, config.at("optimizer"));
    config["stop_when"] = read_stop(*this, config.at("stop_when"));
    config["keep_best"] = read_keep_best(*this, config.at("keep_best"));
    checkpoint_steps = config.at("checkpoint").at("steps").as_integer();
    checkpoint_seconds = config.at("checkpoint").at("seconds").as_number();
    seed = static_cast<std::uint64_t>(config.at("seed").as_integer());
}

const data::ChosenSource* Phase::set(std::string_view name) const {
    for (const auto& [known, source] : sets) {
        if (known == name) return &source;
    }
    return nullptr;
}

void Phase::check_buckets() const {
    if (buckets == 1) return;
    config.at("data").at("buckets").refuse(
        "buckets: these data do not say how long each of their sequences is; text with `lines: true`, wav with "
        "`lengths: true` and `lengths:` of a file of arrays do");
}

data::BatchOptions Phase::batches(const data::Dataset& train, std::int64_t epoch, std::int64_t first) const {
    data::BatchOptions options{.epoch = epoch, .last = last, .first = first};
    if (shuffle) options.shuffle = seed;
    options.window = window, options.readers = readers;
    if (train.has_lengths()) options.buckets = data::bucket_ends(train, buckets);
    options.augment = augment, options.augment_seed = seed;
    return options;
}

bool Phase::counts_errors() const {
    return std::any_of(costs.begin(), costs.end(),
                       [](const Chosen& chosen) { return chosen.make<MakeCost>()(chosen.options).counts_errors; });
}

}  // namespace weft::train
