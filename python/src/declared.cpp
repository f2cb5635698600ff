// Declared expressions: inputs, functions of them, derivatives of what was declared. Trees, names and documentation are weft/_declared.py's.
#include "weft/autodiff/declared.h"

#include "object.h"
#include "weft/graph/node.h"
#include "weft/ops/elementwise.h"
#include "weft/runtime/declared.h"

namespace weft::python {
namespace {

Variable variable(nb::handle object, const char* operation) {
    if (nb::isinstance<Parameter>(object)) return nb::cast<Parameter&>(object);
    return tensor(object, operation);
}
std::vector<Variable> variables(nb::handle list, const char* operation) {
    std::vector<Variable> found;
    for (nb::handle object : list) found.push_back(variable(object, operation));
    return found;
}

/// bool, integers, floating, complex: what is of a lower kind becomes the higher one without loss of meaning.
int kind(DType dtype) { return is_complex(dtype) ? 3 : is_floating(dtype) ? 2 : dtype == DType::bool_ ? 0 : 1; }

/// What takes the place of something of this dtype: plain numbers and lists of them become it, arrays are what they are.
Tensor in_place_of(nb::handle object, DType wanted) {
    std::optional<Operand> known = operand_of(object.ptr());
    Tensor given = tensor(object, "function");
    bool plain = known ? known->weak() : true;
    return plain && kind(given.dtype()) <= kind(wanted) ? astype(given, wanted) : given;
}

std::vector<std::pair<Parameter, Tensor>> updates_of(nb::handle pairs) {
    std::vector<std::pair<Parameter, Tensor>> updates;
    for (nb::handle pair : pairs) {
        Parameter parameter = nb::cast<Parameter&>(pair[nb::int_(0)]);  // what the pair gives may be new
        updates.emplace_back(parameter, in_place_of(pair[nb::int_(1)], parameter.dtype()));
    }
    return updates;
}

std::vector<std::pair<Tensor, Tensor>> givens_of(nb::handle pairs) {
    std::vector<std::pair<Tensor, Tensor>> givens;
    for (nb::handle pair : pairs) {
        Tensor old = tensor(pair[nb::int_(0)], "function");
        givens.emplace_back(old, in_place_of(pair[nb::int_(1)], old.dtype()));
    }
    return givens;
}

struct Declared {
    Declaration declaration;
    CompiledFunction function;
    explicit Declared(Declaration declared) : declaration(std::move(declared)), function(declaration) {}

    std::vector<Tensor> given(nb::handle list) const {
        std::vector<Tensor> arguments;
        for (nb::handle object : list) {
            std::size_t i = arguments.size();
            arguments.push_back(i < declaration.inputs().size() ? in_place_of(object, declaration.inputs()[i].dtype())
                                                                : tensor(object, "function"));
        }
        return arguments;
    }
};

}  // namespace

void bind_declared(nb::module_& m) {
    m.def("input", [](const std::string& name, Given sizes, Given type) {
        return object_of(input(name, shape(sizes, "input"), dtype(type).value_or(DType::float32), here()));
    });
    m.def("input_name", [](Given x) -> nb::object {
        Tensor given = tensor(x, "function");
        if (given.node()->operation != &input_operation) return nb::none();
        return nb::cast(given.node()->attributes_as<InputAttributes>().name);
    });
    nb::class_<Declared>(m, "Declared")
        .def("__init__",
             [](Declared* self, Given inputs, Given outputs, Given updates, Given givens, bool unused) {
                 new (self) Declared(Declaration(tensors(inputs, "function"), tensors(outputs, "function"),
                                                 updates_of(updates), {givens_of(givens), unused}));
             })
        .def("__call__",
             [](const Declared& self, Given list) {
                 std::vector<Tensor> arguments = self.given(list);
                 return list_of(without_gil([&] { return self.function(arguments); }));
             })
        .def("expressions",
             [](const Declared& self, Given list) { return list_of(self.declaration(self.given(list))); });
    m.def("declared_gradient", [](Given loss, Given wrt, Given constants, Given known) {
        GradientOptions options{variables(constants, "gradient"), {}};
        for (nb::handle pair : known) {
            Variable of = variable(pair[nb::int_(0)], "gradient");
            Tensor slope = in_place_of(pair[nb::int_(1)], of.value().dtype());
            options.known_grads.emplace_back(std::move(of), std::move(slope));
        }
        return list_of(
            gradient(loss.is_none() ? Tensor() : tensor(loss, "gradient"), variables(wrt, "gradient"), options));
    });
    m.def("rop", [](Given outputs, Given wrt, Given tangents) {
        return list_of(rop(tensors(outputs, "rop"), variables(wrt, "rop"), tensors(tangents, "rop")));
    });
    m.def("lop", [](Given outputs, Given wrt, Given cotangents) {
        return list_of(lop(tensors(outputs, "lop"), variables(wrt, "lop"), tensors(cotangents, "lop")));
    });
}

}  // namespace weft::python
