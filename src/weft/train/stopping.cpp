// The rules that end a run: each is true when it is done. They are asked after every epoch (those of steps and time within one, too) and
// see the figures of all epochs so far, so a resumed run stops where an uninterrupted one does.
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

/// -1 if more is better, so that less of the product always is.
double sign_of(const Standing& standing, const std::string& channel, const std::string& mode) {
    bool more = mode == "auto" ? standing.more && standing.more(channel) : mode == "max";
    return more ? -1 : 1;
}

StopRule after_epochs(const Json& o) {
    std::int64_t most = o.at("epochs").as_integer();
    return {[most](const Standing& standing) { return standing.epoch >= most; }, {}, most};
}

StopRule after_steps(const Json& o) {
    std::int64_t most = o.at("steps").as_integer();
    StopRule rule{[most](const Standing& standing) { return standing.step >= most; }};
    rule.within_epochs = true;
    return rule;
}

/// Of the run as a whole, what it took before it was resumed included.
StopRule after_time(const Json& o) {
    double most = o.at("seconds").as_number() + 60 * o.at("minutes").as_number() + 3600 * o.at("hours").as_number();
    if (!(most > 0)) o.refuse("expected how long, as in {minutes: 10}, found no time at all");
    StopRule rule{[most](const Standing& standing) { return standing.seconds >= most; }};
    rule.within_epochs = true;
    return rule;
}

/// No figure was better than the best one before for `for` epochs and, with a factor, for as long as it takes to come from the best
/// epoch to `factor` times it (the patience of Theano's tutorials: who got better late may go on longer).
StopRule no_improvement(const Json& o) {
    std::string channel = o.at("of").as_string(), mode = o.at("mode").as_string();
    double least = o.at("least").as_number(), share = o.at("share").as_number(), factor = o.at("factor").as_number();
    std::int64_t patience = o.at("for").as_integer();
    auto done = [=](const Standing& standing) {
        double best = INFINITY, sign = sign_of(standing, channel, mode);
        std::int64_t best_epoch = 0, epoch = 0;
        for (double figure : standing.history(channel)) {
            ++epoch;
            bool first = std::isinf(best) && std::isfinite(figure);
            if (first || sign * figure < best - least - share * std::abs(best))
                best = sign * figure, best_epoch = epoch;
        }
        return epoch >= best_epoch + patience && static_cast<double>(epoch) >= factor * static_cast<double>(best_epoch);
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
    std::string channel = o.at("of").as_string(), mode = o.at("mode").as_string();
    double goal = o.at("value").as_number();
    auto done = [=](const Standing& standing) {
        std::vector<double> figures = standing.history(channel);
        double sign = sign_of(standing, channel, mode);
        return !figures.empty() && sign * figures.back() <= sign * goal;
    };
    return {done, {{channel, o.at("of").where()}}};
}

/// As good as the model was that an earlier phase kept.
StopRule matched(const Json& o) {
    std::string channel = o.at("of").as_string(), phase = o.at("phase").as_string();
    std::string figure = o.at("figure").is_null() ? channel : o.at("figure").as_string();
    std::string mode = o.at("mode").as_string();
    auto done = [=](const Standing& standing) {
        std::vector<double> figures = standing.history(channel);
        double sign = sign_of(standing, channel, mode);
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
        all.within_epochs = all.within_epochs || rule.within_epochs;
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

Option no_less(const char* name, double fallback, double least, const char* doc) {
    Option option{name, fallback, doc};
    option.least = least;
    return option;
}

}  // namespace

const Option& mode_option() {
    static const Option mode{"mode",
                             "auto",
                             "whether less or more is better; auto: as the channel is",
                             false,
                             Json::Kind::string,
                             {"auto", "min", "max"}};
    return mode;
}

const std::vector<Part<MakeStop>>& stop_rules() {
    static const std::vector<Part<MakeStop>> all{
        {{"epochs", "after so many epochs", {count("epochs", "how many")}, "epochs"}, after_epochs},
        {{"steps", "after so many steps, in the middle of an epoch if need be", {count("steps", "how many")}, "steps"},
         after_steps},
        {{"time",
          "when the run has taken so long, in the middle of an epoch if need be",
          {no_less("seconds", 0, 0, "of the run"), no_less("minutes", 0, 0, "more"), no_less("hours", 0, 0, "more")},
          "seconds"},
         after_time},
        {{"no_improvement",
          "when a figure has not become better for some epochs",
          {channel, count("for", "how many epochs"), mode_option(),
           no_less("least", 0, 0, "by how much a better figure is better"),
           no_less("share", 0, 0, "by which part of the best figure a better one is better, as in 0.01"),
           no_less("factor", 1, 1, "and until this many times the epoch of the best figure")}},
         no_improvement},
        {{"not_finite", "when a figure is infinite or no number", {{"of", "train.loss", "a figure of the log"}}, "of"},
         not_finite},
        {{"target",
          "when a figure is as good as wished for",
          {channel, {"value", Json(), "the wish", true, Json::Kind::number}, mode_option()}},
         reached},
        {{"match",
          "when a figure is as good as one was of the model that an earlier phase kept",
          {channel,
           {"phase", Json(), "the name of the phase", true, Json::Kind::string},
           {"figure", Json(), "the figure of that phase; `of` if left out", false, Json::Kind::string},
           mode_option()}},
         matched},
        {{"any", "when one of several rules says so", {several_rules()}, "rules"},
         [](const Json& o) { return combined(o, true); }},
        {{"all", "when each of several rules says so", {several_rules()}, "rules"},
         [](const Json& o) { return combined(o, false); }},
    };
    return all;
}

}  // namespace weft::train
