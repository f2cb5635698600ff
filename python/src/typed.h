// Binds C++ functions that take tensors, numbers and lists as they are declared: what Python hands over is converted by the type of each
// argument, and None is an empty Tensor, list or nothing. Names, defaults and documentation are Python's (weft/nn/functional/).
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "object.h"

namespace weft::python::typed {

/// What Python's argument is taken as (Taken), and how a C++ argument of type T comes of it.
template <class T>
struct Argument {
    using Taken = std::decay_t<T>;
    static const Taken& from(const Taken& given, const char*) { return given; }
};
template <>
struct Argument<const Operand&> {
    using Taken = Given;
    static Operand from(Given x, const char* name) { return operand(x, name); }
};
template <>
struct Argument<const Tensor&> {
    using Taken = Given;
    static Tensor from(Given x, const char* name) { return x.is_none() ? Tensor() : tensor(x, name); }
};
template <>
struct Argument<const Dims&> {
    using Taken = Given;
    static Dims from(Given x, const char* name) { return x.is_none() ? Dims() : integers(x, name, "each number"); }
};
template <>
struct Argument<const std::vector<Tensor>&> {
    using Taken = Given;
    static std::vector<Tensor> from(Given x, const char* name) { return tensors(x, name); }
};
template <>
struct Argument<std::optional<DType>> {
    using Taken = Given;
    static std::optional<DType> from(Given x, const char*) { return dtype(x); }
};
template <>
struct Argument<std::string_view> {
    using Taken = std::string;
    static std::string_view from(const std::string& given, const char*) { return given; }
};

inline nb::object result(double number) { return nb::float_(number); }
inline nb::object result(const Tensor& tensor) { return tensor ? object_of(tensor) : nb::none(); }
template <class... Parts>
nb::object result(const std::tuple<Parts...>& parts) {
    return std::apply([](const auto&... part) { return nb::make_tuple(result(part)...); }, parts);
}
template <class A, class B>
nb::object result(const std::pair<A, B>& pair) {
    return nb::make_tuple(result(pair.first), result(pair.second));
}

namespace detail {
template <class F>
struct Call : Call<decltype(&F::operator())> {};
template <class R, class... A>
struct Call<R (*)(A...)> {
    template <class F>
    static void bind(nb::module_& module, const char* name, F f) {
        module.def(name, [f, name](typename Argument<A>::Taken... given) {
            return result(f(Argument<A>::from(given, name)...));
        });
    }
};
template <class C, class R, class... A>
struct Call<R (C::*)(A...) const> : Call<R (*)(A...)> {};
}  // namespace detail

/// module.name: f, a function or a lambda, of the argument types above and what nanobind knows.
template <class F>
void bind(nb::module_& module, const char* name, F f) {
    detail::Call<F>::bind(module, name, f);
}

}  // namespace weft::python::typed
