// What an elementwise record computes, and its derivatives, as lines of mathematics: the bodies and partials that kernels run are
// recorded and written down, so documentation cannot say anything else. Callers: python/src/records.cpp.
#pragma once

#include <string>
#include <vector>

#include "weft/graph/operation.h"

namespace weft {

/// The names of the operands in what follows: x, or x1, x2, ...
std::vector<std::string> operand_names(const Operation& operation);
/// The value in terms of the operands. Empty where there is no body, or where it is too long to be read (a power of integers).
std::string value_formula(const Operation& operation);
/// d result / d operand, for each operand, in terms of the operands and of y, the result ("unknown": no closed
/// form). Empty for a record without partials.
std::vector<std::string> partial_formulas(const Operation& operation);

}  // namespace weft
