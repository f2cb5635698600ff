// A channel of the monitor: figures of a data set (`valid.f1`), or of training itself (`gradient_norm`), gathered batch by batch in double,
// so that what comes out does not depend on how examples were cut into batches. What a channel gathers within an epoch is part of a
// checkpoint. A new one is one entry in the file of its kind. Callers: train/monitor.cpp (which ones a phase has), train/objective.cpp.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weft/core/array.h"
#include "weft/train/registry.h"

namespace weft::train {

/// What a channel wants to see of a batch beside the losses and the number of errors, which are always there.
struct Wants {
    bool outputs = false;      // what the network says, and what is true
    bool terms = false;        // each cost by itself, and what layers tell
    bool activations = false;  // what each layer gives
    bool norms = false;        // of parameters, gradients and updates
    Wants operator|(const Wants& other) const {
        return {outputs || other.outputs, terms || other.terms, activations || other.activations, norms || other.norms};
    }
};

/// Numbers of a layer's values in a batch.
struct LayerValues {
    double count = 0, sum = 0, squares = 0, zeros = 0, least = 0, most = 0;
};
/// Sums of squares of a parameter before a step, its gradient, and the difference that the step made.
struct ParameterSquares {
    double value = 0, gradient = 0, update = 0;
};

/// A batch, as channels see it; what was not wanted is empty.
struct Judged {
    std::int64_t count = 0;                   // examples, without those that fill up a last batch
    double loss = 0;                          // the sum over examples
    double errors = 0;                        // examples whose class is not what the network says
    std::vector<double> further_errors = {};  // of costs behind the first that counts them
    double seconds = 0;                       // that the step took; 0 in an evaluation
    double waited = 0;                        // seconds before it, until the batch was there
    Array outputs, targets;                   // (count, ...)
    std::vector<double> terms, told;          // sums over examples
    std::vector<LayerValues> layers;
    std::vector<ParameterSquares> parameters;
};

/// The names behind the numbers of a Judged, in their order.
struct Names {
    std::vector<std::string> terms, layers, parameters, told, further_errors = {};
};

class Accumulator {
  public:
    virtual ~Accumulator() = default;
    virtual void add(const Judged& batch) = 0;
    /// Names as they follow the channel's ("" for the channel itself, ".0.weight") and their figures.
    virtual std::vector<std::pair<std::string, double>> figures() const = 0;
    /// All that was gathered, in numbers, and back.
    virtual std::vector<double> state() const = 0;
    virtual void restore(std::span<const double> state) = 0;
};

struct Channel {
    std::string name = {};  // "f1.macro"
    Wants wants = {};
    bool more = false;    // more of it is better
    bool of_run = false;  // of training itself: its name stands in the log without a set's
    enum class Targets : std::uint8_t { any, classes, numbers } targets = Targets::any;
    std::function<std::unique_ptr<Accumulator>(const Names& names)> make = {};
    Json match = {};                     // a glob of parameters or of layers that must name one
    std::vector<std::string> told = {};  // what it reads of what layers tell: some layer must
    /// Of a channel of classes: the option that needs so many of them; a line of the file once the monitor has read it.
    Json counts = {};
    std::int64_t classes = 0;
    bool alone = true;  // has a figure under its own name, which rules can read
};
using MakeChannel = std::function<Channel(const Json& options)>;

std::vector<Part<MakeChannel>> channels_of_losses();    // channels.cpp
std::vector<Part<MakeChannel>> channels_of_numbers();   // channels.cpp
std::vector<Part<MakeChannel>> channels_of_classes();   // class_channels.cpp
std::vector<Part<MakeChannel>> channels_of_training();  // training_channels.cpp
/// All of them.
const std::vector<Part<MakeChannel>>& channels();  // monitor.cpp

}  // namespace weft::train
