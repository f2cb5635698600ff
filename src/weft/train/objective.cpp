#include "weft/train/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weft/base/error.h"
#include "weft/data/batches.h"
#include "weft/nn/loss.h"
#include "weft/nn/own_rule.h"
#include "weft/nn/training.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/train/channel_sums.h"

namespace weft::train {
namespace {

constexpr std::int64_t evaluation_batch = 500;

/// A name that is not taken: mse, mse.2, ...
std::string free_name(const std::string& name, const std::vector<std::string>& taken) {
    std::string free = name;
    for (int k = 2; std::find(taken.begin(), taken.end(), free) != taken.end(); ++k) free = text(name, ".", k);
    return free;
}

/// The layers of lists within lists, one behind the other, by their paths.
void collect(nn::Module& module, const std::string& path, std::vector<std::pair<std::string, nn::Module>>& layers) {
    auto* list = module.get<nn::Sequential>();
    if (!list) {
        layers.emplace_back(path.empty() ? "output" : path, module);
        return;
    }
    auto visit = [&](const std::string& name, nn::Module& inner) {
        collect(inner, path.empty() ? name : path + "." + name, layers);
    };
    list->members(visit);
}

/// In double: count, sum, sum of squares, zeros, least, greatest.
void add_layer(const Tensor& given, std::vector<Tensor>& results) {
    Tensor v = given.astype(DType::float64), count(1.0);
    for (const Size& size : v.shape()) count = count * size_as_tensor(size, DType::float64);
    results.insert(results.end(), {count, sum(v), sum(v * v), sum((v == 0.0).astype(DType::float64)), min(v), max(v)});
}

/// In double, for each parameter: sums of squares of its value, its gradient, and what the step changed.
constexpr std::size_t parameter_numbers = 3;
std::vector<Tensor> squares(std::span<const Tensor> before, std::span<const Tensor> gradients,
                            std::span<const Tensor> behind) {
    std::vector<Tensor> all;
    for (std::size_t i = 0; i < before.size(); ++i) {
        Tensor old = before[i].astype(DType::float64);
        for (const Tensor& one : {old, gradients[i].astype(DType::float64), behind[i].astype(DType::float64) - old})
            all.push_back(sum(one * one));
    }
    return all;
}

/// The first rows of an array, which are those of the examples that count.
Array first_rows(const Tensor& values, std::int64_t count) {
    Array array = values.array();
    if (!array.dims.empty()) array.dims[0] = std::min(array.dims[0], count);
    return array;
}

/// Of `rate` times the examples: a rate of float32 is exact enough to count by, of all predictions, of which an example of a sequence has
/// several. Sequences of different lengths have rates of their own, and are not counted.
double errors_of(double errors, const Array& targets, bool lengths) {
    if (lengths) return errors;
    double each = static_cast<double>(targets.size()) / static_cast<double>(std::max<std::int64_t>(1, targets.dims[0]));
    return std::round(errors * each) / each;
}

Array without_padding(const Array& targets, const Array& lengths) {
    Array result = Array::empty(targets.dtype, targets.dims);
    std::int64_t width = targets.dims[1], each = targets.size() / std::max<std::int64_t>(1, targets.dims[0] * width);
    with_dtype(targets.dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_arithmetic_v<T> && std::is_signed_v<T>) {
            constexpr T none = std::is_integral_v<T> ? T(-1) : std::numeric_limits<T>::quiet_NaN();
            std::copy_n(std::as_const(targets).template data<T>(), targets.size(), result.data<T>());
            for (std::int64_t row = 0; row < targets.dims[0]; ++row) {
                T* begin = result.data<T>() + row * width * each;
                std::fill(begin + lengths.data<std::int64_t>()[row] * each, begin + width * each, none);
            }
        } else {
            result = targets;
        }
    });
    return result;
}

double sum_of_rows(const Tensor& values, std::int64_t count) {
    double sum = 0;
    for (double value : as_doubles(first_rows(values, count))) sum += value;
    return sum;
}

