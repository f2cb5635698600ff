// A Program computes numbers from numbers: straight-line code, one value an instruction, each value named by its position.
// It is the inside of every loop that weft runs: the emitter of machine code, the block evaluator and the interpreter read it. Always: operands stand before their use, types agree (verify() says so or names the breach).
// The set of opcodes is small and closed; what is not here is a Function (kernel/function.h), itself a program where it can be.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include "weft/base/hash.h"
#include "weft/core/dtype.h"
#include "weft/core/literal.h"

namespace weft {

struct Function;

// The opcodes by their form: what walks a form (an evaluator's switch) expands its list.

/// One operand of the result's type. bit_not is the logical one on bool.
#define WEFT_UNARY_OPCODES(X) \
    X(negative) X(absolute) X(square_root) X(floor) X(ceil) X(truncate) X(round_even) X(bit_not)
/// Two operands of the result's type. Integers wrap; minimum and maximum carry NaN through; floor_divide and remainder are NumPy's
/// (sign of the divisor; by zero: 0 for integers), divide is for inexact types; shifts beyond the width give 0 (or -1).
#define WEFT_BINARY_OPCODES(X) \
    X(add)                     \
    X(subtract)                \
    X(multiply)                \
    X(divide)                  \
    X(floor_divide) X(remainder) X(minimum) X(maximum) X(bit_and) X(bit_or) X(bit_xor) X(shift_left) X(shift_right)
/// Two operands of one type, giving bool.
#define WEFT_COMPARISON_OPCODES(X) X(equal) X(not_equal) X(less) X(less_equal)
/// Each with a form of its own:
/// constant: literal, converted to dtype. input: a = the number of the input. cast: a, converted to dtype: float to integer truncates
/// and saturates (NaN is 0), anything to bool is != 0. bitcast: a's bits, as a type of the same width. select: a (bool) ? b : c.
/// fma: a * b + c, rounded once (floating). real, imaginary: of a complex a, giving its real type. make_complex: from two reals.
/// call: function(a, b, c), all of the result's type.
#define WEFT_OTHER_OPCODES(X) \
    X(constant) X(input) X(cast) X(bitcast) X(select) X(fma) X(real) X(imaginary) X(make_complex) X(call)

enum class Opcode : std::uint8_t {
#define WEFT_ENUMERATOR(name) name,
    WEFT_OTHER_OPCODES(WEFT_ENUMERATOR) WEFT_UNARY_OPCODES(WEFT_ENUMERATOR) WEFT_BINARY_OPCODES(WEFT_ENUMERATOR)
        WEFT_COMPARISON_OPCODES(WEFT_ENUMERATOR)
#undef WEFT_ENUMERATOR
};

/// Half a cache line: a large kernel has a hundred thousand, and they are copied from phase to phase.
struct Instruction {
    Opcode opcode = Opcode::constant;
    DType dtype = DType::float32;         // of the result
    Kind kind = Kind::floating;           // of a constant's literal
    std::int32_t a = -1, b = -1, c = -1;  // positions of operands
    // Of a constant its number: a whole one, or the bits of a real and an imaginary part. Of a call its function's address.
    std::uint64_t first = 0, second = 0;

    static Instruction constant(DType dtype, const Literal& literal) {
        bool whole = literal.kind != Kind::floating && literal.kind != Kind::complex;
        return {
            .dtype = dtype,
            .kind = literal.kind,
            .first = whole ? static_cast<std::uint64_t>(literal.integer) : std::bit_cast<std::uint64_t>(literal.real),
            .second = whole ? 0 : std::bit_cast<std::uint64_t>(literal.imaginary)};
    }
    static Instruction call(DType dtype, const Function& function) {
        return {.opcode = Opcode::call, .dtype = dtype, .first = reinterpret_cast<std::uintptr_t>(&function)};
    }
    Literal literal() const {
        Literal literal;
        literal.kind = kind;
        if (kind == Kind::floating || kind == Kind::complex)
            literal.real = std::bit_cast<double>(first), literal.imaginary = std::bit_cast<double>(second);
        else
            literal.integer = static_cast<std::int64_t>(first);
        return literal;
    }
    /// Null of what is no call.
    const Function* function() const {
        return opcode == Opcode::call ? reinterpret_cast<const Function*>(first) : nullptr;
    }
    /// Exact: of constants kind and bits.
    friend bool operator==(const Instruction&, const Instruction&) = default;
};
static_assert(sizeof(Instruction) <= 32);

struct Program {
    std::vector<Instruction> code;
    std::vector<DType> inputs;          // the types of the inputs, by number
    std::vector<std::int32_t> outputs;  // positions whose values leave the program

    DType dtype(std::int32_t position) const { return code[static_cast<std::size_t>(position)].dtype; }
    /// Exponentials or the like: enough to do while memory is asked.
    bool computes_much() const {
        return std::any_of(code.begin(), code.end(), [](const Instruction& at) { return at.opcode == Opcode::call; });
    }
};

int operand_count(const Instruction& instruction);
std::string_view name_of(Opcode opcode);
/// Whether the opcode takes operands of this type (for select: its second and third). The half types are moved, cast and
/// selected, never computed with.
bool takes(Opcode opcode, DType operand);
/// One line an instruction: "%3 = multiply float32 %1, %2".
std::ostream& operator<<(std::ostream& out, const Program& program);
/// Throws InternalError that names the instruction and the rule it breaks.
void verify(const Program& program);
/// Content: equal programs, and only these, hash alike.
Hash128 hash_of(const Program& program);

}  // namespace weft
