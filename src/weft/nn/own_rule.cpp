#include "weft/nn/own_rule.h"

#include "weft/nn/training.h"

namespace weft::nn {

Parameter zero_state(DType dtype, const Dims& dims) { return Parameter(Tensor(Array::zeros(dtype, dims)), "", false); }

void clear(Parameter& cell) {
    Dims dims;
    for (const Size& size : cell.shape()) dims.push_back(size.value());
    cell.set(Tensor(Array::zeros(cell.dtype(), dims)));
}

Tensor OwnRule::operator()(const Tensor& x) {
    if (begins_) {
        begins_ = false;
        begin(x.eval());
    }
    Tensor value = given(x);
    if (training() && !held_) take_down(x);
    return value;
}

}  // namespace weft::nn
