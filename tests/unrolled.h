// What a loop means: its function called step after step. Callers: tests of loops.
#pragma once

#include <functional>
#include <vector>

#include "weft/autodiff/loop.h"
#include "weft/ops/join.h"
#include "weft/ops/view.h"

namespace weft {

using StepFunction = std::function<ScanStep(std::span<const Tensor>, std::span<const Tensor>)>;

/// `each_alone`: each step computed by itself, so that no rule sees two.
inline Scanned unrolled(const StepFunction& f, std::vector<Tensor> carry, const std::vector<Tensor>& xs,
                        const LoopOptions& options = {}, bool each_alone = false) {
    std::int64_t steps = options.length ? options.length->value() : xs[0].shape()[0].value();
    std::vector<std::vector<Tensor>> ys(static_cast<std::size_t>(steps));
    for (std::int64_t i = 0; i < steps; ++i) {
        std::int64_t t = options.reverse ? steps - 1 - i : i;
        std::vector<Tensor> x;
        for (const Tensor& all : xs) {
            Shape start(all.ndim(), 0), length = all.shape();
            start[0] = t, length[0] = 1;
            x.push_back(squeeze(slice(all, start, length), {0}));
        }
        ScanStep step = f(carry, x);
        if (each_alone) eval(step.carry), eval(step.y);
        carry = step.carry, ys[static_cast<std::size_t>(t)] = step.y;
    }
    Scanned all{carry, {}};
    for (std::size_t k = 0; steps > 0 && k < ys[0].size(); ++k) {
        std::vector<Tensor> of_steps;
        for (const std::vector<Tensor>& y : ys) of_steps.push_back(y[k]);
        all.ys.push_back(stack(of_steps, 0));
    }
    return all;
}

}  // namespace weft
