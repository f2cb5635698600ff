// How values are joined: along axes that are reduced away, and where several are written to one place. The names alone, for operations;
// what they do to memory stands in kernel/loop.h. Callers: ops/, kernel/loop.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "weft/core/dtype.h"
#include "weft/core/literal.h"
#include "weft/kernel/program.h"

namespace weft {

/// How values of a point are joined along the reduced axes. argmax and argmin give the int64 position of the first best value in
/// row-major order of the reduced axes (the first NaN, if there is one, as NumPy). any and all work on bool.
enum class Reduction : std::uint8_t { sum, product, maximum, minimum, any, all, argmax, argmin };

/// The value that joining starts from: 0 for a sum, the lowest value (-inf) for maximum ... ; none for argmax and argmin.
Literal identity_of(Reduction reduction, DType dtype);

/// The type of the result of joining values of this type: int64 for argmax and argmin, else the same.
DType result_dtype(Reduction reduction, DType dtype);

std::string_view name_of(Reduction reduction);

/// What a scatter does with a value: it takes the place of what lies where it belongs, is added to it, or takes its place where it is the
/// greater (the lesser) of both; of a number and NaN, NaN stays.
enum class ScatterMode : std::uint8_t { set, add, maximum, minimum };
std::string_view name_of(ScatterMode mode);
/// The opcode that joins such values, (value, what lies there); none for `set`. Truth values are added as "or".
std::optional<Opcode> opcode_of(ScatterMode mode, DType dtype);

}  // namespace weft
