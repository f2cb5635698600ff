#include "weft/data/prepare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/data/batches.h"
#include "weft/data/registry.h"

namespace weft::data {
namespace {

/// Calls f(index in the example, value as float64) for every number of x as it stands in a batch, in their order.
template <class F>
void for_each_number(const Dataset& set, F&& f) {
    Array x = set.inputs();
    std::int64_t count = x.size(), width = set.size() ? count / set.size() : 0;
    with_dtype(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_convertible_v<T, double>) {
            const T* values = x.data<T>();
            for (std::int64_t i = 0; i < count; ++i) f(i % width, static_cast<double>(values[i]));
        } else {
            throw DTypeError(text("prepare: data of ", x.dtype, " cannot be scaled"));
        }
    });
}

/// x replaced by f(index in the example, value): float64 stays so, all else becomes float32.
template <class F>
Dataset with_numbers(const Dataset& set, F&& f) {
    Dataset result = set;
    result.x = Array::empty(set.x.dtype == float64 ? float64 : float32, set.x.dims);
    result.affine.reset();
    result.range.reset();
    std::int64_t at = 0;
    if (result.x.dtype == float64) {
        double* to = result.x.data<double>();
        for_each_number(set, [&](std::int64_t i, double value) { to[at++] = f(i, value); });
    } else {
        float* to = result.x.data<float>();
        for_each_number(set, [&](std::int64_t i, double value) { to[at++] = static_cast<float>(f(i, value)); });
    }
    return result;
}

const Array& part(const NamedState& state, const char* name) {
    auto found = state.find(name);
    if (found == state.end() || found->second.dtype != float64 || !found->second.contiguous()) {
        throw FileError(text("prepare: the saved state has no proper '", name, "'"));
    }
    return found->second;
}

/// Carries the range of the training data (known, or else observed) to [low, high].
class Scale : public Step {
  public:
    Scale(double low, double high) : low_(low), high_(high) {}

    void fit(const Dataset& train) override {
        auto [least, greatest] = train.range ? *train.range : observed(train);
        multiply_ = greatest > least ? (high_ - low_) / (greatest - least) : 1;
        add_ = low_ - least * multiply_;
    }
    Dataset apply(const Dataset& set) const override {
        std::optional<std::pair<double, double>> range;
        if (set.range) range = {low(*set.range), high(*set.range)};
        Dataset result =
            set.affine ? set : with_numbers(set, [&](std::int64_t, double value) { return value * multiply_ + add_; });
        if (set.affine) {  // bytes stay bytes; only their meaning changes
            result.affine = Affine{static_cast<float>(set.affine->multiply * multiply_),
                                   static_cast<float>(set.affine->add * multiply_ + add_)};
        }
        result.range = range;
        return result;
    }
    NamedState state() const override {
        NamedState state;
        state.emplace("affine", Array::from(std::vector<double>{multiply_, add_}, {2}));
        return state;
    }
    void restore(const NamedState& state) override {
        const Array& affine = part(state, "affine");
        if (affine.size() != 2) throw FileError("prepare: the saved state of 'scale' is not two numbers");
        multiply_ = affine.data<double>()[0];
        add_ = affine.data<double>()[1];
    }

  private:
    double low(std::pair<double, double> range) const {
        return std::min(range.first * multiply_, range.second * multiply_) + add_;
    }
    double high(std::pair<double, double> range) const {
        return std::max(range.first * multiply_, range.second * multiply_) + add_;
    }
    static std::pair<double, double> observed(const Dataset& train) {
        double least = std::numeric_limits<double>::infinity(), greatest = -least;
        for_each_number(train, [&](std::int64_t, double value) {
            if (!std::isfinite(value)) throw ValueError(text("scale: the training data hold the value ", value));
            least = std::min(least, value), greatest = std::max(greatest, value);
        });
        return {least, greatest};
    }
    double low_, high_, multiply_ = 1, add_ = 0;
};

/// Mean 0 and deviation 1 over the training data, for each number of an example by itself, or for all together.
class Standardize : public Step {
  public:
    explicit Standardize(bool together) : together_(together) {}

