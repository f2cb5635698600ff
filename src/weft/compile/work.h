// Work: what a step has to do at least, to be held against what the machine can do. Callers: runtime/explain.cpp, runtime/profile.cpp.
#pragma once

#include "weft/compile/binding.h"

namespace weft {

struct Work {
    double bytes = 0;  // of its operands, each once
    double operations =
        0;  // additions and multiplications, of contractions and convolutions; 0 for what is bound by memory
};

Work work_of(const BoundStep& step);

}  // namespace weft
