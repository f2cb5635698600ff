#include "weft/kernel/c_writer.h"

#include <limits>

#include "weft/base/error.h"
#include "weft/kernel/c_helpers.h"
#include "weft/kernel/function_program.h"

namespace weft {
namespace {

using c_helpers::Of;

bool applies(Of of, DType dtype) {
    switch (of) {
        case Of::floating:
            return is_floating(dtype);
        case Of::signed_integer:
            return kind_of(dtype) == Kind::signed_integer;
        case Of::unsigned_integer:
            return kind_of(dtype) == Kind::unsigned_integer;
        case Of::complex:
            return is_complex(dtype);
        case Of::any:
            return true;
    }
    __builtin_unreachable();
}

}  // namespace

std::string CWriter::define(std::string name, std::string_view pattern, DType dtype) {
    if (!defined_.insert(name).second) return name;
    definitions_ += filled(pattern.substr(1), {{'N', name},
                                               {'T', c_type(dtype)},
                                               {'P', c_type(real_of(dtype))},
                                               {'U', c_wrapping_type(dtype)},
                                               {'F', words_.function},
                                               {'f', real_of(dtype) == DType::float32 ? words_.suffix : ""}});
    definitions_ += '\n';
    return name;
}

std::string CWriter::helper(Opcode opcode, DType dtype) {
    if (is_complex(dtype)) pair_of(dtype);
    for (const c_helpers::Pattern& pattern : c_helpers::patterns) {
        if (pattern.opcode == opcode && applies(pattern.of, dtype))
            return define(text(name_of(opcode), "_", dtype), pattern.text, dtype);
    }
    throw InternalError(text("print_c: no helper for ", name_of(opcode), " of ", dtype));
}

std::string CWriter::pair_of(DType complex) {
    return define(text(c_type(complex), "_of"), c_helpers::pair_of, complex);
}

std::string CWriter::philox_word() { return define("philox_word", c_helpers::philox_word, DType::uint32); }

std::string CWriter::better(Reduction reduction, DType dtype) {
    std::string_view comparison = reduction == Reduction::argmax ? ">" : "<";
    std::string pattern = filled(is_floating(dtype) ? c_helpers::better_floating : c_helpers::better_integer,
                                 {{'C', comparison}, {'N', "$N"}, {'T', "$T"}, {'F', "$F"}});
    return define(text("better_", name_of(reduction), "_", dtype), pattern, dtype);
}

std::string CWriter::saturating(DType from, DType to) {
    std::string pattern = with_dtype(to, [&](auto tag) -> std::string {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_integral_v<T>) {
            using Limits = std::numeric_limits<T>;
            double top = 2.0 * static_cast<double>(std::uint64_t{1} << (Limits::digits - 1));
            return filled(c_helpers::saturating, {{'S', c_type(from)},
                                                  {'H', c_literal(from, top)},
                                                  {'L', c_literal(from, Limits::is_signed ? -top : 0.0)},
                                                  {'M', c_literal(to, Limits::max())},
                                                  {'m', c_literal(to, Limits::min())},
                                                  {'F', "$F"},
                                                  {'N', "$N"},
                                                  {'T', "$T"}});
        }
        throw InternalError("print_c: only integers saturate");
    });
    return define(text(from, "_to_", to), pattern, to);
}

std::string CWriter::bitcast(DType from, DType to) {
    std::string pattern = filled(c_helpers::bitcast, {{'S', c_type(from)}, {'F', "$F"}, {'N', "$N"}, {'T', "$T"}});
    return define(text(from, "_as_", to), pattern, to);
}

std::string CWriter::widen(DType half) {
    bitcast(DType::uint32, DType::float32);
    bitcast(DType::float32, DType::uint32);
    return define(text(name_of(half), "_to_float32"),
                  half == DType::float16 ? c_helpers::widen_float16 : c_helpers::widen_bfloat16, half);
}

std::string CWriter::round(DType half) {
    bitcast(DType::uint32, DType::float32);
    bitcast(DType::float32, DType::uint32);
    return define(text("float32_to_", name_of(half)),
                  half == DType::float16 ? c_helpers::round_float16 : c_helpers::round_bfloat16, half);
}

std::string CWriter::function(const Function& called, DType dtype) {
    std::string name = text(called.name, "_", dtype);
    if (defined_.contains(name)) return name;
    const Program* program = program_of(called, dtype);
    if (!program) {
        throw CompileError(text(
            "the function ", called.name, " of ", dtype, " is not a program of weft's own, so it cannot be printed as ",
            dialect_ == Dialect::c        ? "C"
            : dialect_ == Dialect::opencl ? "OpenCL C"
                                          : "CUDA C",
            "; compute this part on the CPU",
            dtype == DType::float64 && program_of(called, DType::float32) ? ", or in float32" : ""));
    }
    static constexpr std::string_view operands[] = {"x", "y", "z"};
    std::string parameters;
    std::vector<std::string> inputs, values;
    for (int i = 0; i < called.arity; ++i) {
        inputs.emplace_back(operands[i]);
        parameters += text(i ? ", " : "", c_type(dtype), " ", operands[i]);
    }
    std::string body = statements(*program, inputs, "    ", values);
    definitions_ += text("// ", called.doc, "\n", words_.function, c_type(dtype), " ", name, "(", parameters, ")\n{\n",
                         body, "    return ", values[static_cast<std::size_t>(program->outputs[0])], ";\n}\n\n");
    defined_.insert(name);
    return name;
}

std::string CWriter::literal(DType dtype, const Literal& value) {
    if (is_complex(dtype)) pair_of(dtype);
    return c_literal(dtype, value);
}

std::string CWriter::mathematical(std::string_view name, DType dtype) const {
    return text(name, dtype == DType::float32 ? words_.suffix : "");
}

}  // namespace weft
