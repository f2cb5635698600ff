// weft eval, weft likelihood.
#include <cstdio>
#include <iostream>

#include "weft/base/error.h"
#include "weft/cli/commands.h"
#include "weft/cli/terminal.h"
#include "weft/train/likelihood.h"
#include "weft/train/objective.h"
#include "weft/train/run.h"

namespace weft::cli {
namespace {

/// What a run keeps, and the set to judge it by.
struct KeptModel {
    train::Run run;
    std::string name;
    data::Dataset set;
    train::Network network;
};

KeptModel kept_model(const Arguments& arguments) {
    train::Run run = train::Run::open(arguments.words()[0]);
    std::string name = arguments.value("data").value_or(run.kept_phase().set("test") ? "test" : "valid");
    data::Dataset set = run.prepared(name);
    train::Network network = run.network(set);
    return {std::move(run), std::move(name), std::move(set), std::move(network)};
}

}  // namespace

int evaluate(const Arguments& arguments) {
    use_machine(arguments);
    const auto [run, name, set, network] = kept_model(arguments);
    train::Objective objective(run.kept_phase(), network);
    const train::Monitor& monitor = run.kept_phase().monitor;
    train::Gathered gathered(monitor, objective.names(), {train::Gathered::Of::set});
    train::Sums sums = objective.evaluate(set, [&](const train::Judged& batch) { gathered.add(batch); });
    Json line;
    gathered.write(line, monitor, train::Gathered::Of::set, name);
    for (const Json::Member& one : line.members()) {
        std::cout << one.key << " " << figure(one.key, one.value.as_number());
        if (one.key == name + ".error")
            std::cout << "  (" << static_cast<std::int64_t>(sums.errors) << " of " << sums.examples << ")";
        std::cout << "\n";
    }
    return done;
}

int likelihood(const Arguments& arguments) {
    use_machine(arguments);
    const auto [run, name, set, network] = kept_model(arguments);
    train::LikelihoodOptions options;
    options.draws = arguments.integer("draws", 1).value_or(options.draws);
    options.annealing.runs = arguments.integer("chains", 2).value_or(options.annealing.runs);
    options.annealing.temperatures = arguments.integer("temperatures", 2).value_or(options.annealing.temperatures);
    train::Likelihood found = train::likelihood(run.kept_phase(), network, set, options);
    auto line = [](const std::string& what, double value, const char* how) {
        char digits[40];
        std::snprintf(digits, sizeof digits, "%.3f", value);
        std::cout << what << " " << digits << how << "\n";
    };
    line(name + ".log_likelihood", found.mean,
         found.bound ? " nats an example, a bound from below" : " nats an example");
    if (found.log_partition) line("log Z", *found.log_partition, " by annealed importance sampling");
    if (found.exact_log_partition) line("log Z", *found.exact_log_partition, " exactly");
    return done;
}

}  // namespace weft::cli
