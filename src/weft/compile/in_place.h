// In place: when a step may write a slot over what it reads. Callers: compile/binding.cpp, for buffers that die and leaves that were
// given up.
#pragma once

#include "weft/compile/binding.h"

namespace weft {

/// Whether `slot`, which the step stores, may lie where the step reads from `base`: nothing of it is read after it was written over, in
/// whatever order the step's points, or its blocks of rows, are computed.
bool may_write_over(const Plan& plan, const Graph& graph, const Views& views, const Step& step, std::int32_t slot,
                    const Base& base);

/// Whether what is read by this view lies element by element where `stored` does.
bool lies_alike(const View& view, const Layout& stored);

}  // namespace weft
