// A square of numbers, a vector a row, turned in registers: rows become columns. So loops along rows can add a number to each of several
// rows with one instruction. Callers: backend/cpu/scan.cpp.
#pragma once

#include <cstdint>
#include <cstring>

namespace weft::cpu {

template <class T>
struct Square;

template <>
struct Square<float> {
    typedef float Vector __attribute__((vector_size(16)));
    static constexpr std::int64_t side = 4;

    static void turn(Vector (&v)[side]) {
        Vector low01 = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
        Vector low23 = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
        Vector high01 = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
        Vector high23 = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
        v[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
        v[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
        v[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
        v[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
    }
};

template <>
struct Square<double> {
    typedef double Vector __attribute__((vector_size(16)));
    static constexpr std::int64_t side = 2;

    static void turn(Vector (&v)[side]) {
        Vector first = __builtin_shufflevector(v[0], v[1], 0, 2);
        v[1] = __builtin_shufflevector(v[0], v[1], 1, 3);
        v[0] = first;
    }
};

}  // namespace weft::cpu
