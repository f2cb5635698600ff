// What every optimizer of a file takes besides its own options: groups, and what is done around each step (optim/optimizer.h).
#include "weft/base/error.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

using Takes = Json::Kind;

/// Left out of the complete options unless it is given.
Option if_given(const char* name, const char* doc, Json::Kind kind, double least = 0) {
    Option option{name, Json(), doc, false, kind, {}, least};
    option.brief = true;
    return option;
}

Option mappings(Option option, std::vector<Option> keys) {
    option.keys = std::move(keys);
    return option;
}

std::optional<double> number_of(const Json& mapping, const char* key) {
    const Json* value = mapping.find(key);
    return value && !value->is_null() ? std::optional(value->as_number()) : std::nullopt;
}

std::vector<Json> listed(const Json& options, const char* key) {
    const Json* value = options.find(key);
    return value && !value->is_null() ? value->items() : std::vector<Json>{};
}

const Option match{"match", Json(), "names, as in *.bias", true, Takes::string};

const std::vector<Option>& group_keys() {
    static const std::vector<Option> keys{match,
                                          {"lr", 1.0, "times the optimizer's rate", false, Takes::null, {}, 0},
                                          if_given("weight_decay", "in place of the optimizer's", Takes::number)};
    return keys;
}

const std::vector<Option>& constraint_keys() {
    static const std::vector<Option> keys{
        match,
        if_given("max_col_norm", "of the weights into each unit (Pylearn2's columns)", Takes::number),
        if_given("min_col_norm", "the same from below", Takes::number),
        if_given("max_row_norm", "of the weights out of each input", Takes::number),
        if_given("max_kernel_norm", "of each window (height, width) of a convolution", Takes::number),
        if_given("max_abs", "each number is held between minus this and this", Takes::number),
        {"non_negative", false, "what is below 0 becomes 0"}};
    return keys;
}

const std::vector<Option>& average_keys() {
    static const std::vector<Option> keys{{"decay",
                                           Json(),
                                           "how much of the mean is kept in a step; without it all steps count alike",
                                           false,
                                           Takes::number,
                                           {},
                                           0,
                                           1},
                                          {"start", 0, "steps before the mean begins", false, Takes::null, {}, 0}};
    return keys;
}

}  // namespace

const std::vector<Option>& step_keys() {
    static const std::vector<Option> all{
        mappings({"groups", Json::array(),
                  "parameters with rates of their own: [{match: \"*.bias\", lr: 2, weight_decay: 0}]"},
                 group_keys()),
        if_given("clip_value", "each number of a gradient is held between minus this and this", Takes::number),
        if_given("clip_each_norm", "each parameter's gradient is scaled down to this norm", Takes::number),
        if_given("clip_norm", "all gradients are scaled down together to this norm (Pascanu et al., 2013)",
                 Takes::number),
        if_given("accumulate", "batches whose mean gradient makes a step", Takes::integer, 1),
        if_given(
            "skip_zero",
            "a step whose gradients are all 0 is left out, with all state, as under the margin rule of adversarial",
            Takes::boolean),
        mappings(if_given("constraints", "what holds after every step: [{match: \"*.weight\", max_col_norm: 2}]",
                          Takes::array),
                 constraint_keys()),
        mappings(if_given("average",
                          "a mean of the parameters over the steps, which is what is evaluated and kept: {decay: "
                          "0.999}, or {} for "
                          "all steps alike",
                          Takes::object),
                 average_keys()),
    };
    return all;
}

namespace {

optim::Constraint constraint_of(const Json& constraint) {
    return {.match = constraint.at("match").as_string(),
            .max_col_norm = number_of(constraint, "max_col_norm"),
            .min_col_norm = number_of(constraint, "min_col_norm"),
            .max_row_norm = number_of(constraint, "max_row_norm"),
            .max_kernel_norm = number_of(constraint, "max_kernel_norm"),
            .max_abs = number_of(constraint, "max_abs"),
            .non_negative = constraint.at("non_negative").as_bool()};
}

/// The bounds by their keys: every option of a constraint that was given and is a number.
std::vector<std::string_view> bounds_of(const Json& constraint) {
    std::vector<std::string_view> keys;
    for (const Option& option : constraint_keys())
        if (option.kind == Takes::number && number_of(constraint, option.name.c_str())) keys.push_back(option.name);
    return keys;
}

void check_bounds(const Json& constraint) {
    std::vector<std::string_view> bounds = bounds_of(constraint);
    if (bounds.empty() && !constraint.at("non_negative").as_bool())
        constraint.refuse(text("the constraint of '", constraint.at("match").as_string(),
                               "' bounds nothing; give it a bound, as in max_col_norm: 2, or non_negative: true"));
    for (std::string_view key : bounds)
        if (const Json& bound = constraint.at(key); !(bound.as_number() > 0))
            bound.refuse(text("expected more than 0, found ", json_text(bound), " (constraints, '", key, "')"));
    optim::Constraint made = constraint_of(constraint);
    if (made.max_col_norm && made.min_col_norm && *made.min_col_norm > *made.max_col_norm)
        constraint.at("min_col_norm")
            .refuse(text("min_col_norm, ", *made.min_col_norm, ", is above max_col_norm, ", *made.max_col_norm));
}

}  // namespace

void check_constraint(const Json& constraint, const Parameter& parameter) {
    for (std::string_view key : bounds_of(constraint)) {
        Json alone = Json::object({{"match", constraint.at("match"), {}}, {"non_negative", false, {}}});
        alone[key] = constraint.at(key);
        try {
            optim::check(constraint_of(alone), parameter);
        } catch (const ShapeError& error) {
            constraint.at(key).refuse(error.what());
        }
    }
}

std::vector<optim::Group> groups_of(const Json& options) {
    std::vector<optim::Group> all;
    for (const Json& group : listed(options, "groups")) {
        all.push_back({group.at("match").as_string(), group.at("lr").as_number(), number_of(group, "weight_decay")});
    }
    return all;
}

optim::StepOptions step_options_of(const Json& options) {
    optim::StepOptions made;
    made.clip_value = number_of(options, "clip_value").value_or(0);
    made.clip_each_norm = number_of(options, "clip_each_norm").value_or(0);
    made.clip_norm = number_of(options, "clip_norm").value_or(0);
    made.accumulate = static_cast<std::int64_t>(number_of(options, "accumulate").value_or(1));
    if (const Json* skip = options.find("skip_zero"); skip && !skip->is_null()) made.skip_zero = skip->as_bool();
    for (const Json& constraint : listed(options, "constraints")) {
        check_bounds(constraint);
        made.constraints.push_back(constraint_of(constraint));
    }
    if (const Json* average = options.find("average"); average && !average->is_null()) {
        if (number_of(*average, "decay") == 1)
            average->at("decay").refuse(
                "a mean that keeps all of itself never moves; expected a decay below 1, found 1");
        made.average = optim::Averaging{number_of(*average, "decay"), average->at("start").as_integer()};
    }
    return made;
}

}  // namespace weft::train
