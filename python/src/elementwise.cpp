// Operations of the registry as functions of Python. They are called a million times a second, so Python's C interface hands over what nanobind
// would look at first, and what users call is the function itself: one of Python around it, whose frame is made to find the user's line, took
// as long as all else together (exp of four numbers 431 ns, 240 so).

#include <algorithm>
#include <deque>
#include <utility>

#include "bind.h"
#include "weft/graph/node.h"

namespace weft::python {
namespace {

constexpr std::size_t most_functions = 256;
const Operation* functions[most_functions];  // by number; Python knows a function by its address alone
std::size_t function_count = 0;

template <std::size_t N>
PyObject* apply_to(const Operation& operation, PyObject* const* arguments) {
    const char* name = operation.name.data();
    if (std::all_of(arguments, arguments + N, is_tensor)) {  // they need nothing of what plain numbers do
        std::array<Tensor, N> operands;
        std::transform(arguments, arguments + N, operands.begin(), tensor_in);
        return wrap(take_node(operation, operands, nullptr, here()));
    }
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        std::array<Operand, N> operands{operand(arguments[I], name)...};  // braces: from the left to the right
        return wrap(weft::apply(operation, std::span<const Operand>(operands)));
    }
    (std::make_index_sequence<N>());
}

PyObject* call(const Operation& operation, PyObject* const* arguments, Py_ssize_t count) noexcept {
    return guarded([&]() -> PyObject* {
        if (count != operation.arity) {
            const char* name = operation.name.data();
            PyErr_Format(PyExc_TypeError, "%s() takes %d argument%s, not %zd", name, int(operation.arity),
                         operation.arity == 1 ? "" : "s", count);
            return nullptr;
        }
        return operation.arity == 1   ? apply_to<1>(operation, arguments)
               : operation.arity == 2 ? apply_to<2>(operation, arguments)
                                      : apply_to<3>(operation, arguments);
    });
}

template <std::size_t number>
PyObject* call_number(PyObject*, PyObject* const* arguments, Py_ssize_t count) noexcept {
    return call(*functions[number], arguments, count);
}

using Function = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t) noexcept;
template <std::size_t... I>
constexpr std::array<Function, sizeof...(I)> calls_of(std::index_sequence<I...>) {
    return {call_number<I>...};
}
constexpr auto calls = calls_of(std::make_index_sequence<most_functions>());

bool is_function(const Operation& operation) {
    return operation.family == Family::elementwise && &operation != &astype_operation && operation.arity >= 1 &&
           operation.arity <= 3;
}

std::size_t number_of(const Operation& operation) {
    auto* end = functions + function_count;
    auto number = static_cast<std::size_t>(std::find(functions, end, &operation) - functions);
    if (number == function_count) {
        if (number == most_functions)
            throw InternalError("there are more elementwise operations than functions for them");
        functions[function_count++] = &operation;
    }
    return number;
}

/// A function of Python's that lives as long as the process; `documentation` as Python wants it, the signature first, or empty.
nb::object function_of(const Operation& operation, std::string name, PyObject* core, nb::handle of_module,
                       std::string documentation) {
    struct Written {
        std::string name, documentation;
        PyMethodDef definition;
    };
    static std::deque<Written> all;
    Written& written = all.emplace_back(Written{std::move(name), std::move(documentation), {}});
    written.definition = {written.name.c_str(), reinterpret_cast<PyCFunction>(calls[number_of(operation)]),
                          METH_FASTCALL, written.documentation.empty() ? nullptr : written.documentation.c_str()};
    return nb::steal(PyCFunction_NewEx(&written.definition, core, of_module.ptr()));
}

}  // namespace

void bind_elementwise(nb::module_& module) {
    nb::object name = module.attr("__name__");
    PyObject* core = module.ptr();  // which lives longer than its functions
    for (const Operation* operation : all_operations())
        if (is_function(*operation))
            module.attr(operation->name.data()) = function_of(*operation, std::string(operation->name), core, name, {});
    module.def("described", [core](const std::string& operation, const std::string& name, nb::str of_module,
                                   const std::string& documentation) {
        const Operation* found = find_operation(operation);
        if (!found || !is_function(*found))
            throw ValueError(text("described: no elementwise operation '", operation, "'"));
        return function_of(*found, name, core, of_module, documentation);
    });
}

}  // namespace weft::python
