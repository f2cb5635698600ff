// Variables of an experiment's file: `let: {width: 500}` and what stands in ${...}: a variable, arithmetic with variables (expression.h),
// or a variable of the environment, ${env:NAME} or ${env:NAME:-what else}. A text that is one ${...} becomes the value with its type; inside
// a longer text the value is written out. $${ stands for ${ itself. Caller: train/compose.cpp.
#pragma once

#include "weft/base/json.h"

namespace weft::train {

/// The description without `let` and without any ${...}. ConfigError("file:line:column: '${widht}': there is no variable 'widht'; did you
/// mean 'width'?"); also for variables that need each other in a circle, and for values beyond a million.
Json with_variables(const Json& description);

}  // namespace weft::train
