#include "weft/data/principal_axes.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "weft/ops/linalg.h"

namespace weft::data {

PrincipalAxes principal_axes(const Tensor& covariance) {
    std::int64_t width = covariance.shape()[0].value();
    linalg::Eigen found = linalg::eigh(covariance);
    Array values = contiguous(found.values.array()), columns = contiguous(found.vectors.array());
    PrincipalAxes axes;
    axes.vectors = Array::empty(float64, {width, width});
    for (std::int64_t row = 0; row < width; ++row) {  // eigh's values ascend
        std::int64_t column = width - 1 - row;
        axes.variances.push_back(std::max(0.0, values.data<double>()[column]));
        double* axis = axes.vectors.data<double>() + row * width;
        for (std::int64_t i = 0; i < width; ++i) axis[i] = columns.data<double>()[i * width + column];
        double* largest =
            std::max_element(axis, axis + width, [](double a, double b) { return std::abs(a) < std::abs(b); });
        if (*largest < 0) std::transform(axis, axis + width, axis, std::negate<>());
    }
    return axes;
}

}  // namespace weft::data
