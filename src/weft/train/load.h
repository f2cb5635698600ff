// `load:`: parameters of a network from files of safetensors, by name. That everything fits is checked by the files' headers alone, before
// data are read. Callers: train/trainer.cpp, cli/train.cpp.
#pragma once

#include "weft/train/network.h"

namespace weft::train {

/// ConfigError("file:line:column: ...") names the file of safetensors, the parameter, and what does not fit.
void check_loads(const Phase& phase, const Network& network);
/// Gives the parameters their values, a file after the other.
void load_parameters(const Phase& phase, Network& network);

}  // namespace weft::train
