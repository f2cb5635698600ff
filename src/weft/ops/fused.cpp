#include "weft/ops/fused.h"

#include "weft/ops/elementwise.h"

namespace weft {

WEFT_TERNARY(
    fused_multiply_add, .doc = "a * b + c, rounded once.", .takes = only_floating,
    .body = [](Scalar a, Scalar b, Scalar c) { return fma(a, b, c); },
    .partial = {[](Scalar, Scalar b, Scalar, Scalar) { return b; }, [](Scalar a, Scalar, Scalar, Scalar) { return a; },
                [](Scalar, Scalar, Scalar, Scalar) { return Scalar(1); }})

}  // namespace weft
