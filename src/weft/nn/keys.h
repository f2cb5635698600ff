// What constructors of layers share: a key split for weight and bias, and the check of a size. Callers: nn/ alone.
#pragma once

#include "weft/base/error.h"
#include "weft/graph/tensor.h"

namespace weft::nn {

/// Keys of a layer's weight and bias, from its own; both empty (the global generator's next ones) if that is empty.
struct TwoKeys {
    Tensor first, second;
};
TwoKeys two_keys(const Tensor& key);

/// ValueError("Linear: in_features is 0; it must be at least 1")
inline void check_positive(std::string_view layer, std::string_view what, std::int64_t value) {
    if (value < 1) throw ValueError(text(layer, ": ", what, " is ", value, "; it must be at least 1"));
}

}  // namespace weft::nn
