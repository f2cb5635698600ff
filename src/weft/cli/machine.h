// What this program runs on: the lines of `weft doctor` and of a report's environment. Callers: cli/doctor.cpp, cli/report.cpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weft::cli {

std::vector<std::pair<std::string, std::string>> machine();

}  // namespace weft::cli
