// What a network says of itself: how many parameters it has, its table, and what model.yaml holds.
#include <algorithm>

#include "weft/train/network.h"

namespace weft::train {

std::int64_t Network::parameters() const {
    std::int64_t total = 0;
    for (const Layer& layer : layers) total += layer.parameters;
    return total;
}

std::int64_t Network::trained() const { return nn::parameter_count(model); }

std::string grouped(std::int64_t number) {
    std::string digits = std::to_string(number);
    for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > (number < 0 ? 1 : 0); i -= 3)
        digits.insert(static_cast<std::size_t>(i), ",");
    return digits;
}

std::vector<std::pair<std::string, std::string>> Network::inputs() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (std::string_view name : feed.inputs()) {
        Shape shape{Size("batch")};
        for (std::int64_t size : feed.input(name)->example) shape.push_back(size);
        all.emplace_back(all.empty() && feed.inputs().size() == 1 ? "input" : text("input ", name), str(shape));
    }
    return all;
}

std::string Network::table() const {
    std::vector<std::vector<std::string>> rows{{"", "layer", "gives", "parameters"}};
    for (const auto& [name, gives] : inputs()) rows.push_back({"", name, gives, ""});
    for (std::size_t i = 0; i < layers.size(); ++i) {
        rows.push_back({layers[i].path, layers[i].name, str(layers[i].gives),
                        layers[i].repeated     ? "shared"
                        : layers[i].parameters ? grouped(layers[i].parameters)
                                               : ""});
    }
    rows.push_back({"", "total", "", grouped(parameters())});
    if (trained() != parameters()) rows.push_back({"", "trained", "", grouped(trained())});
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
        layer["name"] = layers[i].path, layer["layer"] = layers[i].name, layer["gives"] = str(layers[i].gives);
        layer["parameters"] = layers[i].parameters;
        list.push_back(layer);
    }
    Json input = Json::array();
    for (std::int64_t size : example) input.push_back(size);
    Json all, inputs = Json::object();
    all["input"] = input;
    for (std::string_view name : feed.inputs())
        for (std::int64_t size : feed.input(name)->example) inputs[name].push_back(size);
    if (inputs.size() > 1) all["inputs"] = inputs;  // each by its name; `input` is the first
    all["dtype"] = std::string(name_of(dtype)), all["layers"] = list, all["parameters"] = parameters();
    return all;
}

}  // namespace weft::train
