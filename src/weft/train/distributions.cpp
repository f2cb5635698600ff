// What a sweep draws the values of a key from.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "weft/base/error.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

constexpr double most_integers = 1'000'000;

/// Four digits: what is drawn is written, compared and typed again by people.
Json four_digits(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.4g", value);
    return std::strtod(digits, nullptr);
}

Option range(const char* doc) { return {"range", Json(), doc, true, Json::Kind::array}; }

struct Range {
    double low, high;
};
Range range_of(const Json& options) {
    const Json& range = options.at("range");
    if (range.size() != 2) range.refuse(text("a range is two numbers, [low, high]; found ", range.describe()));
    Range both{range.item(0).as_number(), range.item(1).as_number()};
    if (!std::isfinite(both.low) || !std::isfinite(both.high) || both.low >= both.high)
        range.refuse(text("[", json_text(range.item(0)), ", ", json_text(range.item(1)),
                          "] is no range: the first number is the smaller one"));
    return both;
}

Distribution choice(const Json& options) {
    const Json& values = options.at("values");
    if (values.items().empty()) values.refuse("expected at least one value");
    return {values.items(), [all = values.items()](double u) {
                return all[std::min(all.size() - 1, static_cast<std::size_t>(u * static_cast<double>(all.size())))];
            }};
}

Distribution uniform(const Json& options) {
    return {{}, [r = range_of(options)](double u) { return four_digits(r.low + u * (r.high - r.low)); }};
}

Distribution log_uniform(const Json& options) {
    Range r = range_of(options);
    if (r.low <= 0)
        options.at("range").item(0).refuse(
            text("log_uniform: expected more than 0, found ", json_text(options.at("range").item(0))));
    return {{}, [r](double u) { return four_digits(r.low * std::pow(r.high / r.low, u)); }};
}

Distribution integers(const Json& options) {
    const Json& range = options.at("range");
    Range r = range_of(options);
    std::int64_t first = range.item(0).as_integer();
    if (r.high - r.low >= most_integers) range.refuse(text("a range of integers holds less than ", most_integers));
    auto count = static_cast<std::int64_t>(r.high - r.low) + 1;
    (void)range.item(1).as_integer();
    Distribution all;
    for (std::int64_t i = 0; i < count; ++i) all.values.emplace_back(first + i);
    all.draw = [=](double u) {
        return Json(first + std::min(count - 1, static_cast<std::int64_t>(u * static_cast<double>(count))));
    };
    return all;
}

}  // namespace

const std::vector<Part<MakeDistribution>>& distributions() {
    static const std::vector<Part<MakeDistribution>> all{
        {{"choice", "one of a list", {{"values", Json(), "the list", true, Json::Kind::array}}, "values"}, choice},
        {{"uniform", "a number between two", {range("[low, high]")}, "range"}, uniform},
        {{"log_uniform", "a number between two, each power of ten alike", {range("[low, high], more than 0")}, "range"},
         log_uniform},
        {{"integers", "an integer between two, both included", {range("[first, last]")}, "range"}, integers},
    };
    return all;
}

}  // namespace weft::train
