#include "weft/train/network.h"

#include <algorithm>

#include "weft/base/error.h"
#include "weft/graph/node.h"

namespace weft::train {
namespace {

/// A seed of its own for each layer (the finaliser of splitmix64; Steele et al., 2014).
std::uint64_t layer_seed(std::uint64_t seed, std::size_t layer) {
    std::uint64_t z = seed * 0x9e3779b97f4a7c15u + (layer + 1) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

Dims example_of(const Tensor& x) {
    Dims dims;
    for (std::size_t i = 1; i < x.ndim(); ++i) dims.push_back(x.shape()[i].value());
    return dims;
}

[[noreturn]] void refuse_layer(const Chosen& layer, std::size_t index, const Error& error) {
    throw ConfigError(text(layer.where, layer.entry->name, " (layer ", index, "): ", error.what()));
}

/// That every cost takes what the network says beside such targets.
void check_costs(const Experiment& experiment, const Tensor& output, const data::Dataset& like) {
    Shape shape{Size("batch")};
    for (std::size_t i = 1; i < like.y.dims.size(); ++i) shape.push_back(like.y.dims[i]);
    Tensor target = input("y", shape, like.y.dtype);
    for (const Chosen& chosen : experiment.costs) {
        CostTerm term = chosen.make<MakeCost>()(chosen.options);
        if (!term.of_output) continue;
        if (term.counts_errors && !is_integer(like.y.dtype)) {
            throw ConfigError(text(chosen.where, chosen.entry->name,
                                   " is for class numbers; the targets of these data are of ", like.y.dtype));
        }
        auto classes = static_cast<std::int64_t>(like.classes.size());
        if (term.counts_errors && output.ndim() == 2 && output.shape()[1].value() > 1 &&
            classes > output.shape()[1].value()) {
            throw ConfigError(text(chosen.where, chosen.entry->name, ": the data have ", classes,
                                   " classes, the last layer gives ", output.shape()[1], " scores"));
        }
        try {
            (void)term.of_output(output, target);
        } catch (const Error& error) {
            throw ConfigError(text(chosen.where, chosen.entry->name, ": ", error.what()));
        }
    }
}

}  // namespace

Network make_network(const Experiment& experiment, const data::Dataset& like) {
    KeepPending keep;  // shapes alone are asked for
    Network network;
    network.example = like.example();
    network.dtype = like.x_dtype();
    Shape shape{Size("batch")};
    for (std::int64_t size : network.example) shape.push_back(size);
    Tensor x = input("x", shape, network.dtype);
    for (std::size_t i = 0; i < experiment.layers.size(); ++i) {
        const Chosen& chosen = experiment.layers[i];
        try {
            LayerPlace place{example_of(x), layer_seed(experiment.seed, i)};
            nn::Module layer = chosen.make<MakeLayer>()(chosen.options, place);
            x = layer(x);
            network.layers.push_back({chosen.entry->name, x.shape(), nn::parameter_count(layer)});
            network.model.add(layer);
        } catch (const ConfigError&) {
            throw;
        } catch (const InternalError&) {
            throw;
        } catch (const Error& error) {
            refuse_layer(chosen, i, error);
        }
    }
    check_costs(experiment, x, like);
    return network;
}

std::optional<data::Dataset> sample_of(const Experiment& experiment) {
    std::optional<data::Dataset> sample = experiment.set("train")->sample();
    if (!sample) return std::nullopt;
    data::Preparation preparation(experiment.prepare);
    preparation.fit(*sample);
    return preparation.apply(*sample);
}

std::int64_t Network::parameters() const {
    std::int64_t total = 0;
    for (const Layer& layer : layers) total += layer.parameters;
    return total;
}

std::string grouped(std::int64_t number) {
    std::string digits = std::to_string(number);
    for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > (number < 0 ? 1 : 0); i -= 3)
        digits.insert(static_cast<std::size_t>(i), ",");
    return digits;
}

std::string Network::table() const {
    Shape shape{Size("batch")};
    for (std::int64_t size : example) shape.push_back(size);
    std::vector<std::vector<std::string>> rows{{"", "layer", "gives", "parameters"}, {"", "input", str(shape), ""}};
    for (std::size_t i = 0; i < layers.size(); ++i) {
        rows.push_back({std::to_string(i), layers[i].name, str(layers[i].gives),
                        layers[i].parameters ? grouped(layers[i].parameters) : ""});
    }
    rows.push_back({"", "total", "", grouped(parameters())});
    std::vector<std::size_t> widths(4);
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < 4; ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string out;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < 4; ++i) {
            std::string space(widths[i] - row[i].size(), ' ');
            line += i == 0 || i == 3 ? "  " + space + row[i] : "  " + row[i] + space;
        }
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
}

Json Network::description() const {
    Json list = Json::array();
    for (std::size_t i = 0; i < layers.size(); ++i) {
        Json layer;
        layer["name"] = std::to_string(i), layer["layer"] = layers[i].name, layer["gives"] = str(layers[i].gives);
        layer["parameters"] = layers[i].parameters;
        list.push_back(layer);
    }
    Json input = Json::array();
    for (std::int64_t size : example) input.push_back(size);
    Json all;
    all["input"] = input, all["dtype"] = std::string(name_of(dtype)), all["layers"] = list,
    all["parameters"] = parameters();
    return all;
}

}  // namespace weft::train
