// An experiment's description as it is written in a file: a tree of plain values (base/json.h) in which each value and
// each key remembers its place, so that every later check can point at the user's text. YAML is read where yaml-cpp was
// found, JSON always. Nothing is looked up and no data are touched here. Callers: train/experiment.cpp, cli/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/json.h"

namespace weft::train {

/// Reads a file of YAML or JSON. FileError if it cannot be read; ConfigError("file:line:column: what") if it cannot be
/// understood, or if it is YAML and this build has no yaml-cpp.
Json load_config(const std::filesystem::path& path);
Json parse_config(std::string_view text, std::string_view name);

/// A plain scalar as YAML 1.2's core schema reads it: null, true, an integer, a number, or else a string.
Json plain_scalar(std::string_view word);

/// The tree as text that is YAML and JSON at once: mappings over several lines, what is short on one.
std::string config_text(const Json& config);

}  // namespace weft::train
