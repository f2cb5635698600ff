#include "weft/kernel/interpreter.h"

#include "weft/base/error.h"
#include "weft/kernel/cell.h"
#include "weft/kernel/function.h"

namespace weft {
namespace cell {

Cell cast_cell(const Cell& cell, DType from, DType to) {
    Cell result{};
    with_rep(from, [&](auto source) {
        with_rep(to, [&](auto target) {
            using From = typename decltype(source)::Type;
            using To = typename decltype(target)::Type;
            result.set(element::convert<To>(cell.get<From>()));
        });
    });
    return result;
}

Cell constant_cell(DType dtype, const Literal& literal) {
    Cell result{};
    with_dtype(dtype, [&](auto tag) { result.set(literal.as<typename decltype(tag)::Type>()); });
    return result;
}

namespace {

Cell call(const Function& function, DType dtype, const Cell* const operands[3]) {
    Cell result{};
    auto run = [&]<class T>(T (*body)(const T*)) {
        T values[3];
        for (int i = 0; i < function.arity; ++i) values[i] = operands[i]->get<T>();
        result.set(body(values));
    };
    if (dtype == DType::float32) run(function.f32);
    if (dtype == DType::float64) run(function.f64);
    if (dtype == DType::complex64) run(function.c64);
    if (dtype == DType::complex128) run(function.c128);
    return result;
}

Cell fused(DType dtype, const Cell& a, const Cell& b, const Cell& c) {
    Cell result{};
    if (dtype == DType::float32)
        result.set(element::fused(a.get<float>(), b.get<float>(), c.get<float>()));
    else
        result.set(element::fused(a.get<double>(), b.get<double>(), c.get<double>()));
    return result;
}

Cell parts(Opcode opcode, DType part, const Cell& a, const Cell& b) {
    Cell result{};
    std::size_t width = size_of(part);
    if (opcode == Opcode::make_complex) {
        std::memcpy(result.bytes, a.bytes, width);
        std::memcpy(result.bytes + width, b.bytes, width);
    } else {
        std::memcpy(result.bytes, a.bytes + (opcode == Opcode::imaginary ? width : 0), width);
    }
    return result;
}

/// One instruction, given the cells of its operands.
Cell step(const Program& program, const Instruction& at, const Cell& a, const Cell& b, const Cell& c) {
    switch (at.opcode) {
#define WEFT_UNARY(name) \
    case Opcode::name:   \
        return unary<Opcode::name>(at.dtype, a);
#define WEFT_BINARY(name) \
    case Opcode::name:    \
        return binary<Opcode::name>(at.dtype, a, b);
#define WEFT_COMPARE(name) \
    case Opcode::name:     \
        return compare<Opcode::name>(program.dtype(at.a), a, b);
        WEFT_UNARY_OPCODES(WEFT_UNARY)
        WEFT_BINARY_OPCODES(WEFT_BINARY)
        WEFT_COMPARISON_OPCODES(WEFT_COMPARE)
#undef WEFT_UNARY
#undef WEFT_BINARY
#undef WEFT_COMPARE
        case Opcode::cast:
            return cast_cell(a, program.dtype(at.a), at.dtype);
        case Opcode::bitcast:
            return a;
        case Opcode::select:
            return a.get<Bool>().byte ? b : c;
        case Opcode::fma:
            return fused(at.dtype, a, b, c);
        case Opcode::real:
        case Opcode::imaginary:
            return parts(at.opcode, at.dtype, a, a);
        case Opcode::make_complex:
            return parts(at.opcode, real_of(at.dtype), a, b);
        case Opcode::call: {
            const Cell* operands[3] = {&a, &b, &c};
            return call(*at.function(), at.dtype, operands);
        }
        case Opcode::constant:
            return constant_cell(at.dtype, at.literal());
        case Opcode::input:
            break;
    }
    throw InternalError("interpreter: an input is not a step");
}

}  // namespace

void run(const Program& program, const std::vector<Cell>& inputs, std::vector<Cell>& values) {
    values.resize(program.code.size());
    static const Cell none{};
    auto value = [&](std::int32_t position) -> const Cell& {
        return position < 0 ? none : values[static_cast<std::size_t>(position)];
    };
    for (std::size_t i = 0; i < program.code.size(); ++i) {
        const Instruction& at = program.code[i];
        if (at.opcode == Opcode::input)
            values[i] = inputs[static_cast<std::size_t>(at.a)];
        else
            values[i] = step(program, at, value(at.a), value(at.b), value(at.c));
    }
}

}  // namespace cell

void interpret(const Program& program, const void* const* inputs, void* const* outputs) {
    std::vector<cell::Cell> cells(program.inputs.size()), values;
    for (std::size_t i = 0; i < cells.size(); ++i) std::memcpy(cells[i].bytes, inputs[i], size_of(program.inputs[i]));
    cell::run(program, cells, values);
    for (std::size_t i = 0; i < program.outputs.size(); ++i) {
        std::memcpy(outputs[i], values[static_cast<std::size_t>(program.outputs[i])].bytes,
                    size_of(program.dtype(program.outputs[i])));
    }
}

}  // namespace weft
