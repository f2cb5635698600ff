// Trials: one experiment, described anew several times (other values, other folds), each description trained by itself, and compared by a
// figure of the models that they keep. They may be trained in rungs: few epochs for all, more for those that were best so far. Here is what
// follows from descriptions and logs alone; who trains them is search/search.cpp. Made by train/sweep.h, train/folds.h.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "weft/train/experiment.h"

namespace weft::train {

struct Trial {
    std::int64_t number = 0;   // from 1
    std::vector<Json> values;  // of Trials::keys
    Json config;               // complete, as a run keeps it
};

struct Rung {
    std::int64_t trials = 0;  // how many get there
    std::int64_t epochs = 0;  // and are trained until so many are done; 0: to their own end
};

/// What became of a trial in a rung.
struct TrialResult {
    std::int64_t trial = 0, rung = 0;
    std::string error;       // why there is no figure; empty if there is one
    double figure = 0;       // of the model that it keeps
    std::int64_t epoch = 0;  // of that model
    double seconds = 0;
    Json figures;  // all of them
};

struct Trials {
    std::string kind;               // "sweep" or "cv", as its files are called
    Watch watch;                    // by what they are compared
    std::vector<std::string> keys;  // what is different in each
    std::vector<Trial> trials;
    std::vector<Rung> rungs;  // at least one
    Json description;         // tells this search from another one

    /// What the trial is to be trained as in a rung.
    Json config(const Trial& trial, std::size_t rung) const;
    /// The numbers of the trials that take part in a rung: those with the best figures in the one before. All of that one must have ended.
    std::vector<std::int64_t> members(std::size_t rung, const std::vector<TrialResult>& results) const;
    /// Of each trial its last result, the best first: higher rungs before lower ones, what failed at the end, equals by number.
    std::vector<TrialResult> ranked(const std::vector<TrialResult>& results) const;
};

/// What a run that has ended says of itself: its final line, or why that is of no use.
TrialResult result_of(const std::filesystem::path& run, const Watch& watch);

/// Lines of sweep.jsonl and back.
Json line_of(const TrialResult& result, const Trials& trials);
TrialResult result_in(const Json& line);

/// "0.01", "relu", "[1, 2]".
std::string value_text(const Json& value);

}  // namespace weft::train
