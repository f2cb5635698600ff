// Whether the loss of a run stopped being finite, read off its log, and what to say of that. Callers: train/trainer.cpp, cli/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weft/base/json.h"

namespace weft::train {

struct Divergence {
    std::string said;          // at which epoch, and what to try
    bool kept_finite = false;  // the model that the run has kept has finite losses all the same
};

/// Of all lines of a log; nothing if the loss of training was finite in every epoch, or is not among the figures.
std::optional<Divergence> divergence_in(const std::vector<Json>& lines);

}  // namespace weft::train
