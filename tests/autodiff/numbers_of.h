// Numbers in and out of tensors, and how near two are, for the tests of derivatives, maps and loops. Callers: tests/autodiff.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <vector>

#include "weft/graph/tensor.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"

namespace weft {

using Doubles = std::vector<double>;

inline Tensor row(std::initializer_list<double> values) { return Tensor::of<double>(values); }

/// Of a tensor of float64, which it must be.
inline Doubles values(const Tensor& tensor) { return tensor.to_vector<double>(); }
/// Of a tensor of any type.
inline Doubles numbers(const Tensor& tensor) { return astype(tensor, DType::float64).to_vector<double>(); }

inline void expect_near(const Tensor& found, const Tensor& expected, double error = 1e-9) {
    ASSERT_EQ(found.dims(), expected.dims());
    ASSERT_EQ(found.dtype(), expected.dtype());
    Doubles left = numbers(found), right = numbers(expected);
    for (std::size_t i = 0; i < left.size(); ++i)
        ASSERT_NEAR(left[i], right[i], error * (1 + std::abs(right[i]))) << "element " << i;
}

}  // namespace weft
