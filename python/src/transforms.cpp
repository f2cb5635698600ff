// Derivatives and compiled functions over flat lists of tensors; trees and calling conventions are weft/_transforms.py's.

#include "calls.h"
#include "object.h"
#include "weft/autodiff/cond.h"
#include "weft/autodiff/while.h"
#include "weft/graph/made_nodes.h"
#include "weft/graph/node.h"
#include "weft/ops/contraction.h"
#include "weft/runtime/allowance.h"

namespace weft::python {
namespace {

/// A Python object that C++ may let go of on any thread, also when Python has ended.
struct Held {
    nb::object function;
    explicit Held(nb::object given) : function(std::move(given)) {}
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
        if (!Py_IsInitialized()) {
            function.release();
            return;
        }
        nb::gil_scoped_acquire gil;
        function.reset();
    }
};

/// A function of Python's that is traced: with the GIL, from whatever thread traces.
class Body {
  public:
    explicit Body(nb::object function) : function_(std::make_shared<Held>(std::move(function))) {}
    std::vector<Tensor> operator()(std::span<const Tensor> arguments) const {
        nb::gil_scoped_acquire gil;
        nb::list list;
        for (const Tensor& argument : arguments) list.append(object_of(argument));
        return tensors(function_->function(list), "compile");
    }

  private:
    std::shared_ptr<Held> function_;
};

/// A rule of Python's: from lists of inputs and of cotangents to a list of cotangents, None for zero.
std::shared_ptr<const CustomRule> rule_of(const std::string& name, nb::object function) {
    auto rule = std::make_shared<CustomRule>();
    rule->name = name;
    rule->pull = [held = std::make_shared<Held>(std::move(function))](std::span<const Tensor> inputs,
                                                                      std::span<const Tensor> cotangents) {
        nb::gil_scoped_acquire gil;
        nb::object found =
            held->function(list_of({inputs.begin(), inputs.end()}), list_of({cotangents.begin(), cotangents.end()}));
        std::vector<Tensor> results;
        for (nb::handle one : found) results.push_back(one.is_none() ? Tensor() : tensor(one, "custom_vjp"));
        return results;
    };
    return rule;
}

/// What the programs of one function may take together.
struct Allowed {
    std::shared_ptr<Allowance> allowance = std::make_shared<Allowance>();
};

/// `with KeepPending():` nothing is computed because much waits, and what is computed keeps what its derivative will ask for.
struct Keeping {
    std::optional<KeepPending> keeping;
    static thread_local int depth;  // of such blocks on this thread
    void enter() { keeping.emplace(), ++depth; }
    void exit() {
        if (keeping) --depth;
        keeping.reset();
    }
};
thread_local int Keeping::depth = 0;

}  // namespace

bool keeps_pending() { return Keeping::depth > 0; }

namespace {

/// `with MadeNodes() as made:` the same, and what is made meanwhile is written down.
struct Making {
    Keeping keeping;
    std::optional<MadeNodes> made;
    std::vector<Tensor> nodes() const { return {made->nodes().begin(), made->nodes().end()}; }
};

/// What a cell may hold: compiled functions write a cell's new value over its old one, so the memory must be weft's, never another's that is
/// shown through a tensor.
Tensor of_its_own(const Tensor& value) {
    if (value.node()->symbolic && !value.computed()) return value;
    compute(value);
    Array array = value.array(), copy = Array::empty(array.dtype, array.dims);
    copy_elements(array, copy);
    return copy;
}

std::vector<ExampleAxis> axes_of(Given list) {
    std::vector<ExampleAxis> axes;
    for (nb::handle axis : list)
        axes.push_back(axis.is_none() ? ExampleAxis() : ExampleAxis(integer(axis, "vmap", "an axis")));
    return axes;
}

std::vector<std::string> names_of(Given list) {
    std::vector<std::string> names;
    for (nb::handle name : list) names.push_back(nb::cast<std::string>(name));
    return names;
}

}  // namespace

