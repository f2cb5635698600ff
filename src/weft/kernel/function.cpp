#include "weft/kernel/function.h"

#include <array>
#include <cmath>

#include "weft/kernel/elementary.h"
#include "weft/kernel/lanes.h"

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

}  // namespace

// How functions.inc is read here. `z`, `w` are complex doubles; a complex64 result is rounded once.
#define WEFT_OWN(name)                                                                                              \
    .f32 = [](const float* v) -> float { return one<arity>(v, [](auto... x) { return elementary::name(x...); }); }, \
    .f64 = [](const double* v) -> double { return one<arity>(v, [](auto... x) { return elementary::name(x...); }); }
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
#define WEFT_FUNCTION_1(function_name, ...)                                                 \
    namespace function_name##_definition {                                                  \
        constexpr int arity = 1;                                                            \
        constexpr Function record = {.name = #function_name, .arity = 1, __VA_ARGS__};      \
    }                                                                                       \
    constinit const Function function_name##_function = function_name##_definition::record; \
    Scalar function_name(Scalar a) { return call(function_name##_function, {&a, 1}); }
#define WEFT_FUNCTION_2(function_name, ...)                                                 \
    namespace function_name##_definition {                                                  \
        constexpr int arity = 2;                                                            \
        constexpr Function record = {.name = #function_name, .arity = 2, __VA_ARGS__};      \
    }                                                                                       \
    constinit const Function function_name##_function = function_name##_definition::record; \
    Scalar function_name(Scalar a, Scalar b) {                                              \
        std::array<Scalar, 2> operands{a, b};                                               \
        return call(function_name##_function, operands);                                    \
    }
#include "weft/kernel/functions.inc"
#undef WEFT_FUNCTION_1
#undef WEFT_FUNCTION_2

std::span<const Function* const> all_functions() {
#define WEFT_FUNCTION_1(name, ...) &name##_function,
#define WEFT_FUNCTION_2(name, ...) &name##_function,
    static constexpr const Function* all[] = {
#include "weft/kernel/functions.inc"
    };
#undef WEFT_FUNCTION_1
#undef WEFT_FUNCTION_2
    return all;
}

}  // namespace weft
