// The schedules that a file can name; the formulas are optim/schedule's.
#include "weft/base/error.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

const Option from{"from", Json(), "the rate at the start", true, Json::Kind::number};
const Option to{"to", Json(), "the rate at the end", true, Json::Kind::number};
Option epochs(const char* doc) {
    Option option{"epochs", Json(), doc, true, Json::Kind::integer};
    option.least = 1;
    return option;
}

/// "epochs: [1, 10]": the first and the last epoch of a change.
std::pair<std::int64_t, std::int64_t> span_of(const Json& value) {
    if (value.items().size() != 2) value.refuse("expected two epochs: [first, last]");
    std::int64_t first = value.item(0).as_integer(), last = value.item(1).as_integer();
    if (first < 1 || last < first)
        value.refuse(text("[", first, ", ", last, "]: epochs count from 1, the first not after the last"));
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
        {{"constant", "the same rate throughout", {{"value", Json(), "the rate", true, Json::Kind::number}}, "value"},
         [](const Json& o) { return optim::Schedule(o.at("value").as_number()); }},
        {{"linear",
          "a straight line from one rate to another, constant before and after",
          {from, to, {"epochs", Json(), "[first, last] epoch of the change", true, Json::Kind::array}}},
         [](const Json& o) {
             auto [first, last] = span_of(o.at("epochs"));
             return optim::schedule::linear(o.at("from").as_number(), o.at("to").as_number(), first, last);
         }},
        {{"exponential",
          "multiplied by a factor after each epoch",
          {from,
           {"factor", Json(), "what it is multiplied by", true, Json::Kind::number},
           {"min", 0.0, "never below this"}}},
         [](const Json& o) {
             return optim::schedule::exponential(o.at("from").as_number(), o.at("factor").as_number(),
                                                 o.at("min").as_number());
         }},
        {{"step",
          "multiplied by a factor after every so many epochs",
          {from,
           {"factor", 0.1, "what it is multiplied by"},
           {"every", Json(), "epochs", true, Json::Kind::integer, {}, 1}}},
         [](const Json& o) {
             return optim::schedule::step(o.at("from").as_number(), o.at("factor").as_number(),
                                          o.at("every").as_integer());
         }},
        {{"milestones",
          "multiplied by a factor at the start of each of some epochs",
          {from,
           {"factor", 0.1, "what it is multiplied by"},
           {"epochs", Json(), "the list of epochs", true, Json::Kind::array}}},
         [](const Json& o) {
             return optim::schedule::milestones(o.at("from").as_number(), o.at("factor").as_number(),
                                                integers_of(o.at("epochs")));
         }},
        {{"cosine",
          "half a cosine down to another rate (Loshchilov and Hutter, 2017)",
          {from, {"to", 0.0, "the rate at the end"}, epochs("how many epochs it takes")}},
         [](const Json& o) {
             return optim::schedule::cosine(o.at("from").as_number(), o.at("to").as_number(),
                                            o.at("epochs").as_integer());
         }},
        {{"warm_up",
          "risen to in a straight line over the first steps, then another schedule",
          {{"steps", Json(), "how many steps", true, Json::Kind::integer, {}, 1},
           {"after", Json(), "the rate from then on", true, Json::Kind::number, {}, -1e308, 1e308, false, "schedule"}}},
         [](const Json& o) {
             return optim::schedule::warm_up(schedule_of(o.at("after")), o.at("steps").as_integer());
         }},
    };
    return all;
}

optim::Schedule schedule_of(const Json& value) {
    if (value.is_number()) return optim::Schedule(value.as_number());
    Chosen chosen = choose(value, "schedule");
    try {
        return chosen.make<MakeSchedule>()(chosen.options);
    } catch (const ValueError& error) {
        throw ConfigError(text(chosen.where, error.what()));
    }
}

}  // namespace weft::train
