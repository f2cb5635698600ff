// Makes layers of their descriptions, one after another and inside each other, and notes what each gives. Layers of layers (branches.cpp)
// ask it for what is inside them. Callers: train/network.cpp, train/branches.cpp.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "weft/train/network.h"
#include "weft/train/parts.h"

namespace weft::train {

class LayerBuilder {
  public:
    /// `batch`: what a network is given; layers at the paths in `noted` write what they give into nn::Notes.
    explicit LayerBuilder(Feed batch, std::set<std::string> noted = {})
        : feed(std::move(batch)), noted_(std::move(noted)) {}
    /// A layer, or a list of them one after another (the list is named as the place is). ConfigError("file:line:column: conv2d (layer 3.0): ...").
    nn::Module make(const Json& description, const LayerPlace& place);
    /// Each in turn, named "0", "1", ... or by its own name.
    nn::Sequential sequential(const Json& list, const LayerPlace& place);

    const Feed feed;
    std::vector<Network::Layer> layers;  // in the order in which they were made
    std::vector<std::shared_ptr<nn::OwnRule>> learners;
    std::vector<SymbolRule> symbols;
    std::vector<Parameter> of_epoch;  // state that begins at zeros with each epoch
    Json carries;                     // where the file asks for state that goes on from step to step; null: nowhere
    /// The layer made before at this path; ConfigError at `name`, which holds it, with the nearest path.
    const nn::Module& made(const Json& name) const;

    /// What a module makes of a batch of such examples: a shape and a type; nothing is computed.
    static Tensor given_by(const nn::Module& module, const LayerPlace& place);
    /// A value that stands for a batch of examples like these.
    static Tensor stand_in(const LayerPlace& place);
    /// The place behind a module: what it gives is what reaches the next one.
    static LayerPlace behind(const nn::Module& module, const LayerPlace& place);
    /// Where a part of the layer at `place` stands: "3" and "shortcut" are "3.shortcut"; with a seed of its own.
    static LayerPlace inside(const LayerPlace& place, const std::string& name, std::size_t number);

  private:
    struct Shared {
        Chosen layer;
        Dims input;
        std::string path;
        nn::Module module;
    };
    nn::Module shared(const std::string& name, const Chosen& chosen, const LayerPlace& place);
    void note(const Chosen& chosen, const LayerPlace& place, const nn::Module& module, std::size_t first);
    std::map<std::string, Shared> shared_;
    std::map<std::string, nn::Module> made_;  // by path
    std::set<std::string> noted_;
    bool repeated_ = false;  // the layer made last has the parameters of another one
};

nn::Module make_graph(const Json& options, const LayerPlace& place);  // layer_graph.cpp

/// An option that must be given: an integer from 1 on.
Option size_option(const char* name, const char* doc);  // layers.cpp

/// The layer's option of this name, or null if it has none.
const Json& layer_option(const Chosen& layer, std::string_view name);

}  // namespace weft::train
