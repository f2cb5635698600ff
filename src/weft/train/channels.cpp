// Channels that are sums over examples: losses, errors, the terms of the cost; and, for targets that are numbers, distances.
#include <algorithm>
#include <cmath>

#include "weft/train/channel_sums.h"

namespace weft::train {
namespace {

/// sums[0] over sums[1], which counts examples.
double ratio(const Totals& sums) { return sums[0] / sums[1]; }

/// One figure of two sums.
template <class Add, class Figure>
Part<MakeChannel> of_sums(const char* name, const char* doc, Channel channel, Add add, Figure figure) {
    channel.name = name;
    channel.make = [add, figure](const Names&) {
        return std::make_unique<SumsOf>(2, add, [figure](const Totals& sums) {
            return SumsOf::Figures{{"", figure(sums)}};
        });
    };
    return {{name, doc}, [channel](const Json&) { return channel; }};
}

void add_loss(const Judged& batch, Totals& sums) { sums[0] += batch.loss, sums[1] += static_cast<double>(batch.count); }
/// The share of errors of the first cost that counts them, and of others by their names; `right`: 1 - these.
template <bool right>
Part<MakeChannel> shares_of_errors(const char* name, const char* doc) {
    Channel channel{name, {}, right, false, Channel::Targets::classes};
    channel.make = [](const Names& names) {
        std::size_t count = names.further_errors.size();
        auto add = [count](const Judged& batch, Totals& sums) {
            sums[0] += batch.errors, sums[1] += static_cast<double>(batch.count);
            for (std::size_t i = 0; i < count; ++i) sums[2 + i] += batch.further_errors[i];
        };
        auto figures = [further = names.further_errors](const Totals& sums) {
            auto share = [&](std::size_t i) { return right ? 1 - sums[i] / sums[1] : sums[i] / sums[1]; };
            SumsOf::Figures all{{"", share(0)}};
            for (std::size_t i = 0; i < further.size(); ++i) all.emplace_back("." + further[i], share(2 + i));
            return all;
        };
        return std::make_unique<SumsOf>(2 + count, add, figures);
    };
    return {{name, doc}, [channel](const Json&) { return channel; }};
}

/// f(target - output, target) of every number that has a target, and how many there are.
template <class F>
auto add_distances(F f) {
    return [f](const Judged& batch, Totals& sums) {
        std::vector<double> said = as_doubles(batch.outputs), wanted = as_doubles(batch.targets);
        if (said.size() != wanted.size())
            throw ShapeError(text("a channel of numbers: the network gives ", batch.outputs.dims, ", the targets are ",
                                  batch.targets.dims));
        for (std::size_t i = 0; i < said.size(); ++i)
            if (!std::isnan(wanted[i])) f(wanted[i] - said[i], wanted[i], sums);
    };
}

Part<MakeChannel> cost_terms() {
    Channel channel{"cost", {.terms = true}};
    channel.make = [](const Names& names) {
        std::size_t count = names.terms.size();
        auto add = [count](const Judged& batch, Totals& sums) {
            for (std::size_t i = 0; i < count; ++i) sums[i] += batch.terms[i];
            sums[count] += static_cast<double>(batch.count);
        };
        auto figures = [terms = names.terms](const Totals& sums) {
            SumsOf::Figures all{{"", 0.0}};
            for (std::size_t i = 0; i < terms.size(); ++i) {
                double mean = sums[i] / sums.back();
                all[0].second += mean, all.emplace_back("." + terms[i], mean);
            }
            return all;
        };
        return std::make_unique<SumsOf>(count + 1, add, figures);
    };
    return {
        {"cost", "what is minimised, penalties included, and each term of it (cost.weight_decay), times its factor"},
        [channel](const Json&) { return channel; }};
}

/// 1 less the residual over the variance, of which a pca tells both.
Part<MakeChannel> explained_variance() {
    Channel channel{"explained_variance", {.terms = true}, true};
    channel.told = {"residual_variance", "variance"};
    channel.make = [](const Names& names) {
        auto place = [&](const char* name) {
            return static_cast<std::size_t>(std::find(names.told.begin(), names.told.end(), name) - names.told.begin());
        };
        std::size_t residual = place("residual_variance"), variance = place("variance");
        auto add = [=](const Judged& batch, Totals& sums) {
            sums[0] += batch.told[residual], sums[1] += batch.told[variance];
        };
        return std::make_unique<SumsOf>(2, add, [](const Totals& sums) {
            return SumsOf::Figures{{"", 1 - ratio(sums)}};
        });
    };
    return {{"explained_variance", "the part of the variance that a pca's components hold"},
            [channel](const Json&) { return channel; }};
}

}  // namespace

std::vector<double> as_doubles(const Array& array) {
    Array numbers = contiguous(array);
    std::vector<double> all(static_cast<std::size_t>(numbers.size()));
    with_dtype(numbers.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (requires(T value) { static_cast<double>(value); }) {
            const T* from = std::as_const(numbers).template data<T>();
            for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(from[i]);
        } else {
            throw DTypeError(text("a channel measures real numbers, what it was given is ", numbers.dtype));
        }
    });
    return all;
}

std::vector<Part<MakeChannel>> channels_of_losses() {
    return {
        of_sums("loss", "the mean loss of an example, without penalties", {}, add_loss, ratio),
        shares_of_errors<false>("error", "the share of examples whose class is not the one with the greatest score"),
        shares_of_errors<true>("accuracy", "1 - error"),
        of_sums("perplexity", "exp(loss), for losses that are -log of a probability", {}, add_loss,
                [](const Totals& sums) { return std::exp(ratio(sums)); }),
        cost_terms(),
        explained_variance(),
    };
}

std::vector<Part<MakeChannel>> channels_of_numbers() {
    const Channel numbers{"", {.outputs = true}, false, false, Channel::Targets::numbers};
    return {
        of_sums("mae", "the mean of |target - output|", numbers,
                add_distances([](double d, double, Totals& sums) { sums[0] += std::abs(d), sums[1] += 1; }), ratio),
        of_sums("rmse", "the root of the mean of (target - output)^2", numbers,
                add_distances([](double d, double, Totals& sums) { sums[0] += d * d, sums[1] += 1; }),
                [](const Totals& sums) { return std::sqrt(ratio(sums)); }),
        of_sums("wmape", "the sum of |target - output| over the sum of |target|", numbers,
                add_distances(
                    [](double d, double wanted, Totals& sums) { sums[0] += std::abs(d), sums[1] += std::abs(wanted); }),
                ratio),
    };
}

}  // namespace weft::train
