// A search: trials of one experiment (train/sweep.h, train/folds.h), each a run of its own, trained by this process or by several others, and
// compared. A search that was stopped or killed goes on when it is started again: what has ended is not run again, what was cut goes on from
// its checkpoint. Callers: cli/search.cpp, the Python package, users' programs.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "weft/search/workers.h"
#include "weft/train/trials.h"

namespace weft::search {

struct Options {
    Command command = {};          // how another process trains a trial; none: this one does, a trial after the other
    Environment environment = {};  // for the reports of trials that this process trains
    std::int64_t jobs = 1;         // so many processes at a time
    bool retry = false;            // what failed before is tried again
    std::function<bool()> stop = [] { return false; };
    /// Called with each trial that ends and all that have, this one too, from the thread that searches.
    std::function<void(const train::TrialResult&, const std::vector<train::TrialResult>&)> ended = [](auto&&...) {};
};

struct Found {
    std::vector<train::TrialResult> results;  // in the order in which they ended
    bool interrupted = false;                 // the same search goes on

    /// The trial with the best figure; nothing if none ended well.
    std::optional<train::TrialResult> best(const train::Trials& trials) const;
};

/// Trains all trials in a folder: new, empty, or that of the same search. ConfigError if it is another's, or somebody is at work in it, or if a
/// trial is no experiment: before any is trained.
Found run(const train::Trials& trials, const std::filesystem::path& folder, const Options& options = {});

/// What has ended so far in a folder. ConfigError if it holds no such search.
std::vector<train::TrialResult> results_in(const train::Trials& trials, const std::filesystem::path& folder);

/// The folder of a trial's run.
std::filesystem::path run_of(const train::Trials& trials, const std::filesystem::path& folder, std::int64_t trial);

}  // namespace weft::search
