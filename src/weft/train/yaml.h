// YAML read into a tree of plain values with places, through yaml-cpp. Scalars are typed by YAML 1.2's core schema; tags that
// name types of a program are refused, and aliases are copied within a limit. Caller: train/config.cpp.
#pragma once

#include <string_view>

#include "weft/base/json.h"

namespace weft::train {

/// ConfigError("name:line:column: what is wrong"); in a build without yaml-cpp always, saying how to get it.
Json parse_yaml(std::string_view text, std::string_view name);

}  // namespace weft::train
