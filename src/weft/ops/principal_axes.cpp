#include "weft/ops/principal_axes.h"

#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/linalg.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft::linalg {

PrincipalAxes principal_axes(const Tensor& covariance) {
    Eigen found = eigh(covariance);  // its values ascend
    Tensor vectors = flip(found.vectors.T(), {0});
    Tensor largest = take_along_axis(vectors, expand_dims(argmax(abs(vectors), 1), 1), 1);
    const Tensor both[] = {maximum(flip(found.values, {0}), 0.0), vectors * sign(largest)};
    eval(both);  // together: the factorization is made once
    return {both[0], both[1]};
}

}  // namespace weft::linalg
