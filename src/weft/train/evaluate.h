// The figures of the model that a run has kept, on one of its sets. Callers: cli/evaluate.cpp, the Python package.
#pragma once

#include <string>

#include "weft/train/objective.h"
#include "weft/train/run.h"

namespace weft::train {

/// What a run keeps, and the set to judge it by: the one that is named, else test, else valid. ConfigError if the run has no such set.
struct KeptModel {
    explicit KeptModel(const Run& run, std::string set = "");
    const Phase& phase;  // the run's
    std::string name;    // of the set
    data::Dataset set;
    Network network;
};

struct Evaluation {
    Json figures;  // by channel, as in the log: {"test.loss": 0.2, "test.error": 0.01}
    Sums sums;
};

Evaluation evaluate(const KeptModel& kept);

}  // namespace weft::train
