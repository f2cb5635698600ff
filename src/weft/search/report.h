// Trials for people: tables, and a page with the figure against each value. Callers: search/search.cpp, cli/search.cpp.
#pragma once

#include <string>
#include <vector>

#include "weft/train/trials.h"

namespace weft::search {

/// Rows of cells, the first of them the columns' names.
using Rows = std::vector<std::vector<std::string>>;

/// The values of each trial and the parameters of its network, all checked before any is trained. ConfigError("file:line:column: ...") of the
/// first that is no experiment.
Rows checked(const train::Trials& trials);

/// The best first; of cross-validation in order, the mean and the deviation below.
Rows table_of(const train::Trials& trials, const std::vector<train::TrialResult>& results);

/// A file of its own: the table, and a chart for each key.
std::string page_of(const std::string& title, const train::Trials& trials,
                    const std::vector<train::TrialResult>& results);

}  // namespace weft::search
