// The keys of an experiment's file, declared once: what each takes, its default and its doc. Checks, defaults, help, the JSON schema and
// the rule by which one description is laid over another follow from it.
// Callers: train/phase.cpp, train/experiment.cpp, train/compose.cpp, train/schema.cpp.
#pragma once

#include <vector>

#include "weft/base/options.h"

namespace weft::train {

/// What one phase is made of; of an experiment without `phases:`, all there is.
const std::vector<Option>& phase_keys();
/// Of `sweep:` and of `cv:`, which no training reads.
const std::vector<Option>& sweep_keys();
const std::vector<Option>& cv_keys();
/// What a file may hold: phase_keys(), and include, let, phases, sweep and cv.
const std::vector<Option>& file_keys();

/// `over` laid over `under`: mappings key by key; lists, values, and a part under another name in place of what was there. Which mapping
/// is a part (`optimizer: {adam: ...}`) follows from the declarations. Places are kept.
Json laid_over(const Json& under, const Json& over, const std::vector<Option>& keys);

}  // namespace weft::train
