// Special functions that take more than arrays; those of points are bound from the registry (operations.cpp).
#include "object.h"

namespace weft::python {

void bind_special(nb::module_& module) {
    module.def("multigammaln",
               [](Given a, std::int64_t d) { return object_of(special::multigammaln(operand(a, "multigammaln"), d)); });
    module.def("hyp2f1", [](Given a, Given b, Given c, Given x) {
        return object_of(
            special::hyp2f1(operand(a, "hyp2f1"), operand(b, "hyp2f1"), operand(c, "hyp2f1"), operand(x, "hyp2f1")));
    });
}

}  // namespace weft::python
