#include "weft/ops/denormal.h"

#include "weft/ops/elementwise.h"

namespace weft {
namespace {

double least_normal(DType computed) {
    return computed == DType::float64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
}

}  // namespace

WEFT_UNARY(
    normal_or_zero,
    .doc =
        "x, but 0 where it is denormal, nearer to 0 than the least normal number: so what fades away in a loop's "
        "derivative ends.",
    .takes = only_floating, .body = [](Scalar x) { return select(abs(x) < least_normal(x.dtype()), 0, x); },
    .partial = {[](Scalar, Scalar) { return Scalar(1); }})

}  // namespace weft
