// One line a function: bind<&f>-like adapters that take Python's arguments as the C++ function's parameters are and give back what it gives.
// Names, defaults and documentation are weft/*.py's. For functions whose arguments mean what their types say; others are bound by hand.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <span>
#include <tuple>
#include <utility>

#include "object.h"

namespace weft::python {

/// What is known of a call while its arguments are converted, in their order.
struct Call {
    const char* name;
    bool computes =
        false;  // the function asks for its operands' numbers: they are computed before, while others may run
    std::size_t ndim = 0;  // of the operand before: what axis=None stands for
};

/// How a parameter type is taken: `Type` is what nanobind hands over, convert() makes it the parameter.
template <class T>
struct Taken {
    using Type = T;
    static T convert(T given, Call&) { return given; }
};
template <>
struct Taken<Operand> {
    using Type = Given;
    static Operand convert(Given given, Call& call) {
        Operand operand = python::operand(given, call.name);
        operand.where = here();
        if (operand.weak()) return operand;
        call.ndim = operand.tensor.ndim();
        if (call.computes && !operand.tensor.node()->symbolic) compute(operand.tensor);
        return operand;
    }
};
template <>
struct Taken<Tensor> {
    using Type = Given;
    static Tensor convert(Given given, Call& call) {
        if (given.is_none()) return {};
        Tensor x = tensor(given, call.name);
        if (call.computes && !x.node()->symbolic) compute(x);
        return x;
    }
};
template <>
struct Taken<std::vector<Tensor>> {
    using Type = Given;
    static std::vector<Tensor> convert(Given given, Call& call) { return tensors(given, call.name); }
};
template <>
struct Taken<std::span<const Tensor>> : Taken<std::vector<Tensor>> {};
template <>
struct Taken<Axes> {  // sizes (Dims) are of the same type; for them nobody hands None over
    using Type = Given;
    static Axes convert(Given given, Call& call) { return axes(given, call.name, all_axes(call.ndim)); }
};
template <>
struct Taken<std::int64_t> {
    using Type = Given;
    static std::int64_t convert(Given given, Call& call) { return integer(given, call.name, "an argument"); }
};
template <>
struct Taken<DType> {
    using Type = Given;
    static DType convert(Given given, Call&) { return dtype(given).value_or(DType::float32); }
};
template <>
struct Taken<std::string_view> {
    using Type = std::string;
    static std::string convert(std::string given, Call&) { return given; }
};

inline nb::object returned(Tensor x) { return object_of(std::move(x)); }
inline nb::object returned(const std::vector<Tensor>& list) {
    nb::list all;
    for (const Tensor& x : list) all.append(object_of(x));
    return all;
}
inline nb::object returned(const std::pair<Tensor, Tensor>& both) {
    return nb::make_tuple(object_of(both.first), object_of(both.second));
}

/// Binds f, whose parameters are of the types above, as module.name.
template <class R, class... A>
void bind(nb::module_& module, const char* name, R (*f)(A...), bool computes = false) {
    module.def(name, [=](typename Taken<std::decay_t<A>>::Type... given) {
        Call call{name, computes};
        // Braces: from the left to the right.
        std::tuple held{Taken<std::decay_t<A>>::convert(std::move(given), call)...};
        return returned(std::apply([&](auto&... each) { return f(each...); }, held));
    });
}

}  // namespace weft::python