    void fit(const Dataset& train) override {
        std::int64_t width = 1;
        for (std::int64_t extent : train.example()) width *= extent;
        if (together_) width = 1;
        std::vector<double> count(static_cast<std::size_t>(width)), mean(count), squares(count);
        for_each_number(train, [&](std::int64_t i, double value) {  // after Welford, 1962
            if (!std::isfinite(value)) throw ValueError(text("standardize: the training data hold the value ", value));
            auto at = static_cast<std::size_t>(together_ ? 0 : i);
            double before = value - mean[at];
            mean[at] += before / ++count[at];
            squares[at] += before * (value - mean[at]);
        });
        for (std::size_t i = 0; i < squares.size(); ++i) {
            double deviation = std::sqrt(squares[i] / count[i]);
            squares[i] = deviation > 0 ? deviation : 1;  // what never varies becomes 0, not NaN
        }
        mean_ = std::move(mean);
        deviation_ = std::move(squares);
    }
    Dataset apply(const Dataset& set) const override {
        std::size_t width = 1;
        for (std::int64_t extent : set.example()) width *= static_cast<std::size_t>(extent);
        if (!together_ && width != mean_.size()) {
            throw ShapeError(text("standardize: fitted on examples of ", mean_.size(), " numbers, these have ", width));
        }
        return with_numbers(set, [&](std::int64_t i, double value) {
            auto at = static_cast<std::size_t>(together_ ? 0 : i);
            return (value - mean_[at]) / deviation_[at];
        });
    }
    NamedState state() const override {
        NamedState state;
        state.emplace("mean", Array::from(mean_, {static_cast<std::int64_t>(mean_.size())}));
        state.emplace("deviation", Array::from(deviation_, {static_cast<std::int64_t>(deviation_.size())}));
        return state;
    }
    void restore(const NamedState& state) override {
        const Array &mean = part(state, "mean"), &deviation = part(state, "deviation");
        if (mean.ndim() != 1 || mean.dims != deviation.dims || (together_ && mean.size() != 1)) {
            throw FileError("prepare: the saved state of 'standardize' does not fit");
        }
        mean_.assign(mean.data<double>(), mean.data<double>() + mean.size());
        deviation_.assign(deviation.data<double>(), deviation.data<double>() + deviation.size());
    }

  private:
    bool together_;
    std::vector<double> mean_{0}, deviation_{1};
};

class Reshape : public Step {
  public:
    explicit Reshape(Dims example) : example_(std::move(example)) {}
    Dataset apply(const Dataset& set) const override { return set.reshaped(example_); }

  private:
    Dims example_;
};

class Flatten : public Step {
  public:
    Dataset apply(const Dataset& set) const override { return set.flat(); }
};

std::unique_ptr<Step> make_scale(const Json& argument) {
    if (argument.size() != 2 || !argument.is_array()) argument.refuse("scale takes two numbers: {scale: [0, 1]}");
    double low = argument.item(0).as_number(), high = argument.item(1).as_number();
    if (!std::isfinite(low) || !std::isfinite(high) || low >= high)
        argument.refuse("scale: the first number is the smaller one");
    return std::make_unique<Scale>(low, high);
}

std::unique_ptr<Step> make_standardize(const Json& argument) {
    static const std::vector<Option> options{{"per",
                                              "feature",
                                              "for each number of an example by itself, or all together",
                                              false,
                                              Json::Kind::string,
                                              {"feature", "all"}}};
    return std::make_unique<Standardize>(complete(argument, options, "standardize").at("per").as_string() == "all");
}

std::unique_ptr<Step> make_reshape(const Json& argument) {
    if (!argument.is_array() || argument.size() == 0)
        argument.refuse("reshape takes the sizes of an example: {reshape: [1, 28, 28]}");
    Dims example;
    for (const Json& size : argument.items()) {
        if (size.as_integer() < 1) size.refuse("reshape: a size is at least 1");
        example.push_back(size.as_integer());
    }
    return std::make_unique<Reshape>(example);
}

std::unique_ptr<Step> make_flatten(const Json& argument) {
    if (!argument.is_null()) argument.refuse("flatten takes no options");
    return std::make_unique<Flatten>();
}

std::string prefix(std::size_t place, const std::string& name) { return text(place, ".", name, "."); }

}  // namespace

void Step::fit(const Dataset&) {}
NamedState Step::state() const { return {}; }
void Step::restore(const NamedState& state) {
    if (!state.empty())
        throw FileError(text("prepare: the saved state has a '", state.begin()->first, "' that no step wants"));
}

const std::vector<StepKind>& step_kinds() {
    static const std::vector<StepKind> kinds{
        {"scale", "carries the range of the training data to another, linearly", "[low, high]", make_scale},
        {"standardize", "mean 0 and deviation 1 over the training data", "{per: feature | all}", make_standardize},
        {"reshape", "gives each example another shape", "[size, ...]", make_reshape},
        {"flatten", "makes each example one row of numbers", "", make_flatten},
    };
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
        steps_.push_back({name, chosen->make(argument), description.where()});
    }
}

void Preparation::fit(const Dataset& train) {
    if (train.size() == 0) throw ValueError("prepare: there are no training data to fit to");
    Dataset set = train;
    for (const Named& named : steps_) {
        with_place(named.name, named.where, [&] { named.step->fit(set); });
        set = applied(named, set);
    }
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
