#include "weft/train/trials.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/train/log.h"

namespace weft::train {
namespace {

std::optional<double> figure_in(const Json& line, const std::string& channel) {
    const Json* found = line.find(channel);
    return found ? std::optional(found->as_number()) : std::nullopt;
}

bool better(const TrialResult& a, const TrialResult& b, const Watch& watch) {
    if (a.error.empty() != b.error.empty()) return a.error.empty();
    if (a.rung != b.rung) return a.rung > b.rung;
    if (a.error.empty() && a.figure != b.figure) return watch.better(a.figure, b.figure);
    return a.trial < b.trial;
}

}  // namespace

Json Trials::config(const Trial& trial, std::size_t rung) const {
    if (rungs[rung].epochs == 0) return trial.config;
    Json config = trial.config, rules = Json::array();
    rules.push_back(Json::object({{"epochs", rungs[rung].epochs, {}}}));
    rules.push_back(config.at("stop_when"));
    config["stop_when"] = Json::object({{"any", rules, {}}});
    return config;
}

std::vector<std::int64_t> Trials::members(std::size_t rung, const std::vector<TrialResult>& results) const {
    std::vector<std::int64_t> numbers;
    if (rung == 0) {
        for (const Trial& trial : trials) numbers.push_back(trial.number);
        return numbers;
    }
    std::vector<TrialResult> before;
    for (const TrialResult& result : results)
        if (result.rung == static_cast<std::int64_t>(rung) - 1 && result.error.empty()) before.push_back(result);
    std::sort(before.begin(), before.end(), [&](const auto& a, const auto& b) { return better(a, b, watch); });
    auto most = static_cast<std::size_t>(rungs[rung].trials);
    for (std::size_t i = 0; i < std::min(most, before.size()); ++i) numbers.push_back(before[i].trial);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

std::vector<TrialResult> Trials::ranked(const std::vector<TrialResult>& results) const {
    std::vector<TrialResult> last;
    for (const TrialResult& result : results) {
        auto same = [&](const TrialResult& one) { return one.trial == result.trial; };
        auto known = std::find_if(last.begin(), last.end(), same);
        if (known == last.end())
            last.push_back(result);
        else if (result.rung >= known->rung)
            *known = result;
    }
    std::sort(last.begin(), last.end(), [&](const auto& a, const auto& b) { return better(a, b, watch); });
    return last;
}

TrialResult result_of(const std::filesystem::path& run, const Watch& watch) {
    TrialResult result;
    std::vector<Json> lines = read_log(run / "log.jsonl");
    if (lines.empty() || !lines.back().find("final")) {
        result.error = "its log has no final line";
        return result;
    }
    const Json& final = lines.back();
    result.epoch = final.at("epoch").as_integer(), result.seconds = final.at("seconds").as_number();
    result.figures = Json::object();
    for (const Json::Member& member : final.members())
        if (is_figure(member)) result.figures[member.key] = member.value;
    // What is measured in steps alone (train.loss) stands in the line of the epoch that is kept.
    std::optional<double> figure = figure_in(final, watch.channel);
    for (const Json& line : lines) {
        bool kept = is_epoch(line) && phase_of(line) == phase_of(final) && line.at("epoch") == final.at("epoch");
        if (!figure && kept) figure = figure_in(line, watch.channel);
    }
    if (!figure)
        result.error = text("its log has no ", watch.channel);
    else if (!std::isfinite(*figure))
        result.error = text(watch.channel, " is ", *figure);
    else
        result.figure = *figure;
    return result;
}

Json line_of(const TrialResult& result, const Trials& trials) {
    Json line;
    const Trial& trial = trials.trials[static_cast<std::size_t>(result.trial - 1)];
    line["trial"] = result.trial, line["rung"] = result.rung;
    Json values = Json::object();
    for (std::size_t i = 0; i < trials.keys.size(); ++i) values[trials.keys[i]] = trial.values[i];
    line["values"] = values;
    line["status"] = result.error.empty() ? "done" : "failed";
    if (result.error.empty())
        line["figure"] = result.figure;
    else
        line["error"] = result.error;
    line["epoch"] = result.epoch, line["seconds"] = result.seconds, line["figures"] = result.figures;
    return line;
}

TrialResult result_in(const Json& line) {
    TrialResult result;
    result.trial = line.at("trial").as_integer(), result.rung = line.at("rung").as_integer();
    if (const Json* error = line.find("error")) result.error = error->as_string();
    if (const Json* figure = line.find("figure")) result.figure = figure->as_number();
    result.epoch = line.at("epoch").as_integer(), result.seconds = line.at("seconds").as_number();
    result.figures = line.at("figures");
    return result;
}

std::string value_text(const Json& value) { return value.is_string() ? value.as_string() : json_text(value); }

}  // namespace weft::train
