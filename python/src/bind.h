// Binds C++ functions as they are declared, a line each: what Python hands over is converted by the type of each parameter, and None is an
// empty Tensor, list or nothing. Names, defaults and documentation are Python's (weft/*.py). Functions whose arguments mean more than their
// types say are bound by hand.
#pragma once

#include <span>
#include <tuple>
#include <utility>

#include "object.h"

namespace weft::python {

/// What is true or false, as Python says it of numbers (convert.cpp); DTypeError of text, None and what is no number.
bool truth(nb::handle object, const char* operation);
/// A real number, also of NumPy and of a tensor without axes; DTypeError of anything else.
double as_double(nb::handle object, const char* operation);

/// The axes that are joined of so many, all for None. A value without axes is its own axis 0, as in NumPy and PyTorch.
Axes joined_axes(nb::handle axis, const char* operation, std::size_t ndim);

/// What is known of a call while its arguments are converted, in their order.
struct Call {
    const char* name;
    bool computes =
        false;           // the function asks for its operands' numbers: they are computed before, while others may run
    bool along = false;  // its axes stand for all of the operand before, where they are None
    std::size_t ndim = 0;  // of that operand
};

/// How a parameter of type T is taken: `Type` is what nanobind hands over, convert() makes it what the function takes.
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
struct Taken<Axes> {  // and Dims, which is the same type
    using Type = Given;
    static Axes convert(Given given, Call& call) {
        return call.along ? joined_axes(given, call.name, call.ndim) : axes(given, call.name, Axes());
    }
};
template <>
struct Taken<std::int64_t> {
    using Type = Given;
    static std::int64_t convert(Given given, Call& call) { return integer(given, call.name); }
};
template <>
struct Taken<bool> {
    using Type = Given;
    static bool convert(Given given, Call& call) { return truth(given, call.name); }
};
template <>
struct Taken<double> {
    using Type = Given;
    static double convert(Given given, Call& call) { return as_double(given, call.name); }
};
template <>
struct Taken<DType> {
    using Type = Given;
    static DType convert(Given given, Call&) { return dtype(given).value_or(DType::float32); }
};
template <>
struct Taken<std::optional<DType>> {
    using Type = Given;
    static std::optional<DType> convert(Given given, Call&) { return dtype(given); }
};
template <>
struct Taken<std::string_view> {
    using Type = std::string;
    static std::string convert(std::string given, Call&) { return given; }
};

inline nb::object returned(double number) { return nb::float_(number); }
inline nb::object returned(const Tensor& x) { return x ? object_of(x) : nb::none(); }
inline nb::object returned(const std::vector<Tensor>& list) { return list_of(list); }
template <class... Parts>
nb::object returned(const std::tuple<Parts...>& parts) {
    return std::apply([](const auto&... part) { return nb::make_tuple(returned(part)...); }, parts);
}
template <class A, class B>
nb::object returned(const std::pair<A, B>& both) {
    return nb::make_tuple(returned(both.first), returned(both.second));
}

namespace detail {
template <class F>
struct Bound : Bound<decltype(&F::operator())> {};
template <class R, class... A>
struct Bound<R (*)(A...)> {
    template <class F>
    static void bind(nb::module_& module, const Call& call, F f) {
        module.def(call.name, [f, call](typename Taken<std::decay_t<A>>::Type... given) {
            Call now = call;
            // Braces: from the left to the right.
            std::tuple<decltype(Taken<std::decay_t<A>>::convert(std::move(given), now))...> held{
                Taken<std::decay_t<A>>::convert(std::move(given), now)...};
            return returned(std::apply([&](auto&... each) { return f(each...); }, held));
        });
    }
};
template <class C, class R, class... A>
struct Bound<R (C::*)(A...) const> : Bound<R (*)(A...)> {};
}  // namespace detail

/// module.name: f, a function or a lambda, of the parameter types above and those that nanobind knows.
template <class F>
void bind(nb::module_& module, const char* name, F f) {
    detail::Bound<F>::bind(module, {name}, f);
}
/// The same; axis=None stands for all axes of the operand before.
template <class F>
void bind_along(nb::module_& module, const char* name, F f, bool computes = false) {
    detail::Bound<F>::bind(module, {name, computes, true}, f);
}
/// The same; the operands are computed first.
template <class F>
void bind_computing(nb::module_& module, const char* name, F f) {
    detail::Bound<F>::bind(module, {name, true}, f);
}

}  // namespace weft::python