/// The value under each name, 0 where there is none.
void add_named(const std::vector<std::string>& names, const std::vector<std::pair<std::string, Tensor>>& values,
               std::vector<Tensor>& results) {
    for (const std::string& name : names) {
        auto same = [&](const auto& one) { return one.first == name; };
        auto found = std::find_if(values.begin(), values.end(), same);
        results.push_back(found == values.end() ? Tensor(0.0f) : found->second);
    }
}

/// Their names in the model, which an optimizer's groups and its saved state go by.
std::vector<Parameter> named_parameters(const nn::Module& model) {
    (void)nn::named(model);
    return nn::parameters(model);
}

}  // namespace

void Sums::add(const Judged& batch) { loss += batch.loss, errors += batch.errors, examples += batch.count; }

Objective::Objective(const Phase& phase, const Network& network)
    : model_(network.model),
      feed_(network.feed),
      buckets_(phase.buckets),
      parameters_(named_parameters(model_)),
      added_(network.added),
      told_(network.told),
      learners_(network.learners),
      of_epoch_(network.of_epoch),
      in_steps_(phase.monitor.of_steps()),
      in_sets_(phase.monitor.of_sets()),
      optimizer_(optimizer_of(phase.optimizer, schedules_)),
      counts_errors_(phase.counts_errors()),
      pass_(
          [this](std::span<const Tensor> batch) {
              nn::Training training;
              return cost_of_batch(batch);
          },
          phase.compile),
      evaluation_([this](std::span<const Tensor> batch) { return of_batch(batch, in_sets_); }, phase.compile),
      prediction_(
          [this](std::span<const Tensor> batch) {
              nn::Given given = feed_.given(batch);
              return std::vector<Tensor>{model_(batch[0])};
          },
          phase.compile) {
    for (const Chosen& chosen : phase.costs) {
        CostTerm term = chosen.make<MakeCost>()(chosen.options);
        if (term.of_layers) continue;
        may_be_missing_ = may_be_missing_ || term.present;
        std::string of = term.of.is_null() ? "" : "." + term.of.as_string();
        if (term.counts_errors) judged_targets_.push_back(term.target);
        if (term.counts_errors && judged_targets_.size() > 1)
            further_rates_.push_back(free_name(of.empty() ? chosen.entry->name : of.substr(1), further_rates_));
        terms_.push_back(std::move(term));
        term_names_.push_back(free_name(chosen.entry->name + of, term_names_));
    }
    collect(model_, "", layers_);
    optimizer_->prepare(parameters_);
    if (parameters_.empty()) return;
    auto cost = [this](std::span<const Tensor> batch) { return cost_of_batch(batch); };
    std::string name(model_.held_type());
    batch_method_ = dynamic_cast<optim::BatchMethod*>(optimizer_.get());
    if (batch_method_)
        gradients_.emplace(model_, cost, name, phase.compile);
    else
        step_.emplace(model_, *optimizer_, cost, name, in_steps_.norms ? TrainStep::Watch(squares) : TrainStep::Watch(),
                      phase.compile);
}

void Objective::begin(const data::Dataset& train, std::uint64_t seed) {
    constexpr std::int64_t most_rows = 10000;
    bool any = false;
    for (const std::shared_ptr<nn::OwnRule>& learner : learners_) {
        if (learner->has_learned()) continue;
        learner->begin_with_next();
        any = true;
    }
    if (!any) return;
    data::Batches batches(train, std::min(train.size(), most_rows), {.shuffle = seed});
    try {
        const std::vector<Tensor> arguments = Feed::arguments(*batches.begin());
        nn::Given given = feed_.given(arguments);
        (void)model_(arguments[0]);
    } catch (const ValueError& error) {  // of rows that it cannot begin with: the file's mistake, or the data's
        throw ConfigError(error.what());
    }
}

std::vector<std::string> Objective::end_pass() {
    std::vector<std::string> remarks;
    for (Parameter& cell : of_epoch_) nn::clear(cell);
    for (const std::shared_ptr<nn::OwnRule>& learner : learners_) {
        if (std::string remark = learner->end_pass(); !remark.empty()) remarks.push_back(std::move(remark));
    }
    return remarks;
}

