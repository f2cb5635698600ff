#include "weft/optim/no_gradients.h"

#include "weft/base/error.h"

namespace weft::optim {

void NoGradients::check(std::span<const Parameter> parameters) const {
    if (parameters.empty()) return;
    throw ValueError(text("of_layers: '", parameters[0].name(),
                          "' is learned by gradients, and layers that learn by themselves have none for it; name an "
                          "optimizer, as in adam, or freeze it"));
}

}  // namespace weft::optim
