// Compiled functions as Python sees them, and the short way of calling them (calls.cpp). Callers: transforms.cpp.
#pragma once

#include "object.h"

namespace weft::python {

/// A traced function of a flat list of tensors.
struct Compiled {
    CompiledFunction function;
    Compiled(CompiledFunction::Body body, CompileOptions options, std::shared_ptr<Allowance> allowance)
        : function(std::move(body), options, std::move(allowance)) {}
};

/// Whether this thread is within `with KeepPending():` (transforms.cpp).
bool keeps_pending();

void bind_calls(nb::module_& module);

}  // namespace weft::python
