// A description put together: a file, laid over the files that it includes; --set replaces values; variables take their values. What comes
// out has no include, no let and no ${...} left, and every value still knows the file and the place where it was written.
// Callers: cli/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "weft/base/json.h"

namespace weft::train {

/// ConfigError("file:line:column: ...") names the file that holds the mistake, included or not, or the assignment.
Json compose_file(const std::filesystem::path& file, const std::vector<std::string>& assignments = {});
/// What stands in a file, laid over the files that it includes, with the assignments; variables are still to take their values.
Json written_in(const std::filesystem::path& file, const std::vector<std::string>& assignments = {});
/// The same for a description that was read already and includes nothing.
Json compose(Json description, const std::vector<std::string>& assignments = {});

}  // namespace weft::train
