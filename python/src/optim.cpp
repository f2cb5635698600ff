// Optimizers (optim/): what changes Parameters by gradients.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "object.h"
#include "weft/optim/adam.h"
#include "weft/optim/adaptive.h"
#include "weft/optim/sgd.h"

namespace weft::python {
namespace {

using namespace optim;

std::vector<Parameter> cells(nb::handle list) {
    std::vector<Parameter> all;
    for (nb::handle cell : list) all.push_back(nb::cast<Parameter>(cell));
    return all;
}

}  // namespace

void bind_optim(nb::module_& m) {
    nb::class_<Optimizer>(m, "Optimizer")
        .def("update",
             [](Optimizer& self, Given parameters, Given gradients) {
                 std::vector<Parameter> all = cells(parameters);
                 std::vector<Tensor> given = tensors(gradients, "step");
                 self.step(all, given);
             })
        .def("prepare", [](Optimizer& self, Given parameters) { self.prepare(cells(parameters)); })
        .def("cells",
             [](const Optimizer& self) {
                 nb::list all;
                 for (const Parameter& cell : self.state()) all.append(nb::cast(cell));
                 return all;
             })
        .def("rates",
             [](const Optimizer& self) {
                 nb::list all;
                 for (std::string_view name : self.rates()) all.append(nb::str(name.data(), name.size()));
                 return all;
             })
        .def("get", [](const Optimizer& self, const std::string& rate) { return self.get(rate); })
        .def("set", [](Optimizer& self, const std::string& rate, double value) { self.set(rate, value); });
    nb::class_<SGD, Optimizer>(m, "SGD").def(
        "__init__", [](SGD* self, double lr, double momentum, double dampening, double weight_decay, bool nesterov) {
            new (self) SGD({lr, momentum, dampening, weight_decay, nesterov});
        });
    nb::class_<Adam, Optimizer>(m, "Adam").def(
        "__init__", [](Adam* self, double lr, double beta1, double beta2, double eps, double weight_decay) {
            new (self) Adam({lr, beta1, beta2, eps, weight_decay});
        });
    nb::class_<AdamW, Optimizer>(m, "AdamW")
        .def("__init__", [](AdamW* self, double lr, double beta1, double beta2, double eps, double weight_decay) {
            new (self) AdamW({lr, beta1, beta2, eps, weight_decay});
        });
    nb::class_<RMSprop, Optimizer>(m, "RMSprop")
        .def("__init__", [](RMSprop* self, double lr, double alpha, double eps, double weight_decay, double momentum,
                            bool centered) {
            new (self) RMSprop({lr, alpha, eps, weight_decay, momentum, centered});
        });
    nb::class_<Adagrad, Optimizer>(m, "Adagrad")
        .def("__init__",
             [](Adagrad* self, double lr, double lr_decay, double weight_decay, double initial, double eps) {
                 new (self) Adagrad({lr, lr_decay, weight_decay, initial, eps});
             });
    m.def("clip_norm",
          [](Given gradients, double most) { return list_of(clip_norm(tensors(gradients, "clip_norm"), most)); });
}

}  // namespace weft::python
