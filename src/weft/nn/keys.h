// What constructors of layers share: a key split for weight and bias, and the check of a size. Callers: nn/ alone.
#pragma once

#include <vector>

#include "weft/base/error.h"
#include "weft/graph/tensor.h"

namespace weft::nn {

/// Keys of a layer's weight and bias, from its own; both empty (the global generator's next ones) if that is empty.
struct TwoKeys {
    Tensor first, second;
};
TwoKeys two_keys(const Tensor& key);
/// Keys of so many parameters, from their layer's; all empty if that is.
std::vector<Tensor> keys_of(const Tensor& key, std::size_t count);

/// ValueError("Linear: in_features is 0; it must be at least 1")
inline void check_positive(std::string_view layer, std::string_view what, std::int64_t value) {
    if (value < 1) throw ValueError(text(layer, ": ", what, " is ", value, "; it must be at least 1"));
}

}  // namespace weft::nn
