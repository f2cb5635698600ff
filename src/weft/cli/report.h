// Gathers what a report shows from a run's folder (log, times, kept model, examples of its test set), and writes report.html.
// Callers: weft train, weft show.
#pragma once

#include <filesystem>

#include "weft/train/run.h"

namespace weft::cli {

/// The path of the report.
std::filesystem::path write_report(const train::Run& run);

/// As the data name it, or its number.
std::string class_name(const data::Dataset& set, std::int64_t label);

}  // namespace weft::cli
