// Debug modes, chosen by WEFT_DEBUG=nan,rewrites,trace or by debug(): slower runs that find what is wrong.
//   nan       when a result holds a NaN or an infinity, the program is run again an operation at a time; the first operation that made
//             one from finite numbers is named, with its line and its numbers (ValueError)
//   rewrites  each rewrite is run both ways on the program's real data; one that changes the result is named (InternalError)
//   trace     each operation with what it gives and where it was written (standard error)
// The modes' work is defined in check/debug.cpp, which may use all that checks use: an inversion, as eval() is one.
// Callers: runtime/evaluate.cpp, runtime/function.cpp.
#pragma once

#include <span>
#include <string_view>

#include "weft/graph/tensor.h"

namespace weft {

struct DebugModes {
    bool nan = false, rewrites = false, trace = false;
    bool any() const { return nan || rewrites || trace; }
};

/// The modes in force; at first those of WEFT_DEBUG.
const DebugModes& debug_modes();
/// Sets them: "nan,trace"; "" for none. ValueError for a name that is none.
void debug(std::string_view names);

/// What the modes in force ask of a program, all of whose leaves have numbers, and of its results (one a tensor).
void debug_run(std::span<const Tensor> tensors, std::span<const Array> results);

}  // namespace weft
