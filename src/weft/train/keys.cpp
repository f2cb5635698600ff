#include "weft/train/keys.h"

#include <algorithm>

#include "weft/ops/matmul_precision.h"
#include "weft/train/monitor.h"
#include "weft/train/parts.h"
#include "weft/train/registry.h"

namespace weft::train {
namespace {

using Takes = Json::Kind;

Option key(const char* name, Json fallback, const char* doc, Json::Kind kind = Takes::null) {
    return {name, std::move(fallback), doc, false, kind};
}
Option needed(const char* name, const char* doc, Json::Kind kind = Takes::null) {
    return {name, Json(), doc, true, kind};
}
Option integer(const char* name, Json fallback, const char* doc, double least) {
    Option option{name, std::move(fallback), doc};
    option.least = least;
    return option;
}
Option at_most(Option option, double most) {
    option.most = most;
    return option;
}
Option brief(Option option) {
    option.brief = true;
    return option;
}
/// Takes a part of this kind by name.
Option part(Option option, const char* kind) {
    option.also = kind;
    return option;
}
/// Takes a list of such parts.
Option parts(Option option, const char* kind) {
    option.list_of = kind;
    return option;
}
/// ... or such a list for each of several names.
Option or_by_name(Option option) {
    option.map_of = option.list_of;
    return option;
}
/// A mapping of names to such parts.
Option by_name(Option option, const char* kind) {
    option.map_of = kind;
    return option;
}
/// A mapping with these keys.
Option with_keys(Option option, std::vector<Option> keys) {
    option.kind = Takes::object, option.keys = std::move(keys);
    return option;
}
Option one_or_several(Option option) {
    option.several = true;
    return option;
}

std::vector<Option> data_keys() {
    return {
        part(needed("train", "what the network learns from"), "data"),
        part(key("valid", Json(), "what decides which model is kept"), "data"),
        part(key("test", Json(), "what the kept model is judged by"), "data"),
        by_name(key("others", Json(), "further sets by their names, as in {noisy: {npz: ...}}: judged as valid is",
                    Takes::object),
                "data"),
        or_by_name(
            parts(key("prepare", Json::array(), "steps of preparation, in order; {INPUT: steps} by input"), "prepare")),
        parts(key("augment", Json::array(), "what is done to each example of train whenever it is seen", Takes::array),
              "augment"),
        key("shuffle", true, "train in another order every epoch; false: as the data lie"),
        {"nan",
         "refuse",
         "numbers of examples that are NaN: refused when the data are read, or kept as they are",
         false,
         Takes::string,
         {"refuse", "keep"}},
        integer("buckets", 1, "of sequences that have lengths: batches hold near ones, cut where their bucket ends", 1),
        integer("window", 0, "rows that are shuffled among each other, for data read from a disk; 0: all", 0),
        integer("readers", 1, "threads that read, prepare and augment batches", 1)};
}

std::vector<Option> watch_keys() {
    return {needed("of", "a figure of the log, as in valid.error", Takes::string), mode_option()};
}

std::vector<Option> load_keys() {
    return {needed("file",
                   "a file of safetensors, as last/model.safetensors of a run (its path starts where the program runs)",
                   Takes::string),
            key("match", "*", "which parameters of the network it gives, as in encoder.*"),
            key("prefix", "", "what stands in the file before the network's names"),
            key("map", Json::object(), "names of the network: names in the file, where these differ", Takes::object),
            {"missing",
             "refuse",
             "what becomes of a parameter that the file does not have",
             false,
             Takes::string,
             {"refuse", "keep"}}};
}

}  // namespace

const std::vector<Option>& phase_keys() {
    static const std::vector<Option> all{
        brief(key("name", Json(), "of a phase, in the log and the run's folder; 1, 2, ... if left out", Takes::string)),
        with_keys(needed("data", "the sets train, valid, test and others, and prepare: what is done to them"),
                  data_keys()),
        parts(part(needed("model", "the network: a layer, as in {sequential: [layers]}"), "model"), "model"),
        brief(one_or_several(with_keys(key("load", Json(), "parameters from a file, by name"), load_keys()))),
        brief(key("freeze", Json(), "globs of parameters that are not trained, as in [\"0.*\"]", Takes::array)),
        parts(part(needed("cost", "what is minimised: a cost, or a list whose sum it is"), "cost"), "cost"),
        part(needed("optimizer", "how it is minimised"), "optimizer"),
        at_most(integer("batch_size", 100, "examples a step", 1), 1e9),
        {"last",
         "keep",
         "a last batch that is not full: shorter, left out, or filled up",
         false,
         Takes::string,
         {"keep", "drop", "pad"}},
        {"matmul_precision",
         "float32",
         "of products of matrices of float32: bfloat16 rounds their operands to 8 bits (an element is off by some 2^-9 "
         "of the root of the sum of squares of its products), up to twice as fast where the processor has AVX512_BF16, "
         "three times and more where it has AMX; bfloat16x3 and bfloat16x6 multiply sums of two and three bfloat16 "
         "there, of 17 bits and of all of float32's",
         false,
         Takes::string,
         {MatmulPrecision::names.begin(), MatmulPrecision::names.end()}},
        part(key("stop_when", Json::object({{"epochs", 10, {}}}), "when it ends: a stop rule, as in {any: [rules]}",
                 Takes::object),
             "stop"),
        with_keys(key("keep_best", Json(), "{of: valid.error, mode: min}: which model is kept beside the last"),
                  watch_keys()),
        integer("seed", 1, "of initial values, shuffling and dropout", 0),
        with_keys(key("monitor", Json::object(),
                      "{every: epoch, on: [train, valid], channels: [loss, error]}: what stands in the log"),
                  monitor_keys()),
        with_keys(key("checkpoint", Json::object(), "{steps: 0, seconds: 0}: checkpoints within epochs"),
                  {integer("steps", 0, "after every so many steps", 0),
                   integer("seconds", 0.0, "when so many seconds have passed", 0)}),
    };
    return all;
}

const std::vector<Option>& sweep_keys() {
    static const std::vector<Option> all = [] {
        Option over =
            needed("over", "paths as --set takes them, and what each is to be: a list of values, or a distribution",
                   Takes::object);
        over.map_of = "distribution";
        Option method{"method", "grid",        "all combinations, drawn ones, or drawn ones of which the best go on",
                      false,    Takes::string, {"grid", "random", "halving"}};
        return std::vector<Option>{
            over,
            method,
            brief(integer("runs", 20, "how many are drawn", 1)),
            brief(key("minimize", Json(),
                      "the figure of the kept model that tells how good a run is, as valid.loss; "
                      "keep_best's if left out, or else the loss",
                      Takes::string)),
            brief(key("maximize", Json(), "the same, where more is better", Takes::string)),
            integer("epochs", 1, "halving: of each run before the first comparison", 1),
            integer("factor", 3, "halving: one of so many goes on, for so many times the epochs", 2),
            integer("seed", 1, "of what is drawn", 0),
        };
    }();
    return all;
}

const std::vector<Option>& cv_keys() {
    static const std::vector<Option> all{
        integer("folds", 5, "parts of the training set, each held out once", 2),
        integer("repeats", 1, "how often it is cut into parts anew", 1),
        brief(key("stratified", Json(), "each part has each class's share; where costs take class numbers, if left out",
                  Takes::boolean)),
        integer("seed", 1, "of the parts", 0),
    };
    return all;
}

const std::vector<Option>& file_keys() {
    static const std::vector<Option> all = [] {
        std::vector<Option> keys{
            brief(key("include", Json(),
                      "a file, or a list of them, over which this one is laid; paths start at this file's folder")),
            brief(key("let", Json(),
                      "variables, {width: 500}, for ${width} and ${width * 2} in any value; ${env:NAME:-value} asks "
                      "the environment",
                      Takes::object)),
        };
        for (const Option& option : phase_keys()) {
            if (option.name != "name") keys.push_back(option);
        }
        keys.push_back(brief(
            key("phases", Json(),
                "runs one after another, each laid over what stands beside `phases:`; parameters are handed on by name",
                Takes::array)));
        keys.back().keys = phase_keys();
        keys.push_back(brief(with_keys(key("sweep", Json(), "what `weft sweep` tries"), sweep_keys())));
        keys.push_back(
            brief(with_keys(key("cv", Json(), "how `weft cv` cuts the training set into folds"), cv_keys())));
        return keys;
    }();
    return all;
}

namespace {

const Option* option_named(const std::vector<Option>& keys, std::string_view name) {
    auto found = std::find_if(keys.begin(), keys.end(), [&](const Option& option) { return option.name == name; });
    return found == keys.end() ? nullptr : &*found;
}

bool is_part(const Json& value) { return value.is_object() && value.size() == 1; }

/// Where parts are told apart by name: the same part gets options laid over, another one takes the place.
Json part_over(const Json& under, const Json& over, std::string_view kind) {
    const Json::Member& member = over.members()[0];
    if (under.members()[0].key != member.key) return over;
    for (const Entry* entry : kind_named(kind).entries) {
        if (entry->name != member.key) continue;
        Json both = Json::object(
            {{member.key, laid_over(under.members()[0].value, member.value, entry->options), member.where}});
        both.set_where(over.where());
        return both;
    }
    return over;  // an unknown name, which is refused later
}

Json value_over(const Json& under, const Json& over, const Option* option) {
    if (!under.is_object() || !over.is_object()) return over;
    if (option && !option->also.empty())
        return is_part(under) && is_part(over) ? part_over(under, over, option->also) : over;
    static const std::vector<Option> free;  // a mapping of any names, as `let`
    return laid_over(under, over, option ? option->keys : free);
}

}  // namespace

Json laid_over(const Json& under, const Json& over, const std::vector<Option>& keys) {
    if (!under.is_object() || !over.is_object()) return over;
    std::vector<Json::Member> members = under.members();
    for (const Json::Member& member : over.members()) {
        auto same = [&](const Json::Member& one) { return one.key == member.key; };
        auto found = std::find_if(members.begin(), members.end(), same);
        if (found == members.end())
            members.push_back(member);
        else
            *found = {member.key, value_over(found->value, member.value, option_named(keys, member.key)), member.where};
    }
    Json both = Json::object(std::move(members));
    both.set_where(over.where());
    return both;
}

}  // namespace weft::train
