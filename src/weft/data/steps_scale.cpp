// Steps that carry numbers to another scale: scale, standardize, gcn, binarize.
#include <cmath>
#include <cstring>
#include <limits>

#include "weft/base/error.h"
#include "weft/base/hash.h"
#include "weft/data/counter_random.h"
#include "weft/data/steps.h"

namespace weft::data {
namespace {

template <class F>
void for_each_number(const Dataset& set, F&& f) {
    std::size_t width = width_of(set.x);
    for_each_row(set, [&](const double* row) {
        for (std::size_t i = 0; i < width; ++i) f(i, row[i]);
    });
}

/// x replaced by f(index in the example, value).
template <class F>
Dataset with_numbers(const Dataset& set, F f) {
    return mapped(set, set.example(), [f = std::move(f), width = width_of(set.x)](const double* from, double* to) {
        for (std::size_t i = 0; i < width; ++i) to[i] = f(i, from[i]);
    });
}
template <class F>
Array numbers_of(const Array& x, F f) {
    Dataset set;
    set.x = x;
    return with_numbers(set, f).x;
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
            set.affine ? set : with_numbers(set, [multiply = multiply_, add = add_](std::size_t, double value) {
                return value * multiply + add;
            });
        if (set.affine) {  // bytes stay bytes; only their meaning changes
            result.affine = Affine{static_cast<float>(set.affine->multiply * multiply_),
                                   static_cast<float>(set.affine->add * multiply_ + add_)};
        }
        result.range = range;
        return result;
    }
    Array invert(const Array& x) const override {
        if (multiply_ == 0) throw ValueError("scale: what was multiplied by 0 cannot be inverted");
        return numbers_of(x, [this](std::size_t, double value) { return (value - add_) / multiply_; });
    }
    NamedState state() const override {
        NamedState state;
        state.emplace("affine", Array::from(std::vector<double>{multiply_, add_}, {2}));
        return state;
    }
    void restore(const NamedState& state) override {
        std::vector<double> affine = numbers_in(state, "affine");
        if (affine.size() != 2) throw FileError("prepare: the saved state of 'scale' is not two numbers");
        multiply_ = affine[0], add_ = affine[1];
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
        for_each_number(train, [&](std::size_t, double value) {
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
        for_each_number(train, [&](std::size_t i, double value) {  // after Welford, 1962
            if (!std::isfinite(value)) throw ValueError(text("standardize: the training data hold the value ", value));
            std::size_t at = together_ ? 0 : i;
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
        return with_numbers(set,
                            [together = together_, mean = mean_, deviation = deviation_](std::size_t i, double value) {
                                std::size_t at = together ? 0 : i;
                                return (value - mean[at]) / deviation[at];
                            });
    }
    Array invert(const Array& x) const override {
        if (!together_ && width_of(x) != mean_.size())
            throw ShapeError(
                text("standardize: fitted on examples of ", mean_.size(), " numbers, these have ", width_of(x)));
        return numbers_of(x, [this](std::size_t i, double value) {
            std::size_t at = together_ ? 0 : i;
            return value * deviation_[at] + mean_[at];
        });
    }
    NamedState state() const override {
        NamedState state;
        state.emplace("mean", array_of(mean_)), state.emplace("deviation", array_of(deviation_));
        return state;
    }
    void restore(const NamedState& state) override {
        mean_ = numbers_in(state, "mean"), deviation_ = numbers_in(state, "deviation");
        if (mean_.size() != deviation_.size() || (together_ && mean_.size() != 1))
            throw FileError("prepare: the saved state of 'standardize' does not fit");
    }

  private:
    bool together_;
    std::vector<double> mean_{0}, deviation_{1};
};

/// Each example by itself: less its mean, over its norm or deviation (Pylearn2's global_contrast_normalize).
class GlobalContrast : public Step {
  public:
    explicit GlobalContrast(const Json& o)
        : subtract_mean_(o.at("subtract_mean").as_bool()),
          use_std_(o.at("use_std").as_bool()),
          scale_(o.at("scale").as_number()),
          sqrt_bias_(o.at("sqrt_bias").as_number()),
          min_divisor_(o.at("min_divisor").as_number()) {}

    Dataset apply(const Dataset& set) const override {
        return mapped(set, set.example(), [how = *this, width = width_of(set.x)](const double* from, double* to) {
            how.normalize(from, to, width);
        });
    }

  private:
    void normalize(const double* from, double* to, std::size_t width) const {
        auto count = static_cast<double>(width);
        double mean = 0, squares = 0, around = 0;
        for (std::size_t i = 0; i < width; ++i) mean += from[i] / count;
        for (std::size_t i = 0; i < width; ++i) {
            to[i] = from[i] - (subtract_mean_ ? mean : 0);
            squares += to[i] * to[i], around += (from[i] - mean) * (from[i] - mean);
        }
        double spread = use_std_ ? around / std::max(1.0, count - 1) : squares;
        double divisor = std::sqrt(sqrt_bias_ + spread) / scale_;
        if (divisor < min_divisor_) divisor = 1;  // an example that is all alike
        for (std::size_t i = 0; i < width; ++i) to[i] /= divisor;
    }
    bool subtract_mean_, use_std_;
    double scale_, sqrt_bias_, min_divisor_;
};

/// Black and white: 1 where a number is above a threshold, or with the number as its probability.
class Binarize : public Step {
  public:
    explicit Binarize(const Json& o)
        : drawn_(o.at("draw").as_bool()),
          at_(o.at("at").as_number()),
          seed_(static_cast<std::uint64_t>(o.at("seed").as_integer())) {}

    Dataset apply(const Dataset& set) const override {
        std::size_t width = width_of(set.x);
        Dataset result =
            drawn_ ? mapped(set, set.example(),
                            [seed = seed_, width](const double* from, double* to) { draw(from, to, width, seed); })
                   : with_numbers(set, [at = at_](std::size_t, double value) { return value > at ? 1.0 : 0.0; });
        result.range = {0, 1};
        return result;
    }
    Array invert(const Array& x) const override { return x; }  // a picture made of it is black and white

  private:
    /// The stream of random numbers follows from the row itself: what becomes of an example is the same in whichever order, set or fold it
    /// stands, and whoever reads it.
    static void draw(const double* from, double* to, std::size_t width, std::uint64_t seed) {
        constexpr double rounding = 1e-6;  // of what was scaled
        Hasher content;
        for (std::size_t i = 0; i < width; ++i) {
            if (!(from[i] >= 0 && from[i] <= 1 + rounding))
                throw ValueError(text("binarize: a number is ", from[i],
                                      ", which is no probability; put {scale: [0, 1]} in front, or leave out `draw`"));
            std::uint64_t bits = 0;
            std::memcpy(&bits, from + i, sizeof bits);
            content.add(bits);
        }
        CounterRandom random(seed, content.result().low);
        for (std::size_t i = 0; i < width; ++i) to[i] = random.uniform() < from[i] ? 1 : 0;
    }
    bool drawn_;
    double at_;
    std::uint64_t seed_;
};

std::unique_ptr<Step> make_scale(const Json& argument) {
    if (argument.size() != 2 || !argument.is_array()) argument.refuse("scale takes two numbers: {scale: [0, 1]}");
    double low = argument.item(0).as_number(), high = argument.item(1).as_number();
    if (!std::isfinite(low) || !std::isfinite(high) || low >= high)
        argument.refuse("scale: the first number is the smaller one");
    return std::make_unique<Scale>(low, high);
}

Option positive(const char* name, double fallback, const char* doc) {
    return {name, fallback, doc, false, Json::Kind::null, {}, 0};
}

}  // namespace

std::vector<StepKind> scaling_steps() {
    return {
        {"scale", "carries the range of the training data to another, linearly", "[low, high]", make_scale},
        {"standardize",
         "mean 0 and deviation 1 over the training data",
         "",
         [](const Json& options) { return std::make_unique<Standardize>(options.at("per").as_string() == "all"); },
         {{"per",
           "feature",
           "for each number of an example by itself, or all together",
           false,
           Json::Kind::string,
           {"feature", "all"}}}},
        {"gcn",
         "global contrast normalisation: each example less its mean, over its norm",
         "",
         [](const Json& options) -> std::unique_ptr<Step> {
             if (options.at("scale").as_number() <= 0) options.at("scale").refuse("gcn: the scale is more than 0");
             return std::make_unique<GlobalContrast>(options);
         },
         {positive("scale", 1, "the norm that examples get"),
          {"subtract_mean", true, "each example's mean becomes 0"},
          {"use_std", false, "over its standard deviation in place of the norm"},
          positive("sqrt_bias", 0, "is added to the square of the norm"),
          positive("min_divisor", 1e-8, "an example with a smaller divisor is not divided")}},
        {"binarize",
         "black and white: 1 where a number is above `at`, else 0; or drawn",
         "",
         [](const Json& options) { return std::make_unique<Binarize>(options); },
         {{"at", 0.5, "the greatest number that becomes 0"},
          {"draw", false,
           "1 with the number as its probability, drawn once for each example, as the literature has it"},
          {"seed",
           1,
           "of the draws, which follow from it and from the example alone",
           false,
           Json::Kind::null,
           {},
           0}}},
    };
}

}  // namespace weft::data
