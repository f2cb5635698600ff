// A map and a reduction of the rows that it makes, in one pass: values are stored and joined while they lie in registers (a softmax's
// exponentials, and their sum). To the bits of one loop after the other. Callers: compiler.cpp.
#pragma once

#include "weft/compile/device.h"

namespace weft::cpu {

/// Nothing where the reduction reads anything else, where rows are too short, too long or not in order in memory, or where there is no
/// machine code for it. Operands of run(): the map's loads, its store, the reduction's stores. `behind`, where its operands stand, and `turns`: see
/// KernelCompiler.
std::unique_ptr<Kernel> stored_reduction(const Loop* map, const Loop& reduction, const Loop* behind = nullptr,
                                         bool turns = false);

}  // namespace weft::cpu
