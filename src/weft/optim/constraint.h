// Constraints: what must hold of parameters after every step (Hinton et al., 2012, for norms; Pylearn2's max_col_norm and its kin).
// A weight has PyTorch's layout: (units, inputs, ...). Norms are Euclidean. Callers: Optimizer::step.
#pragma once

#include <optional>
#include <string>

#include "weft/graph/parameter.h"

namespace weft::optim {

/// Of parameters whose name matches a glob; all that are given hold. What is within its limits stays as it is, to the bit.
struct Constraint {
    std::string match = "*";
    /// The weights into each unit: a column, where weights are written (inputs, units) as in Pylearn2; here an entry of axis 0.
    std::optional<double> max_col_norm = {}, min_col_norm = {};
    std::optional<double> max_row_norm = {};  ///< the weights out of each input: an entry of axis 1
    std::optional<double> max_kernel_norm =
        {};  ///< each window of a convolution by itself, (height, width): an entry of axes 0 and 1
    std::optional<double> max_abs = {};  ///< each number is held between minus this and this; before norms are taken
    bool non_negative = false;           ///< what is below 0 becomes 0; before norms are taken
};

/// ValueError if a limit makes no sense, ShapeError if the parameter has too few axes for it.
void check(const Constraint& constraint, const Parameter& parameter);
/// The value that holds it.
Tensor constrained(const Tensor& value, const Constraint& constraint);

}  // namespace weft::optim
