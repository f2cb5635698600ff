// `sweep:`: the trials of an experiment with other values of some keys: all combinations, drawn ones, or drawn ones of which the best go
// on (successive halving: Jamieson and Talwalkar, 2016). The same file and seed give the same trials. Callers: cli/search.cpp, train/experiment.cpp, the Python package.
#pragma once

#include "weft/train/trials.h"

namespace weft::train {

/// Every trial checked as an experiment. `written`: the file with what it includes, before variables have values (compose.h), so that a
/// variable can be tried, too. ConfigError("file:line:column: ...").
Trials sweep_of(const Json& written);

/// That a training's file has a `sweep:` whose every key takes its first and its last value. `written`: as above; where variables have their values
/// already, keys that are variables are left to sweep_of(). ConfigError("file:line:column: ...").
void check_sweep(const Json& written);

/// What stands behind `sweep:`, complete. ConfigError("file:line:column: ...").
Json checked_sweep(const Json& sweep);

}  // namespace weft::train
