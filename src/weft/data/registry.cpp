#include "weft/data/registry.h"

#include <filesystem>
#include <map>
#include <utility>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/data/fetch.h"
#include "weft/data/sources.h"

namespace weft::data {
namespace {

std::vector<Source>& registry() {
    static std::vector<Source> all = [] {
        std::vector<Source> made;
        for (auto family : {digit_sources, file_sources, picture_sources, sequence_sources, sources_of_sources,
                            sources_of_pairs, sources_of_programs}) {
            for (Source& source : family()) made.push_back(std::move(source));
        }
        return made;
    }();
    return all;
}

thread_local int files_unchecked = 0, samples_kept = 0;
thread_local std::map<std::string, Dataset> samples;  // by the source's name and options

/// The first example, with zeros for what was not read.
Dataset one_of(const Dataset& set) {
    Dataset one = set.rows(0, 1);
    if (one.source) one.x = Array::zeros(one.x.dtype, one.x.dims), one.source = nullptr;
    for (Field& field : one.fields) field.data = one_of(field.data);
    return one;
}

}  // namespace

SamplesKept::SamplesKept() { ++samples_kept; }
SamplesKept::~SamplesKept() {
    if (--samples_kept == 0) samples.clear();
}
bool files_checked() { return files_unchecked == 0; }

FilesUnchecked::FilesUnchecked() { ++files_unchecked; }
FilesUnchecked::~FilesUnchecked() { --files_unchecked; }

Option range_option() { return {"range", Json(), "rows [first, beyond the last)", false, Json::Kind::array}; }

void check_range(const Json& options) {
    const Json& range = options.at("range");
    if (range.is_null()) return;
    if (range.size() != 2) range.refuse("a range is two integers: [first, beyond the last]");
    std::int64_t first = range.item(0).as_integer(), last = range.item(1).as_integer();
    if (first < 0 || last < first)
        range.refuse(text("[", first, ", ", last, "] is no range: it takes 0 <= first <= last"));
}

Dataset in_range(const Dataset& set, const Json& options) {
    const Json& range = options.at("range");
    if (range.is_null()) return set;
    std::int64_t last = range.item(1).as_integer();
    if (last > set.size()) range.refuse(text("the range ends at row ", last, ", the data have ", set.size()));
    return set.rows(range.item(0).as_integer(), last);
}

/// That it is there: a path is the file's mistake, found before anything is made.
void check_file(const Json& path) {
    if (files_checked() && !std::filesystem::is_regular_file(path.as_string()))
        path.refuse(text("there is no file '", path.as_string(), "'; a path starts where the program runs"));
}

void check_place(const Json& path) {
    if (files_checked() && !std::filesystem::exists(find_data(path.as_string())))
        path.refuse(
            text("there is no '", path.as_string(), "'; a path starts where the program runs, or else in $WEFT_DATA"));
}

Option word_option(const char* name, const char* fallback, const char* doc, std::vector<std::string> choices) {
    return {name, fallback, doc, false, Json::Kind::string, std::move(choices)};
}

Option integer_option(const char* name, std::int64_t fallback, const char* doc, double least) {
    Option option{name, fallback, doc};
    option.least = least;
    return option;
}

const std::vector<Source>& sources() { return registry(); }

const Source& source_named(std::string_view name, const Position& where) {
    std::vector<std::string_view> names;
    for (const Source& source : registry()) {
        if (source.name == name) return source;
        names.push_back(source.name);
    }
    throw ConfigError(text(where, "there is no data set named '", name, "'", did_you_mean(name, names)));
}

void add_source(Source source) {
    for (const Source& known : registry()) {
        if (known.name == source.name) throw ValueError(text("there is a data set named '", source.name, "' already"));
    }
    registry().push_back(std::move(source));
}

std::pair<std::string, Json> named(const Json& description, std::string_view what) {
    if (description.is_string()) return {description.as_string(), Json()};
    if (!description.is_object() || description.size() != 1) {
        description.refuse(text("expected the name of ", what, ", alone or with its options below it, found ",
                                description.describe()));
    }
    return {description.members()[0].key, description.members()[0].value};
}

ChosenSource::ChosenSource(const Json& description) {
    auto [name, given] = named(description, "a data set");
    source_ = &source_named(name, description.is_object() ? description.members()[0].where : description.where());
    if (given.is_null()) given.set_where(description.where());
    where_ = description.is_object() ? description.members()[0].where : description.where();
    options_ = complete(given, source_->options, name);
    check();
}

void ChosenSource::check() const {
    if (source_->check) source_->check(options_);
}

// What a file holds is part of what the user gave: its faults have the place at which it is named.
Dataset ChosenSource::load(const Json& options) const {
    try {
        return source_->load(options);
    } catch (const FileError& error) {
        throw ConfigError(text(where_, error.what()));
    }
}

Dataset ChosenSource::load() const {
    if (*looked_at_) return *std::exchange(*looked_at_, std::nullopt);
    return load(options_);
}

std::optional<std::int64_t> ChosenSource::size() const {
    const Json *range = options_.find("range"), *count = options_.find(source_->counted_by);
    if (range && !range->is_null()) return range->item(1).as_integer() - range->item(0).as_integer();
    return count && count->is_integer() ? std::optional(count->as_integer()) : std::nullopt;
}

Dataset ChosenSource::sample() const {
    if (source_->sample)
        if (std::optional<Dataset> made = source_->sample(options_)) return *made;
    check();
    std::string key = text(source_->name, " ", json_text(options_));
    if (auto known = samples.find(key); known != samples.end()) return known->second;
    Dataset set = *looked_at_ ? **looked_at_ : looked_at();
    if (set.size() == 0) throw ConfigError(text(where_, source_->name, ": there is no example"));
    Dataset one = one_of(set);
    if (samples_kept > 0) samples.emplace(std::move(key), one);
    return one;
}

Dataset ChosenSource::looked_at() const {
    Json options = options_;
    const Json* stream = options.find("stream");
    if (stream && !stream->as_bool()) {
        options["stream"] = true;
        try {
            source_->check(options);
            return load(options);
        } catch (const ConfigError&) {  // this file's rows cannot be read one by one
        }
    }
    Dataset whole = load(options_);
    if (samples_kept == 0) *looked_at_ = whole;  // for load(), which follows; a dry run has none
    return whole;
}

}  // namespace weft::data
