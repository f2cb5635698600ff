// Channels of class numbers: the k greatest scores, precision, recall and F1 of the counts of a confusion matrix, the area under the ROC
// curve. Several predictions an example (a sequence's) count each; labels that are no class are left out.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "weft/train/channel_sums.h"

namespace weft::train {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Scores and labels of a batch, a row a prediction. One score is that of class 1 beside 0 for class 0, as the logistic function has it.
struct Rows {
    std::size_t classes = 0;
    std::vector<double> scores;
    std::vector<std::int64_t> labels;
    std::span<const double> of(std::size_t row) const { return std::span(scores).subspan(row * classes, classes); }
};

Rows rows_of(const Judged& batch) {
    std::vector<double> outputs = as_doubles(batch.outputs), targets = as_doubles(batch.targets);
    const Dims& dims = batch.outputs.dims;
    std::size_t count = targets.size(), examples = static_cast<std::size_t>(dims.empty() ? 0 : dims[0]);
    if (count == 0 || outputs.size() % count) {
        if (count == 0) return {};
        throw ShapeError(
            text("a channel of classes: the network gives ", dims, ", the targets are ", batch.targets.dims));
    }
    std::size_t scores = outputs.size() / count, inner = count / std::max<std::size_t>(1, examples);
    Rows rows{scores == 1 ? 2 : scores, {}, {}};
    rows.scores.reserve(count * rows.classes), rows.labels.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        auto label = static_cast<std::int64_t>(targets[i]);
        if (label < 0 || label >= static_cast<std::int64_t>(rows.classes)) continue;
        rows.labels.push_back(label);
        std::size_t first = i / inner * scores * inner + i % inner;  // (example, class, place)
        if (scores == 1) rows.scores.push_back(0);
        for (std::size_t c = 0; c < scores; ++c) rows.scores.push_back(outputs[first + c * inner]);
    }
    return rows;
}

Option class_option(const char* doc) {
    Option option{"class", Json(), doc, false, Json::Kind::integer};
    option.least = 0, option.most = 1e6;
    return option;
}

/// "" unless a class is named: ".3".
std::string of_class(const Json& o) { return o.at("class").is_null() ? "" : text(".", o.at("class").as_integer()); }

/// `wanted`: null, or the option that needs so many classes.
Channel of_scores(std::string name, const Json& wanted, std::int64_t classes) {
    Channel channel{std::move(name), {.outputs = true}, true, false, Channel::Targets::classes};
    if (!wanted.is_null()) channel.counts = wanted, channel.classes = classes;
    return channel;
}
Channel of_scores(std::string name, const Json& one) {
    return of_scores(std::move(name), one, one.is_null() ? 0 : one.as_integer() + 1);
}

/// Where scores are equal the smaller class goes first, as in `error`.
bool among_first(std::span<const double> scores, std::size_t label, std::int64_t k) {
    if (label >= scores.size()) return false;
    std::int64_t before = 0;
    for (std::size_t c = 0; c < scores.size(); ++c)
        before += scores[c] > scores[label] || (scores[c] == scores[label] && c < label);
    return before < k && !std::isnan(scores[label]);
}

Channel top_k(const Json& o) {
    std::int64_t k = o.at("k").as_integer();
    Channel channel = of_scores(text("top_", k), o.at("k"), k);
    channel.make = [k](const Names&) {
        auto add = [k](const Judged& batch, Totals& sums) {
            Rows rows = rows_of(batch);
            for (std::size_t i = 0; i < rows.labels.size(); ++i)
                sums[0] += among_first(rows.of(i), static_cast<std::size_t>(rows.labels[i]), k), sums[1] += 1;
        };
        return std::make_unique<SumsOf>(2, add, [](const Totals& sums) {
            return SumsOf::Figures{{"", sums[0] / sums[1]}};
        });
    };
    return channel;
}

