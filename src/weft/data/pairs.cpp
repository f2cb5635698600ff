#include "weft/data/pairs.h"

#include <map>

#include "weft/base/error.h"
#include "weft/data/counter_random.h"
#include "weft/data/folds.h"
#include "weft/data/sources.h"

namespace weft::data {
namespace {

std::map<std::int64_t, std::vector<std::int64_t>> rows_by_class(const Dataset& set) {
    if (set.y.ndim() != 1 || set.y.dtype != DType::int64)
        throw ValueError(
            text("pairs want a class number an example; the targets are ", set.y.dtype, " of shape ", set.y.dims));
    std::map<std::int64_t, std::vector<std::int64_t>> classes;
    for (std::int64_t row = 0; row < set.size(); ++row) classes[set.y.data<std::int64_t>()[row]].push_back(row);
    if (classes.size() < 2) throw ValueError("pairs want examples of two classes or more; these are all of one");
    return classes;
}

/// One side of the pairs: an input, and its class.
void add_side(Dataset& pairs, const char* name, const Dataset& examples) {
    Dataset input = examples;
    input.y = Array(), input.classes.clear();
    if (pairs.x.dims.empty()) {
        Array same = pairs.y;
        std::vector<std::string> classes = pairs.classes;
        pairs = input, pairs.y = same, pairs.classes = classes, pairs.x_name = name, pairs.y_name = "same";
    } else {
        pairs.fields.push_back({name, false, input});
    }
    Field of_class{text(name, "_class"), true, {}};
    of_class.data.x = examples.y, of_class.data.classes = examples.classes;
    pairs.fields.push_back(std::move(of_class));
}

std::optional<Dataset> sample_of_pair(const Json& options) {
    Dataset one = ChosenSource(options.at("of")).sample();
    Dataset pair;
    pair.y = Array::zeros(DType::int64, {1}), pair.classes = {"different", "same"};
    for (const char* side : {"left", "right"}) add_side(pair, side, one.rows(0, 1));
    return pair;
}

}  // namespace

Dataset pairs_of(const Dataset& set, std::int64_t count, std::uint64_t seed) {
    if (count < 1) throw ValueError(text("pairs: ", count, " pairs are none"));
    if (!set.fields.empty()) throw ValueError("pairs are made of data with one input and one target");
    std::map<std::int64_t, std::vector<std::int64_t>> classes = rows_by_class(set);
    CounterRandom random(seed, 0);
    auto any = static_cast<std::size_t>(set.size());
    std::vector<std::int64_t> left, right;
    Dataset pairs;
    pairs.y = Array::empty(DType::int64, {count}), pairs.classes = {"different", "same"};
    for (std::int64_t i = 0; i < count; ++i) {
        auto first = static_cast<std::int64_t>(random.below(any));
        std::int64_t of = set.y.data<std::int64_t>()[first], second = first;
        const std::vector<std::int64_t>& alike = classes.at(of);
        bool same = i % 2 == 1;
        if (same && alike.size() > 1)
            while (second == first) second = alike[random.below(alike.size())];
        while (!same && set.y.data<std::int64_t>()[second] == of) second = static_cast<std::int64_t>(random.below(any));
        left.push_back(first), right.push_back(second);
        pairs.y.data<std::int64_t>()[i] = same;
    }
    add_side(pairs, "left", picked_rows(set, left)), add_side(pairs, "right", picked_rows(set, right));
    pairs.check("pairs");
    return pairs;
}

std::vector<Source> sources_of_pairs() {
    Option of{"of", Json(), "the data set whose examples are paired", true};
    of.also = "data";
    return {
        {"pairs",
         "pairs of examples, half of one class: inputs left and right; y, called same, is 1 or 0; targets left_class "
         "and right_class",
         {of, integer_option("count", 10000, "how many pairs", 1), integer_option("seed", 1, "of the pairs", 0)},
         [](const Json& o) {
             return pairs_of(ChosenSource(o.at("of")).load(), o.at("count").as_integer(),
                             static_cast<std::uint64_t>(o.at("seed").as_integer()));
         },
         [](const Json& o) { (void)ChosenSource(o.at("of")); },
         sample_of_pair,
         "count"}};
}

}  // namespace weft::data
