// Runs as their logs tell them: what `weft monitor`, `plot`, `diff` and `serve` show. The log alone is read, so a run may be going on.
// Callers: cli/, the Python package.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "weft/base/json.h"
#include "weft/viz/chart.h"

namespace weft::look {

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

/// Draws the figures of runs that the glob matches into a file, by its ending: .svg, .png or .html. ConfigError if it ends otherwise, or no
/// epoch has ended.
void write_plot(const std::filesystem::path& file, const std::vector<std::string>& folders,
                const std::optional<std::string>& glob = {});

/// Whether its figures are positive, and the greatest is more than five times the least: for a logarithmic axis.
bool spread(const viz::Chart& chart);

/// A loss with four digits, an error as percent: by the channel's name.
std::string figure(const std::string& channel, double value);
/// A number for a table: four digits, errors as percent; "" where there is none.
std::string cell(const Json& line, const std::string& channel);
std::string cell_of(const std::string& channel, double value);

}  // namespace weft::look
