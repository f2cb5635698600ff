// The axes along which data vary, most first. Callers: data/steps_whiten.cpp, nn/pca.cpp.
#pragma once

#include "weft/graph/tensor.h"

namespace weft::linalg {

/// The widest covariance that is taken: of its eigenvectors 2 GB.
inline constexpr std::int64_t most_principal_width = 16384;

struct PrincipalAxes {
    Tensor variances;  // (n,), descending, not below 0
    Tensor vectors;    // (n, n), an axis a row
};

/// Eigenvectors of a covariance (n, n), each one's largest number positive, so that the sign is the data's alone. Computed at once.
PrincipalAxes principal_axes(const Tensor& covariance);

}  // namespace weft::linalg
