// Values that are made again: what waits through the step at which most lives at once, for a reader far behind it (an activation that
// only the gradient of a weight reads again, a normalisation's result), is computed anew in front of that reader, by the same operations,
// where what it is made of waits there anyway. Callers: compile/frugal.cpp.
#pragma once

#include "weft/compile/plan.h"

namespace weft {

/// Does so as long as the most that lives at once becomes less by it, with elementwise values of at least `least` bytes. `bytes`: what each
/// slot takes of the arena. A slot may then be written by two steps: who reads it reads what was written last.
void make_again(Plan& plan, const Graph& graph, const std::vector<std::size_t>& bytes, std::size_t least);

}  // namespace weft
