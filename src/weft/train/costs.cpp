// The costs that a file can name: losses of nn/. Over the examples of a batch a cost is their mean; over the numbers of one example it is
// their mean or their sum. Penalties on parameters are penalties.cpp's, costs of pairs of examples pair_costs.cpp's.
#include "weft/base/error.h"
#include "weft/nn/given.h"
#include "weft/nn/loss.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"
#include "weft/train/parts.h"

namespace weft::train {
namespace {

using nn::LossReduction;
constexpr LossReduction each = LossReduction::none;

const Option factor{"factor", 1.0, "times the cost"};
const Option target_option = [] {
    Option option{"target", Json(), "what is wanted: y of the data if left out; a field; input; the path of a layer",
                  false, Json::Kind::string};
    option.brief = true;
    return option;
}();
const Option of_option = [] {
    Option option{"of", Json(), "the path of the layer whose value it is a cost of; the last if left out", false,
                  Json::Kind::string};
    option.brief = true;
    return option;
}();

/// Where a target is more than padding, in its shape; empty: everywhere.
Tensor unpadded(const Tensor& wanted) {
    Tensor lengths = nn::Given::lengths_for(wanted);
    if (!lengths) return {};
    Tensor there = nn::filled(lengths, wanted.shape()[1]);
    while (there.ndim() < wanted.ndim()) there = expand_dims(there, -1);
    return broadcast_to(there, wanted.shape());
}
Tensor both(const Tensor& a, const Tensor& b) { return a && b ? a & b : a ? a : b; }

/// Scores of one number an example, (batch, 1), beside targets (batch): the same shape is meant. So it is where the input is wanted,
/// as pictures, of a network that gives rows.
Tensor as_target(const Tensor& output, const Tensor& wanted) {
    if (output.ndim() == wanted.ndim() + 1 && output.shape().back() == Size(1)) return reshape(output, wanted.shape());
    std::int64_t numbers[] = {1, 1};
    const Tensor* both[] = {&output, &wanted};
    for (int i : {0, 1}) {
        for (std::size_t axis = 1; axis < both[i]->ndim(); ++axis) {
            if (!both[i]->shape()[axis].known()) return output;
            numbers[i] *= both[i]->shape()[axis].value();
        }
    }
    return output.ndim() != wanted.ndim() && numbers[0] == numbers[1] ? reshape(output, wanted.shape()) : output;
}

/// The sum of each example's numbers.
Tensor of_examples(const Tensor& values) {
    Axes axes;
    for (std::size_t axis = 1; axis < values.ndim(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
    return axes.empty() ? values : sum(values, axes);
}

/// Losses of single numbers, and which of them have a target (of their shape; empty: all).
struct Losses {
    Tensor losses, present;
    bool summed = false;
};

/// One for each example: the mean, or the sum, of its numbers; 0 for one without a target.
Tensor each_example(const Losses& all) {
    Tensor totals = of_examples(all.present ? where(all.present, all.losses, 0.0) : all.losses);
    if (all.summed || all.losses.ndim() < 2) return totals;
    return totals /
           maximum(of_examples(all.present ? astype(all.present, totals.dtype()) : ones_like(all.losses)), 1.0);
}

/// Their mean over the examples that have a target.
Tensor joined(const Losses& all) {
    if (!all.present && (!all.summed || all.losses.ndim() < 2)) return mean(all.losses);
    Tensor totals = each_example(all);
    if (!all.present) return mean(totals);
    Tensor some = of_examples(astype(all.present, totals.dtype())) > 0.0;
    return sum(totals) / maximum(sum(astype(some, totals.dtype())), 1.0);
}

/// The term whose losses `losses(output, wanted)` gives.
template <class F>
CostTerm term_of(const Json& options, F losses) {
    CostTerm term;
    term.of_output = [losses](const Tensor& output, const Tensor& wanted) { return joined(losses(output, wanted)); };
    term.of_examples = [losses](const Tensor& output, const Tensor& wanted) {
        return each_example(losses(output, wanted));
    };
    term.factor = options.at("factor").as_number();
    if (const Json* target = options.find("target")) term.target = *target;
    if (const Json* of = options.find("of")) term.of = *of;
    return term;
}

using Expected = std::function<Tensor(const Tensor& output)> (*)(const Json& options);

/// Losses of numbers, each beside the number that is wanted; `loss(output, wanted, options)` gives one for each.
template <class F>
Part<MakeCost> quantities(const char* name, const char* doc, std::vector<Option> options, F loss,
                          Expected expected = nullptr) {
    Option numbers{"numbers", "mean", "of the numbers of an example: their mean, or their sum"};
    numbers.choices = {"mean", "sum"};
    for (const Option& option :
         {numbers, Option{"missing", false, "targets that are NaN are left out"}, target_option, of_option, factor})
        options.push_back(option);
    auto make = [loss, expected](const Json& o) {
        bool missing = o.at("missing").as_bool();
        CostTerm term = term_of(o, [=](const Tensor& output, const Tensor& wanted) {
            Losses all{{}, {}, o.at("numbers").as_string() == "sum"};
            Tensor y = is_floating(wanted.dtype()) ? wanted : wanted.astype(output.dtype());
            all.present = both(missing ? y == y : Tensor(), unpadded(y));
            if (all.present) y = where(all.present, y, 0.0);
            all.losses = loss(as_target(output, y), y, o);
            // One loss for all numbers of a row: they are all there, or the row is left out.
            if (all.present && all.losses.ndim() < all.present.ndim()) all.present = weft::all(all.present, -1);
            return all;
        });
        if (missing) term.present = [](const Tensor& y) { return of_examples(astype(y == y, DType::int64)) > 0; };
        if (expected) term.expected = expected(o);
        return term;
    };
    return {{name, doc, std::move(options)}, make};
}

using Probabilities = Tensor (*)(const Tensor& output);
Tensor of_scores(const Tensor& output) { return softmax(output, 1); }
Tensor of_logarithms(const Tensor& output) { return exp(output); }
/// Of one score, positive for class 1.
Tensor of_two_classes(const Tensor& output) {
    Tensor score = reshape(output, {output.shape()[0], Size(1)});
    return concatenate({sigmoid(-score), sigmoid(score)}, 1);
}

enum class Scores : std::uint8_t { a_class, one };  // one: of class 1, and labels are 0 and 1

/// Losses of class numbers; `loss(output, labels, options)` gives one for each label. A rate of errors goes with them, and, where the
/// loss is the logarithm of a probability, what the output says of each class.
template <class F>
Part<MakeCost> classes(const char* name, const char* doc, std::vector<Option> options, F loss,
                       Probabilities probabilities = nullptr, Scores scores = Scores::a_class) {
    Option missing{"missing", Json(), "examples with this label are left out", false, Json::Kind::integer};
    missing.brief = true;
    for (const Option& option : {missing, target_option, of_option, factor}) options.push_back(option);
    auto make = [loss, probabilities, scores](const Json& o) {
        std::function<Tensor(const Tensor&)> present;
        if (const Json* none = o.find("missing"))
            present = [label = none->as_integer()](const Tensor& y) { return astype(y, DType::int64) != label; };
        CostTerm term = term_of(o, [=](const Tensor& output, const Tensor& wanted) {
            Tensor known = both(present ? present(wanted) : Tensor(), unpadded(wanted));
            if (!known) return Losses{loss(output, wanted, o), {}};
            return Losses{loss(output, where(known, wanted, zeros_like(wanted)), o), known};
        });
        term.present = present, term.counts_errors = true, term.two_classes = scores == Scores::one;
        if (probabilities) term.probabilities = probabilities;
        return term;
    };
    return {{name, doc, std::move(options)}, make};
}

Option at_least(const char* name, double fallback, const char* doc, double least = 0) {
    Option option{name, fallback, doc};
    option.least = least;
    return option;
}

/// Class numbers 0 and 1 as numbers of the output's type, beside one score an example.
Tensor truth(const Tensor& output, const Tensor& labels) {
    return is_floating(labels.dtype()) ? labels : labels.astype(output.dtype());
}
/// ... as -1 and 1.
Tensor signs(const Tensor& output, const Tensor& labels) { return truth(output, labels) * 2.0 - 1.0; }

Option smoothing() {
    Option option = at_least("label_smoothing", 0, "this part of the target is spread over all classes");
    option.most = 1;
    return option;
}

std::vector<Part<MakeCost>> costs_of_classes() {
    Option power{"p", 1, "of the margin's excess"};
    power.least = 1, power.most = 2;
    return {
        classes(
            "cross_entropy", "-log softmax(output)[label]: for class numbers; the last layer gives a score a class",
            {smoothing()},
            [](const Tensor& x, const Tensor& y, const Json& o) {
                return nn::cross_entropy(x, y,
                                         {.reduction = each, .label_smoothing = o.at("label_smoothing").as_number()});
            },
            of_scores),
        classes(
            "nll", "-output[label], for outputs that are logarithms of probabilities", {},
            [](const Tensor& x, const Tensor& y, const Json&) { return nn::nll_loss(x, y, {.reduction = each}); },
            of_logarithms),
        classes("multi_margin", "the support vector machine's, for class numbers",
                {at_least("margin", 1, "the margin"), power},
                [](const Tensor& x, const Tensor& y, const Json& o) {
                    return nn::multi_margin_loss(
                        x, y, {.reduction = each, .margin = o.at("margin").as_number(), .p = o.at("p").as_integer()});
                }),
        classes(
            "binary_cross_entropy", "for class numbers 0 and 1; the last layer gives one score, positive for class 1",
            {},
            [](const Tensor& x, const Tensor& y, const Json&) {
                Tensor wanted = truth(x, y);
                return nn::binary_cross_entropy_with_logits(as_target(x, wanted), wanted, {.reduction = each});
            },
            of_two_classes, Scores::one),
        classes(
            "hinge", "max(0, margin - score) for class 1, max(0, margin + score) for class 0; one score",
            {at_least("margin", 1, "the margin")},
            [](const Tensor& x, const Tensor& y, const Json& o) {
                Tensor wanted = signs(x, y);
                return nn::hinge_loss(as_target(x, wanted), wanted,
                                      {.reduction = each, .margin = o.at("margin").as_number()});
            },
            nullptr, Scores::one),
        classes(
            "soft_margin", "log(1 + exp(-score)) for class 1, log(1 + exp(score)) for class 0; one score", {},
            [](const Tensor& x, const Tensor& y, const Json&) {
                Tensor wanted = signs(x, y);
                return nn::soft_margin_loss(as_target(x, wanted), wanted, {.reduction = each});
            },
            of_two_classes, Scores::one),
    };
}

/// The network gives the mean and, in the second half of its numbers, the logarithm of the variance.
Tensor gaussian(const Tensor& x, const Tensor& y) {
    if (x.ndim() != 2 || y.ndim() != 2 || !(x.shape()[1] == y.shape()[1] * 2))
        throw ShapeError(
            text("the output has shape ", x.shape(), ", the targets ", y.shape(),
                 "; gaussian_nll takes a mean and a logarithm of the variance for each number, (batch, 2 n) "
                 "for targets (batch, n)"));
    Size n = y.shape()[1];
    Tensor mean_of = slice(x, {0, 0}, y.shape()), logs = slice(x, {Size(0), n}, y.shape());
    return nn::gaussian_nll_loss(mean_of, y, exp(logs), {.reduction = each, .full = true});
}

std::vector<Part<MakeCost>> costs_of_numbers() {
    return {
        quantities(
            "mse", "the mean of (output - target)^2", {},
            [](const Tensor& x, const Tensor& y, const Json&) { return nn::mse_loss(x, y, {.reduction = each}); }),
        quantities(
            "l1", "the mean of |output - target|", {},
            [](const Tensor& x, const Tensor& y, const Json&) { return nn::l1_loss(x, y, {.reduction = each}); }),
        quantities("smooth_l1", "squared below beta, linear above", {at_least("beta", 1, "where it becomes linear")},
                   [](const Tensor& x, const Tensor& y, const Json& o) {
                       return nn::smooth_l1_loss(x, y, {.reduction = each, .beta = o.at("beta").as_number()});
                   }),
        quantities("huber", "squared up to delta, linear beyond (Huber, 1964)",
                   {at_least("delta", 1, "where it becomes linear")},
                   [](const Tensor& x, const Tensor& y, const Json& o) {
                       return nn::huber_loss(x, y, {.reduction = each, .delta = o.at("delta").as_number()});
                   }),
        quantities(
            "bernoulli",
            "-log of the probability of numbers from 0 to 1, each by itself: binary cross-entropy, as of pictures",
            {{"logits", true, "outputs are logits; false: probabilities"}},
            [](const Tensor& x, const Tensor& y, const Json& o) {
                return o.at("logits").as_bool() ? nn::binary_cross_entropy_with_logits(x, y, {.reduction = each})
                                                : nn::binary_cross_entropy(x, y, {.reduction = each});
            },
            [](const Json& o) -> std::function<Tensor(const Tensor&)> {
                if (!o.at("logits").as_bool()) return nullptr;
                return [](const Tensor& x) { return sigmoid(x); };
            }),
        quantities("gaussian_nll", "-log of a normal density: outputs are means and logarithms of variances", {},
                   [](const Tensor& x, const Tensor& y, const Json&) { return gaussian(x, y); }),
        quantities(
            "poisson_nll", "-log of the probability of counts, up to a constant; outputs are logarithms of rates",
            {{"full", false, "with Stirling's term for the factorial"}},
            [](const Tensor& x, const Tensor& y, const Json& o) {
                return nn::poisson_nll_loss(x, y, {.reduction = each, .full = o.at("full").as_bool()});
            },
            [](const Json&) -> std::function<Tensor(const Tensor&)> { return [](const Tensor& x) { return exp(x); }; }),
        quantities("kl_div", "target * (log target - output), for outputs that are logarithms of probabilities", {},
                   [](const Tensor& x, const Tensor& y, const Json&) {
                       return nn::kl_div(x, y, {.reduction = nn::KlDivOptions::Reduction::none});
                   }),
        quantities("hinge_embedding", "the output where the target is 1, max(0, margin - output) where it is -1",
                   {at_least("margin", 1, "the margin")},
                   [](const Tensor& x, const Tensor& y, const Json& o) {
                       return nn::hinge_embedding_loss(x, y, {.reduction = each, .margin = o.at("margin").as_number()});
                   }),
        quantities("multilabel_soft_margin",
                   "the mean over classes of binary cross-entropies, of several labels at once", {},
                   [](const Tensor& x, const Tensor& y, const Json&) {
                       return nn::multilabel_soft_margin_loss(x, y, {.reduction = each});
                   }),
    };
}

}  // namespace

const std::vector<Part<MakeCost>>& costs() {
    static const std::vector<Part<MakeCost>> all = [] {
        std::vector<Part<MakeCost>> made = costs_of_classes();
        for (const auto& more : {costs_of_numbers(), costs_of_pairs(), penalties()})
            made.insert(made.end(), more.begin(), more.end());
        return made;
    }();
    return all;
}

}  // namespace weft::train
