#include "weft/cli/search_plan.h"

#include <algorithm>
#include <iostream>

#include "weft/base/error.h"
#include "weft/train/dry_run.h"

namespace weft::cli {
namespace {

/// Of the phase that has most; 0 where only the data tell.
std::int64_t parameters_of(const std::vector<std::optional<train::Network>>& networks) {
    std::int64_t most = 0;
    for (const auto& network : networks) most = std::max(most, network ? network->parameters() : 0);
    return most;
}

std::string counted(std::int64_t count, const char* thing) {
    return text(train::grouped(count), " ", thing, count == 1 ? "" : "s");
}

}  // namespace

Rows checked_trials(const train::Trials& trials) {
    Rows rows{{"trial"}};
    data::SamplesKept kept;
    rows[0].insert(rows[0].end(), trials.keys.begin(), trials.keys.end());
    rows[0].emplace_back("parameters");
    for (const train::Trial& trial : trials.trials) {
        std::int64_t parameters = parameters_of(train::networks_of(train::Experiment(trial.config)));
        rows.push_back({std::to_string(trial.number)});
        for (const Json& value : trial.values) rows.back().push_back(train::value_text(value));
        rows.back().push_back(parameters ? train::grouped(parameters) : "");
    }
    return rows;
}

void print_plan(const train::Trials& trials, const Rows& rows) {
    print_rows(rows);
    for (const train::Rung& rung : trials.rungs)
        std::cout << counted(rung.trials, "trial") << ", "
                  << (rung.epochs
                          ? "until " + counted(rung.epochs, "epoch") + (rung.epochs == 1 ? " is" : " are") + " done"
                          : "to the end")
                  << "\n";
    std::cout << "compared by " << trials.watch.channel << ", of which " << (trials.watch.more ? "more" : "less")
              << " is better\n\nthe first:\n"
              << train::dry_run(train::Experiment(trials.trials[0].config));
}

}  // namespace weft::cli
