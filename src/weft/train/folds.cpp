#include "weft/train/folds.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/train/keys.h"

namespace weft::train {
namespace {

/// The data of a phase with the folds in place of train and test.
void fold_data(Json& config, const Json& cv, std::int64_t repeat, std::int64_t fold, bool stratified) {
    Json& data = config["data"];
    const Json whole = data.at("train");
    auto part = [&](const char* name) {
        Json options = Json::object();
        options["of"] = whole, options["folds"] = cv.at("folds"), options["fold"] = fold, options["part"] = name;
        options["stratified"] = stratified, options["seed"] = cv.at("seed").as_integer() + repeat - 1;
        return Json::object({{"fold", options, {}}});
    };
    data["train"] = part("train"), data["test"] = part("held_out");
}

/// What a fold is judged by first: errors where these are counted, else the loss, else what the monitor measures.
std::string figure_of(const Phase& phase) {
    std::vector<std::string> names;
    for (const std::string& name : phase.channels())
        if (name.starts_with("train.")) names.push_back("test." + name.substr(std::string_view("train.").size()));
    for (const char* best : {"test.error", "test.loss"})
        if (std::find(names.begin(), names.end(), best) != names.end()) return best;
    return names.empty() ? "test.loss" : names[0];
}

}  // namespace

Trials cross_validation_of(const Json& description) {
    const Json* named = description.find("cv");
    Json cv = complete(named ? *named : Json(), cv_keys(), "cv");
    Experiment whole(description);
    const Phase& phase = whole.phases.back();
    const Json* wanted = cv.find("stratified");
    bool stratified = wanted ? wanted->as_bool() : phase.counts_errors();
    Trials all;
    all.kind = "cv", all.keys = {"repeat", "fold"};
    std::string figure = figure_of(phase);
    all.watch = {figure, phase.monitor.more("train" + figure.substr(figure.find('.')))};
    for (std::int64_t repeat = 1; repeat <= cv.at("repeats").as_integer(); ++repeat) {
        for (std::int64_t fold = 1; fold <= cv.at("folds").as_integer(); ++fold) {
            Json config = whole.config;
            if (Json* phases = config.find("phases")) {
                Json list = Json::array();
                for (Json one : phases->items()) {
                    fold_data(one, cv, repeat, fold, stratified);
                    list.push_back(one);
                }
                *phases = list;
            } else {
                fold_data(config, cv, repeat, fold, stratified);
            }
            config = Experiment(config).config;
            all.trials.push_back(
                {static_cast<std::int64_t>(all.trials.size()) + 1, {Json(repeat), Json(fold)}, config});
        }
    }
    all.rungs = {{static_cast<std::int64_t>(all.trials.size()), 0}};
    cv["stratified"] = stratified;
    all.description["cv"] = cv, all.description["experiment"] = whole.config;
    return all;
}

std::vector<Spread> spreads(const std::vector<TrialResult>& results) {
    std::vector<Spread> all;
    const TrialResult* first = nullptr;
    for (const TrialResult& result : results)
        if (!first && result.error.empty()) first = &result;
    if (!first) return all;
    for (const Json::Member& member : first->figures.members()) {
        std::vector<double> values;
        for (const TrialResult& result : results) {
            const Json* value = result.error.empty() ? result.figures.find(member.key) : nullptr;
            if (value) values.push_back(value->as_number());
        }
        auto count = static_cast<double>(values.size());
        double mean = 0, squares = 0;
        for (double value : values) mean += value / count;
        for (double value : values) squares += (value - mean) * (value - mean);
        all.push_back({member.key, mean, values.size() > 1 ? std::sqrt(squares / (count - 1)) : 0});
    }
    return all;
}

}  // namespace weft::train