/// Of each class: right predictions, predictions, examples.
class Confusion final : public Accumulator {
  public:
    struct Counts {
        double right = 0, said = 0, are = 0;
    };
    using Figure = std::function<double(const std::vector<Counts>&)>;
    explicit Confusion(Figure figure) : figure_(std::move(figure)) {}

    void add(const Judged& batch) override {
        Rows rows = rows_of(batch);
        for (std::size_t i = 0; i < rows.labels.size(); ++i) {
            std::span<const double> scores = rows.of(i);
            auto said = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
            auto is = static_cast<std::size_t>(rows.labels[i]);
            counts_.resize(std::max({counts_.size(), said + 1, is + 1}));
            counts_[said].said += 1, counts_[is].are += 1, counts_[is].right += said == is;
        }
    }
    std::vector<std::pair<std::string, double>> figures() const override { return {{"", figure_(counts_)}}; }
    std::vector<double> state() const override {
        std::vector<double> all;
        for (const Counts& one : counts_) all.insert(all.end(), {one.right, one.said, one.are});
        return all;
    }
    void restore(std::span<const double> state) override {
        counts_.assign(state.size() / 3, {});
        for (std::size_t i = 0; i < counts_.size(); ++i)
            counts_[i] = {state[3 * i], state[3 * i + 1], state[3 * i + 2]};
    }

  private:
    std::vector<Counts> counts_;
    Figure figure_;
};

/// 0 where nothing is there to divide by, as scikit-learn has it.
double share(double part, double of) { return of == 0 ? 0 : part / of; }
using Counts = Confusion::Counts;
double precision(const Counts& c) { return share(c.right, c.said); }
double recall(const Counts& c) { return share(c.right, c.are); }
double f1(const Counts& c) { return share(2 * c.right, c.said + c.are); }

/// Of one class, of all counts together (micro), or the mean over the classes that occur: alike (macro), or by their examples.
double averaged(const std::vector<Counts>& counts, double (*of)(const Counts&), const std::string& average,
                const std::optional<std::size_t>& one) {
    if (one) return *one < counts.size() ? of(counts[*one]) : 0;
    Counts all;
    double sum = 0, weights = 0;
    for (const Counts& c : counts) {
        all = {all.right + c.right, all.said + c.said, all.are + c.are};
        double weight = average == "weighted" ? c.are : c.said + c.are > 0;
        sum += weight * of(c), weights += weight;
    }
    return average == "micro" ? of(all) : share(sum, weights);
}

Part<MakeChannel> of_counts(const char* name, const char* doc, double (*of)(const Counts&)) {
    Option average{"average",
                   "macro",
                   "over classes: each alike, by its examples, or of all predictions together",
                   false,
                   Json::Kind::string,
                   {"macro", "weighted", "micro"}};
    auto make = [name = std::string(name), of](const Json& o) {
        std::string how = o.at("average").as_string(), which = of_class(o);
        if (!which.empty() && how != "macro")
            o.at("average").refuse("a figure of one class is no average; leave one of `class` and `average` out");
        Channel channel = of_scores(name + (how == "macro" ? which : "." + how), o.at("class"));
        std::optional<std::size_t> one;
        if (!which.empty()) one = static_cast<std::size_t>(o.at("class").as_integer());
        channel.make = [=](const Names&) {
            return std::make_unique<Confusion>(
                [=](const std::vector<Counts>& counts) { return averaged(counts, of, how, one); });
        };
        return channel;
    };
    return {{name, doc, {average, class_option("of this class alone")}}, make};
}

/// The area under the ROC curve: the share of pairs of an example of the class and another in which the first has the greater score,
/// equal ones counted half (Mann and Whitney, 1947), by ranks. Scores are those of softmax; NaN where one of both kinds is missing.
double area(std::vector<std::pair<double, bool>> scored) {
    std::sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    double positives = 0, ranks = 0;
    for (std::size_t begin = 0; begin < scored.size();) {
        std::size_t end = begin;
        double here = 0;
        while (end < scored.size() && scored[end].first == scored[begin].first) here += scored[end++].second;
        ranks += here * (static_cast<double>(begin + 1) + static_cast<double>(end)) / 2;
        positives += here, begin = end;
    }
    double others = static_cast<double>(scored.size()) - positives;
    return positives == 0 || others == 0 ? not_a_number
                                         : (ranks - positives * (positives + 1) / 2) / (positives * others);
}

