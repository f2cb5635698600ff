// A phase's data: read, prepared by what the training set taught, checked to be alike, and described for those who use the model later.
#include <algorithm>
#include <cstdio>

#include "weft/base/error.h"
#include "weft/base/hash.h"
#include "weft/train/measure.h"
#include "weft/train/trainer.h"

namespace weft::train {
namespace {

/// That a set has what the training set has, in the same shapes; sequences of other lengths are what they are.
void check_alike(const std::string& name, const Feed& set, const Feed& train) {
    if (set.lengths != train.lengths)
        throw ConfigError(text("data: the sequences of '", set.lengths ? name : "train", "' have lengths, those of '",
                               set.lengths ? "train" : name, "' do not"));
    for (std::size_t i = 0; i < std::min(set.parts.size(), train.parts.size()); ++i) {
        const Feed::Part &own = set.parts[i], &first = train.parts[i];
        Dims example = own.example;
        if (own.along && first.along) example[0] = first.example[0];
        if (own.name == first.name && (example == first.example || i == 1)) continue;
        throw ConfigError(text("data: ", i == 0 ? "examples" : text("'", own.name, "'"), " of '", name, "' have shape ",
                               own.example, ", those of 'train' ", first.example,
                               own.name == first.name ? "" : text(", and are called '", first.name, "'")));
    }
    if (set.parts.size() != train.parts.size())
        throw ConfigError(text("data: an example of '", name, "' has ", set.parts.size(), " fields, one of 'train' ",
                               train.parts.size()));
}

constexpr std::size_t most_classes_named = 10000;

/// Of up to 64 rows, evenly spread: enough to tell another set, quick for one of any size.
void add_rows(Hasher& hasher, const data::Dataset& set) {
    constexpr std::int64_t most = 64;
    std::int64_t count = std::min(most, set.size());
    std::size_t bytes = static_cast<std::size_t>(element_count(set.example())) * size_of(set.x.dtype);
    std::vector<char> row(bytes);
    hasher.add(std::string_view(name_of(set.x.dtype)));
    for (std::int64_t size : set.x.dims) hasher.add(static_cast<std::uint64_t>(size));
    for (std::int64_t i = 0; i < count; ++i) {
        set.read_row(count < set.size() ? i * (set.size() - 1) / (count - 1) : i, row.data());
        hasher.add(std::string_view(row.data(), row.size()));
    }
}

/// "60000 1f3a...": how many examples, and a hash of inputs and targets.
std::string fingerprint(const data::Dataset& set) {
    Hasher hasher;
    add_rows(hasher, set);
    if (!set.y.dims.empty())
        add_rows(hasher, data::arrays(contiguous(set.y), Array::zeros(DType::uint8, {set.size()})));
    for (const data::Field& field : set.fields) add_rows(hasher, field.data);
    char digits[40];
    std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hasher.result().high),
                  static_cast<unsigned long long>(hasher.result().low));
    return text(set.size(), " ", digits);
}

}  // namespace

/// A run goes on with the numbers with which it began: their count, types and shapes, and some of the rows.
void Trainer::check_data() const {
    if (progress_.data.empty() || progress_.data == fingerprint_) return;
    auto count = [](const std::string& print) { return print.substr(0, print.find(' ')); };
    std::string before = count(progress_.data), now = count(fingerprint_);
    throw ConfigError(text(
        "data: the training set is another one than the run in '", run_.folder().string(), "' was begun with: ",
        before == now ? text(now, " examples, but other numbers") : text(now, " examples where there were ", before),
        "; bring the old one back, or begin a new run with --out"));
}

void Trainer::load_data(const Phase* before) {
    Timed timed(times_.data);
    if (before && before->config.at("data") == phase_->config.at("data")) return;
    preparation_ = data::Preparation(phase_->prepare);
    sets_.clear();
    for (const auto& [name, source] : phase_->sets) {
        data::Dataset set = source.load();
        if (name == "train") raw_ = set.rows(0, 0), fingerprint_ = fingerprint(set);
        if (set.size() == 0) throw ConfigError(text("data: the set '", name, "' is empty"));
        if (!phase_->keeps_nan) check_numbers(cost_terms(*phase_), name, set);
        sets_.emplace_back(name, name == "train" ? preparation_.fit(set) : preparation_.apply(set));
        check_alike(name, Feed(sets_.back().second), Feed(sets_.front().second));
    }
}

void Trainer::check_prepared() const {
    for (const auto& [name, data] : sets_) {
        for (const LabelRule& rule : network_->labels) check_labels(rule, name, data);
        for (const SymbolRule& rule : network_->symbols) check_symbols(rule, name, data);
    }
    check_carried(*phase_, *network_, set("train").size());
    check_last_batch(*phase_, *network_, set("train"));
}

Json Trainer::description() const {
    Json example = Json::array(), classes = Json::array(), all = network_->description();
    for (std::int64_t size : raw_.example()) example.push_back(size);
    if (raw_.classes.size() <= most_classes_named)
        for (const std::string& name : raw_.classes) classes.push_back(name);
    all["data"]["example"] = example, all["data"]["classes"] = classes;
    all["data"]["dtype"] = std::string(name_of(raw_.x_dtype()));
    Json fields = Json::array();
    for (const Feed::Part& part : Feed(raw_).parts) {
        if (part.target) continue;
        Json field, shape = Json::array();
        for (std::int64_t size : part.example) shape.push_back(size);
        field["name"] = part.name, field["example"] = shape, field["dtype"] = std::string(name_of(part.dtype));
        fields.push_back(field);
    }
    if (fields.size() > 1) all["data"]["inputs"] = fields;
    if (raw_.has_lengths()) all["data"]["lengths"] = true;
    Json targets = Json::object();
    for (const data::Field& field : raw_.fields) {
        if (!field.target) continue;
        Json names = Json::array();
        if (field.data.classes.size() <= most_classes_named)
            for (const std::string& name : field.data.classes) names.push_back(name);
        targets[field.name] = names;
    }
    if (targets.size()) all["data"]["targets"] = targets;
    return all;
}

}  // namespace weft::train
