// The printer of C: instructions as expressions and statements.
#include "weft/base/error.h"
#include "weft/kernel/c_writer.h"
#include "weft/kernel/function.h"

namespace weft {
namespace {

std::string_view symbol(Opcode opcode) {
    switch (opcode) {
        case Opcode::add:
            return " + ";
        case Opcode::subtract:
            return " - ";
        case Opcode::multiply:
            return " * ";
        case Opcode::divide:
            return " / ";
        case Opcode::bit_and:
            return " & ";
        case Opcode::bit_or:
            return " | ";
        case Opcode::bit_xor:
            return " ^ ";
        case Opcode::equal:
            return " == ";
        case Opcode::not_equal:
            return " != ";
        case Opcode::less:
            return " < ";
        case Opcode::less_equal:
            return " <= ";
        default:
            throw InternalError(text("print_c: ", name_of(opcode), " is not an operator of C"));
    }
}

std::string as(DType dtype, const std::string& expression) { return text("(", c_type(dtype), ")", expression); }
/// A shift by a constant within the width needs no helper; empty for whatever is not one.
std::string shifted_by_constant(const Program& program, const Instruction& at, const std::string& a) {
    bool left = at.opcode == Opcode::shift_left;
    if (!left && at.opcode != Opcode::shift_right) return {};
    const Instruction& count = program.code[static_cast<std::size_t>(at.b)];
    bool within = count.opcode == Opcode::constant && count.literal().integer >= 0 &&
                  count.literal().integer < static_cast<std::int64_t>(8 * size_of(at.dtype));
    if (!within) return {};
    if (left) return as(at.dtype, text("((", c_wrapping_type(at.dtype), ")", a, " << ", count.literal().integer, ")"));
    return as(at.dtype, text("(", a, " >> ", count.literal().integer, ")"));
}

std::string in_parentheses(const std::string& expression) { return "(" + expression + ")"; }

}  // namespace

std::string CWriter::cast(const std::string& a, DType from, DType to) {
    if (from == to) return a;
    if (is_half(from)) return cast(text(widen(from), "(", a, ")"), DType::float32, to);
    if (from == DType::bool_) return cast(in_parentheses(a + " != 0"), DType::uint8, to);
    if (to == DType::bool_) {
        if (is_complex(from)) return as(to, text("(", a, ".re != 0 || ", a, ".im != 0)"));
        return as(to, in_parentheses(a + " != 0"));
    }
    if (is_complex(to)) {
        DType part = real_of(to);
        std::string re = is_complex(from) ? cast(a + ".re", real_of(from), part) : cast(a, from, part);
        return text(pair_of(to), "(", re, ", ", is_complex(from) ? cast(a + ".im", real_of(from), part) : "0", ")");
    }
    if (is_complex(from)) return cast(a + ".re", real_of(from), to);
    if (is_half(to)) return text(round(to), "(", cast(a, from, DType::float32), ")");
    if (is_floating(from) && is_integer(to)) return text(saturating(from, to), "(", a, ")");
    return as(to, a);
}

std::string CWriter::unary(Opcode opcode, DType dtype, const std::string& a) {
    auto called = [&](const std::string& function) { return text(function, "(", a, ")"); };
    switch (opcode) {
        case Opcode::negative:
            if (is_complex(dtype)) return called(helper(opcode, dtype));
            if (is_floating(dtype)) return "-" + a;
            return as(dtype, text("(0u - (", c_wrapping_type(dtype), ")", a, ")"));
        case Opcode::absolute:
            if (is_floating(dtype)) return called(mathematical("fabs", dtype));
            return kind_of(dtype) == Kind::signed_integer ? called(helper(opcode, dtype)) : a;
        case Opcode::square_root:
            return called(mathematical("sqrt", dtype));
        case Opcode::floor:
            return called(mathematical("floor", dtype));
        case Opcode::ceil:
            return called(mathematical("ceil", dtype));
        case Opcode::truncate:
            return called(mathematical("trunc", dtype));
        case Opcode::round_even:
            return called(mathematical("rint", dtype));
        case Opcode::bit_not:
            return as(dtype, dtype == DType::bool_ ? text("(", a, " ^ 1)") : "~" + a);
        default:
            throw InternalError(text("print_c: ", name_of(opcode), " has not one operand"));
    }
}

std::string CWriter::integer_binary(Opcode opcode, DType dtype, const std::string& a, const std::string& b) {
    bool arithmetic = opcode == Opcode::add || opcode == Opcode::subtract || opcode == Opcode::multiply;
    // Signed sums may not overflow in C, nor may the products of two uint16, which are int: wide unsigned ones wrap.
    bool may_overflow =
        arithmetic && (kind_of(dtype) == Kind::signed_integer ? size_of(dtype) >= 4 : dtype == DType::uint16);
    std::string_view wide = size_of(dtype) == 8 ? "(uint64_t)" : "(uint32_t)", to = may_overflow ? wide : "";
    return as(dtype, text("(", to, a, symbol(opcode), to, b, ")"));
}

std::string CWriter::binary(Opcode opcode, DType dtype, const std::string& a, const std::string& b) {
    auto called = [&] { return text(helper(opcode, dtype), "(", a, ", ", b, ")"); };
    switch (opcode) {
        case Opcode::minimum:
        case Opcode::maximum:
            if (dtype != DType::bool_) return called();
            return as(dtype, in_parentheses(a + (opcode == Opcode::minimum ? " & " : " | ") + b));
        case Opcode::floor_divide:
        case Opcode::remainder:
        case Opcode::shift_left:
        case Opcode::shift_right:
            return called();
        default:
            if (is_complex(dtype)) return called();
            if (!is_floating(dtype)) return integer_binary(opcode, dtype, a, b);
            return text(a, symbol(opcode), b);
    }
}

std::string CWriter::compare(Opcode opcode, DType dtype, const std::string& a, const std::string& b) {
    if (!is_complex(dtype)) return as(DType::bool_, in_parentheses(text(a, symbol(opcode), b)));
    return as(DType::bool_, text("(", a, ".re", symbol(opcode), b, ".re", opcode == Opcode::equal ? " && " : " || ", a,
                                 ".im", symbol(opcode), b, ".im)"));
}

std::string CWriter::expression(const Program& program, const Instruction& at, const std::vector<std::string>& values) {
    auto value = [&](std::int32_t position) -> const std::string& {
        return values[static_cast<std::size_t>(position)];
    };
    switch (at.opcode) {
#define WEFT_CASE(name) case Opcode::name:
        WEFT_UNARY_OPCODES(WEFT_CASE)
        return unary(at.opcode, at.dtype, value(at.a));
        WEFT_BINARY_OPCODES(WEFT_CASE)
        if (std::string shifted = shifted_by_constant(program, at, value(at.a)); !shifted.empty()) return shifted;
        return binary(at.opcode, at.dtype, value(at.a), value(at.b));
        WEFT_COMPARISON_OPCODES(WEFT_CASE)
#undef WEFT_CASE
        return compare(at.opcode, program.dtype(at.a), value(at.a), value(at.b));
        case Opcode::constant:
            return literal(at.dtype, at.literal());
        case Opcode::cast:
            return cast(value(at.a), program.dtype(at.a), at.dtype);
        case Opcode::bitcast:
            if (program.dtype(at.a) == at.dtype) return value(at.a);
            return text(bitcast(program.dtype(at.a), at.dtype), "(", value(at.a), ")");
        case Opcode::select:
            return text(value(at.a), " ? ", value(at.b), " : ", value(at.c));
        case Opcode::fma:
            return text(mathematical("fma", at.dtype), "(", value(at.a), ", ", value(at.b), ", ", value(at.c), ")");
        case Opcode::real:
            return value(at.a) + ".re";
        case Opcode::imaginary:
            return value(at.a) + ".im";
        case Opcode::make_complex:
            return text(pair_of(at.dtype), "(", value(at.a), ", ", value(at.b), ")");
        case Opcode::call: {
            std::string called = text(function(*at.function(), at.dtype), "(");
            for (int i = 0; i < at.function()->arity; ++i)
                called += (i ? ", " : "") + value(i == 0 ? at.a : i == 1 ? at.b : at.c);
            return called + ")";
        }
        case Opcode::input:
            break;
    }
    throw InternalError("print_c: an input is not an expression of its own");
}

std::string CWriter::statements(const Program& program, const std::vector<std::string>& inputs, std::string_view indent,
                                std::vector<std::string>& values) {
    std::string lines;
    values.clear();
    for (std::size_t i = 0; i < program.code.size(); ++i) {
        const Instruction& at = program.code[i];
        if (at.opcode == Opcode::constant) {
            values.push_back(expression(program, at, values));
            continue;
        }
        bool input = at.opcode == Opcode::input;
        std::string value = input ? inputs[static_cast<std::size_t>(at.a)] : expression(program, at, values);
        lines += text(indent, "const ", c_type(at.dtype), " v", i, " = ", value, ";\n");
        values.push_back(text("v", i));
    }
    return lines;
}

}  // namespace weft