void bind_transforms(nb::module_& m) {
    nb::class_<Parameter>(m, "Parameter",
                          "A named cell that holds a tensor and can be given a new one: a weight.\n\n"
                          ">>> w = wf.Parameter(wf.ones(2), name=\"w\")\n"
                          ">>> w.value = w - 0.5\n"
                          ">>> w\n"
                          "Parameter('w', array([0.5, 0.5], dtype=float32))\n")
        .def(
            "__init__",
            [](Parameter* self, Given value, const std::string& name, bool trainable) {
                new (self) Parameter(of_its_own(tensor(value, "Parameter")), name, trainable);
            },
            nb::arg("value"), nb::arg("name") = "", nb::arg("trainable") = true)
        .def_prop_rw(
            "value", [](const Parameter& self) { return object_of(self.value()); },
            [](Parameter& self, Given value) { self.set(of_its_own(tensor(value, "Parameter")), here()); },
            "The tensor that it holds now.")
        .def_prop_rw(
            "name", [](const Parameter& self) { return self.name(); },
            [](Parameter& self, const std::string& name) { self.rename(name); })
        .def_prop_rw(
            "trainable", [](const Parameter& self) { return self.trainable(); },
            [](Parameter& self, bool trainable) { self.freeze(!trainable); })
        .def_prop_ro("shape", [](const Parameter& self) { return object_of(self.value()).attr("shape"); })
        .def_prop_ro("dtype", [](const Parameter& self) { return dtype_object(self.dtype()); });
    nb::class_<Keeping>(m, "KeepPending")
        .def(nb::init<>())
        .def("__enter__", [](Keeping& self) { self.enter(); })
        .def("__exit__", [](Keeping& self, Given, Given, Given) { self.exit(); });
    nb::class_<Making>(m, "MadeNodes")
        .def(nb::init<>())
        .def(
            "__enter__",
            [](Making& self) -> Making& {
                self.keeping.enter(), self.made.emplace();
                return self;
            },
            nb::rv_policy::reference)
        .def("__exit__", [](Making& self, Given, Given, Given) { self.made.reset(), self.keeping.exit(); });
    m.def("keeps_pending", keeps_pending);
    m.def("fresh", [](Given x) { return object_of(fresh(tensor(x, "grad"))); });
    m.def("is_symbolic", [](Given x) {
        bool cell = nb::isinstance<Parameter>(x);  // read while a program is traced, it is one of its inputs
        return (cell || is_tensor(x.ptr())) && tensor(x, "compile").node()->symbolic;
    });
    m.def("gradient",
          [](Given loss, Given wrt) { return list_of(gradient(tensor(loss, "grad"), tensors(wrt, "grad"))); });
    m.def("pullback", [](Given outputs, Given cotangents, Given wrt) {
        return list_of(pullback(tensors(outputs, "vjp"), tensors(cotangents, "vjp"), tensors(wrt, "vjp")));
    });
    m.def("pushforward", [](Given outputs, Given wrt, Given tangents) {
        return list_of(pushforward(tensors(outputs, "jvp"), tensors(wrt, "jvp"), tensors(tangents, "jvp")));
    });
    nb::class_<Vmap>(m, "Vmap")
        .def("__init__",
             [](Vmap* self, Given arguments, Given axes, Given names) {
                 new (self) Vmap(tensors(arguments, "vmap"), axes_of(axes), names_of(names));
             })
        .def("examples", [](const Vmap& self) { return list_of(self.examples()); })
        .def("results", [](const Vmap& self, Given of_one, Given axes) {
            return list_of(self.results(tensors(of_one, "vmap"), axes_of(axes)));
        });
    nb::class_<LoopTrace>(m, "LoopTrace")
        .def(
            "__init__",
            [](LoopTrace* self, Given init, Given xs, std::optional<std::int64_t> length, bool reverse,
               Given init_names, Given xs_names) {
                LoopOptions options{
                    .reverse = reverse, .init_names = names_of(init_names), .xs_names = names_of(xs_names)};
                if (length) options.length = *length;
                new (self) LoopTrace(tensors(init, "scan"), tensors(xs, "scan"), options, here());
            },
            nb::arg("init"), nb::arg("xs"), nb::arg("length").none(), nb::arg("reverse"), nb::arg("init_names"),
            nb::arg("xs_names"))
        .def("carry", [](const LoopTrace& self) { return list_of(self.carry()); })
        .def("x", [](const LoopTrace& self) { return list_of(self.x()); })
        .def("results", [](const LoopTrace& self, Given next, Given y) {
            Scanned found = self.results(tensors(next, "scan"), tensors(y, "scan"));
            return std::pair(list_of(found.carry), list_of(found.ys));
        });
    nb::class_<WhileTrace>(m, "WhileTrace")
        .def("__init__",
             [](WhileTrace* self, Given init, Given names) {
                 new (self) WhileTrace(tensors(init, "while_loop"), names_of(names), here());
             })
        .def("carry", [](const WhileTrace& self) { return list_of(self.carry()); })
        .def("results", [](const WhileTrace& self, Given condition, Given next) {
            return list_of(self.results(tensor(condition, "while_loop"), tensors(next, "while_loop")));
        });
    nb::class_<CondTrace>(m, "CondTrace")
        .def("__init__",
             [](CondTrace* self, Given predicate, Given arguments) {
                 new (self) CondTrace(tensor(predicate, "cond"), tensors(arguments, "cond"), here());
             })
        .def("arguments", [](const CondTrace& self) { return list_of(self.arguments()); })
        .def("results", [](const CondTrace& self, Given if_true, Given if_false, const Making& made, Given names) {
            return list_of(
                self.results(tensors(if_true, "cond"), tensors(if_false, "cond"), made.nodes(), names_of(names)));
        });
    m.def("with_rule", [](Given values, Given inputs, Given residuals, const std::string& name, nb::object pull) {
        return list_of(with_rule(tensors(values, "custom_vjp"), tensors(inputs, "custom_vjp"), rule_of(name, pull),
                                 tensors(residuals, "custom_vjp")));
    });
    m.def("recomputed", [](Given values, Given inputs) {
        return list_of(recomputed(tensors(values, "checkpoint"), tensors(inputs, "checkpoint")));
    });
    m.def("jacobian", [](Given output, Given wrt, bool forward) {
        auto rows = forward ? forward_jacobian : jacobian;
        return list_of(rows(tensor(output, "jacobian"), tensors(wrt, "jacobian")));
    });
    bind_calls(m);
    m.def("check_matmul_precision", [](Given precision) { matmul_precision(precision); });
    nb::class_<Allowed>(m, "Allowance").def(nb::init<>());
    nb::class_<Compiled>(m, "Compiled")
        .def(
            "__init__",
            [](Compiled* self, nb::object body, const Allowed& allowed, Given precision) {
                MatmulPrecision asked = matmul_precision(precision).value_or(MatmulPrecision::float32);
                new (self) Compiled(Body(std::move(body)), {asked}, allowed.allowance);
            },
            nb::arg("body"), nb::arg("allowance"), nb::arg("matmul_precision").none() = nb::none())
        .def("__call__",
             [](const Compiled& self, Given arguments) {
                 std::vector<Tensor> given = tensors(arguments, "compile");
                 return list_of(without_gil([&] { return self.function(given); }));
             })
        .def("explain", [](const Compiled& self, Given arguments) {
            std::vector<Tensor> given = tensors(arguments, "explain");
            return without_gil([&] { return self.function.explain(given).str(); });
        });
}

}  // namespace weft::python
