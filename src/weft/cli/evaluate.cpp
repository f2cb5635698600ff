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

std::string digits(double value) {
    char all[40];
    std::snprintf(all, sizeof all, "%.3f", value);
    return all;
}

/// "(from -88.4 to -87.9)"
std::string interval(double low, double high) { return text(" (from ", digits(low), " to ", digits(high), ")"); }

void print(const std::string& set, const train::Likelihood& found) {
    bool estimated = found.log_partition && !found.exact_log_partition;
    std::cout << set << ".log_likelihood " << digits(found.mean);
    if (estimated) {
        const nn::LogPartition& z = *found.log_partition;
        std::cout << interval(found.mean + z.value - z.high, found.mean + z.value - z.low);
    }
    std::cout << " nats an example" << (found.bound ? ", a bound from below" : "")
              << (found.bound && estimated ? " as far as log Z is right" : "") << "\n";
    auto line = [](const nn::LogPartition& z, const char* how) {
        std::cout << "log Z " << digits(z.value) << interval(z.low, z.high) << how << "\n";
    };
    if (found.log_partition)
        line(*found.log_partition, " by annealed importance sampling: too small, if it is not right");
    if (found.log_partition_from_above)
        line(*found.log_partition_from_above,
             " the other way round, from what the machine makes: too large, if it is not right");
    if (found.exact_log_partition) std::cout << "log Z " << digits(*found.exact_log_partition) << " exactly\n";
    if (!found.black_and_white)
        std::cout << "The data are not black and white, so this is no probability; put `binarize` into `prepare:`.\n";
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
    options.reverse = arguments.has("reverse");
    options.train = [&run = run] { return run.prepared("train"); };
    print(name, train::likelihood(run.kept_phase(), network, set, options));
    return done;
}

}  // namespace weft::cli
