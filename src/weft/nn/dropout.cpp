#include "weft/nn/dropout.h"

#include "weft/graph/node.h"
#include "weft/nn/functional/dropout.h"
#include "weft/nn/training.h"
#include "weft/ops/view.h"

namespace weft::nn {

Dropout::Dropout(double p) : p_(p) {
    if (!(p >= 0 && p <= 1)) throw ValueError(text("Dropout: p is ", p, "; it is a probability, between 0 and 1"));
}

Tensor Dropout::operator()(const Operand& x) const {
    LineScope line(x.where);
    Tensor tensor = x.as_tensor();
    if (!training() || p_ == 0) return tensor;
    ModuleScope scope("Dropout");
    return functional::dropout(Operand(tensor, x.where), p_);
}

Tensor Flatten::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope("Flatten");
    return flatten(x, start_dim, end_dim);
}

}  // namespace weft::nn
