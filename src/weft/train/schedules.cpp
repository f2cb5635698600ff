// The schedules that a file can name; the formulas are optim/schedule's.
#include "weft/base/error.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

/// Rates, and what they are multiplied by, are not below 0.
[[gnu::cold]] Option rate_option(const char* name, const char* doc) {
    return {name, Json(), doc, true, Json::Kind::number, {}, 0};
}
[[gnu::cold]] Option rate_option(const char* name, const char* doc, double usual) {
    return {name, usual, doc, false, Json::Kind::null, {}, 0};
}
const Option from = rate_option("from", "the rate at the start"), to = rate_option("to", "the rate at the end");
Option epochs(const char* doc) {
    Option option{"epochs", Json(), doc, true, Json::Kind::integer};
    option.least = 1;
    return option;
}
const Option per{"per", "epoch", "what time is counted in", false, Json::Kind::string, {"epoch", "step"}};
optim::schedule::Per per_of(const Json& o) {
    return o.at("per").as_string() == "step" ? optim::schedule::Per::step : optim::schedule::Per::epoch;
}
Option at_least(Option option, double least) {
    option.least = least;
    return option;
}

/// "epochs: [1, 10]": the first and the last epoch, or step, of a change.
std::pair<std::int64_t, std::int64_t> span_of(const Json& value, optim::schedule::Per per) {
    bool steps = per == optim::schedule::Per::step;
    if (value.items().size() != 2) value.refuse(text("expected two ", steps ? "steps" : "epochs", ": [first, last]"));
    std::int64_t first = value.item(0).as_integer(), last = value.item(1).as_integer();
    if (first < (steps ? 0 : 1) || last < first)
        value.refuse(text("[", first, ", ", last, "]: ", steps ? "steps count from 0" : "epochs count from 1",
                          ", the first not after the last"));
    return {first, last};
}

std::vector<std::int64_t> integers_of(const Json& value) {
    std::vector<std::int64_t> list;
    for (const Json& item : value.items()) list.push_back(item.as_integer());
    return list;
}

}  // namespace

