// The greatest of neighbours along rows: once an instruction set. Caller: backend/cpu/pooling_rows.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// Windows along a row: element k of window y is number y * stride + k * dilation, and inside; the stride is 1 or 2.
struct RowWindows {
    std::int64_t count, kernel, stride, dilation;
};

/// The greatest of each, or NaN: the last one, in the window's order.
using TakeRows = void (*)(const RowWindows& windows, const float* from, float* to);

#define WEFT_TAKE_ROWS(isa)                                                  \
    namespace isa {                                                          \
    void take_rows(const RowWindows& windows, const float* from, float* to); \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_TAKE_ROWS)
#undef WEFT_TAKE_ROWS

}  // namespace weft::cpu
