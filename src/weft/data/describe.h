// A data set in a few lines for people. Caller: cli/ (`weft data info`).
#pragma once

#include <string>

#include "weft/data/dataset.h"

namespace weft::data {

/// Sizes, types, least, mean and greatest value of x, and how often each class stands in y.
std::string describe(const Dataset& set);

}  // namespace weft::data
