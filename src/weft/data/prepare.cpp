#include "weft/data/prepare.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/data/registry.h"
#include "weft/data/steps.h"

namespace weft::data {
namespace {

std::string prefix(std::size_t place, const std::string& name) { return text(place, ".", name, "."); }

}  // namespace

void Step::fit(const Dataset&) {}
NamedState Step::state() const { return {}; }
Array Step::invert(const Array&) const {
    throw ValueError("cannot be inverted: it gives the same for different examples");
}
std::optional<Dataset> Step::sample(const Dataset& one) {
    fit(one);
    return apply(one);
}
void Step::restore(const NamedState& state) {
    if (!state.empty())
        throw FileError(text("prepare: the saved state has a '", state.begin()->first, "' that no step wants"));
}

const std::vector<StepKind>& step_kinds() {
    static const std::vector<StepKind> kinds = [] {
        std::vector<StepKind> all;
        for (auto family : {scaling_steps, shape_steps, whitening_steps, picture_steps}) {
            for (StepKind& kind : family()) all.push_back(std::move(kind));
        }
        return all;
    }();
    return kinds;
}

namespace {

/// What does not suit a step is a mistake of the file that names it.
template <class F>
void with_place(const std::string& name, const Position& where, F f) {
    if (where.line == 0) return f();
    try {
        f();
    } catch (const ShapeError& error) {
        throw ConfigError(text(where, name, ": ", error.what()));
    }
}

}  // namespace

StepList::StepList(const Json& steps) {
    if (steps.is_null()) return;
    for (const Json& description : steps.items()) {
        auto [name, argument] = named(description, "a step of preparation");
        if (argument.is_null()) argument.set_where(description.where());
        const StepKind* chosen = nullptr;
        std::vector<std::string_view> names;
        for (const StepKind& kind : step_kinds()) {
            names.push_back(kind.name);
            if (kind.name == name) chosen = &kind;
        }
        if (!chosen) {
            Position where = description.is_object() ? description.members()[0].where : description.where();
            throw ConfigError(
                text(where, "there is no step of preparation named '", name, "'", did_you_mean(name, names)));
        }
        if (!chosen->options.empty()) argument = complete(argument, chosen->options, name);
        steps_.push_back({name, chosen->make(argument), description.where()});
    }
}

Dataset StepList::fit(const Dataset& train) {
    if (train.size() == 0) throw ValueError("prepare: there are no training data to fit to");
    Dataset set = train;
    for (const Named& named : steps_) {
        with_place(named.name, named.where, [&] { named.step->fit(set); });
        set = applied(named, set);
    }
    return set;
}

Dataset StepList::applied(const Named& named, const Dataset& set) const {
    Dataset result;
    with_place(named.name, named.where, [&] { result = named.step->apply(set); });
    return result;
}

Dataset StepList::apply(const Dataset& set) const {
    Dataset result = set;
    for (const Named& named : steps_) result = applied(named, result);
    return result;
}

std::optional<Dataset> StepList::sample(const Dataset& one) {
    std::optional<Dataset> set = one;
    for (const Named& named : steps_) {
        if (!set) return set;
        with_place(named.name, named.where, [&] { set = named.step->sample(*set); });
    }
    return set;
}

Array StepList::invert(const Array& x) const {
    Array result = contiguous(x);
    for (std::size_t i = steps_.size(); i-- > 0;) {
        try {
            result = steps_[i].step->invert(result);
        } catch (const ValueError& error) {
            throw ValueError(text("prepare: step ", i, ", '", steps_[i].name, "': ", error.what()));
        }
    }
    return result;
}

NamedState StepList::state() const {
    NamedState all;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        for (auto& [name, array] : steps_[i].step->state()) all.emplace(prefix(i, steps_[i].name) + name, array);
    }
    return all;
}

void StepList::restore(const NamedState& state) {
    std::size_t used = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        std::string begin = prefix(i, steps_[i].name);
        NamedState mine;
        for (const auto& [name, array] : state) {
            if (name.compare(0, begin.size(), begin) == 0) mine.emplace(name.substr(begin.size()), array);
        }
        used += mine.size();
        steps_[i].step->restore(mine);
    }
    if (used != state.size()) throw FileError("prepare: the saved state belongs to other steps than these");
}

