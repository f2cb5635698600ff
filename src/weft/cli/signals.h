// A command that may be stopped: the first signal asks for it, a second one of the same kind ends the process.
// Callers: cli/train.cpp, cli/search.cpp.
#pragma once

namespace weft::cli {

/// From now on, SIGINT, SIGTERM and SIGHUP ask.
void catch_signals();
bool asked_to_stop();

}  // namespace weft::cli
