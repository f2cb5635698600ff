// Work: what a step has to do at least, to be held against what the machine can do. Callers: runtime/explain.cpp, runtime/profile.cpp.
#pragma once

#include "weft/compile/quantities.h"

namespace weft {

struct BoundStep;

Work work_of(const BoundStep& step);

}  // namespace weft
