// One trial of a search, trained in this process: what a process of its own does, and what a search does that has no other. Callers:
// search/here.cpp, the Python package's processes.
#pragma once

#include <functional>

#include "weft/search/workers.h"

namespace weft::search {

/// Trains the experiment of order.file in order.run, from where that stands to its end, with its report, or until `stop` is true after a step.
/// An experiment that fails is an error of the result, none of the caller's.
Ended train_trial(const Order& order, const Environment& environment, const std::function<bool()>& stop);

}  // namespace weft::search
