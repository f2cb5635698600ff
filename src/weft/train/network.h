// The network that an experiment describes, made for examples of a shape: each layer in turn, its input width inferred, its output
// shape asked of the layer itself. An error names the layer and its place in the file. Callers: train/run.cpp, cli/.
#pragma once

#include <string>
#include <vector>

#include "weft/nn/sequential.h"
#include "weft/train/experiment.h"

namespace weft::train {

struct Network {
    nn::Sequential model;
    struct Layer {
        std::string name;
        Shape gives;
        std::int64_t parameters = 0;
    };
    std::vector<Layer> layers;
    Dims example;                  // the shape of an example
    DType dtype = DType::float32;  // of x in a batch

    std::int64_t parameters() const;
    /// A line a layer, and the total.
    std::string table() const;
    Json description() const;  // what model.yaml holds
};

/// ConfigError("file:line:column: conv2d (layer 3): ..."). `like` is the training set, prepared, or a sample of it; that its targets
/// suit the costs is checked too. Nothing is computed.
Network make_network(const Experiment& experiment, const data::Dataset& like);

/// One prepared example of the training set's shape, if that can be told without touching data.
std::optional<data::Dataset> sample_of(const Experiment& experiment);

/// 123456 as "123,456".
std::string grouped(std::int64_t number);

}  // namespace weft::train
