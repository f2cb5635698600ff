// A value put in place of another one, by its path, as --set and `sweep: over:` write it: "optimizer.momentum.lr". A path goes through what is
// there; where a part is named it must name the part that is there, and another name is a mistake of the path and not of the file.
// Callers: train/compose.cpp, train/sweep.cpp.
#pragma once

#include <string>
#include <string_view>

#include "weft/base/json.h"

namespace weft::train {

/// The tree with the value at `path` replaced, as in "optimizer.momentum.lr=0.02" or "model.sequential.0.linear.units=10"
/// (a number counts list entries from 0; one beyond the last adds one). What is missing on the way is made; a bare name becomes a mapping with it as
/// its key. ConfigError names the assignment.
Json with_assignment(const Json& config, const std::string& assignment);

/// The same with a value that is there already; `where` is where the path was written.
Json with_value(const Json& config, std::string_view path, const Json& value, const Position& where);

}  // namespace weft::train
