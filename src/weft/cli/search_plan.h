// What a search would train, checked before any of it is: a row a trial, and how far each is trained. Caller: cli/search.cpp.
#pragma once

#include "weft/cli/terminal.h"
#include "weft/train/trials.h"

namespace weft::cli {

/// The values of each trial and the parameters of its network. ConfigError("file:line:column: ...") of the first that is none.
Rows checked_trials(const train::Trials& trials);
/// What --dry-run prints.
void print_plan(const train::Trials& trials, const Rows& rows);

}  // namespace weft::cli
