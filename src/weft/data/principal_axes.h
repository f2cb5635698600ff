// The axes along which data vary, most first. Callers: data/steps_whiten.cpp, nn/pca.cpp.
#pragma once

#include <vector>

#include "weft/graph/tensor.h"

namespace weft::data {

/// The widest covariance that is taken: of its eigenvectors 2 GB.
inline constexpr std::int64_t most_principal_width = 16384;

struct PrincipalAxes {
    std::vector<double> variances;  // descending
    Array vectors;                  // (width, width), an axis a row
};

/// Eigenvectors of a covariance (width, width) of float64, the numbers' largest part positive, so that the sign is the data's alone.
PrincipalAxes principal_axes(const Tensor& covariance);

}  // namespace weft::data