Tensor Objective::output_of(const Tensor& x, std::vector<Tensor>* layers) const {
    if (!layers) return model_(x);
    Tensor value = x;
    for (const auto& [name, layer] : layers_) layers->push_back(value = layer(value));
    return value;
}

/// Losses of examples, the share of errors, and which examples count; where wanted: what the network says, each term of the cost and what
/// layers add, numbers of each layer.
std::vector<Tensor> Objective::of_batch(std::span<const Tensor> batch, const Wants& wants, Tensor* cost) const {
    nn::Given given = feed_.given(batch);
    std::vector<Tensor> layers;
    auto model = [&](const Tensor& input) { return output_of(input, wants.activations ? &layers : nullptr); };
    Measured measured = measure(terms_, model, batch[0], batch[1], parameters_);
    if (cost) *cost = measured.cost;
    std::vector<Tensor> results{measured.losses, measured.error_rate};
    results.insert(results.end(), measured.further_rates.begin(), measured.further_rates.end());
    if (may_be_missing_) results.push_back(measured.present);
    if (wants.outputs) results.push_back(measured.output);
    if (wants.terms) {
        results.insert(results.end(), measured.terms.begin(), measured.terms.end());
        add_named(added_, measured.added, results);
        add_named(told_, measured.told, results);
    }
    for (const Tensor& given : layers) add_layer(given, results);
    return results;
}

/// What a cost that counts errors wants, with nothing (-1, or NaN) where sequences are padded.
Array Objective::targets_of(const data::Batch& batch, std::size_t term) const {
    const Json wanted = term < judged_targets_.size() ? judged_targets_[term] : Json();
    std::vector<Tensor> arguments = Feed::arguments(batch);
    std::size_t which = 1;
    for (std::size_t i = 0; i < feed_.parts.size(); ++i)
        if (!wanted.is_null() && feed_.parts[i].name == wanted.as_string()) which = i;
    Array targets = arguments[which].array();
    return feed_.parts[which].along ? without_padding(targets, batch.lengths) : targets;
}

/// Reads what of_batch() gave, and squares() behind it.
Judged Objective::judged(std::span<const Tensor> results, const data::Batch& batch, const Wants& wants) const {
    Judged seen;
    std::size_t at = 2 + further_rates_.size();
    seen.count = batch.count;
    if (may_be_missing_) seen.count = static_cast<std::int64_t>(sum_of_rows(results[at++], batch.count));
    auto count = static_cast<double>(seen.count);
    seen.loss = sum_of_rows(results[0], batch.count);
    Array targets = targets_of(batch, 0);
    seen.errors = errors_of(results[1].item<double>() * count, targets, feed_.lengths);
    for (std::size_t i = 0; i < further_rates_.size(); ++i)
        seen.further_errors.push_back(
            errors_of(results[2 + i].item<double>() * count, targets_of(batch, i + 1), feed_.lengths));
    if (wants.outputs) {
        seen.outputs = first_rows(results[at++], batch.count);
        seen.targets = first_rows(Tensor(targets), batch.count);
    }
    for (std::size_t i = 0; wants.terms && i < terms_.size(); ++i, ++at) {
        double sum = terms_[i].of_examples ? sum_of_rows(results[at], batch.count) : results[at].item<double>() * count;
        seen.terms.push_back(terms_[i].factor * sum);
    }
    auto next = [&] { return results[at++].item<double>(); };
    for (std::size_t i = 0; wants.terms && i < added_.size(); ++i) seen.terms.push_back(next() * count);
    for (std::size_t i = 0; wants.terms && i < told_.size(); ++i) seen.told.push_back(next() * count);
    for (std::size_t i = 0; wants.activations && i < layers_.size(); ++i)
        seen.layers.push_back({next(), next(), next(), next(), next(), next()});
    while (at + parameter_numbers <= results.size()) seen.parameters.push_back({next(), next(), next()});
    return seen;
}

Names Objective::names() const {
    Names all{term_names_, {}, {}, told_, further_rates_};
    all.terms.insert(all.terms.end(), added_.begin(), added_.end());
    for (const auto& [name, layer] : layers_) all.layers.push_back(name);
    for (const Parameter& parameter : parameters_) all.parameters.emplace_back(parameter.name());
    return all;
}

