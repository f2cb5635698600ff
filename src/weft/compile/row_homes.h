// Values inside a step of rows that lie in the place of a result. What a map makes of them, element by element, as their last reader, is
// written over them: a softmax's exponentials, a product before its bias. So a block takes less of the caches, and lines of the result come
// from memory while there is something to compute, not all of them when the last part stores them.
// Callers: compile/row_kernels.cpp.
#pragma once

#include <functional>
#include <map>

#include "weft/compile/binding.h"

namespace weft {

/// The results' slots by the slots inside. `home`: whether this slot, which the step stores, may be one for what is made so: nothing that the step
/// reads lies in its memory, and that it is fetched sooner pays (KernelCompiler::fetches_results).
std::map<std::int32_t, std::int32_t> row_homes(const Plan& plan, const Graph& graph, const Views& views,
                                               const Step& step,
                                               const std::function<bool(std::int32_t slot, bool much)>& home);

}  // namespace weft
