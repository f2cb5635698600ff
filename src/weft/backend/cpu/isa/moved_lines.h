// Lines added to a line, each moved by some pixels: once an instruction set. Caller: backend/cpu/few_channels.cpp.
#pragma once

#include <cstdint>

#include "weft/backend/cpu/isa.h"

namespace weft::cpu {

/// Line k of `places` begins `between` numbers behind the one before; its number x + shift + k * shift_each belongs to number x, where both
/// lines have it.
struct MovedLines {
    std::int64_t places, between, shift, shift_each;
    std::int64_t from, to;  // numbers of a line that is read; of the one that is added to
};
/// to[x] += from[...] for each place in order.
using AddMovedLines = void (*)(const MovedLines& lines, const float* from, float* to);

#define WEFT_MOVED_LINES(isa)                                                    \
    namespace isa {                                                              \
    void add_moved_lines(const MovedLines& lines, const float* from, float* to); \
    }
WEFT_FOR_EACH_COMPILED_ISA(WEFT_MOVED_LINES)
#undef WEFT_MOVED_LINES

}  // namespace weft::cpu
