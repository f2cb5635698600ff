#include "weft/look/first_layer.h"

#include <algorithm>
#include <cmath>

#include "weft/base/error.h"
#include "weft/look/originals.h"
#include "weft/ops/elementwise.h"

namespace weft::look {
namespace {

constexpr std::int64_t most_weights = 128;

struct Drawn {
    Pictured of;
    const char* thing;
};

/// Of the first weight: a row of a matrix as a picture, a kernel as itself.
Drawn first_weight(const train::Run& run, const train::Network& network, const std::string& input, std::string& name) {
    for (const nn::NamedParameter& one : nn::named(network.model)) {
        if (one.parameter.shape().size() < 2 || !is_floating(one.parameter.dtype())) continue;
        name = one.name;
        Array weight = contiguous(one.parameter.value().astype(DType::float32).array());
        if (weight.ndim() == 2 && weight.dims[1] == element_count(network.example))
            return {Originals(run, network.example, input).pictured_directions(weight), "units"};
        if (weight.ndim() != 4)
            throw ShapeError(text("'", name, "' of shape ", weight.dims, " does not have a number for each of ",
                                  network.example, ", an example"));
        std::int64_t height = weight.dims[2], width = weight.dims[3];
        return {{data::reshaped(weight, {weight.dims[0] * weight.dims[1], height * width}), {1, height, width}},
                "kernels"};
    }
    throw ShapeError("the model has no weights");
}

viz::Picture drawn(const Pictured& all, std::int64_t unit) {
    const float* first = all.row(unit);
    std::span<const float> own(first, static_cast<std::size_t>(all.rows.dims[1]));
    float most = 0;
    for (float value : own) most = std::max(most, std::abs(value));
    return all.shape.planes == 3 ? viz::colour(own, all.shape.width, all.shape.height, -most, most)
                                 : viz::signed_values(own, all.shape.width, all.shape.height, most);
}

}  // namespace

void add_first_layer(viz::Report& report, const train::Run& run, const train::Network& network,
                     const std::string& input) {
    std::string name;
    Drawn weights = first_weight(run, network, input, name);
    std::int64_t count = weights.of.size();
    for (std::int64_t unit = 0; unit < std::min(count, most_weights); ++unit)
        report.weights.push_back(drawn(weights.of, unit));
    report.weights_name =
        text(name, ", ", count > most_weights ? text("the first ", most_weights, " of ") : "", count, " ",
             weights.thing, weights.of.inverted ? ", through the inverse of `prepare:`" : "",
             weights.of.shape.planes == 3 ? "; of each colour, brighter than grey adds, darker takes away"
                                          : "; blue adds, orange takes away",
             "; each scaled to its own largest number");
}

}  // namespace weft::look
