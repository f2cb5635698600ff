// Mathematical functions as Programs of plain opcodes: recorded from the very templates that the interpreter and the block loops
// run (kernel/elementary.h), so all give the same bits. Made when first asked for, verified, kept for good; any thread may ask.
// Callers: whatever turns Programs into code, tests.
//
// A new function is one entry in kernel/functions.inc and one template of that name in kernel/elementary.h, written with the
// operations that Recorded (kernel/recorded.h) has; nothing else.
#pragma once

#include "weft/kernel/function.h"

namespace weft {

/// How code comes to a * 2^n (Lanes::scaled_by). By an instruction, which takes any n: then a Program is, as it is written, no function's.
enum class Scaling : std::uint8_t {
    steps,    // by multiplications
    clamped,  // by an instruction; arguments of exponentials that vanish are cut off below
    masked    // by an instruction that leaves out, by a mask, where n is so small that nothing is left, whatever a is
};

/// As many inputs as the function's arity, one output, all of the dtype. Null where the function is not a program: its element
/// body is all there is.
const Program* program_of(const Function& function, DType dtype, Scaling scaling = Scaling::steps);

/// The same without the paths that few arguments need. It has a second output, of bool, if there are such arguments: where it is
/// true the first output is not the function's value, and program_of() is to be run.
const Program* common_program_of(const Function& function, DType dtype, Scaling scaling = Scaling::steps);

}  // namespace weft
