// What tests of operations expect: shapes in their words, and numbers that are near. Callers: tests/ops.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>

#include "weft/check/compare.h"
#include "weft/graph/tensor.h"

namespace weft {

inline Shape shape(std::initializer_list<Size> sizes) { return Shape(sizes); }

inline void expect_near(const Tensor& found, const Tensor& expected, double allowed) {
    EXPECT_EQ(difference(expected.array(), found.array(), allowed, 0), "");
}

}  // namespace weft
