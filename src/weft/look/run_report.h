// Gathers what a report shows from a run's folder (log, times, kept model, examples of its test set), and writes report.html.
// Callers: weft train, weft show, the Python package.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "weft/train/run.h"

namespace weft::look {

/// The path of the report. `environment`: what it was made on, a name and a value each (backend/machine.h). ConfigError if no epoch has ended.
std::filesystem::path write_report(const train::Run& run, std::vector<std::pair<std::string, std::string>> environment);

/// As the data name it, or its number.
std::string class_name(const data::Dataset& set, std::int64_t label);

}  // namespace weft::look
