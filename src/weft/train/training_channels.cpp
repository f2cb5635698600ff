// Channels of training itself: norms of parameters, gradients and updates, values of layers, speed. Over an epoch each is a mean over its
// steps; values of layers are those of all examples.
#include <cmath>

#include "weft/optim/optimizer.h"
#include "weft/train/channel_sums.h"

namespace weft::train {
namespace {

/// A mean over steps of f(squares): of all parameters together, and of each that `match` names.
Part<MakeChannel> of_squares(const char* name, const char* doc, double (*f)(const ParameterSquares&)) {
    auto make = [name = std::string(name), f](const Json& o) {
        Channel channel{name, {.norms = true}, false, true};
        channel.match = o.at("match");
        std::string match = o.at("match").is_null() ? "" : o.at("match").as_string();
        channel.make = [match, f](const Names& names) {
            std::size_t count = names.parameters.size();
            auto add = [f, count](const Judged& batch, Totals& sums) {
                ParameterSquares all;
                for (std::size_t i = 0; i < count; ++i) {
                    const ParameterSquares& one = batch.parameters[i];
                    all = {all.value + one.value, all.gradient + one.gradient, all.update + one.update};
                    sums[i] += f(one);
                }
                sums[count] += f(all), sums[count + 1] += 1;
            };
            auto figures = [match, parameters = names.parameters](const Totals& sums) {
                std::size_t count = parameters.size();
                SumsOf::Figures all{{"", sums[count] / sums[count + 1]}};
                for (std::size_t i = 0; i < count; ++i) {
                    if (!match.empty() && optim::glob_match(match, parameters[i]))
                        all.emplace_back("." + parameters[i], sums[i] / sums[count + 1]);
                }
                return all;
            };
            return std::make_unique<SumsOf>(count + 2, add, figures);
        };
        return channel;
    };
    Option match{"match", Json(), "parameters that have a figure of their own beside the total, as in *.weight", false,
                 Json::Kind::string};
    return {{name, doc, {match}, "match"}, make};
}

double parameter_norm(const ParameterSquares& s) { return std::sqrt(s.value); }
double gradient_norm(const ParameterSquares& s) { return std::sqrt(s.gradient); }
double update_norm(const ParameterSquares& s) { return std::sqrt(s.update); }
double update_ratio(const ParameterSquares& s) { return s.value == 0 ? 0 : std::sqrt(s.update / s.value); }

/// What a layer's values come to, joined over batches.
class Activations final : public Accumulator {
  public:
    Activations(std::string match, std::vector<std::string> names)
        : match_(std::move(match)), names_(std::move(names)), layers_(names_.size()) {}
    void add(const Judged& batch) override {
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            LayerValues& all = layers_[i];
            const LayerValues& one = batch.layers[i];
            all.least = all.count == 0 ? one.least : std::min(all.least, one.least);
            all.most = all.count == 0 ? one.most : std::max(all.most, one.most);
            all.count += one.count, all.sum += one.sum, all.squares += one.squares, all.zeros += one.zeros;
        }
    }
    std::vector<std::pair<std::string, double>> figures() const override {
        std::vector<std::pair<std::string, double>> all;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            if (!optim::glob_match(match_, names_[i])) continue;
            const LayerValues& v = layers_[i];
            double mean = v.sum / v.count;
            std::string name = "." + names_[i];
            all.emplace_back(name + ".mean", mean);
            all.emplace_back(name + ".std", std::sqrt(std::max(0.0, v.squares / v.count - mean * mean)));
            all.emplace_back(name + ".zeros", v.zeros / v.count);
            all.emplace_back(name + ".min", v.least), all.emplace_back(name + ".max", v.most);
        }
        return all;
    }
    std::vector<double> state() const override {
        std::vector<double> all;
        for (const LayerValues& v : layers_)
            all.insert(all.end(), {v.count, v.sum, v.squares, v.zeros, v.least, v.most});
        return all;
    }
    void restore(std::span<const double> state) override {
        for (std::size_t i = 0; i < layers_.size() && 6 * i + 5 < state.size(); ++i) {
            const double* s = state.data() + 6 * i;
            layers_[i] = {s[0], s[1], s[2], s[3], s[4], s[5]};
        }
    }

  private:
    std::string match_;
    std::vector<std::string> names_;
    std::vector<LayerValues> layers_;
};

Channel activations(const Json& o) {
    Channel channel{"activations", {.activations = true}};
    channel.alone = false, channel.match = o.at("match");
    channel.make = [match = o.at("match").as_string()](const Names& names) {
        return std::make_unique<Activations>(match, names.layers);
    };
    return channel;
}

/// What depends on the machine is no part of a checkpoint: it counts from where this process began.
class Speed final : public Accumulator {
  public:
    void add(const Judged& batch) override {
        examples_ += static_cast<double>(batch.count), seconds_ += batch.seconds, waited_ += batch.waited;
    }
    std::vector<std::pair<std::string, double>> figures() const override {
        double both = seconds_ + waited_;
        return {{"", seconds_ > 0 ? examples_ / seconds_ : 0},
                {".step_seconds", seconds_},
                {".waiting", both > 0 ? waited_ / both : 0}};
    }
    std::vector<double> state() const override { return {}; }
    void restore(std::span<const double>) override {}

  private:
    double examples_ = 0, seconds_ = 0, waited_ = 0;
};

Channel speed(const Json&) {
    Channel channel{"speed", {}, true, true};
    channel.make = [](const Names&) { return std::make_unique<Speed>(); };
    return channel;
}

}  // namespace

std::vector<Part<MakeChannel>> channels_of_training() {
    return {
        of_squares("parameter_norm", "the root of the sum of squares of all parameters", parameter_norm),
        of_squares("gradient_norm", "the same of what gradients are before any clipping", gradient_norm),
        of_squares("update_norm", "the same of what steps change", update_norm),
        of_squares("update_ratio", "update_norm over parameter_norm", update_ratio),
        {{"activations",
          "of what layers of `sequential:` give, by layer (activations.0.mean): mean, std, share of zeros, min, max",
          {{"match", "*", "which layers, by their paths, as in hidden or 3.*"}},
          "match"},
         activations},
        {{"speed",
          "examples a second of steps alone, the seconds that they took (speed.step_seconds), and the share of the "
          "time in which they waited "
          "for data (speed.waiting; more `readers:` lessen it)"},
         speed},
    };
}

}  // namespace weft::train
