#include "weft/train/experiment.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/io/file.h"
#include "weft/train/keys.h"
#include "weft/train/sweep.h"
#include "weft/train/yaml.h"

namespace weft::train {
namespace {

/// What other commands read of the file: a training checks it and goes its way. `written`: before variables had values.
void check_searches(const Json& description, const Json& written) {
    check_sweep(written);
    if (const Json* cv = description.find("cv")) (void)complete(*cv, cv_keys(), "cv");
}

/// The keys beside `phases:`, over which each phase is laid. All must be known, although a phase might replace them.
Json shared_part(const Json& description) {
    std::vector<std::string_view> names;
    for (const Option& option : file_keys()) names.push_back(option.name);
    std::vector<Json::Member> members;
    for (const Json::Member& member : description.members()) {
        if (std::find(names.begin(), names.end(), member.key) == names.end())
            throw ConfigError(text(member.where, "unknown key '", member.key, "' in the experiment",
                                   did_you_mean(member.key, names)));
        if (member.key != "phases" && member.key != "sweep" && member.key != "cv") members.push_back(member);
    }
    Json shared = Json::object(std::move(members));
    shared.set_where(description.where());
    return shared;
}

/// What only a whole file has is not for one of its phases.
void check_keys_of_phase(const Json& phase) {
    auto has = [](const std::vector<Option>& keys, const std::string& name) {
        return std::any_of(keys.begin(), keys.end(), [&](const Option& option) { return option.name == name; });
    };
    for (const Json::Member& member : phase.members())
        if (has(file_keys(), member.key) && !has(phase_keys(), member.key))
            throw ConfigError(text(member.where, "`", member.key,
                                   ":` is of the whole file: it stands beside `phases:`, not in one of them"));
}

/// 1, 2, ... where the file gives no name.
void name_phase(Json& phase, std::size_t number, const std::vector<Phase>& before) {
    Json* name = phase.find("name");
    if (!name || name->is_null()) {
        phase["name"] = std::to_string(number);
        return;
    }
    const std::string& word = name->as_string();
    if (word.empty() || word.find_first_of("/\\. ") != word.npos)
        name->refuse(
            text("'", word, "' cannot name a phase: it names a folder of the run, so it takes no '/', '.' or space"));
    for (const Phase& other : before) {
        if (other.name == word) name->refuse(text("there is a phase named '", word, "' already; names must differ"));
    }
}

/// What a stop rule reads of other phases: these must run before, and have such a figure.
void check_earlier(const std::vector<Phase>& phases) {
    for (std::size_t i = 0; i < phases.size(); ++i) {
        for (const EarlierFigure& wanted : phases[i].stop.earlier) {
            auto same = [&](const Phase& phase) { return !phase.name.empty() && phase.name == wanted.phase; };
            auto end = phases.begin() + static_cast<std::ptrdiff_t>(i), found = std::find_if(phases.begin(), end, same);
            if (found != end) {
                check_channel(wanted.channel, wanted.where, *found);
                continue;
            }
            std::vector<std::string_view> names;
            for (auto phase = phases.begin(); phase != end; ++phase) names.push_back(phase->name);
            throw ConfigError(text(wanted.where, "no phase named '", wanted.phase, "' runs before this one",
                                   did_you_mean(wanted.phase, names)));
        }
    }
}

}  // namespace

Experiment::Experiment(const Json& given, const Json& before)
    : written(before.is_null() ? given : before), description(given) {
    if (!description.is_object())
        description.refuse(text("an experiment is a mapping, found ", description.describe(),
                                "; `weft help experiment` lists its keys"));
    const Json* list = description.find("phases");
    if (!list || list->is_null()) {
        phases.emplace_back(shared_part(description));
        config = phases[0].config;
    } else {
        if (!list->is_array())
            list->refuse(text("`phases:` is a list of phases, one after another: [{name: pretrain, ...}, ...]; found ",
                              list->describe()));
        if (list->items().empty())
            list->refuse("expected at least one phase, as in [{name: pretrain, ...}, {name: finetune, ...}]");
        Json shared = shared_part(description), resolved = Json::array();
        for (const Json& item : list->items()) {
            Json phase = item;
            if (!phase.is_object()) phase.refuse(text("a phase is a mapping of keys, found ", phase.describe()));
            check_keys_of_phase(phase);
            name_phase(phase, phases.size() + 1, phases);
            phases.emplace_back(laid_over(shared, phase, phase_keys()));
            resolved.push_back(phases.back().config);
        }
        config["phases"] = resolved;
    }
    check_earlier(phases);
    check_searches(description, written);
    held = data::held_in(config);
}

std::string Experiment::yaml() const { return yaml_text(description); }

void Experiment::save(const std::filesystem::path& file) const {
    io::write_atomically(file, file.extension() == ".json" ? json_text(description, 2) + "\n" : yaml());
}

std::string help_on_experiment() {
    std::string out = text("An experiment is a file of YAML (or JSON) with these keys:\n\n", help_on(file_keys()));
    for (const Option& option : file_keys()) {
        if (!option.keys.empty() && option.name != "phases")
            out += text("\n", option.name, ":\n", help_on(option.keys));
    }
    return out +
           "\nEach of `phases:` has these keys again, and a name. A value is replaced with --set, as in --set "
           "optimizer.momentum.lr=0.02\nor --set model.sequential.0.linear.units=100. `weft schema` prints all of this "
           "for editors.\n";
}

}  // namespace weft::train
