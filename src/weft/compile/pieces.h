// Pieces of joins: what a step computes for a concatenation, or a pad, is written where it belongs in the result, which lives from its first piece on,
// so that nothing is left to copy but pieces that lie elsewhere (leaves, outputs, what a kernel cannot write with gaps).
// Callers: compile/binding.cpp, step_kernels.cpp.
#pragma once

#include "weft/compile/binding.h"

namespace weft {

/// Whether a step lays pieces into one array: a concatenation, a pad.
bool lays_pieces(const Step& step, const Graph& graph);
/// Where each piece of such a step belongs.
std::vector<View> places_of_pieces(const Step& join, const Graph& graph, const Views& views);

/// Moves slots into the results of such steps that read them, with what shows them; of each slot the one in whose memory it lies then,
/// or -1; empty: none moved. `output_of`: of each slot the output that it is, or -1: those stay where they are.
std::vector<std::int32_t> place_pieces(const Plan& plan, const Graph& graph, Views& views,
                                       const std::vector<std::int32_t>& output_of);

}  // namespace weft
