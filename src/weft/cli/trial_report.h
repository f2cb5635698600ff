// Trials for people: a table, sorted, and a page with the figure against each value. Caller: cli/search.cpp.
#pragma once

#include "weft/cli/terminal.h"
#include "weft/train/trials.h"

namespace weft::cli {

/// The best first; of cross-validation in order, the mean and the deviation below.
Rows table_of(const train::Trials& trials, const std::vector<train::TrialResult>& results);

/// A file of its own: the table, and a chart for each key.
std::string page_of(const std::string& title, const train::Trials& trials,
                    const std::vector<train::TrialResult>& results);

}  // namespace weft::cli
