// weft eval, weft likelihood.
#include "weft/train/evaluate.h"

#include <cstdio>
#include <iostream>

#include "weft/base/error.h"
#include "weft/cli/commands.h"
#include "weft/look/figures.h"
#include "weft/train/likelihood.h"

namespace weft::cli {
namespace {

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
    train::Run run = train::Run::open(arguments.words()[0]);
    train::KeptModel kept(run, arguments.value("data").value_or(""));
    train::Evaluation found = train::evaluate(kept);
    for (const Json::Member& one : found.figures.members()) {
        std::cout << one.key << " " << look::figure(one.key, one.value.as_number());
        if (one.key == kept.name + ".error")
            std::cout << "  (" << static_cast<std::int64_t>(found.sums.errors) << " of " << found.sums.examples << ")";
        std::cout << "\n";
    }
    return done;
}

int likelihood(const Arguments& arguments) {
    use_machine(arguments);
    train::Run run = train::Run::open(arguments.words()[0]);
    train::KeptModel kept(run, arguments.value("data").value_or(""));
    train::LikelihoodOptions options;
    options.draws = arguments.integer("draws", 1).value_or(options.draws);
    options.annealing.runs = arguments.integer("chains", 2).value_or(options.annealing.runs);
    options.annealing.temperatures = arguments.integer("temperatures", 2).value_or(options.annealing.temperatures);
    options.reverse = arguments.has("reverse");
    options.train = [&run] { return run.prepared("train"); };
    print(kept.name, train::likelihood(kept.phase, kept.network, kept.set, options));
    return done;
}

}  // namespace weft::cli
