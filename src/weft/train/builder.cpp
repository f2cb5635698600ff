#include "weft/train/builder.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/base/nearest.h"
#include "weft/graph/node.h"
#include "weft/nn/linear.h"
#include "weft/nn/notes.h"
#include "weft/nn/own_rule.h"
#include "weft/train/operation_count.h"
#include "weft/train/stand_ins.h"

namespace weft::train {
namespace {

/// A seed of its own for each layer (the finaliser of splitmix64; Steele et al., 2014).
std::uint64_t layer_seed(std::uint64_t seed, std::size_t layer) {
    std::uint64_t z = seed * 0x9e3779b97f4a7c15u + (layer + 1) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// What a layer is, apart from its name and from what reaches it.
Json essence(const Chosen& layer) {
    std::vector<Json::Member> members;
    for (const Json::Member& member : layer.options.members()) {
        const std::vector<Option>& common = layer_options();
        auto same = [&](const Option& option) { return option.name == member.key; };
        if (std::none_of(common.begin(), common.end(), same)) members.push_back(member);
    }
    return Json::object(std::move(members));
}

/// How a list of layers calls one of them.
std::string name_in_list(const Chosen& layer, std::size_t index) {
    const Json& name = layer_option(layer, "name");
    if (name.is_null()) return std::to_string(index);
    const std::string& word = name.as_string();
    if (word.empty() || word.find_first_of(".*?[] ") != word.npos)
        name.refuse(
            text("'", word,
                 "' cannot name a layer: it is part of its parameters' names, so it takes no '.', '*', '?' or space"));
    return word;
}

/// Writes what its layer gives where costs can see it.
struct Noted {
    nn::Module layer;
    std::string path;
    Tensor operator()(const Operand& x) const {
        Tensor value = layer(x);
        if (nn::Notes* notes = nn::Notes::current()) notes->values.emplace_back(path, value);
        return value;
    }
    template <class V>
    void members(V& visit) {
        visit("", layer);
    }
};

void freeze(const Chosen& chosen, const nn::Module& module) {
    const Json& wanted = layer_option(chosen, "freeze");
    if (wanted.is_null() || !wanted.as_bool()) return;
    if (const nn::Learner* learner = module.get<nn::Learner>()) return learner->rule()->hold();
    std::vector<Parameter> parameters = nn::parameters(module);
    if (parameters.empty()) wanted.refuse(text(chosen.entry->name, " has no parameters to freeze"));
    for (Parameter& parameter : parameters) parameter.freeze();
}

/// Before anything of it is frozen.
std::size_t parameter_count(const nn::Module& module) {
    std::size_t total = 0;
    for (const Parameter& cell : nn::parameters(module))
        total += static_cast<std::size_t>(element_count(cell.shape()).value());
    return total;
}

}  // namespace

const Json& layer_option(const Chosen& layer, std::string_view name) {
    static const Json none;
    const Json* value = layer.options.find(name);
    return value ? *value : none;
}

Tensor LayerBuilder::stand_in(const LayerPlace& place) {
    Shape shape{Size("batch")};
    for (std::int64_t size : place.input) shape.push_back(size);
    return input("x", shape, place.dtype);
}

Tensor LayerBuilder::given_by(const nn::Module& module, const LayerPlace& place) {
    StandIns cells;
    return module(stand_in(place));
}

LayerPlace LayerBuilder::behind(const nn::Module& module, const LayerPlace& place) {
    Tensor given = given_by(module, place);
    LayerPlace next = place;
    next.dtype = given.dtype();
    next.input.clear();
    for (std::size_t i = 1; i < given.ndim(); ++i) next.input.push_back(given.shape()[i].value());
    return next;
}

LayerPlace LayerBuilder::inside(const LayerPlace& place, const std::string& name, std::size_t number) {
    LayerPlace inner = place;
    inner.path = place.path.empty() || name.empty() ? place.path + name : place.path + "." + name;
    inner.seed = layer_seed(place.seed, number);
    return inner;
}

nn::Module LayerBuilder::make(const Json& description, const LayerPlace& place) {
    if (description.is_array()) return sequential(description, place);
    Chosen chosen = choose(description, "model");
    std::size_t first = layers.size();
    LayerPlace own = place;
    own.builder = this;
    auto head = [&] {
        return text(chosen.where, chosen.entry->name, place.path.empty() ? "" : text(" (layer ", place.path, ")"),
                    ": ");
    };
    try {
        const Json& share = layer_option(chosen, "share");
        nn::Module module =
            share.is_null() ? chosen.make<MakeLayer>()(chosen.options, own) : shared(share.as_string(), chosen, own);
        note(chosen, own, module, first);
        freeze(chosen, module);
        made_.emplace(place.path, module);
        return noted_.count(place.path) ? nn::Module(Noted{module, place.path}) : module;
    } catch (const ConfigError&) {
        throw;
    } catch (const InternalError&) {
        throw;
    } catch (const OutOfMemory& error) {
        throw ConfigError(
            text(head(), "its parameters need more memory than there is: ", error.what(), "; make it smaller"));
    } catch (const Error& error) {
        // The user's line is the file's: where in weft it was found is of no use.
        std::string_view what = error.what();
        throw ConfigError(text(head(), what.substr(0, what.find("\n  "))));
    }
}

const nn::Module& LayerBuilder::made(const Json& name) const {
    auto known = made_.find(name.as_string());
    if (known != made_.end()) return known->second;
    std::vector<std::string_view> paths;
    for (const auto& [path, module] : made_) paths.push_back(path);
    name.refuse(text("no layer before this one has the path '", name.as_string(), "' (--dry-run shows paths)",
                     did_you_mean(name.as_string(), paths)));
}

nn::Module LayerBuilder::shared(const std::string& name, const Chosen& chosen, const LayerPlace& place) {
    auto known = shared_.find(name);
    if (known == shared_.end()) {
        nn::Module module = chosen.make<MakeLayer>()(chosen.options, place);
        if (nn::state(module).empty())
            layer_option(chosen, "share").refuse(text(chosen.entry->name, " has no parameters to share"));
        shared_.emplace(name, Shared{chosen, place.input, place.path, module});
        return module;
    }
    const Shared& first = known->second;
    bool same =
        first.layer.entry == chosen.entry && essence(first.layer) == essence(chosen) && first.input == place.input;
    if (!same) {
        layer_option(chosen, "share")
            .refuse(text("'", name, "' is ", first.layer.entry->name, " ", json_text(essence(first.layer)), " (layer ",
                         first.path, "), which takes ", first.input, "; this is ", chosen.entry->name, " ",
                         json_text(essence(chosen)), ", and ", place.input,
                         " reaches it: layers that share parameters are the same"));
    }
    repeated_ = true;
    return first.module;
}

nn::Sequential LayerBuilder::sequential(const Json& list, const LayerPlace& place) {
    if (list.items().empty()) list.refuse("a network has at least one layer");
    nn::Sequential all;
    LayerPlace next = place;
    for (std::size_t i = 0; i < list.items().size(); ++i) {
        Chosen chosen = choose(list.items()[i], "model");
        for (const char* option : {"from", "merge"}) {
            const Json& given = layer_option(chosen, option);
            if (!given.is_null())
                given.refuse(
                    text("`", option,
                         ":` is for the nodes of a graph; in a list each layer takes what the one before gives"));
        }
        std::string name = name_in_list(chosen, i);
        LayerPlace own = inside(place, name, i);
        own.input = next.input, own.dtype = next.dtype;
        nn::Module module = make(list.items()[i], own);
        next = behind(module, own);
        try {
            all.add(module, name);
        } catch (const ValueError& error) {
            throw ConfigError(text(chosen.where, error.what()));
        }
    }
    return all;
}

void LayerBuilder::note(const Chosen& chosen, const LayerPlace& place, const nn::Module& module, std::size_t first) {
    Network::Layer layer;
    layer.path = place.path, layer.name = chosen.entry->name;
    Tensor given = given_by(module, place);
    if (given.ndim() == 0 || !(given.shape()[0] == Size("batch")))
        throw ShapeError(text("it gives ", given.shape(), ", which is not a value for each example of a batch"));
    layer.gives = given.shape(), layer.dtype = given.dtype();
    if (const auto* embedding = module.get<nn::Embedding>())
        symbols.push_back({text(chosen.entry->name, place.path.empty() ? "" : text(" (layer ", place.path, ")")),
                           chosen.where, stand_in(place).shape(), embedding->weight.shape()[0].value()});
    layer.repeated = std::exchange(repeated_, false);
    layer.parameters = layer.repeated ? 0 : static_cast<std::int64_t>(parameter_count(module));
    layer.operations = forward_operations(module, place);
    // What is inside a layer of layers has lines of its own: to it belongs what joins them.
    for (std::size_t i = first; i < layers.size(); ++i) {
        layer.operations -= layers[i].operations;
        layer.parameters = 0;
    }
    layer.holds_layers = first < layers.size();
    if (!layer.holds_layers || chosen.entry->name != "sequential") layers.push_back(std::move(layer));
}

}  // namespace weft::train
