#include "weft/kernel/program.h"

#include <array>
#include <bit>

#include "weft/base/error.h"
#include "weft/kernel/function.h"

namespace weft {
namespace {

/// Reads an instruction's operand by number.
std::int32_t operand(const Instruction& instruction, int number) {
    return number == 0 ? instruction.a : number == 1 ? instruction.b : instruction.c;
}

[[noreturn]] void refuse(std::size_t position, const Instruction& instruction, std::string rule) {
    throw InternalError(text("program: instruction %", position, " (", name_of(instruction.opcode), " ",
                             instruction.dtype, "): ", rule));
}

void verify_types(const Program& program, std::size_t position, const Instruction& at) {
    auto type = [&](int number) { return program.dtype(operand(at, number)); };
    auto require = [&](bool holds, const char* rule) {
        if (!holds) refuse(position, at, rule);
    };
    switch (at.opcode) {
        case Opcode::constant:
            return;
        case Opcode::input:
            require(at.a >= 0 && static_cast<std::size_t>(at.a) < program.inputs.size(), "there is no such input");
            require(program.inputs[static_cast<std::size_t>(at.a)] == at.dtype, "the input has another type");
            return;
        case Opcode::cast:
            return;
        case Opcode::bitcast:
            require(size_of(type(0)) == size_of(at.dtype), "bitcast changes the width");
            return;
        case Opcode::equal:
        case Opcode::not_equal:
        case Opcode::less:
        case Opcode::less_equal:
            require(at.dtype == DType::bool_, "a comparison gives bool");
            require(type(0) == type(1), "the operands' types differ");
            require(takes(at.opcode, type(0)), "the opcode does not take this type");
            return;
        case Opcode::select:
            require(type(0) == DType::bool_, "the condition is not bool");
            require(type(1) == at.dtype && type(2) == at.dtype, "an alternative has another type than the result");
            return;
        case Opcode::real:
        case Opcode::imaginary:
            require(is_complex(type(0)) && real_of(type(0)) == at.dtype,
                    "it takes a complex value and gives its real type");
            return;
        case Opcode::make_complex:
            require(is_complex(at.dtype) && type(0) == real_of(at.dtype) && type(1) == type(0), "it takes two reals");
            return;
        default:
            break;
    }
    for (int i = 0; i < operand_count(at); ++i)
        require(type(i) == at.dtype, "an operand has another type than the result");
    require(takes(at.opcode, at.dtype), "the opcode does not take this type");
}

}  // namespace

int operand_count(const Instruction& instruction) {
    switch (instruction.opcode) {
        case Opcode::constant:
        case Opcode::input:
            return 0;
        case Opcode::cast:
#define WEFT_CASE(name) case Opcode::name:
            WEFT_UNARY_OPCODES(WEFT_CASE)
#undef WEFT_CASE
        case Opcode::bitcast:
        case Opcode::real:
        case Opcode::imaginary:
            return 1;
        case Opcode::select:
        case Opcode::fma:
            return 3;
        case Opcode::call:
            return instruction.function() ? instruction.function()->arity : 0;
        default:
            return 2;
    }
}

std::string_view name_of(Opcode opcode) {
    switch (opcode) {
#define WEFT_NAME(name) \
    case Opcode::name:  \
        return #name;
        WEFT_OTHER_OPCODES(WEFT_NAME)
        WEFT_UNARY_OPCODES(WEFT_NAME)
        WEFT_BINARY_OPCODES(WEFT_NAME)
        WEFT_COMPARISON_OPCODES(WEFT_NAME)
#undef WEFT_NAME
    }
    __builtin_unreachable();
}

bool takes(Opcode opcode, DType d) {
    switch (opcode) {
        case Opcode::constant:
        case Opcode::input:
        case Opcode::cast:
        case Opcode::bitcast:
        case Opcode::select:
            return true;
        case Opcode::real:
        case Opcode::imaginary:
            return is_complex(d);
        case Opcode::make_complex:
            return d == DType::float32 || d == DType::float64 || is_complex(d);
        default:
            break;
    }
    if (is_half(d)) return false;
    bool boolean = d == DType::bool_;
    switch (opcode) {
        case Opcode::negative:
        case Opcode::add:
        case Opcode::subtract:
        case Opcode::multiply:
            return !boolean;
        case Opcode::absolute:
            return !boolean && !is_complex(d);
        case Opcode::square_root:
        case Opcode::floor:
        case Opcode::ceil:
        case Opcode::truncate:
        case Opcode::round_even:
        case Opcode::fma:
            return is_floating(d);
        case Opcode::bit_not:
        case Opcode::bit_and:
        case Opcode::bit_or:
        case Opcode::bit_xor:
            return boolean || is_integer(d);
        case Opcode::divide:
        case Opcode::call:
            return is_inexact(d);
        case Opcode::floor_divide:
        case Opcode::remainder:
            return is_integer(d) || is_floating(d);
        case Opcode::shift_left:
        case Opcode::shift_right:
            return is_integer(d);
        case Opcode::minimum:
        case Opcode::maximum:
        case Opcode::less:
        case Opcode::less_equal:
            return !is_complex(d);
        case Opcode::equal:
        case Opcode::not_equal:
            return true;
        default:
            return false;
    }
}

std::ostream& operator<<(std::ostream& out, const Program& program) {
    for (std::size_t i = 0; i < program.code.size(); ++i) {
        const Instruction& at = program.code[i];
        out << '%' << i << " = " << (at.opcode == Opcode::call ? at.function()->name : name_of(at.opcode)) << ' '
            << at.dtype;
        if (at.opcode == Opcode::constant) out << ' ' << at.literal();
        if (at.opcode == Opcode::input) out << ' ' << at.a;
        for (int n = 0; n < operand_count(at); ++n) out << (n ? ", %" : " %") << operand(at, n);
        out << '\n';
    }
    out << "return";
    for (std::size_t i = 0; i < program.outputs.size(); ++i) out << (i ? ", %" : " %") << program.outputs[i];
    return out << '\n';
}

void verify(const Program& program) {
    for (std::size_t i = 0; i < program.code.size(); ++i) {
        const Instruction& at = program.code[i];
        if (at.opcode == Opcode::call) {
            if (!at.function()) refuse(i, at, "a call of no function");
            bool defined = at.dtype == DType::float32   ? at.function()->f32 != nullptr
                           : at.dtype == DType::float64 ? at.function()->f64 != nullptr
                           : at.dtype == DType::complex64
                               ? at.function()->c64 != nullptr
                               : at.dtype == DType::complex128 && at.function()->c128 != nullptr;
            if (!defined) refuse(i, at, text("the function ", at.function()->name, " is not defined for this type"));
        }
        for (int n = 0; n < operand_count(at); ++n) {
            std::int32_t from = operand(at, n);
            if (from < 0 || static_cast<std::size_t>(from) >= i)
                refuse(i, at, "an operand does not stand before its use");
        }
        verify_types(program, i, at);
    }
    for (std::int32_t output : program.outputs) {
        if (output < 0 || static_cast<std::size_t>(output) >= program.code.size()) {
            throw InternalError(text("program: output %", output, " is not an instruction"));
        }
    }
}

Hash128 hash_of(const Program& program) {
    Hasher hasher;
    hasher.add(program.code.size());
    for (const Instruction& at : program.code) {
        hasher.add(static_cast<std::uint64_t>(at.opcode) << 8 | static_cast<std::uint64_t>(at.dtype));
        hasher.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(at.a)) << 32 |
                   static_cast<std::uint32_t>(at.b));
        hasher.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(at.c)));
        if (at.opcode == Opcode::constant) {
            hasher.add(static_cast<std::uint64_t>(at.kind));
            hasher.add(at.first);
            hasher.add(at.second);
        }
        if (at.opcode == Opcode::call) hasher.add(at.function()->name);
    }
    hasher.add(program.inputs.size());
    for (DType input : program.inputs) hasher.add(static_cast<std::uint64_t>(input));
    hasher.add(program.outputs.size());
    for (std::int32_t output : program.outputs) hasher.add(static_cast<std::uint64_t>(output));
    return hasher.result();
}

}  // namespace weft
