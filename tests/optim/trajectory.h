// The reference that optimizers are held against: ten lines of plain double arithmetic a rule, run beside it on the same gradients.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "weft/ops/creation.h"
#include "weft/optim/optimizer.h"
#include "weft/runtime/function.h"

namespace weft::optim {

inline constexpr int steps = 30;
inline const std::vector<double> start = {0.5, -1.25, 3.0, 0.0};

inline double gradient_at(int step, std::size_t i) {
    return std::sin(1.7 * step + static_cast<double>(i)) * (1 + 0.3 * static_cast<double>(i));
}

/// The values after `steps` steps of formula(value, gradient, t, state) with t from 1; a state of zeros for each number.
template <class Formula>
std::vector<double> reference(Formula formula, double initial_state = 0) {
    std::vector<double> values = start;
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::array<double, 3> state{initial_state, 0, 0};
        for (int t = 1; t <= steps; ++t) formula(values[i], gradient_at(t, i), t, state);
    }
    return values;
}

inline Tensor gradient_tensor(int step, DType dtype) {
    std::vector<double> g;
    for (std::size_t i = 0; i < start.size(); ++i) g.push_back(gradient_at(step, i));
    return Tensor::of(g, {2, 2}).astype(dtype).eval();
}

inline std::vector<double> run(Optimizer& optimizer, DType dtype, bool traced) {
    Parameter parameter(Tensor::of(start, {2, 2}).astype(dtype).eval(), "weight");
    CompiledFunction step([&](std::span<const Tensor> inputs) {
        optimizer.step(std::vector<Parameter>{parameter}, inputs);
        return std::vector<Tensor>{zeros({})};
    });
    for (int t = 1; t <= steps; ++t) {
        std::vector<Tensor> gradients = {gradient_tensor(t, dtype)};
        if (traced)
            step(gradients);
        else
            optimizer.step(std::vector<Parameter>{parameter}, gradients);
    }
    return parameter.value().astype(DType::float64).to_vector<double>();
}

// float64 holds the reference to rounding; float32 loses a few units in its last place a step.
template <class Make>
void expect_trajectory(Make make, const std::vector<double>& expected) {
    for (bool traced : {false, true}) {
        auto wide = make(), narrow = make();
        std::vector<double> exact = run(wide, DType::float64, traced), rounded = run(narrow, DType::float32, traced);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_NEAR(exact[i], expected[i], 1e-12) << (traced ? "traced" : "eager") << " float64, number " << i;
            EXPECT_NEAR(rounded[i], expected[i], 1e-5) << (traced ? "traced" : "eager") << " float32, number " << i;
        }
    }
}

}  // namespace weft::optim
