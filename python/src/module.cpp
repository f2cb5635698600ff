// The extension module weft._core.
#include "object.h"

NB_MODULE(_core, module) {
    using namespace weft::python;
    nb::set_leak_warnings(false);
    open_libraries_late();
    module.doc() = "weft in C++: what the package weft is made of.";
    bind_errors(module);
    bind_dtypes(module);
    bind_tensor(module);
    bind_operations(module);
    bind_linear_algebra(module);
    bind_transforms(module);
    bind_declared(module);
    bind_random(module);
    bind_special(module);
    bind_numpy(module);
    bind_records(module);
    bind_tools(module);
    bind_optim(module);
    bind_functional(module);
    bind_experiment(module);
    bind_search(module);
}