const std::vector<Part<MakeSchedule>>& schedules() {
    static const std::vector<Part<MakeSchedule>> all{
        {{"constant", "the same rate throughout", {rate_option("value", "the rate")}, "value"},
         [](const Json& o) { return optim::Schedule(o.at("value").as_number()); }},
        {{"linear",
          "a straight line from one rate to another, constant before and after",
          {from, to, {"epochs", Json(), "[first, last] epoch, or step, of the change", true, Json::Kind::array}, per}},
         [](const Json& o) {
             auto [first, last] = span_of(o.at("epochs"), per_of(o));
             return optim::schedule::linear(o.at("from").as_number(), o.at("to").as_number(), first, last, per_of(o));
         }},
        {{"exponential",
          "multiplied by a factor after each epoch",
          {from, rate_option("factor", "what it is multiplied by"), rate_option("min", "never below this", 0), per}},
         [](const Json& o) {
             return optim::schedule::exponential(o.at("from").as_number(), o.at("factor").as_number(),
                                                 o.at("min").as_number(), per_of(o));
         }},
        {{"step",
          "multiplied by a factor after every so many epochs",
          {from,
           rate_option("factor", "what it is multiplied by", 0.1),
           {"every", Json(), "epochs, or steps", true, Json::Kind::integer, {}, 1},
           per}},
         [](const Json& o) {
             return optim::schedule::step(o.at("from").as_number(), o.at("factor").as_number(),
                                          o.at("every").as_integer(), per_of(o));
         }},
        {{"milestones",
          "multiplied by a factor at the start of each of some epochs",
          {from,
           rate_option("factor", "what it is multiplied by", 0.1),
           {"epochs", Json(), "the list of epochs", true, Json::Kind::array}}},
         [](const Json& o) {
             return optim::schedule::milestones(o.at("from").as_number(), o.at("factor").as_number(),
                                                integers_of(o.at("epochs")));
         }},
        {{"cosine",
          "half a cosine down to another rate (Loshchilov and Hutter, 2017)",
          {from, rate_option("to", "the rate at the end", 0), epochs("how many epochs, or steps, it takes"), per}},
         [](const Json& o) {
             return optim::schedule::cosine(o.at("from").as_number(), o.at("to").as_number(),
                                            o.at("epochs").as_integer(), per_of(o));
         }},
        {{"cosine_restarts",
          "half a cosine again and again, each time longer (Loshchilov and Hutter, 2017)",
          {from, rate_option("to", "the rate at the end of each", 0),
           epochs("how many epochs, or steps, the first takes"),
           at_least({"factor", 1, "how much longer each takes than the one before"}, 1), per}},
         [](const Json& o) {
             return optim::schedule::cosine_restarts(o.at("from").as_number(), o.at("to").as_number(),
                                                     o.at("epochs").as_integer(), o.at("factor").as_integer(),
                                                     per_of(o));
         }},
        {{"polynomial",
          "to + (from - to) * (1 - t / epochs)**power",
          {from, rate_option("to", "the rate at the end", 0), epochs("how many epochs, or steps, it takes"),
           at_least({"power", 1.0, "1: a straight line"}, 0), per}},
         [](const Json& o) {
             return optim::schedule::polynomial(o.at("from").as_number(), o.at("to").as_number(),
                                                o.at("epochs").as_integer(), o.at("power").as_number(), per_of(o));
         }},
        {{"inverse_time",
          "from / (1 + rate * t)**power",
          {from, at_least({"rate", Json(), "how fast it falls", true, Json::Kind::number}, 0),
           at_least({"power", 1.0, "0.5: as one over the root"}, 0), per}},
         [](const Json& o) {
             return optim::schedule::inverse_time(o.at("from").as_number(), o.at("rate").as_number(),
                                                  o.at("power").as_number(), per_of(o));
         }},
        {{"one_cycle",
          "up to the largest rate and down to nearly nothing (Smith and Topin, 2018)",
          {rate_option("max", "the largest rate"),
           epochs("how many epochs, or steps, the whole takes"),
           {"rising", 0.3, "the part in which it rises", false, Json::Kind::null, {}, 0, 1},
           {"div", 25.0, "the largest rate over the first one"},
           {"final_div", 1e4, "the first rate over the last one"},
           {"anneal", "cosine", "how it rises and falls", false, Json::Kind::string, {"cosine", "linear"}},
           per}},
         [](const Json& o) {
             return optim::schedule::one_cycle({.most = o.at("max").as_number(),
                                                .total = o.at("epochs").as_integer(),
                                                .rising = o.at("rising").as_number(),
                                                .start_divisor = o.at("div").as_number(),
                                                .end_divisor = o.at("final_div").as_number(),
                                                .lines = o.at("anneal").as_string() == "linear",
                                                .per = per_of(o)});
         }},
        {{"plateau",
          "multiplied by a factor when a figure has stopped becoming better",
          {from,
           {"of", Json(), "a figure of the log, as in valid.error", true, Json::Kind::string},
           mode_option(),
           rate_option("factor", "what it is multiplied by", 0.1),
           at_least({"patience", 10, "epochs without a better figure that are borne"}, 0),
           at_least({"cooldown", 0, "epochs after a change that are not counted"}, 0),
           at_least({"threshold", 1e-4, "better is by more than this, relative to the best"}, 0),
           rate_option("min", "never below this", 0)}},
         [](const Json& o) {
             std::string channel = o.at("of").as_string(), mode = o.at("mode").as_string();
             optim::Schedule made =
                 optim::schedule::plateau({.from = o.at("from").as_number(),
                                           .channel = channel,
                                           .more = mode == "auto" ? std::nullopt : std::optional(mode == "max"),
                                           .factor = o.at("factor").as_number(),
                                           .patience = o.at("patience").as_integer(),
                                           .cooldown = o.at("cooldown").as_integer(),
                                           .threshold = o.at("threshold").as_number(),
                                           .least = o.at("min").as_number()});
             return RateSchedule(made, {{channel, o.at("of").where()}});
         }},
        {{"adjust",
          "a little less when a figure rises, a little more when it falls too slowly (Pylearn2's "
          "MonitorBasedLRAdjuster)",
          {from,
           {"of", Json(), "a figure of the log of which less is better, as in train.loss", true, Json::Kind::string},
           at_least({"high", 1.0, "it rises: above so many times the one before"}, 0),
           at_least({"shrink", 0.99, "what the rate is multiplied by then"}, 0),
           at_least({"low", 0.99, "it falls too slowly: above so many times the one before"}, 0),
           at_least({"grow", 1.01, "what the rate is multiplied by then"}, 0),
           rate_option("min", "never below this", 1e-7),
           rate_option("max", "never above this", 1)}},
         [](const Json& o) {
             std::string channel = o.at("of").as_string();
             optim::Schedule made = optim::schedule::adjust({.from = o.at("from").as_number(),
                                                             .channel = channel,
                                                             .high = o.at("high").as_number(),
                                                             .shrink = o.at("shrink").as_number(),
                                                             .low = o.at("low").as_number(),
                                                             .grow = o.at("grow").as_number(),
                                                             .least = o.at("min").as_number(),
                                                             .most = o.at("max").as_number()});
             return RateSchedule(made, {{channel, o.at("of").where()}});
         }},
        {{"warm_up",
          "risen to in a straight line over the first steps, then another schedule",
          {{"steps", Json(), "how many steps", true, Json::Kind::integer, {}, 1},
           {"after", Json(), "the rate from then on", true, Json::Kind::number, {}, 0, 1e308, false, "schedule"}}},
         [](const Json& o) {
             RateSchedule after = schedule_of(o.at("after"));
             return RateSchedule(optim::schedule::warm_up(after.value, o.at("steps").as_integer()), after.channels);
         }},
    };
    return all;
}

RateSchedule schedule_of(const Json& value) {
    if (value.is_number()) return optim::Schedule(value.as_number());
    Chosen chosen = choose(value, "schedule");
    try {
        return chosen.make<MakeSchedule>()(chosen.options);
    } catch (const ValueError& error) {
        throw ConfigError(text(chosen.where, error.what()));
    }
}

}  // namespace weft::train
