#include "weft/train/dry_run.h"

#include <algorithm>
#include <cstdio>

#include "weft/autodiff/derivative.h"
#include "weft/graph/node.h"
#include "weft/nn/training.h"
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

/// Operations of a step: the cost and its derivative by every parameter that is trained, without the optimizer's own.
double step_operations(const Phase& phase, const Network& network) {
    KeepPending keep;
    nn::Training training;
    std::vector<Tensor> batch = network.feed.stand_ins(Size(phase.batch_size));
    nn::Given given = network.feed.given(batch);
    StandIns cells;
    std::vector<Tensor> trained;
    std::vector<Parameter> parameters = nn::parameters(network.model);
    for (const Parameter& cell : parameters) trained.push_back(cell.value());
    Tensor cost = measure(cost_terms(phase), network.model, batch[0], batch[1], parameters).cost;
    std::vector<Tensor> results = gradient(cost, trained);
    results.push_back(cost);
    return operations(results);
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
        throw ConfigError(text(phase.optimizer.where, error.what()));
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
    std::string whole = phase.by_gradients() ? text("; the whole step, with its gradients: ",
                                                    scaled(step_operations(phase, network), "FLOP"))
                                             : "";
    return aligned(rows) +
           text("memory and work are of a step's way forward with ", phase.batch_size, " examples", whole, "\n");
}

}  // namespace

std::vector<std::optional<Network>> networks_of(const Experiment& experiment) {
    StandIns cells;  // so that no initial value is computed
    std::vector<std::optional<Network>> all;
    for (const Phase& phase : experiment.phases) {
        std::optional<data::Dataset> sample = sample_of(phase);
        all.push_back(sample ? std::optional(make_network(phase, *sample)) : std::nullopt);
        if (!sample) continue;
        if (all.size() > 1 && all[all.size() - 2]) check_handed_on(*all[all.size() - 2], *all.back(), phase);
        check_loads(phase, *all.back());
        check_optimizer(phase, *all.back());
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
        out += networks[i] ? table(phase, *networks[i])
                           : text(
                                 "The shape of an example is known once the data are read, so shapes were not checked. "
                                 "The model:\n",
                                 json_text(phase.model, 2), "\n");
    }
    return out;
}

}  // namespace weft::train
