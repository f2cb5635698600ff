// weft likelihood.
#include "weft/train/likelihood.h"

#include <cstdio>
#include <iostream>

#include "weft/base/error.h"
#include "weft/cli/commands.h"
#include "weft/train/run.h"

namespace weft::cli {

int likelihood(const Arguments& arguments) {
    use_machine(arguments);
    train::Run run = train::Run::open(arguments.words()[0]);
    std::string name = arguments.value("data").value_or(run.kept_phase().set("test") ? "test" : "valid");
    data::Dataset set = run.prepared(name);
    train::Network network = run.network(set);
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