/// Keeps every probability, since ranks are known only at the end: 8 bytes for each example and class.
class Curve final : public Accumulator {
  public:
    explicit Curve(std::optional<std::size_t> one) : one_(one) {}
    void add(const Judged& batch) override {
        Rows rows = rows_of(batch);
        if (rows.labels.empty()) return;
        classes_ = rows.classes;
        for (std::size_t i = 0; i < rows.labels.size(); ++i) {
            std::span<const double> scores = rows.of(i);
            double most = *std::max_element(scores.begin(), scores.end()), sum = 0;
            for (double score : scores) sum += std::exp(score - most);
            kept_.push_back(static_cast<double>(rows.labels[i]));
            for (double score : scores) kept_.push_back(std::exp(score - most) / sum);
        }
    }
    std::vector<std::pair<std::string, double>> figures() const override {
        if (one_) return {{"", of_class(*one_)}};
        if (classes_ == 2) return {{"", of_class(1)}};
        double sum = 0, count = 0;
        for (std::size_t c = 0; c < classes_; ++c) {
            double one = of_class(c);
            if (!std::isnan(one)) sum += one, count += 1;
        }
        return {{"", count == 0 ? not_a_number : sum / count}};
    }
    std::vector<double> state() const override {
        std::vector<double> all{static_cast<double>(classes_)};
        all.insert(all.end(), kept_.begin(), kept_.end());
        return all;
    }
    void restore(std::span<const double> state) override {
        double classes = state.empty() ? -1 : state[0];
        bool good = classes >= 0 && classes < 1e9 && classes == std::floor(classes);
        if (!good || (state.size() - 1) % static_cast<std::size_t>(classes + 1) != 0)
            throw FileError("the checkpoint's 'auc' is damaged: its numbers are not a row of probabilities an example");
        classes_ = static_cast<std::size_t>(classes);
        kept_.assign(state.begin() + 1, state.end());
    }

  private:
    double of_class(std::size_t c) const {
        if (c >= classes_) return not_a_number;
        std::vector<std::pair<double, bool>> scored;
        for (std::size_t row = 0; row < kept_.size(); row += classes_ + 1) {
            double score = kept_[row + 1 + c];
            if (std::isnan(score)) return not_a_number;
            scored.emplace_back(score, kept_[row] == static_cast<double>(c));
        }
        return area(std::move(scored));
    }

    std::optional<std::size_t> one_;
    std::size_t classes_ = 0;
    std::vector<double> kept_;  // label, probabilities, label, ...
};

Channel auc(const Json& o) {
    Channel channel = of_scores("auc" + of_class(o), o.at("class"));
    std::optional<std::size_t> one;
    if (!o.at("class").is_null()) one = static_cast<std::size_t>(o.at("class").as_integer());
    channel.make = [one](const Names&) { return std::make_unique<Curve>(one); };
    return channel;
}

}  // namespace

std::vector<Part<MakeChannel>> channels_of_classes() {
    Option k{"k", 5, "how many of the greatest scores"};
    k.least = 1;
    return {
        {{"top_k", "the share of examples whose class is among the k with the greatest scores (top_5)", {k}, "k"},
         top_k},
        of_counts("precision", "of what is said to be a class, the share that is", precision),
        of_counts("recall", "of what is a class, the share that is found", recall),
        of_counts("f1", "2 / (1 / precision + 1 / recall)", f1),
        {{"auc",
          "the area under the ROC curve, exact: of two classes that of class 1, of more the mean over classes, each "
          "against the rest",
          {class_option("this class against the rest")}},
         auc},
    };
}

}  // namespace weft::train
