// Runs as their logs tell them: what `weft monitor`, `plot`, `diff` and `serve` show. The log alone is read, so a run may be going on.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "weft/base/json.h"
#include "weft/viz/chart.h"

namespace weft::cli {

struct RunLog {
    std::string name;  // its folder, as short as tells it from the others
    std::filesystem::path folder;
    std::vector<Json> lines;
    /// Lines of epochs, in order, and of models that were kept.
    std::vector<Json> epochs, finals;
    bool ended = false;
    std::string torn = {};  // what of its log could not be read
};

/// ConfigError if a folder holds no run; a run without a log yet has no lines.
std::vector<RunLog> read_runs(const std::vector<std::string>& folders);

/// The names of figures of epochs, in the order in which they first stand in the logs, that a glob matches. ConfigError names the nearest
/// one, or says what there is, if none does.
std::vector<std::string> channels_of(const std::vector<RunLog>& runs, const std::optional<std::string>& glob);

/// A chart for each kind of figure (loss, error, ...), in it a curve for each set and run; epochs are counted through all phases.
std::vector<viz::Chart> charts_of(const std::vector<RunLog>& runs, const std::vector<std::string>& channels);

/// Whether its figures are positive, and the greatest is more than five times the least: for a logarithmic axis.
bool spread(const viz::Chart& chart);

/// A number for a table: four digits, errors as percent; "" where there is none.
std::string cell(const Json& line, const std::string& channel);
std::string cell_of(const std::string& channel, double value);

}  // namespace weft::cli
