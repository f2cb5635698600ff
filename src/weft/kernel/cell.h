// What the interpreter computes with: room for one value of any type, and the opcodes on it. Callers: kernel/interpreter.cpp,
// kernel/interpret_loop.cpp.
#pragma once

#include <cstring>
#include <vector>

#include "weft/kernel/element.h"
#include "weft/kernel/program.h"

namespace weft::cell {

using element::Bool;
using element::Rep;

/// Room for one value of any type.
struct Cell {
    alignas(16) std::byte bytes[16];
    template <class T>
    T get() const {
        T value;
        std::memcpy(&value, bytes, sizeof value);
        return value;
    }
    template <class T>
    void set(T value) {
        std::memcpy(bytes, &value, sizeof value);
    }
};

template <class F>
decltype(auto) with_rep(DType dtype, F&& f) {
    return with_dtype(dtype, [&](auto tag) { return f(TypeTag<Rep<typename decltype(tag)::Type>>{}); });
}

Cell cast_cell(const Cell& cell, DType from, DType to);
Cell constant_cell(DType dtype, const Literal& literal);
/// The program at one point: a cell an input, then a cell an instruction.
void run(const Program& program, const std::vector<Cell>& inputs, std::vector<Cell>& values);

template <Opcode op>
Cell unary(DType dtype, const Cell& a) {
    Cell result{};
    with_rep(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (element::defined<op, T>) result.set(element::apply1<op>(a.get<T>()));
    });
    return result;
}

template <Opcode op>
Cell binary(DType dtype, const Cell& a, const Cell& b) {
    Cell result{};
    with_rep(dtype, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (element::defined<op, T>) result.set(element::apply2<op>(a.get<T>(), b.get<T>()));
    });
    return result;
}

template <Opcode op>
Cell compare(DType operands, const Cell& a, const Cell& b) {
    Cell result{};
    with_rep(operands, [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (element::defined<op, T>) result.set(element::compare<op>(a.get<T>(), b.get<T>()));
    });
    return result;
}

}  // namespace weft::cell
