// Padding with what stands in the array. Zeros and other constants: ops/join.h. Callers: users, nn/.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

/// Of "a b c", two to each side. By NumPy's names (PyTorch's: replicate is edge, circular is wrap).
enum class PadMode : std::uint8_t {
    constant,     // 0 0 a b c 0 0: the numbers of `values`
    edge,         // a a a b c c c
    reflect,      // c b a b c b a
    symmetric,    // b a a b c c b
    wrap,         // b c a b c a b
    linear_ramp,  // from the edge in equal steps to the numbers of `values`
    maximum,      // the largest, least, mean or middle of the first (last) stat_length elements
    minimum,
    mean,
    median
};
PadMode pad_mode_named(std::string_view name);  ///< ValueError names those that are known

struct PadOptions {
    std::vector<std::pair<double, double>> values =
        {};  ///< constant and linear_ramp: before and after each axis; 0 where none
    std::vector<std::pair<std::int64_t, std::int64_t>> lengths =
        {};            ///< statistics: of how many elements, on each side; all where none
    bool odd = false;  ///< reflect and symmetric: twice the edge minus what is mirrored
};
/// x with before[i] and after[i] elements more along axis i, one axis after the other, as NumPy does.
/// ValueError where an axis without elements is to be continued.
Tensor pad(const Operand& x, const Dims& before, const Dims& after, PadMode mode, const PadOptions& options = {});

/// take(x, places, axis) of places that are there, along an axis of known size: where they are few stretches that run on, run back or stay,
/// slices that are joined.
Tensor take_stretches(const Tensor& x, const std::vector<std::int64_t>& places, std::int64_t axis);

}  // namespace weft
