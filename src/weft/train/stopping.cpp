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
    };
    return all;
}

StopRule stop_rule(const Json& description, Json& resolved) {
    const Json* any = description.find("any");
    if (!any || description.size() != 1) {
        Chosen chosen = choose(description, "stop");
        // A rule of one option stays short: {epochs: 10}.
        resolved = chosen.options.size() == 1
                       ? Json::object({{chosen.entry->name, chosen.options.members()[0].value, chosen.where}})
                       : chosen.resolved();
        return chosen.make<MakeStop>()(chosen.options);
    }
    if (any->items().empty()) any->refuse("expected at least one rule");
    std::vector<StopRule> rules;
    StopRule all;
    Json list = Json::array();
    for (const Json& item : any->items()) {
        Json one;
        rules.push_back(stop_rule(item, one));
        list.push_back(one);
        const StopRule& rule = rules.back();
        all.channels.insert(all.channels.end(), rule.channels.begin(), rule.channels.end());
        if (rule.most_epochs)
            all.most_epochs = all.most_epochs ? std::min(all.most_epochs, rule.most_epochs) : rule.most_epochs;
    }
    resolved = Json::object({{"any", list, description.where()}});
    all.done = [rules](const Standing& standing) {
        return std::any_of(rules.begin(), rules.end(), [&](const StopRule& rule) { return rule.done(standing); });
    };
    return all;
}

}  // namespace weft::train
