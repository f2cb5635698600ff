// The networks that more than one benchmark runs. Callers: bench/workloads.cpp, bench/first.cpp.
#pragma once

#include "weft/weft.h"

namespace weft::bench {

/// Two convolutions and two layers, 1,663,370 parameters, for images of (1, 28, 28).
struct ConvNet {
    nn::Conv2d first{1, 32, {5}, {.padding = {2}}}, second{32, 64, {5}, {.padding = {2}}};
    nn::Linear third{7 * 7 * 64, 512}, fourth{512, 10};
    Tensor operator()(const Tensor& x) const {
        Tensor h = max_pool2d(relu(first(x)), {2});
        h = max_pool2d(relu(second(h)), {2});
        return fourth(relu(third(flatten(h, 1))));
    }
    template <class V>
    void members(V& visit) {
        visit("first", first), visit("second", second), visit("third", third), visit("fourth", fourth);
    }
};

}  // namespace weft::bench
