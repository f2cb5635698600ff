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

class LayerBuilder;
/// What a layer is made for: the shape and type of one example that reaches it, the seed of its initial values, its place in the network
/// ("3.1", as its parameters are called), and who makes the layers inside it.
struct LayerPlace {
    Dims input;
    std::uint64_t seed = 0;
    DType dtype = DType::float32;
    std::string path = {};
    LayerBuilder* builder = nullptr;
    std::int64_t batch = 0;  // examples of a training step, for layers that keep something of each
};
using MakeLayer = std::function<nn::Module(const Json& options, const LayerPlace& place)>;
const std::vector<Part<MakeLayer>>& layers();     // layers.cpp; every one takes layer_options(), too
std::vector<Part<MakeLayer>> image_layers();      // image_layers.cpp
std::vector<Part<MakeLayer>> layers_of_layers();  // branches.cpp
const std::vector<Option>& layer_options();       // branches.cpp
/// Those of model_layers.cpp; `simple` are layers of which it makes others (maxout).
std::vector<Part<MakeLayer>> layers_of_models(const std::vector<Part<MakeLayer>>& simple);
std::vector<Part<MakeLayer>> generative_layers();  // generative_layers.cpp
std::vector<Part<MakeLayer>> sequence_layers();    // sequence_layers.cpp
std::vector<Part<MakeLayer>> learning_layers();    // learning_layers.cpp

/// Several values of one example become one.
using Join = std::function<Tensor(std::span<const Tensor> values)>;
using MakeJoin = std::function<Join(const Json& options)>;
const std::vector<Part<MakeJoin>>& joins();  // branches.cpp
Join join_of(const Json& description);

/// Values of a weight of this shape.
using MakeInit = std::function<Tensor(const Json& options, const Dims& shape, std::uint64_t seed)>;
const std::vector<Part<MakeInit>>& initialisers();  // initialisers.cpp

/// A term of what is minimised: of what the network says and what is wanted, of the parameters (a penalty), or what layers add themselves.
struct CostTerm {
    std::function<Tensor(const Tensor& output, const Tensor& wanted)> of_output = {};
    std::function<Tensor(const Tensor& output, const Tensor& wanted)> of_examples =
        {};  // (batch,): what it is the mean of
    std::function<Tensor(std::span<const Parameter> parameters)> of_parameters = {};
    bool of_layers = false;      // nothing more than nn::add_cost()
    bool counts_errors = false;  // targets are class numbers, so there is a rate of errors
    bool two_classes = false;    // of these: 0 and 1, by one score; else there is a score a class
    std::function<Tensor(const Tensor& output)> probabilities =
        {};  // (batch, classes), of outputs that say them; counts_errors
    std::function<Tensor(const Tensor& output)> expected =
        {};  // the target that an output stands for, where that is not the output itself: of logits a probability
    double factor = 1;
    Json target = {};  // null: y; "input", a field's name, or the path of a layer
    Json of = {};      // null: what the network says; or the path of a layer
    std::function<Tensor(const Tensor& wanted)> present = {};  // which examples have a target; empty: all
    std::vector<Json> globs = {};                              // of parameters, which must match some
};
using MakeCost = std::function<CostTerm(const Json& options)>;
const std::vector<Part<MakeCost>>& costs();    // costs.cpp
std::vector<Part<MakeCost>> penalties();       // penalties.cpp
std::vector<Part<MakeCost>> costs_of_pairs();  // pair_costs.cpp

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(const Json& options)>;  // rates are numbers
const std::vector<Part<MakeOptimizer>>& optimizers();                                         // optimizers.cpp

/// A rate over time, and the figures that it reads: checked against those the run has.
struct RateSchedule {
    RateSchedule(optim::Schedule schedule, std::vector<std::pair<std::string, Position>> reads = {})
        : value(std::move(schedule)), channels(std::move(reads)) {}
    optim::Schedule value;
    std::vector<std::pair<std::string, Position>> channels;
};
using Schedules = std::vector<std::pair<std::string, RateSchedule>>;  // of rates, by name
using MakeSchedule = std::function<RateSchedule(const Json& options)>;
const std::vector<Part<MakeSchedule>>& schedules();  // schedules.cpp
/// A number, or a schedule by name: what stands for a rate.
RateSchedule schedule_of(const Json& value);

/// The optimizer of networks that learn without gradients.
inline constexpr std::string_view of_layers_alone = "of_layers";

/// What every optimizer takes besides: groups, clipping, accumulation, constraints, averages.
const std::vector<Option>& step_keys();  // step_keys.cpp
std::vector<optim::Group> groups_of(const Json& options);
optim::StepOptions step_options_of(const Json& options);
/// That the parameter has the axes of each bound. ConfigError at the bound.
void check_constraint(const Json& constraint, const Parameter& parameter);

/// The optimizer with its rates at the start; `schedules` gets those of rates that change. ConfigError at an option that it refuses.
std::unique_ptr<optim::Optimizer> optimizer_of(const Chosen& chosen, Schedules& schedules);
/// What an optimizer refuses, under the name that the file has for it.
std::string as_named(const Chosen& chosen, std::string_view what);

/// Whether less or more of a figure is better: as its channel says ("auto"), or as a file does.
const Option& mode_option();  // stopping.cpp

/// Where a run stands at the end of an epoch, as stop rules see it.
struct Standing {
    std::int64_t epoch = 0, step = 0;
    double seconds = 0;
    /// Whether more of a figure is better.
    std::function<bool(const std::string& channel)> more = {};
    /// Figures of epochs 1, 2, ... of one channel.
    std::function<std::vector<double>(const std::string& channel)> history = {};
    /// The figure of an earlier phase's kept model; nothing if it had none.
    std::function<std::optional<double>(const std::string& phase, const std::string& channel)> kept = {};
};
/// A figure that a rule reads of an earlier phase, and where the file says so.
struct EarlierFigure {
    std::string phase, channel;
    Position where;
};
struct StopRule {
    std::function<bool(const Standing& standing)> done;           // asked after every epoch, and before the first
    std::vector<std::pair<std::string, Position>> channels = {};  // that it reads: checked against those the run has
    std::int64_t most_epochs = 0;                                 // 0: it names no number
    bool within_epochs = false;                                   // it can be true in the middle of one, too
    std::vector<EarlierFigure> earlier = {};
};
using MakeStop = std::function<StopRule(const Json& options)>;
const std::vector<Part<MakeStop>>& stop_rules();  // stopping.cpp

/// What a sweep draws the values of a key from.
struct Distribution {
    std::vector<Json> values;                  // all there are; none: any within a range
    std::function<Json(double uniform)> draw;  // of a number from [0, 1)
};
using MakeDistribution = std::function<Distribution(const Json& options)>;
const std::vector<Part<MakeDistribution>>& distributions();  // distributions.cpp

}  // namespace weft::train
