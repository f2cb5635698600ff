#include "weft/train/dry_run.h"

#include <algorithm>
#include <cstdio>

#include "weft/autodiff/derivative.h"
#include "weft/graph/node.h"
#include "weft/nn/training.h"
#include "weft/optim/batch_method.h"
#include "weft/train/load.h"
#include "weft/train/objective.h"
#include "weft/train/operation_count.h"
#include "weft/train/stand_ins.h"

namespace weft::train {
namespace {

/// 1234567 as "1.2 M" of a unit.
std::string scaled(double amount, const char* unit) {
    const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
    std::size_t i = 0;
    while (amount >= 999.5 && i + 1 < std::size(prefixes)) amount /= 1000, ++i;
    char digits[32];
    std::snprintf(digits, sizeof digits, amount < 99.95 && i > 0 ? "%.1f" : "%.0f", amount);
    return text(digits, " ", prefixes[i], unit);
}

double numbers(const Shape& gives) {
    double count = 1;
    for (std::size_t i = 1; i < gives.size(); ++i) count *= static_cast<double>(gives[i].value());
    return count;
}

/// What a step computes, and what its optimizer keeps.
struct StepCount {
    double gradients = 0;               // operations of the cost and its derivative by every parameter that is trained
    std::optional<double> optimizer;    // of what is made of these; none: not counted
    std::optional<double> state_bytes;  // none: not counted
    bool searches = false;              // it evaluates cost and gradients several times
};

/// An optimizer's cells are made to be counted, of zeros that nobody writes down; of more numbers than this they are not.
constexpr std::int64_t most_counted = 50'000'000;

void count_optimizer(StepCount& count, const Phase& phase, const Network& network, std::span<const Tensor> gradients,
                     StandIns& cells) {
    Schedules schedules;
    std::unique_ptr<optim::Optimizer> optimizer = optimizer_of(phase.optimizer, schedules);
    count.searches = dynamic_cast<optim::BatchMethod*>(optimizer.get()) != nullptr;
    if (network.trained() > most_counted) return;
    std::vector<Parameter> parameters = nn::parameters(network.model);
    optimizer->prepare(parameters);
    double bytes = 0;
    for (const Parameter& cell : optimizer->state())
        bytes +=
            static_cast<double>(element_count(cell.shape()).value() * static_cast<std::int64_t>(size_of(cell.dtype())));
    count.state_bytes = bytes;
    if (count.searches) return;
    cells.written.clear();
    optimizer->step(parameters, gradients);
    std::vector<Tensor> all(gradients.begin(), gradients.end());
    double before = operations(all);
    all.insert(all.end(), cells.written.begin(), cells.written.end());
    count.optimizer = operations(all) - before;
}

StepCount count_step(const Phase& phase, const Network& network) {
    KeepPending keep;
    nn::Training training;
    std::vector<Tensor> batch = network.feed.stand_ins(Size(phase.batch_size));
    nn::Given given = network.feed.given(batch);
    (void)nn::named(network.model);  // gives parameters their names
    StandIns cells;
    std::vector<Tensor> trained;
    std::vector<Parameter> parameters = nn::parameters(network.model);
    for (const Parameter& cell : parameters) trained.push_back(cell.value());
    Tensor cost = measure(cost_terms(phase), network.model, batch[0], batch[1], parameters).cost;
    std::vector<Tensor> gradients = gradient(cost, trained), results = gradients;
    results.push_back(cost);
    StepCount count;
    count.gradients = operations(results);
    count_optimizer(count, phase, network, gradients, cells);
    return count;
}

/// "; the whole step, with its gradients: 16.0 MFLOP; adam: 0.5 MFLOP more, and 1.2 MB of its own".
std::string told_of_step(const Phase& phase, const Network& network) {
    StepCount count = count_step(phase, network);
    std::string told = text("; the whole step, with its gradients: ", scaled(count.gradients, "FLOP"),
                            count.searches ? ", several times in each search along a line" : "");
    if (!count.optimizer && !count.state_bytes) return told;
    told += text("; ", phase.optimizer.entry->name, ":");
    if (count.optimizer) told += text(" ", scaled(*count.optimizer, "FLOP"), " more, and");
    return told + text(" ", scaled(*count.state_bytes, "B"), " of its own");
}

/// Globs that match nothing, and parameters that the optimizer does not train.
void check_optimizer(const Phase& phase, const Network& network) {
    Schedules schedules;
    try {
        (void)nn::named(network.model);  // gives parameters their names
        optimizer_of(phase.optimizer, schedules)->check(nn::parameters(network.model));
    } catch (const ConfigError&) {
        throw;
    } catch (const Error& error) {
        throw ConfigError(text(phase.optimizer.where, as_named(phase.optimizer, error.what())));
    }
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows[0].size());
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            std::string space(widths[i] - row[i].size(), ' ');
            line += i > 2 ? "  " + space + row[i] : "  " + row[i] + space;
        }
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
}

