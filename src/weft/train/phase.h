// A phase of an experiment, checked: what is trained, on which data, at what cost, how, until when; names looked up, types and ranges
// checked, defaults filled in. Making one touches no data. An experiment without `phases:` is one phase.
// Callers: train/experiment.cpp, which makes them; train/, cli/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/data/augment.h"
#include "weft/data/batches.h"
#include "weft/data/prepare.h"
#include "weft/data/registry.h"
#include "weft/runtime/function.h"
#include "weft/train/monitor.h"
#include "weft/train/parts.h"
#include "weft/train/registry.h"

namespace weft::train {

/// A figure of the log, as in "valid.error", and whether less or more of it is better.
struct Watch {
    std::string channel;
    bool more = false;  // is better
    bool better(double figure, double than) const { return more ? figure > than : figure < than; }
};

struct Phase {
    /// ConfigError("file:line:column: ...").
    explicit Phase(const Json& description);

    Json config;       // complete: a run keeps it, and the phase can be made from it again
    std::string name;  // "" where there is but one
    std::vector<std::pair<std::string, data::ChosenSource>> sets;  // train, and valid and test if given, in this order
    Json prepare;
    std::shared_ptr<const data::Augmentation> augment;  // none: nothing is done
    bool shuffle = true;
    bool keeps_nan = false;  // in x
    std::int64_t window = 0, buckets = 1;
    int readers = 1;
    Json model;   // a layer, or a list of them; complete
    Json load;    // where parameters come from: a list, one for each file
    Json freeze;  // globs
    std::vector<Chosen> costs;
    Chosen optimizer;
    std::int64_t batch_size = 0;
    CompileOptions compile;
    data::Last last = data::Last::keep;
    StopRule stop;
    std::optional<Watch> keep_best;
    std::uint64_t seed = 1;
    Monitor monitor;
    std::int64_t checkpoint_steps = 0;  // 0: after epochs only
    double checkpoint_seconds = 0;

    const data::ChosenSource* set(std::string_view name) const;
    /// How the training set is walked in an epoch, from a batch on.
    data::BatchOptions batches(const data::Dataset& train, std::int64_t epoch, std::int64_t first) const;
    /// ConfigError if the file asks for buckets: the data have no lengths.
    void check_buckets() const;
    /// What stands in the log for every epoch, as "train.loss", and rules can read.
    std::vector<std::string> channels() const { return monitor.names(); }
    bool counts_errors() const;
    /// Else layers learn by rules of their own, at an epoch's end.
    bool by_gradients() const { return optimizer.entry->name != of_layers_alone; }
};

/// ConfigError unless the phase measures a figure of this name: how it would be measured, or the nearest one.
void check_channel(const std::string& channel, const Position& where, const Phase& phase);

}  // namespace weft::train
