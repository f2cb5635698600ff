// "Did you mean ...?": the nearest known name, for every message that refuses a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Insertions, deletions, replacements and swaps of neighbours between a and b (Damerau, 1964; restricted).
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to `name`, or empty if none is near (more than a third of its letters differ).
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& candidates);
/// "; did you mean 'float32'?", or the list of what there is, if that is short, or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace weft
