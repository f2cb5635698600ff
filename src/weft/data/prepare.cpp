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

Preparation::Preparation(const Json& steps) {
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

Dataset Preparation::fit(const Dataset& train) {
    if (train.size() == 0) throw ValueError("prepare: there are no training data to fit to");
    Dataset set = train;
    for (const Named& named : steps_) {
        with_place(named.name, named.where, [&] { named.step->fit(set); });
        set = applied(named, set);
    }
    return set;
}

Dataset Preparation::applied(const Named& named, const Dataset& set) const {
    Dataset result;
    with_place(named.name, named.where, [&] { result = named.step->apply(set); });
    return result;
}

Dataset Preparation::apply(const Dataset& set) const {
    Dataset result = set;
    for (const Named& named : steps_) result = applied(named, result);
    return result;
}

std::optional<Dataset> Preparation::sample(const Dataset& one) {
    std::optional<Dataset> set = one;
    for (const Named& named : steps_) {
        if (!set) return set;
        with_place(named.name, named.where, [&] { set = named.step->sample(*set); });
    }
    return set;
}

Array Preparation::invert(const Array& x) const {
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

DataSplits Preparation::apply(const DataSplits& splits) const {
    return {apply(splits.train), apply(splits.valid), apply(splits.test)};
}

NamedState Preparation::state() const {
    NamedState all;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        for (auto& [name, array] : steps_[i].step->state()) all.emplace(prefix(i, steps_[i].name) + name, array);
    }
    return all;
}

void Preparation::restore(const NamedState& state) {
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

}  // namespace weft::data
