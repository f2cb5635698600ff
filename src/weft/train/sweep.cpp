#include "weft/train/sweep.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/data/counter_random.h"
#include "weft/train/assignment.h"
#include "weft/train/keys.h"
#include "weft/train/variables.h"

namespace weft::train {
namespace {

constexpr std::int64_t most_trials = 100'000, draws_of_a_trial = 20;

struct Axis {
    std::string key;
    Position where;  // of the key
    Chosen chosen;
    Distribution values;
};

std::vector<Axis> axes_of(const Json& over) {
    std::vector<Axis> axes;
    for (const Json::Member& member : over.members()) {
        Chosen chosen = choose(member.value, "distribution");
        Distribution values = chosen.make<MakeDistribution>()(chosen.options);
        axes.push_back({member.key, member.where, std::move(chosen), std::move(values)});
    }
    return axes;
}

Json value_of_axis(const Axis& axis, double uniform) {
    Json value = axis.values.draw(uniform);
    if (value.where().line == 0) value.set_where(axis.chosen.where);
    return value;
}

using Values = std::vector<Json>;

/// The last key changes fastest.
std::vector<Values> grid_of(const std::vector<Axis>& axes, const Json& over) {
    std::int64_t count = 1;
    for (const Axis& axis : axes) {
        count *= static_cast<std::int64_t>(axis.values.values.size());
        if (count > most_trials)
            over.refuse(text("a grid of more than ", most_trials, " runs; `method: random` tries some of them"));
    }
    std::vector<Values> all;
    for (std::int64_t k = 0; k < count; ++k) {
        Values values(axes.size());
        std::int64_t rest = k;
        for (std::size_t i = axes.size(); i-- > 0;) {
            auto size = static_cast<std::int64_t>(axes[i].values.values.size());
            values[i] = axes[i].values.values[static_cast<std::size_t>(rest % size)], rest /= size;
        }
        all.push_back(std::move(values));
    }
    return all;
}

/// What trial k draws does not depend on how many there are. What was drawn before is left out, so a short list gives all it has once.
std::vector<Values> drawn(const std::vector<Axis>& axes, std::int64_t runs, std::uint64_t seed) {
    std::vector<Values> all;
    for (std::int64_t k = 0; k < draws_of_a_trial * runs && static_cast<std::int64_t>(all.size()) < runs; ++k) {
        data::CounterRandom random(seed, static_cast<std::uint64_t>(k));
        Values values;
        for (const Axis& axis : axes) values.push_back(value_of_axis(axis, random.uniform()));
        if (std::find(all.begin(), all.end(), values) == all.end()) all.push_back(std::move(values));
    }
    return all;
}

Json without_searches(const Json& written) {
    std::vector<Json::Member> members;
    for (const Json::Member& member : written.members())
        if (member.key != "sweep" && member.key != "cv") members.push_back(member);
    Json rest = Json::object(std::move(members));
    rest.set_where(written.where());
    return rest;
}

Watch watch_of(const Json& sweep, const Phase& phase) {
    for (const char* way : {"minimize", "maximize"}) {
        if (const Json* channel = sweep.find(way)) {
            check_channel(channel->as_string(), channel->where(), phase);
            return {channel->as_string(), way == std::string_view("maximize")};
        }
    }
    if (phase.keep_best) return *phase.keep_best;
    return {phase.set("valid") ? "valid.loss" : "train.loss"};
}

/// Epochs of the longest trial; 0 if one of them has no number of epochs.
std::int64_t most_epochs(const std::vector<Experiment>& experiments) {
    std::int64_t most = 0;
    for (const Experiment& one : experiments) {
        std::int64_t epochs = one.phases[0].stop.most_epochs;
        if (epochs == 0) return 0;
        most = std::max(most, epochs);
    }
    return most;
}

std::vector<Rung> halving(const Json& sweep, const std::vector<Experiment>& experiments) {
    const Json& method = sweep.at("method");
    if (experiments[0].phases.size() > 1)
        method.refuse("halving compares runs by their epochs, which count anew in each of `phases:`; use random");
    std::int64_t most = most_epochs(experiments), factor = sweep.at("factor").as_integer();
    if (most == 0)
        method.refuse("halving needs to know the most epochs of a run: `stop_when:` must have a rule {epochs: N}");
    std::vector<Rung> rungs;
    auto trials = static_cast<std::int64_t>(experiments.size());
    for (std::int64_t epochs = sweep.at("epochs").as_integer(); epochs < most && trials > 1;) {
        rungs.push_back({trials, epochs});
        trials = std::max<std::int64_t>(1, trials / factor);
        epochs = epochs > most / factor ? most : epochs * factor;
    }
    rungs.push_back({trials, 0});
    return rungs;
}

/// Another value of a variable that nobody has would make the same run again.
void check_variables(const std::vector<Axis>& axes, const Json& written) {
    std::vector<std::string_view> names;
    if (const Json* let = written.find("let"); let && let->is_object())
        for (const Json::Member& member : let->members()) names.push_back(member.key);
    for (const Axis& axis : axes) {
        if (!axis.key.starts_with("let.")) continue;
        std::string_view name = std::string_view(axis.key).substr(4);
        name = name.substr(0, name.find('.'));
        if (std::find(names.begin(), names.end(), name) == names.end())
            throw ConfigError(text(axis.where, "'", axis.key, "' cannot be tried: there is no variable '", name, "'",
                                   did_you_mean(name, names)));
    }
}

}  // namespace

Json checked_sweep(const Json& sweep) {
    Json complete_sweep = complete(sweep, sweep_keys(), "sweep");
    const Json& over = complete_sweep.at("over");
    if (over.size() == 0) over.refuse("expected at least one key, as in {optimizer.sgd.lr: [0.1, 0.01]}");
    bool grid = complete_sweep.at("method").as_string() == "grid";
    for (const Axis& axis : axes_of(over)) {
        std::string_view first = std::string_view(axis.key).substr(0, axis.key.find('.'));
        if (first == "sweep" || first == "cv" || first == "include")
            throw ConfigError(text(axis.where, "'", axis.key, "' cannot be tried: it is no part of a run"));
        if (grid && axis.values.values.empty())
            throw ConfigError(text(axis.chosen.where, "a grid tries every value, and ", axis.chosen.entry->name,
                                   " has no end of them; give a list, or `method: random`"));
    }
    const Json *less = sweep.find("minimize"), *more = sweep.find("maximize");
    if (less && more) more->refuse("there is a `minimize:` already; one figure tells how good a run is");
    if (grid && sweep.find("runs"))
        sweep.at("runs").refuse("a grid has as many runs as there are combinations; leave `runs:` out");
    return complete_sweep;
}

namespace {

/// What stands behind `sweep:`, its variables replaced, complete.
Json sweep_in(const Json& written) {
    const Json* let = written.find("let");
    return checked_sweep(
        with_variables(Json::object({{"let", let ? *let : Json(), {}}, {"sweep", written.at("sweep"), {}}}))
            .at("sweep"));
}

}  // namespace

void check_sweep(const Json& written) {
    const Json* named = written.find("sweep");
    if (!named || named->is_null()) return;
    Json sweep = sweep_in(written);
    std::vector<Axis> axes = axes_of(sweep.at("over"));
    const Json base = without_searches(written);
    if (written.find("let")) check_variables(axes, written);
    constexpr double last = 1 - 0x1p-53;
    for (const Axis& axis : axes) {
        if (axis.key.starts_with("let.") && !written.find("let")) continue;
        for (double uniform : {0.0, last}) {
            Json description = with_value(base, axis.key, value_of_axis(axis, uniform), axis.where);
            (void)watch_of(sweep, Experiment(with_variables(description)).phases.back());
        }
    }
}

Trials sweep_of(const Json& written) {
    const Json* named = written.find("sweep");
    if (!named || named->is_null())
        written.refuse(
            "there is no `sweep:` in it, as in {over: {optimizer.sgd.lr: [0.1, 0.01]}}; `weft help experiment` says "
            "more");
    Json sweep = sweep_in(written);
    Trials all;
    all.kind = "sweep";
    std::vector<Axis> axes = axes_of(sweep.at("over"));
    check_variables(axes, written);
    const Json* runs = sweep.find("runs");
    std::vector<Values> values =
        sweep.at("method").as_string() == "grid"
            ? grid_of(axes, sweep.at("over"))
            : drawn(axes, runs ? runs->as_integer() : 20, static_cast<std::uint64_t>(sweep.at("seed").as_integer()));
    std::vector<Experiment> experiments;
    const Json base = without_searches(written);
    for (const Values& chosen : values) {
        Json description = base;
        for (std::size_t i = 0; i < axes.size(); ++i)
            description = with_value(description, axes[i].key, chosen[i], axes[i].where);
        experiments.emplace_back(with_variables(description));
        all.trials.push_back({static_cast<std::int64_t>(all.trials.size()) + 1, chosen, experiments.back().config});
        Watch watch = watch_of(sweep, experiments.back().phases.back());
        if (all.trials.size() == 1) all.watch = watch;
    }
    for (const Axis& axis : axes) all.keys.push_back(axis.key);
    all.rungs = sweep.at("method").as_string() == "halving"
                    ? halving(sweep, experiments)
                    : std::vector<Rung>{{static_cast<std::int64_t>(all.trials.size()), 0}};
    all.description["sweep"] = sweep, all.description["experiment"] = all.trials[0].config;
    return all;
}

}  // namespace weft::train
