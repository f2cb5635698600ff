#include "weft/kernel/function.h"

#include <array>
#include <cmath>
#include <numbers>

#include "weft/kernel/elementary.h"
#include "weft/kernel/elementary/bessel.h"
#include "weft/kernel/elementary/gamma_function.h"
#include "weft/kernel/elementary/scaled_error.h"
#include "weft/kernel/lanes.h"
#include "weft/kernel/special.h"
#include "weft/kernel/special/iterated.h"

namespace weft {
namespace {

struct OneNumber;

/// The value of a template of kernel/elementary.h for one element.
template <int arity, class T, class Body>
T one(const T* operands, Body body) {
    using V = Lanes<T, 1, OneNumber>;
    T result;
    if constexpr (arity == 1)
        body(V::load(operands)).store(&result);
    else
        body(V::load(operands), V::load(operands + 1)).store(&result);
    return result;
}

/// A second operand where there is one; functions of one operand never look at it.
template <int arity, class T>
T second(const T* operands) {
    if constexpr (arity > 1)
        return operands[1];
    else
        return T{};
}

/// A function of doubles of as many operands as it takes.
template <class... D>
double through_double(double (*function)(D...), const double* operands) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) { return function(operands[i]...); }
    (std::index_sequence_for<D...>());
}
template <class... D>
float through_double(double (*function)(D...), const float* operands) {
    double widened[] = {operands[0], second<sizeof...(D)>(operands), operands[sizeof...(D) - 1]};
    return static_cast<float>(through_double(function, widened));
}

// Where the standard library has no function, or another zero than the array API standard asks for.

std::complex<double> complex_expm1(std::complex<double> z) {
    double x = z.real(), y = z.imag();
    if (!std::isfinite(x) || !std::isfinite(y)) return std::exp(z) - 1.0;
    double half = std::sin(y / 2);
    return {std::expm1(x) * std::cos(y) + (0.0 - 2 * half * half), std::exp(x) * std::sin(y)};  // 0 at -0
}

std::complex<double> complex_log1p(std::complex<double> z) {
    double x = z.real(), y = z.imag();
    if (!(std::abs(x) < 1e8 && std::abs(y) < 1e8)) return std::log(1.0 + z);
    return {std::log1p(x * (2 + x) + y * y) / 2, std::atan2(y, 1 + x)};  // |1 + z|^2 - 1 = x (2 + x) + y^2
}

std::complex<double> complex_tanh(std::complex<double> z) {
    if (std::isinf(z.real()) && std::isfinite(z.imag()))
        return {std::copysign(1.0, z.real()), std::copysign(0.0, z.imag())};
    return std::tanh(z);
}

}  // namespace

// How functions.inc is read here. `z`, `w` are complex doubles; a complex64 result is rounded once.
#define WEFT_OWN(name)                                                                                              \
    .f32 = [](const float* v) -> float { return one<arity>(v, [](auto... x) { return elementary::name(x...); }); }, \
    .f64 = [](const double* v) -> double { return one<arity>(v, [](auto... x) { return elementary::name(x...); }); }
#define WEFT_ITERATED(name)                                                            \
    .f32 = [](const float* v) -> float { return through_double(&iterated::name, v); }, \
    .f64 = [](const double* v) -> double { return through_double(&iterated::name, v); }
#define WEFT_COMPLEX(expression)                                              \
    .c64 = [](const std::complex<float>* v) -> std::complex<float> {          \
        [[maybe_unused]] std::complex<double> z = v[0], w = second<arity>(v); \
        return std::complex<float>(expression);                               \
    },                                                                        \
    .c128 = [](const std::complex<double>* v) -> std::complex<double> {       \
        [[maybe_unused]] std::complex<double> z = v[0], w = second<arity>(v); \
        return expression;                                                    \
    }

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  // an entry without complex definitions leaves them null
#define WEFT_RECORD(function_name, operands, ...)                                             \
    namespace function_name##_definition {                                                    \
        constexpr int arity = operands;                                                       \
        constexpr Function record = {.name = #function_name, .arity = operands, __VA_ARGS__}; \
    }                                                                                         \
    constinit const Function function_name##_function = function_name##_definition::record;
#define WEFT_FUNCTION_1(function_name, ...)    \
    WEFT_RECORD(function_name, 1, __VA_ARGS__) \
    WEFT_SCALARS(Scalar function_name(Scalar a) { return weft::call(function_name##_function, {&a, 1}); })
#define WEFT_FUNCTION_2(function_name, ...)                    \
    WEFT_RECORD(function_name, 2, __VA_ARGS__)                 \
    WEFT_SCALARS(Scalar function_name(Scalar a, Scalar b) {    \
        std::array<Scalar, 2> operands{a, b};                  \
        return weft::call(function_name##_function, operands); \
    })
#define WEFT_FUNCTION_3(function_name, ...)                           \
    WEFT_RECORD(function_name, 3, __VA_ARGS__)                        \
    WEFT_SCALARS(Scalar function_name(Scalar a, Scalar b, Scalar c) { \
        std::array<Scalar, 3> operands{a, b, c};                      \
        return weft::call(function_name##_function, operands);        \
    })
#define WEFT_SCALARS(...) __VA_ARGS__
#include "weft/kernel/functions.inc"
// Short names, which are usual words too (beta, gamma), have a namespace of their own.
#undef WEFT_SCALARS
#define WEFT_SCALARS(...) \
    namespace functions { \
    __VA_ARGS__           \
    }
#include "weft/kernel/special.inc"
#undef WEFT_SCALARS
#undef WEFT_FUNCTION_1
#undef WEFT_FUNCTION_2
#undef WEFT_FUNCTION_3

std::span<const Function* const> all_functions() {
#define WEFT_PARTIAL_1(name, ...)
#define WEFT_FUNCTION_1(name, ...) &name##_function,
#define WEFT_FUNCTION_2(name, ...) &name##_function,
#define WEFT_FUNCTION_3(name, ...) &name##_function,
    static constexpr const Function* all[] = {
#include "weft/kernel/functions.inc"
#include "weft/kernel/special.inc"
    };
#undef WEFT_FUNCTION_1
#undef WEFT_FUNCTION_2
#undef WEFT_FUNCTION_3
    return all;
}

}  // namespace weft
