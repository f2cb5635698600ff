#include "weft/rewrite/number.h"

#include <cmath>
#include <mutex>
#include <unordered_map>

#include "weft/kernel/builder.h"
#include "weft/kernel/interpreter.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"

namespace weft {
namespace {

// A value of one dtype, in memory as the interpreter reads and writes it.
struct Cellful {
    alignas(16) std::byte bytes[16] = {};
    void put(DType dtype, const Literal& literal) {
        with_dtype(dtype, [&](auto tag) {
            using T = typename decltype(tag)::Type;
            T value = literal.as<T>();
            std::memcpy(bytes, &value, sizeof value);
        });
    }
    Literal get(DType dtype) const {
        return with_dtype(dtype, [&](auto tag) -> Literal {
            using T = typename decltype(tag)::Type;
            T value;
            std::memcpy(&value, bytes, sizeof value);
            if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>)
                return Literal(static_cast<float>(value));
            else if constexpr (std::is_arithmetic_v<T>)
                return Literal(value);
            else
                return Literal(std::complex<double>(value));
        });
    }
};

bool swaps(const Operation& operation) try {
    if (operation.family != Family::elementwise || operation.arity != 2 || operation.condition || !operation.body)
        return false;
    DType dtype = DType::float32;
    for (DType other : {DType::float32, DType::int64, DType::bool_}) {
        dtype = other;
        if (!operation.takes || operation.takes(operation.meet ? operation.meet(dtype) : dtype)) break;
    }
    dtype = compute_dtype(operation.meet ? operation.meet(dtype) : dtype);
    ProgramBuilder builder;
    Scalar operands[] = {builder.input(dtype), builder.input(dtype)};
    Scalar result = operation.body(operands, nullptr);
    if (!result.builder()) return false;
    builder.output(result);
    Program program = builder.take();
    const Instruction& last = program.code[static_cast<std::size_t>(program.outputs[0])];
    auto input = [&](std::int32_t at) {
        return at >= 0 && program.code[static_cast<std::size_t>(at)].opcode == Opcode::input;
    };
    if (operand_count(last) != 2 || !input(last.a) || !input(last.b) || last.a == last.b) return false;
    switch (last.opcode) {
        case Opcode::add:
        case Opcode::multiply:
        case Opcode::minimum:
        case Opcode::maximum:
        case Opcode::bit_and:
        case Opcode::bit_or:
        case Opcode::bit_xor:
        case Opcode::equal:
        case Opcode::not_equal:
            return true;
        default:
            return false;
    }
} catch (const Error&) {
    return false;
}

}  // namespace

// A constant is found under views and conversions.
bool is_any_number(const Node& node) {
    const Node* at = &node;
    while (at->operation->family == Family::view || at->operation == &astype_operation) {
        if (opaque(*at)) return false;
        at = at->inputs[0];
    }
    return at->operation == &constant_operation && !opaque(*at);
}

std::optional<Literal> number_of(const Node& node) {
    if (!may_be_number(node) || !is_any_number(node)) return std::nullopt;
    SmallVector<DType, 4> casts;
    const Node* at = &node;
    while (!opaque(*at)) {
        if (at->operation == &constant_operation) {
            Literal number = literal_as(at->dtype, at->attributes_as<ConstantAttributes>().value);
            while (!casts.empty()) number = literal_as(casts.back(), number), casts.pop_back();
            return number;
        }
        bool dress = at->operation->family == Family::view || at->operation == &astype_operation;
        if (!dress) return std::nullopt;
        if (at->operation == &astype_operation) casts.push_back(at->dtype);
        at = at->inputs[0];
    }
    return std::nullopt;
}

bool is_number(const Node& node, const Literal& number) {
    std::optional<Literal> found = number_of(node);
    if (!found) return false;
    // Patterns are written in floating numbers. Of whole types a fraction is none, and -1 is what wraps to it: conversion would give 0.
    Literal number_here = number;
    if (is_integer(node.dtype) && number.kind == Kind::floating) {
        if (!(std::abs(number.real) < 0x1p63) || number.real != std::trunc(number.real)) return false;
        number_here = Literal(static_cast<std::int64_t>(number.real));
    }
    Literal wanted = literal_as(node.dtype, number_here);
    if (is_complex(node.dtype)) return found->real == wanted.real && found->imaginary == wanted.imaginary;
    if (is_integer(node.dtype)) return found->integer == wanted.integer;  // which doubles do not tell apart beyond 2^53
    return found->as<double>() == wanted.as<double>();
}

Tensor filled(const Literal& number, DType dtype, const Shape& shape) { return full(shape, number, dtype); }

DType meeting_dtype(const Node& node) {
    const Operation& operation = *node.operation;
    std::size_t first = operation.condition ? 1 : 0;
    DType dtype = node.inputs[first]->dtype;
    for (std::size_t i = first + 1; i < node.inputs.size(); ++i) dtype = promote(dtype, node.inputs[i]->dtype);
    return operation.meet ? operation.meet(dtype) : dtype;
}

DType operand_dtype(const Node& node, std::size_t i) {
    if (node.operation->family != Family::elementwise || node.operation == &astype_operation)
        return node.inputs[i]->dtype;
    return node.operation->condition && i == 0 ? DType::bool_ : meeting_dtype(node);
}

bool commutative(const Operation& operation) {
    static std::mutex mutex;
    static auto* known = new std::unordered_map<const Operation*, bool>;
    std::lock_guard lock(mutex);
    auto at = known->find(&operation);
    if (at == known->end()) at = known->emplace(&operation, swaps(operation)).first;
    return at->second;
}

Literal folded(const Node& node) {
    ProgramBuilder builder;
    std::vector<Scalar> operands;
    std::vector<Cellful> cells(node.inputs.size());
    std::vector<const void*> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        DType dtype = compute_dtype(node.inputs[i]->dtype);
        operands.push_back(builder.input(dtype));
        cells[i].put(dtype, *number_of(*node.inputs[i]));
        inputs.push_back(cells[i].bytes);
    }
    DType meeting = node.operation == &astype_operation ? node.inputs[0]->dtype : meeting_dtype(node);
    builder.output(inline_body(*node.operation, operands, meeting, node.dtype, node.attributes.get()));
    Program program = builder.take();
    Cellful result;
    void* outputs[] = {result.bytes};
    interpret(program, inputs.data(), outputs);
    return literal_as(node.dtype, result.get(compute_dtype(node.dtype)));
}

}  // namespace weft
