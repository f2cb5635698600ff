#include "weft/ops/matmul_precision.h"

#include <algorithm>

#include "weft/base/error.h"

namespace weft {

MatmulPrecision::Value MatmulPrecision::value_named(std::string_view name) {
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        throw ValueError(
            text("matmul precision: products of float32 are made in float32, bfloat16, bfloat16x3 or bfloat16x6, not ",
                 name));
    return static_cast<Value>(found - names.begin());
}

}  // namespace weft