Preparation::Preparation(const Json& steps) {
    if (!steps.is_null()) given_ = steps;
    if (!given_.is_object()) {
        lists_.emplace("", StepList(given_));
        return;
    }
    for (const Json::Member& input : given_.members()) {
        for (const StepKind& kind : step_kinds())
            if (kind.name == input.key)
                given_.refuse(text("expected a list of steps, as in [{", kind.name, ": ...}], found a mapping"));
        lists_.emplace(input.key, StepList(input.value));
    }
}

std::string Preparation::key_of(const Dataset& set, const std::string& input) const {
    return !given_.is_object() && input == set.x_name ? "" : input;
}

/// One that has learned nothing.
StepList Preparation::made(const std::string& key) const {
    if (!given_.is_object()) return StepList(given_);
    const Json* own = given_.find(key);
    return own ? StepList(*own) : StepList();
}

void Preparation::check_names(const Dataset& set) const {
    if (!given_.is_object()) return;
    std::vector<std::string_view> names{set.x_name};
    for (const Field& field : set.fields)
        if (!field.target) names.push_back(field.name);
    for (const Json::Member& input : given_.members()) {
        if (std::find(names.begin(), names.end(), input.key) == names.end())
            throw ConfigError(
                text(input.where, "prepare: the data have no input '", input.key, "'", did_you_mean(input.key, names)));
    }
}

template <class F>
Dataset Preparation::each_input(const Dataset& set, F f) const {
    check_names(set);
    Dataset bare = set;
    bare.fields.clear();
    Dataset result = f(key_of(set, set.x_name), bare);
    if (set.has_lengths() && (result.x.ndim() < 2 || result.x.dims[1] != set.x.dims[1]))
        throw ConfigError(text("prepare: these are sequences of different lengths, of shape ", set.example(),
                               "; its steps make them ", result.example(), ", but are to leave the first axis alone"));
    for (const Field& field : set.fields) {
        result.fields.push_back(field);
        if (field.target) continue;
        Dataset one = field.data;
        one.y = set.y;
        one = f(key_of(set, field.name), one);
        one.y = Array();
        if (one.size() != set.size() || result.size() != set.size())
            throw ConfigError("prepare: where an example has several fields, no step may make several examples of it");
        result.fields.back().data = one;
    }
    return result;
}

Dataset Preparation::fit(const Dataset& train) {
    return each_input(train, [&](const std::string& key, const Dataset& one) {
        lists_.insert_or_assign(key, made(key));
        return lists_.at(key).fit(one);
    });
}

Dataset Preparation::apply(const Dataset& set) const {
    return each_input(set, [&](const std::string& key, const Dataset& one) {
        auto known = lists_.find(key);
        return known == lists_.end() ? made(key).apply(one) : known->second.apply(one);
    });
}

DataSplits Preparation::apply(const DataSplits& splits) const {
    return {apply(splits.train), apply(splits.valid), apply(splits.test)};
}

std::optional<Dataset> Preparation::sample(const Dataset& one) {
    bool known = true;
    Dataset made_up = each_input(one, [&](const std::string& key, const Dataset& input) {
        std::optional<Dataset> prepared = made(key).sample(input);
        known = known && prepared;
        return prepared ? *prepared : input;
    });
    return known ? std::optional(made_up) : std::nullopt;
}

Array Preparation::invert(const Array& x) const {
    if (lists_.empty()) return contiguous(x);
    auto named = lists_.find("x");
    return (named == lists_.end() ? lists_.begin() : named)->second.invert(x);
}

NamedState Preparation::state() const {
    NamedState all;
    for (const auto& [key, list] : lists_)
        for (auto& [name, array] : list.state()) all.emplace(key.empty() ? name : text(key, "/", name), array);
    return all;
}

void Preparation::restore(const NamedState& state) {
    std::map<std::string, NamedState> by_key;
    for (const auto& [key, list] : lists_) by_key[key];
    for (const auto& [name, array] : state) {
        std::size_t end = name.find('/');
        bool own = end == name.npos;
        by_key[own ? "" : name.substr(0, end)].emplace(own ? name : name.substr(end + 1), array);
    }
    for (const auto& [key, mine] : by_key) {
        lists_.insert_or_assign(key, made(key));
        lists_.at(key).restore(mine);
    }
}

}  // namespace weft::data
