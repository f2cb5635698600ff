// The mathematical functions of Programs. Each is written once and stands in `functions.inc`; a Function is called by name in a
// Program. Accuracy is said in units in the last place (ulp), for float32 and float64.
// Callers: the bodies of operations (ops/), the evaluators.
#pragma once

#include <complex>
#include <span>
#include <string_view>

#include "weft/kernel/scalar.h"

namespace weft {

/// One element: what the interpreter calls, and what a block loop falls back on. Null where the function has no such type.
struct Function {
    std::string_view name;
    int arity;
    std::string_view doc;
    double ulp32,
        ulp64;  // the largest error on the function's domain, in units in the last place; what the tests hold it to
    float (*f32)(const float* operands);
    double (*f64)(const double* operands);
    std::complex<float> (*c64)(const std::complex<float>* operands);
    std::complex<double> (*c128)(const std::complex<double>* operands);
};

/// But those of some arguments alone.
std::span<const Function* const> all_functions();

#define WEFT_FUNCTION_1(name, ...)         \
    extern const Function name##_function; \
    Scalar name(Scalar a);
#define WEFT_FUNCTION_2(name, ...)         \
    extern const Function name##_function; \
    Scalar name(Scalar a, Scalar b);
#include "weft/kernel/functions.inc"
#undef WEFT_FUNCTION_1
#undef WEFT_FUNCTION_2

}  // namespace weft
