// Values with spatial axes, (N, C, spatial...) or (C, spatial...): the second is a batch of one while a function runs.
// Callers: functional/ alone.
#pragma once

#include "weft/nn/functional/common.h"

namespace weft::nn::functional {

/// f of x as a batch; f gives a pair.
template <class F>
auto batched2(std::string_view name, const Operand& x, std::size_t spatial, F f) {
    Tensor tensor = x.as_tensor();
    if (tensor.ndim() == spatial + 2) return f(tensor);
    if (tensor.ndim() != spatial + 1)
        refuse_shape(x, text(name, spatial, "d: the input has shape ", tensor.shape(), "; it needs ", spatial,
                             " spatial axes behind (N, C) or (C)"));
    auto [a, b] = f(expand_dims(tensor, 0));
    return std::pair(squeeze(a, {0}), squeeze(b, {0}));
}
template <class F>
Tensor batched(std::string_view name, const Operand& x, std::size_t spatial, F f) {
    return batched2(name, x, spatial,
                    [&](const Tensor& batch) {
                        Tensor y = f(batch);
                        return std::pair(y, y);
                    })
        .first;
}

}  // namespace weft::nn::functional
