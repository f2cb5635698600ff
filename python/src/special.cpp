// Special functions that take more than arrays; those of points are bound from the registry (operations.cpp).
#include "object.h"

namespace weft::python {

void bind_special(nb::module_& module) {
    module.def("multigammaln", [](Given a, std::int64_t d) {
        return object_of(special::multigammaln(operand(a, "multigammaln"), d));
    });
}

}  // namespace weft::python
