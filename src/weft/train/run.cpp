#include "weft/train/run.h"

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/io/file.h"
#include "weft/io/folder.h"
#include "weft/io/folder_lock.h"
#include "weft/train/config.h"
#include "weft/train/trainer.h"

namespace weft::train {
namespace {

namespace fs = std::filesystem;
constexpr const char* config_name = "config.yaml";

/// What may not change when a run goes on: all but when it ends.
Json without_stop(const Json& config) {
    std::vector<Json::Member> members;
    for (const Json::Member& member : config.members()) {
        if (member.key == "stop_when") continue;
        Json value = member.value;
        if (member.key == "phases") {
            value = Json::array();
            for (const Json& phase : member.value.items()) value.push_back(without_stop(phase));
        }
        members.push_back({member.key, value, {}});
    }
    return Json::object(std::move(members));
}

/// A run goes on only as the experiment it began as; when it ends may change.
void check_same(const Json& before, const Json& now, const std::string& folder) {
    Json old = without_stop(before), fresh = without_stop(now);
    for (const Json* one : {&fresh, &old}) {
        const Json& other = one == &fresh ? old : fresh;
        for (const Json::Member& member : one->members()) {
            const Json* same = other.find(member.key);
            if (same && *same == member.value) continue;
            throw ConfigError(text("the run in '", folder, "' was begun with another '", member.key,
                                   "'; name another folder (--out); `weft resume ", folder,
                                   "` goes on with what it was begun with"));
        }
    }
}

}  // namespace

bool Run::exists(const fs::path& folder) { return fs::exists(folder / config_name); }

Run Run::create(const fs::path& folder, const Experiment& experiment) {
    std::error_code error;
    if (exists(folder)) {
        throw ConfigError(text("'", folder.string(), "' holds a run already; `weft resume ", folder.string(),
                               "` (in Python Run(folder).resume()) goes on with it; or name another folder (--out)"));
    }
    if (fs::exists(folder, error) && !(fs::is_directory(folder, error) && fs::is_empty(folder, error))) {
        throw ConfigError(text("'", folder.string(), "' is no empty folder; name another one"));
    }
    fs::create_directories(folder, error);
    if (error) throw FileError(text("'", folder.string(), "' cannot be made: ", error.message()));
    io::write_atomically(folder / config_name, config_text(experiment.config));
    Run run(folder, experiment);
    run.fresh_ = true;
    return run;
}

Run Run::begun_or_new(const fs::path& folder, const Experiment& experiment) {
    if (!exists(folder)) return create(folder, experiment);
    io::FolderLock lock(folder);
    check_same(open(folder).experiment().config, experiment.config, folder.string());
    io::write_atomically(folder / config_name, config_text(experiment.config));
    return open(folder);
}

Run Run::open(const fs::path& folder) {
    if (!exists(folder))
        throw ConfigError(text("'", folder.string(), "' holds no run: there is no ", config_name, " in it"));
    data::FilesUnchecked files;  // a model is used where its data are not; train() and prepared() look
    return Run(folder, Experiment(load_config(folder / config_name)));
}

Run Run::open(const fs::path& folder, const Json& sets) {
    Run run = open(folder);
    for (const Json::Member& given : sets.members()) {
        data::ChosenSource now(given.value);
        bool same = false;
        for (const Phase& phase : run.experiment_.phases) {
            const data::ChosenSource* before = phase.set(given.key);
            same = same || (before && &before->source() == &now.source() && before->options() == now.options());
        }
        if (!same)
            throw ConfigError(text("the run in '", folder.string(), "' was begun with other data as '", given.key,
                                   "': ", folder.string(), "/", config_name,
                                   " says of which shapes, dtypes and MD5 its arrays are; given are ",
                                   json_text(now.options())));
    }
    return run;
}

fs::path Run::kept() const {
    for (const char* name : {"best", "last"}) {
        if (fs::exists(folder_ / name / "model.safetensors")) return folder_ / name;
    }
    throw ConfigError(text("'", folder_.string(), "' has no checkpoint yet; `weft resume ", folder_.string(),
                           "` (in Python Run(folder).resume()) trains it"));
}

const Phase& Run::kept_phase() const {
    auto phase = static_cast<std::size_t>(load_progress(kept()).phase);
    if (phase >= experiment_.phases.size())
        throw FileError(text("'", (kept() / "state.json").string(), "' stands in phase ", phase + 1,
                             "; the experiment has ", experiment_.phases.size()));
    return experiment_.phases[phase];
}

Outcome Run::train(Watcher& watcher, const std::function<bool()>& stop) {
    try {
        for (const Phase& phase : experiment_.phases)
            for (const auto& [name, source] : phase.sets) source.check();
        return Trainer(*this, watcher, stop).train();
    } catch (...) {
        forget_if_empty();
        throw;
    }
}

void Run::forget_if_empty() const {
    std::error_code ignored;
    if (!fresh_) return;
    for (const char* kept : {"last", "best", "phases"})
        if (fs::exists(folder_ / kept, ignored)) return;
    try {
        io::FolderLock lock(folder_);
        fs::remove_all(folder_, ignored);
    } catch (const Error&) {  // another process is at work in it
    }
}

data::Dataset Run::prepared(std::string_view name) const {
    const Phase& phase = kept_phase();
    const data::ChosenSource* source = phase.set(name);
    if (!source) {
        std::vector<std::string_view> names;
        for (const auto& [known, chosen] : phase.sets) names.push_back(known);
        throw ConfigError(text("the run has no set '", name, "'", did_you_mean(name, names)));
    }
    data::Preparation preparation(phase.prepare);
    load_preparation(kept(), preparation);
    source->check();
    return preparation.apply(source->load());
}

Network Run::network(const data::Dataset& like) const {
    Network network = make_network(kept_phase(), like);
    (void)load_model(kept(), network.model);
    return network;
}

}  // namespace weft::train