std::string table(const Phase& phase, const Network& network) {
    auto batch = static_cast<double>(phase.batch_size);
    std::vector<std::vector<std::string>> rows{{"", "layer", "gives", "parameters", "memory", "work"}};
    for (const auto& [name, gives] : network.inputs()) rows.push_back({"", name, gives, "", "", ""});
    double bytes = 0, work = 0;
    for (const Network::Layer& layer : network.layers) {
        double own = batch * numbers(layer.gives) * static_cast<double>(size_of(layer.dtype));
        bytes += own, work += batch * layer.operations;
        rows.push_back({layer.path, layer.name, str(layer.gives),
                        layer.repeated     ? "shared"
                        : layer.parameters ? grouped(layer.parameters)
                                           : "",
                        scaled(own, "B"), layer.operations > 0 ? scaled(batch * layer.operations, "FLOP") : ""});
    }
    rows.push_back({"", "total", "", grouped(network.parameters()), scaled(bytes, "B"), scaled(work, "FLOP")});
    if (network.trained() != network.parameters())
        rows.push_back({"", "trained", "", grouped(network.trained()), "", ""});
    std::string whole = phase.by_gradients() ? told_of_step(phase, network) : "";
    return aligned(rows) +
           text("memory and work are of a step's way forward with ", phase.batch_size, " examples", whole, "\n");
}

}  // namespace

std::vector<std::optional<Network>> networks_of(const Experiment& experiment) {
    StandIns cells;  // so that no initial value is computed
    data::SamplesKept kept;
    std::vector<std::optional<Network>> all;
    for (const Phase& phase : experiment.phases) {
        if (std::optional<std::int64_t> examples = phase.set("train")->size()) check_dropped(phase, *examples);
        std::optional<data::Dataset> sample = sample_of(phase);
        all.push_back(sample ? std::optional(make_network(phase, *sample)) : std::nullopt);
        if (!sample) continue;
        if (all.size() > 1 && all[all.size() - 2]) check_handed_on(*all[all.size() - 2], *all.back(), phase);
        check_loads(phase, *all.back());
        check_optimizer(phase, *all.back());
        check_carried(phase, *all.back());
    }
    return all;
}

std::string dry_run(const Experiment& experiment) {
    std::string out;
    std::vector<std::optional<Network>> networks = networks_of(experiment);
    for (std::size_t i = 0; i < networks.size(); ++i) {
        const Phase& phase = experiment.phases[i];
        if (!phase.name.empty()) out += text(i ? "\n" : "", "phase ", phase.name, "\n");
        for (const auto& [name, source] : phase.sets)
            out += text(name, std::string(6 - name.size(), ' '), source.source().name, " ", json_text(source.options()),
                        "\n");
        out += networks[i]
                   ? table(phase, *networks[i])
                   : text(
                         "The shape of an example is known once the data are prepared, so shapes were not checked. "
                         "The model:\n",
                         json_text(phase.model, 2), "\n");
    }
    return out;
}

}  // namespace weft::train
