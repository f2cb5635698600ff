#include "weft/train/network.h"

#include <algorithm>
#include <map>
#include <set>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/graph/node.h"
#include "weft/nn/own_rule.h"
#include "weft/nn/training.h"
#include "weft/train/builder.h"
#include "weft/train/measure.h"
#include "weft/train/stand_ins.h"

namespace weft::train {
namespace {

/// The names of the classes that a cost's targets are; none if they have no names.
const std::vector<std::string>& classes_wanted(const CostTerm& term, const data::Dataset& like) {
    static const std::vector<std::string> none;
    if (term.target.is_null() || term.target.as_string() == like.y_name) return like.classes;
    for (const data::Field& field : like.fields)
        if (field.name == term.target.as_string()) return field.data.classes;
    return none;
}

/// What a cost takes for class numbers.
LabelRule label_rule(const Chosen& chosen, const CostTerm& term, const Tensor& output) {
    LabelRule rule{chosen.entry->name, chosen.where, term.target.is_null() ? "" : term.target.as_string()};
    rule.classes = term.two_classes || output.ndim() < 2 ? 2 : output.shape()[1].value();
    const Json* missing = chosen.options.find("missing");
    if (missing && missing->is_integer()) rule.missing = missing->as_integer();
    return rule;
}

/// That a cost takes what the network says beside what it wants.
void check_cost(const Chosen& chosen, const CostTerm& term, const Tensor& output, const Tensor& wanted,
                const data::Dataset& like) {
    if (term.counts_errors && !is_integer(wanted.dtype())) {
        throw ConfigError(text(chosen.where, chosen.entry->name, " is for class numbers; ",
                               term.target.is_null() ? "the targets of these data are" : "what `target:` names is",
                               " of ", wanted.dtype()));
    }
    if (term.counts_errors && like.size() > 1)  // not one that was made up
        check_labels(label_rule(chosen, term, output), "train", like);
    auto classes = static_cast<std::int64_t>(classes_wanted(term, like).size());
    const Json* missing = chosen.options.find("missing");
    // Classes that data name by their labels alone may count the one that says that there is none.
    if (missing && missing->is_integer() && missing->as_integer() == classes - 1) classes = 0;
    if (term.counts_errors && output.ndim() >= 2 && output.shape()[1].value() > 1 &&
        classes > output.shape()[1].value()) {
        throw ConfigError(text(chosen.where, chosen.entry->name, ": the data have ", classes,
                               " classes, the last layer gives ", output.shape()[1], " scores"));
    }
    try {
        (void)term.of_output(output, wanted);
    } catch (const Error& error) {
        std::string_view what = error.what();
        throw ConfigError(text(chosen.where, chosen.entry->name, ": ", what.substr(0, what.find("\n  "))));
    }
}

/// Paths of layers whose values are what a cost wants.
std::set<std::string> layers_wanted(const Phase& phase) {
    std::set<std::string> paths;
    for (const CostTerm& term : cost_terms(phase)) {
        for (const Json* path : {&term.target, &term.of})
            if (!path->is_null()) paths.insert(path->as_string());
    }
    return paths;
}

/// Notes the names of what layers add.
void check_costs(const Phase& phase, Network& network, const LayerPlace& place, const data::Dataset& like) {
    std::vector<Tensor> batch = place.builder->feed.stand_ins(Size("batch"));
    nn::Given given = place.builder->feed.given(batch);
    StandIns cells;
    nn::Training training;
    nn::Notes notes;
    Tensor output = network.model(batch[0]);
    for (const Chosen& chosen : phase.costs) {
        CostTerm term = chosen.make<MakeCost>()(chosen.options);
        if (term.of_layers && notes.costs.empty())
            throw ConfigError(text(chosen.where,
                                   "no layer of this network adds a cost; rbm, dbm, variational, contractive and "
                                   "activity_penalty do, or name a cost of the output, as in cross_entropy"));
        if (!term.of_output) continue;
        Tensor said = said_to(term, output, notes);
        check_cost(chosen, term, said, wanted_by(term, batch[0], batch[1], notes), like);
        if (term.counts_errors) network.labels.push_back(label_rule(chosen, term, said));
    }
    for (const nn::AddedCost& cost : notes.costs) {
        std::vector<std::string>& names = cost.part == nn::AddedCost::Part::told ? network.told : network.added;
        if (std::find(names.begin(), names.end(), cost.name) == names.end()) names.push_back(cost.name);
    }
}

/// Cells that a glob names; ConfigError with the nearest name if it names none.
std::vector<Parameter> matching(const Json& glob, const std::vector<nn::NamedParameter>& cells) {
    std::vector<Parameter> found;
    std::vector<std::string_view> names;
    for (const nn::NamedParameter& cell : cells) {
        names.push_back(cell.name);
        if (optim::glob_match(glob.as_string(), cell.name)) found.push_back(cell.parameter);
    }
    if (found.empty())
        glob.refuse(text("'", glob.as_string(), "' matches no parameter of the network",
                         did_you_mean(glob.as_string(), names)));
    return found;
}

void check_learners(const Phase& phase, const Network& network) {
    if (network.learners.empty())
        throw ConfigError(text(phase.optimizer.where,
                               "no layer of this network learns by a rule of its own, as kmeans and pca do; name an "
                               "optimizer, as in adam"));
    if (phase.last == data::Last::pad)
        phase.config.at("last").refuse(text("a last batch that is filled up has examples twice, and ",
                                            network.learners[0]->name(),
                                            " would learn of them twice; write `last: keep`"));
}

void freeze(const Phase& phase, const Network& network) {
    std::vector<nn::NamedParameter> cells = nn::named(network.model);
    if (!phase.freeze.is_null()) {
        for (const Json& glob : phase.freeze.items())
            for (Parameter& cell : matching(glob, cells)) cell.freeze();
    }
    if (!phase.by_gradients()) return check_learners(phase, network);
    if (!nn::parameters(network.model).empty()) return;
    if (!network.learners.empty())
        throw ConfigError(text(phase.optimizer.where, phase.optimizer.entry->name, ": ", network.learners[0]->name(),
                               " learns by a rule of its own, and there is nothing else to train; write `optimizer: ",
                               of_layers_alone, "`"));
    const Json& place = phase.freeze.is_null() ? phase.model : phase.freeze;
    place.refuse(
        cells.empty()
            ? "the network has no parameters, so there is nothing to train; add a layer with weights, as in linear"
            : "every parameter of the network is frozen, so there is nothing to train; leave one out of `freeze:`");
}

void check_groups(const Phase& phase, const Network& network) {
    std::vector<nn::NamedParameter> cells = nn::named(network.model);
    for (const CostTerm& term : cost_terms(phase))
        for (const Json& glob : term.globs) (void)matching(glob, cells);
    const Json *groups = phase.optimizer.options.find("groups"), *bounds = phase.optimizer.options.find("constraints");
    if (groups)
        for (const Json& group : groups->items()) (void)matching(group.at("match"), cells);
    if (!bounds) return;
    for (const Json& bound : bounds->items()) {
        (void)matching(bound.at("match"), cells);
        for (const Parameter& cell : nn::parameters(network.model))
            if (optim::glob_match(bound.at("match").as_string(), cell.name())) check_constraint(bound, cell);
    }
}

/// That there are as many classes as a channel needs: of a class that does not exist there would be a figure all the same.
void check_classes(const Channel& channel, const Network& network) {
    if (channel.counts.is_null() || network.labels.empty()) return;
    std::int64_t classes = std::max<std::int64_t>(2, network.labels[0].classes), wanted = channel.counts.as_integer();
    if (channel.classes <= classes) return;
    channel.counts.refuse(wanted == channel.classes
                              ? text(channel.name, ": the network scores ", classes, " classes, so ", classes,
                                     " is the most; found ", wanted)
                              : text(channel.name, ": there is no class ", wanted, "; the network scores ", classes,
                                     ", which are 0 to ", classes - 1));
}

/// Channels of the monitor that look at parameters or layers by name: a word that names none would measure nothing.
void check_channels(const Phase& phase, const Network& network) {
    for (const Channel& channel : phase.monitor.channels) {
        check_classes(channel, network);
        for (const std::string& name : channel.told)
            if (std::find(network.told.begin(), network.told.end(), name) == network.told.end())
                phase.config.at("monitor").refuse(
                    text("no layer of this network tells what the channel '", channel.name, "' reads, as pca does"));
        if (channel.match.is_null() || channel.match.as_string() == "*") continue;
        if (channel.wants.norms) (void)matching(channel.match, nn::named(network.model));
        if (!channel.wants.activations) continue;
        std::vector<std::string_view> names;
        for (const Network::Layer& layer : network.layers) names.push_back(layer.path);
        const std::string& glob = channel.match.as_string();
        if (std::none_of(names.begin(), names.end(), [&](auto name) { return optim::glob_match(glob, name); }))
            channel.match.refuse(text("'", glob, "' matches no layer of the network", did_you_mean(glob, names)));
    }
}

/// Batches of sequences are as wide as their buckets: a layer that has one weight for each place cannot take them.
void check_widths(const Phase& phase, const Network& network) {
    if (!network.feed.lengths) phase.check_buckets();
    if (!network.feed.lengths || phase.buckets == 1 || network.example[0] < 2) return;
    std::vector<Tensor> batch = network.feed.stand_ins(Size("batch"), network.example[0] - 1);
    nn::Given given = network.feed.given(batch);
    StandIns cells;
    try {
        (void)network.model(batch[0]);
    } catch (const Error& error) {
        std::string_view what = error.what();
        phase.config.at("data").at("buckets").refuse(
            text("buckets: sequences reach the network in several lengths, and it takes them in one alone: ",
                 what.substr(0, what.find("\n  "))));
    }
}

}  // namespace

Network make_network(const Phase& phase, const data::Dataset& like) {
    KeepPending keep;  // shapes alone are asked for
    Network network;
    network.example = like.example();
    network.dtype = like.x_dtype();
    if (phase.augment) phase.augment->check(like);
    network.feed = Feed(like);
    LayerBuilder builder(network.feed, layers_wanted(phase));
    LayerPlace place{network.example, phase.seed, network.dtype};
    place.batch = phase.batch_size, place.builder = &builder;
    nn::Given given = network.feed.given(network.feed.stand_ins(Size("batch")));
    network.model = builder.make(phase.model, place);
    network.layers = std::move(builder.layers);
    for (std::shared_ptr<nn::OwnRule>& learner : builder.learners)
        if (!learner->held()) network.learners.push_back(std::move(learner));
    network.of_epoch = builder.of_epoch, network.carries = builder.carries;
    network.symbols = std::move(builder.symbols);
    check_widths(phase, network);
    if (!like.y.dims.empty()) check_costs(phase, network, place, like);
    freeze(phase, network);
    check_groups(phase, network);
    if (!like.y.dims.empty()) check_channels(phase, network);
    return network;
}

void check_dropped(const Phase& phase, std::int64_t examples) {
    if (phase.last != data::Last::drop || examples >= phase.batch_size) return;
    phase.config.at("batch_size")
        .refuse(text("batch_size: ", examples, " examples fill no batch of ", phase.batch_size,
                     ", and `last: drop` leaves out what is not full, so there would be no step; write `batch_size: ",
                     examples, "` or less, or `last: keep`"));
}

void check_last_batch(const Phase& phase, const Network& network, const data::Dataset& train) {
    check_dropped(phase, train.size());
    if (train.has_lengths()) return;  // whose batches end where buckets do
    std::int64_t rest = phase.last == data::Last::keep ? train.size() % phase.batch_size : 0;
    if (rest == 0) rest = phase.batch_size;
    KeepPending keep;
    nn::Training training;
    std::vector<Tensor> batch = network.feed.stand_ins(Size(rest));
    nn::Given given = network.feed.given(batch);
    (void)nn::named(network.model);  // gives parameters their names
    std::vector<Parameter> parameters = nn::parameters(network.model);
    StandIns cells;
    try {
        (void)measure(cost_terms(phase), network.model, batch[0], batch[1], parameters);
    } catch (const InternalError&) {
        throw;
    } catch (const Error& error) {
        std::string what = error.what();
        std::size_t place = what.find("\n  in "), line = what.find('\n');
        std::string layer = place == what.npos ? "" : what.substr(place + 6, what.find('\n', place + 1) - place - 6);
        layer = layer.substr(layer.find(" / ") == layer.npos ? 0 : layer.find(" / ") + 3);  // without the whole
        phase.config.at("batch_size")
            .refuse(text("batch_size: with batches of ", phase.batch_size, ", the last of an epoch of ", train.size(),
                         " examples holds ", rest,
                         layer.empty() ? "" : text(", and layer ", layer, " does not take it"), ": ",
                         what.substr(0, line), "; write `last: drop`, or another batch_size"));
    }
}

std::optional<data::Dataset> sample_of(const Phase& phase) {
    return data::Preparation(phase.prepare).sample(phase.set("train")->sample());
}

}  // namespace weft::train
