// What can be said of an experiment before data are read: the shapes through each phase's network, what is handed on between them, what
// files of parameters hold, and how much a step computes and keeps. Callers: cli/train.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weft/train/experiment.h"
#include "weft/train/network.h"

namespace weft::train {

/// The network of each phase, its parameters without values, all checked against each other; nothing where only the prepared data tell the
/// shape of an example.
/// ConfigError("file:line:column: ...").
std::vector<std::optional<Network>> networks_of(const Experiment& experiment);

/// What `weft train --dry-run` prints: for each phase its data, a line a layer (shape, parameters, memory of its values and work of a
/// step's forward pass), and the totals.
std::string dry_run(const Experiment& experiment);

}  // namespace weft::train
