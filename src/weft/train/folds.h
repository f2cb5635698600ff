// `cv:`: the trials of cross-validation: each learns from all folds of `data: train:` but one, prepares by what these alone teach, and is judged
// by the one that is held out, as its test set. Callers: cli/search.cpp, search/search.cpp, the Python package.
#pragma once

#include "weft/train/trials.h"

namespace weft::train {

/// `description` is put together already (compose.h); without `cv:` its defaults hold. Every trial is checked as an experiment.
/// ConfigError("file:line:column: ...").
Trials cross_validation_of(const Json& description);

/// Over the trials that ended: of each figure its mean and its standard deviation (with n - 1).
struct Spread {
    std::string figure;
    double mean = 0, deviation = 0;  // 0 of one trial alone
};
std::vector<Spread> spreads(const std::vector<TrialResult>& results);

}  // namespace weft::train