/// What is minimised, and what of_batch() gives.
std::vector<Tensor> Objective::cost_of_batch(std::span<const Tensor> batch) const {
    Tensor cost;
    std::vector<Tensor> results = of_batch(batch, in_steps_, &cost);
    results.insert(results.begin(), cost);
    return results;
}

std::vector<std::pair<std::string, double>> Objective::rates() const {
    std::vector<std::pair<std::string, double>> all{
        {"lr", batch_method_ ? batch_method_->last_step() : optimizer_->lr()}};
    for (const auto& [rate, schedule] : schedules_)
        if (rate != "lr") all.emplace_back(rate, optimizer_->get(rate));
    return all;
}

Judged Objective::step(const data::Batch& batch, optim::Moment moment) {
    for (const auto& [rate, schedule] : schedules_) {
        double value = schedule.value(moment);
        if (value != optimizer_->get(rate)) optimizer_->set(rate, value);
    }
    const std::vector<Tensor> arguments = Feed::arguments(batch);
    if (batch_method_)
        search(arguments);
    else if (step_)
        step_->call(arguments, results_);
    else
        pass_.call(arguments, results_);
    return judged(std::span(results_).subspan(1), batch, in_steps_);
}

/// Every evaluation of a step begins with the same generator and the same running statistics, so it sees the same noise.
void Objective::search(std::span<const Tensor> batch) {
    std::vector<Parameter> held{random::generator()};
    for (const Parameter& cell : nn::state(model_)) {
        if (std::none_of(parameters_.begin(), parameters_.end(),
                         [&](const Parameter& p) { return p.cell() == cell.cell(); }))
            held.push_back(cell);
    }
    std::vector<Tensor> before, first, at_first, slopes, behind;
    for (const Parameter& cell : held) before.push_back(cell.value());
    for (const Parameter& cell : parameters_) at_first.push_back(cell.value());
    batch_method_->minimise(parameters_, [&](std::vector<Tensor>& gradients) {
        for (std::size_t i = 0; i < held.size(); ++i) held[i].set(before[i]);
        gradients_->call(batch, results_);
        auto measured = results_.end() - static_cast<std::ptrdiff_t>(parameters_.size());
        gradients.assign(measured, results_.end());
        if (first.empty()) first.assign(results_.begin(), measured), slopes = gradients;
        double cost = results_[0].item<double>();
        results_.clear();  // gradients are held by who asked for them
        return cost;
    });
    results_ = std::move(first);
    if (!in_steps_.norms) return;
    for (const Parameter& cell : parameters_) behind.push_back(cell.value());
    for (Tensor& one : squares(at_first, slopes, behind)) results_.push_back(std::move(one));
}

Explanation Objective::explain(const data::Batch& batch) const {
    const std::vector<Tensor> arguments = Feed::arguments(batch);
    if (gradients_) return gradients_->explain(arguments);
    return step_ ? step_->explain(arguments) : pass_.explain(arguments);
}

Sums Objective::evaluate(const data::Dataset& set, const std::function<void(const Judged&)>& see) {
    Sums sums;
    data::BatchOptions options;
    if (set.has_lengths()) options.buckets = data::bucket_ends(set, buckets_);
    for (const data::Batch& batch : set.batches(evaluation_batch, options)) {
        const std::vector<Tensor> arguments = Feed::arguments(batch);
        Judged seen = judged(evaluation_(arguments), batch, in_sets_);
        sums.add(seen);
        if (see) see(seen);
    }
    return sums;
}

void Objective::outputs(const data::Dataset& set, const std::function<void(std::int64_t, const Array&)>& f) {
    std::int64_t first = 0;
    for (const data::Batch& batch : set.batches(evaluation_batch)) {
        const std::vector<Tensor> arguments = Feed::arguments(batch);
        Tensor values = prediction_(arguments)[0];
        if (is_floating(values.dtype())) values = values.astype(DType::float32);
        f(first, contiguous(values.array()));
        first += batch.count;
    }
}

}  // namespace weft::train
