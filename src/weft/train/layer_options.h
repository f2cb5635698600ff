// What the layers of several files take: initial values, whether something is added, sizes of each axis. Callers: layers.cpp,
// image_layers.cpp.
#pragma once

#include <optional>

#include "weft/graph/parameter.h"
#include "weft/nn/convolution.h"
#include "weft/train/parts.h"

namespace weft::train {

const Option& init_option();       // `init`
const Option& bias_init_option();  // `bias_init`
const Option& bias_option();       // `bias`

/// The parameter as an entry of the kind `init` says.
void initialise(Parameter& parameter, const Json& init, std::uint64_t seed);
/// Of a layer that takes the three above. Who says how weights begin does not mean that what is added begins at random: zero weights
/// give equal scores.
template <class Layer>
void initialise(Layer& layer, const Json& options, const LayerPlace& place) {
    const Json& init = options.at("init");
    const Json* bias_init = options.find("bias_init");
    bool given = bias_init && !bias_init->is_null();
    if (given && !layer.bias)
        bias_init->refuse("`bias: false` leaves nothing to begin with a value; leave one of both out");
    if (!init.is_null()) initialise(layer.weight, init, place.seed);
    if (layer.bias && (given || !init.is_null()))
        initialise(*layer.bias, given ? *bias_init : Json("zeros"), place.seed + 1);
}

/// One integer, or a list with one for each spatial axis. `fallback` null: it may be left out, unless it is `required`.
Option per_axis(const char* name, Json fallback, const char* doc, bool required = false);
nn::PerAxis axes_of(const Json& value, int spatial);
std::optional<nn::PerAxis> maybe_axes(const Json& value, int spatial);

}  // namespace weft::train
