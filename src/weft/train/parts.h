// The parts that weft brings, one declaration each: layers, initial values, costs, optimizers, schedules, stop rules. A new one is
// one entry in the file of its kind. Callers: train/registry.cpp (names, help), train/experiment.cpp (makes them).
#pragma once

#include <functional>
#include <memory>
#include <random>

#include "weft/core/shape.h"
#include "weft/graph/tensor.h"
#include "weft/nn/sequential.h"
#include "weft/optim/optimizer.h"
#include "weft/optim/schedule.h"
#include "weft/train/registry.h"

namespace weft::train {

/// What a layer is made for: the shape of one example that reaches it, and the seed of its initial values.
struct LayerPlace {
    Dims input;
    std::uint64_t seed = 0;
};
using MakeLayer = std::function<nn::Module(const Json& options, const LayerPlace& place)>;
const std::vector<Part<MakeLayer>>& layers();  // layers.cpp

/// Values of a weight of this shape.
using MakeInit = std::function<Tensor(const Json& options, const Dims& shape, std::uint64_t seed)>;
const std::vector<Part<MakeInit>>& initialisers();  // initialisers.cpp

/// A term of what is minimised: of what the network says and what is true, or (a penalty) of the parameters.
struct CostTerm {
    std::function<Tensor(const Tensor& output, const Tensor& target)> of_output = {};
    std::function<Tensor(std::span<const Parameter> parameters)> of_parameters = {};
    bool counts_errors = false;  // targets are class numbers, so there is a rate of errors
    double factor = 1;
};
using MakeCost = std::function<CostTerm(const Json& options)>;
const std::vector<Part<MakeCost>>& costs();  // costs.cpp

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(const Json& options)>;  // rates are numbers
const std::vector<Part<MakeOptimizer>>& optimizers();                                         // optimizers.cpp

using MakeSchedule = std::function<optim::Schedule(const Json& options)>;
const std::vector<Part<MakeSchedule>>& schedules();  // schedules.cpp

/// Where a run stands at the end of an epoch, as stop rules see it.
struct Standing {
    std::int64_t epoch = 0;
    /// Figures of epochs 1, 2, ... of one channel.
    std::function<std::vector<double>(const std::string& channel)> history;
};
struct StopRule {
    std::function<bool(const Standing& standing)> done;           // asked after every epoch, and before the first
    std::vector<std::pair<std::string, Position>> channels = {};  // that it reads: checked against those the run has
    std::int64_t most_epochs = 0;                                 // 0: it names no number
};
using MakeStop = std::function<StopRule(const Json& options)>;
const std::vector<Part<MakeStop>>& stop_rules();  // stopping.cpp
/// `stop_when:` as a file has it: one rule, or {any: [rules]}.
StopRule stop_rule(const Json& description, Json& resolved);

/// A number, or a schedule by name: what stands for a rate.
optim::Schedule schedule_of(const Json& value);

}  // namespace weft::train
