// The network that a phase describes, made for examples of a shape: the input width of each layer inferred, its output shape asked of the
// layer itself. An error names the layer and its place in the file. Callers: train/trainer.cpp, train/run.cpp, cli/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weft/nn/sequential.h"
#include "weft/train/data_checks.h"
#include "weft/train/feed.h"
#include "weft/train/phase.h"

namespace weft::nn {
class OwnRule;
}

namespace weft::train {

struct Network {
    nn::Module model = nn::Identity();
    struct Layer {
        std::string path;  // "2", or "2.0" inside a layer of layers
        std::string name;
        Shape gives;
        DType dtype = DType::float32;
        std::int64_t parameters = 0;  // frozen ones too
        double operations = 0;        // of its value for one example
        bool holds_layers = false;    // what is inside has lines of its own
        bool repeated = false;        // its parameters are another layer's
    };
    std::vector<Layer> layers;
    std::vector<std::string> added,
        told;  // the names of what layers add to the cost, and of what they tell (nn/notes.h)
    std::vector<std::shared_ptr<nn::OwnRule>> learners;  // layers that learn by rules of their own, and are not held
    std::vector<Parameter> of_epoch;                     // state that begins at zeros with each epoch
    Json carries;                     // where the file asks for state that goes on from step to step; null: nowhere
    Dims example;                     // the shape of an example
    DType dtype = DType::float32;     // of x in a batch
    Feed feed;                        // what else a batch has
    std::vector<LabelRule> labels;    // what its costs take for class numbers
    std::vector<SymbolRule> symbols;  // ... its embeddings for symbols

    std::int64_t parameters() const;
    std::int64_t trained() const;  // of these, what is not frozen
    /// What it is given, and the shapes of that: "input", of several each with its name.
    std::vector<std::pair<std::string, std::string>> inputs() const;
    /// A line a layer, and the total.
    std::string table() const;
    Json description() const;  // what model.yaml holds
};

/// ConfigError("file:line:column: conv2d (layer 3): ..."). `like` is the training set, prepared, or a sample of it; that its targets,
/// where it has some, suit the costs, and what `freeze:` and the optimizer's groups name, is checked too. Nothing is computed.
Network make_network(const Phase& phase, const data::Dataset& like);

/// That a last batch of an epoch that is not full can be learned from. ConfigError names the layer that does not take it.
void check_last_batch(const Phase& phase, const Network& network, const data::Dataset& train);

/// That the rows of batches go on as carried state does. `examples`: of the training set; 0: not known yet. ConfigError.
/// That `last: drop` leaves a batch over. ConfigError.
void check_dropped(const Phase& phase, std::int64_t examples);
void check_carried(const Phase& phase, const Network& network, std::int64_t examples = 0);

/// One prepared example of the training set's shape (data::ChosenSource::sample); nothing if only all of the data tell what becomes of it.
std::optional<data::Dataset> sample_of(const Phase& phase);

/// What one phase hands on to the next: parameters of the same name. ConfigError if one has another shape, or none is the same.
void check_handed_on(const Network& from, const Network& to, const Phase& phase);
/// Gives `to` the values that `from` has of the same names.
void hand_on(const Network& from, Network& to);

/// 123456 as "123,456".
std::string grouped(std::int64_t number);

}  // namespace weft::train
