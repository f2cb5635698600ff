// The records of logic.inc become operations here.
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

// Of complex numbers, linear over the real ones. A cotangent c stands for the change Re(c dz).
Tensor transpose_real(const Tensor&, std::size_t, const Tensor& cotangent) {
    return make_complex(cotangent, zeros_like(cotangent));
}
Tensor transpose_imag(const Tensor&, std::size_t, const Tensor& cotangent) {
    return make_complex(zeros_like(cotangent), -cotangent);
}
Tensor transpose_conj(const Tensor&, std::size_t, const Tensor& cotangent) { return conj(cotangent); }

Tensor transpose_make_complex(const Tensor& result, std::size_t i, const Tensor& cotangent) {
    const Node& input = *result.node()->inputs[i];
    return astype(sum_to(i == 0 ? real(cotangent) : -imag(cotangent), input.shape), input.dtype);
}
Tensor jvp_make_complex(const Tensor& result, std::span<const Tensor> tangents) {
    DType dtype = real_of(result.dtype());
    auto part = [&](const Tensor& t) { return t ? astype(t, dtype) : zeros({}, dtype); };
    Tensor tangent = make_complex(part(tangents[0]), part(tangents[1]));
    return tangent.shape() == result.shape() ? tangent : broadcast_to(tangent, result.shape());
}

}  // namespace

#include "weft/ops/logic.inc"

}  // namespace weft
