// An experiment, checked: everything that a file describes, with names looked up, types and ranges checked, defaults filled in.
// Making one touches no data. What is described in weft's documentation but not built yet is refused by an error that says so.
// Callers: train/run.cpp, cli/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/data/batches.h"
#include "weft/data/prepare.h"
#include "weft/data/registry.h"
#include "weft/train/parts.h"
#include "weft/train/registry.h"

namespace weft::train {

/// A figure of the log, as in "valid.error", and whether less or more of it is better.
struct Watch {
    std::string channel;
    bool more = false;
    bool better(double figure, double than) const { return more ? figure > than : figure < than; }
};

struct Experiment {
    explicit Experiment(const Json& description);

    Json config;  // complete: a run keeps it, and can be made from it again
    std::vector<std::pair<std::string, data::ChosenSource>> sets;  // train, and valid and test if given, in this order
    Json prepare;
    std::vector<Chosen> layers;
    std::vector<Chosen> costs;
    Chosen optimizer;
    std::int64_t batch_size = 0;
    data::Last last = data::Last::keep;
    StopRule stop;
    std::optional<Watch> keep_best;
    std::uint64_t seed = 1;
    std::vector<std::string> monitored;  // sets whose figures every epoch has
    bool log_steps = false;
    std::int64_t checkpoint_steps = 0;  // 0: after epochs only
    double checkpoint_seconds = 0;

    const data::ChosenSource* set(std::string_view name) const;
    /// What stands in the log for every epoch, as "train.loss".
    std::vector<std::string> channels() const;
    bool counts_errors() const;
};

/// What `weft help experiment` prints: the keys of a file.
std::string help_on_experiment();

}  // namespace weft::train
