// An Explanation (runtime/explain.h) as a page: one HTML file without network access. Callers: cli/explain.cpp, users.
#pragma once

#include <string>
#include <string_view>

#include "weft/runtime/explain.h"

namespace weft::viz {

std::string html(const Explanation& explanation, std::string_view title = "weft explain");

}  // namespace weft::viz
