// The special functions of Programs, beside those of kernel/function.h: those of special.inc. Callers: ops/special.cpp.
#pragma once

#include "weft/kernel/function.h"

namespace weft {

#define WEFT_FUNCTION_1(name, ...)         \
    extern const Function name##_function; \
    namespace functions {                  \
    Scalar name(Scalar a);                 \
    }
#define WEFT_FUNCTION_2(name, ...)         \
    extern const Function name##_function; \
    namespace functions {                  \
    Scalar name(Scalar a, Scalar b);       \
    }
#define WEFT_FUNCTION_3(name, ...)             \
    extern const Function name##_function;     \
    namespace functions {                      \
    Scalar name(Scalar a, Scalar b, Scalar c); \
    }
#include "weft/kernel/special.inc"
#undef WEFT_FUNCTION_1
#undef WEFT_FUNCTION_2
#undef WEFT_FUNCTION_3

}  // namespace weft
