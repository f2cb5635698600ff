// YAML read into a tree of plain values with places, through yaml-cpp. Scalars are typed by YAML 1.2's core schema; tags that
// name types of a program are refused, and aliases are copied within a limit. And written, without yaml-cpp, as a person writes it.
// Callers: train/config.cpp, train/experiment.cpp.
#pragma once

#include <string>
#include <string_view>

#include "weft/base/json.h"

namespace weft::train {

/// ConfigError("name:line:column: what is wrong"); in a build without yaml-cpp always, saying how to get it.
Json parse_yaml(std::string_view text, std::string_view name);

/// A line a key, what is short on one line, names without quotes: reads back as the same value, by YAML 1.1's readers too.
std::string yaml_text(const Json& value);

}  // namespace weft::train
