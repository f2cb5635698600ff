// Debug modes, chosen by WEFT_DEBUG=nan,rewrites,trace or debug(): slower runs that find what is wrong.
//   nan       when a result holds a NaN or an infinity that no leaf held, the program is run again an operation at a time; the first
//             operation that made one from finite numbers is named, with its line and the numbers (ValueError)
//   rewrites  before a program runs for the first time, each rewrite is run both ways on its real data; one that changes the result is
//             named (InternalError)
//   trace     each operation as it runs: what it gives, and from where it was written (standard error)
// Callers: runtime/evaluate.cpp, runtime/function.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "weft/graph/graph.h"

namespace weft {

struct DebugModes {
    bool nan = false, rewrites = false, trace = false;
    bool any() const { return nan || rewrites || trace; }
};

/// The modes in force; at first those of WEFT_DEBUG.
const DebugModes& debug_modes();
/// Sets them: "nan,trace"; "" for none. ValueError for a name that is none.
void debug(std::string_view names);

/// Before a run of the graph with its leaves at these addresses.
void debug_before(const Graph& graph, std::span<void* const> leaves);
/// After it, with the results; the leaves must still hold what they held.
void debug_after(const Graph& graph, std::span<void* const> leaves, std::span<const Array> results);

}  // namespace weft
