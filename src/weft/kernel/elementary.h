// weft's own functions, written once for every type of arithmetic: see kernel/elementary/basis.h.
// Callers: kernel/function.cpp, kernel/function_program.cpp, backend/cpu/isa/.
#pragma once

#include "weft/kernel/elementary/error_function.h"
#include "weft/kernel/elementary/exact.h"
#include "weft/kernel/elementary/exponential.h"
#include "weft/kernel/elementary/gamma.h"
#include "weft/kernel/elementary/logarithm.h"
#include "weft/kernel/elementary/power.h"
#include "weft/kernel/elementary/trigonometric.h"
