// The rules that end a run. They are asked after every epoch and see the figures of all epochs so far, so a resumed run stops where
// an uninterrupted one does.
#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

Option count(const char* name, const char* doc) {
    Option option{name, Json(), doc, true, Json::Kind::integer};
    option.least = 1;
    return option;
}

StopRule after_epochs(const Json& o) {
    std::int64_t most = o.at("epochs").as_integer();
    return {[most](const Standing& standing) { return standing.epoch >= most; }, {}, most};
}

/// No figure of the last `for` epochs is better than the best one before.
StopRule no_improvement(const Json& o) {
    std::string channel = o.at("of").as_string();
    double sign = o.at("mode").as_string() == "max" ? -1 : 1, least = o.at("least").as_number();
    auto patience = static_cast<std::size_t>(o.at("for").as_integer());
    auto done = [=](const Standing& standing) {
        std::vector<double> figures = standing.history(channel);
        double best = INFINITY;
        std::size_t since = 0;
        for (double figure : figures) {
            bool better = sign * figure < best - least || (std::isinf(best) && std::isfinite(figure));
            if (better) best = sign * figure;
            since = better ? 0 : since + 1;
        }
        return since >= patience;
    };
    return {done, {{channel, o.at("of").where()}}};
}

StopRule not_finite(const Json& o) {
    std::string channel = o.at("of").as_string();
    auto done = [channel](const Standing& standing) {
        std::vector<double> figures = standing.history(channel);
        return !figures.empty() && !std::isfinite(figures.back());
    };
    return {done, {{channel, o.at("of").where()}}};
}

StopRule reached(const Json& o) {
    std::string channel = o.at("of").as_string();
    double sign = o.at("mode").as_string() == "max" ? -1 : 1, goal = o.at("value").as_number();
    auto done = [=](const Standing& standing) {
        std::vector<double> figures = standing.history(channel);
        return !figures.empty() && sign * figures.back() <= sign * goal;
    };
    return {done, {{channel, o.at("of").where()}}};
}

/// As good as the model was that an earlier phase kept.
StopRule matched(const Json& o) {
    std::string channel = o.at("of").as_string(), phase = o.at("phase").as_string();
    std::string figure = o.at("figure").is_null() ? channel : o.at("figure").as_string();
    double sign = o.at("mode").as_string() == "max" ? -1 : 1;
    auto done = [=](const Standing& standing) {
        std::vector<double> figures = standing.history(channel);
        std::optional<double> goal = standing.kept(phase, figure);
        return goal && !figures.empty() && sign * figures.back() <= sign * *goal;
    };
    StopRule rule{done, {{channel, o.at("of").where()}}};
    rule.earlier.push_back({phase, figure, o.at("phase").where()});
    return rule;
}

/// Several rules: `any` ends with the first that is done, `all` with the last.
StopRule combined(const Json& o, bool any) {
    const Json& list = o.at("rules");
    if (list.items().empty()) list.refuse("expected at least one rule, as in {epochs: 10}");
    std::vector<StopRule> rules;
    StopRule all;
    for (const Json& item : list.items()) {
        Chosen chosen = choose(item, "stop");
        rules.push_back(chosen.make<MakeStop>()(chosen.options));
        const StopRule& rule = rules.back();
        all.channels.insert(all.channels.end(), rule.channels.begin(), rule.channels.end());
        all.earlier.insert(all.earlier.end(), rule.earlier.begin(), rule.earlier.end());
        if (any && rule.most_epochs)
            all.most_epochs = all.most_epochs ? std::min(all.most_epochs, rule.most_epochs) : rule.most_epochs;
    }
    all.done = [rules, any](const Standing& standing) {
        auto done = [&](const StopRule& rule) { return rule.done(standing); };
        return any ? std::any_of(rules.begin(), rules.end(), done) : std::all_of(rules.begin(), rules.end(), done);
    };
    return all;
}

Option several_rules() {
    Option option{"rules", Json(), "the rules", true, Json::Kind::array};
    option.list_of = "stop";
    return option;
}

const Option channel{"of", Json(), "a figure of the log, as in valid.error", true, Json::Kind::string};
const Option mode{"mode", "min", "whether less or more is better", false, Json::Kind::string, {"min", "max"}};

}  // namespace

const std::vector<Part<MakeStop>>& stop_rules() {
    static const std::vector<Part<MakeStop>> all{
        {{"epochs", "after so many epochs", {count("epochs", "how many")}, "epochs"}, after_epochs},
        {{"no_improvement",
          "when a figure has not become better for some epochs",
          {channel, count("for", "how many epochs"), mode, {"least", 0.0, "by how much a better figure is better"}}},
         no_improvement},
        {{"not_finite", "when a figure is infinite or no number", {{"of", "train.loss", "a figure of the log"}}, "of"},
         not_finite},
        {{"reached",
          "when a figure is as good as wished for",
          {channel, {"value", Json(), "the wish", true, Json::Kind::number}, mode}},
         reached},
        {{"match",
          "when a figure is as good as one was of the model that an earlier phase kept",
          {channel,
           {"phase", Json(), "the name of the phase", true, Json::Kind::string},
           {"figure", Json(), "the figure of that phase; `of` if left out", false, Json::Kind::string},
           mode}},
         matched},
        {{"any", "when one of several rules says so", {several_rules()}, "rules"},
         [](const Json& o) { return combined(o, true); }},
        {{"all", "when each of several rules says so", {several_rules()}, "rules"},
         [](const Json& o) { return combined(o, false); }},
    };
    return all;
}

}  // namespace weft::train
