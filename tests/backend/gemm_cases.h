// Products for tests: sizes, layouts, random matrices in them, and the judge. Callers: tests/backend/gemm_*.cpp.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "backend/instruction_set.h"
#include "threads.h"
#include "weft/backend/cpu/arithmetic.h"
#include "weft/backend/cpu/gemm.h"
#include "weft/backend/cpu/isa.h"
#include "weft/backend/cpu/own_gemm.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"

namespace weft::cpu {

struct Sizes {
    std::int64_t m, n, k;
};

inline const Sizes all_sizes[] = {{0, 3, 4},    {3, 0, 4},     {3, 4, 0},      {1, 1, 1},     {1, 1, 100},
                                  {1, 17, 33},  {29, 1, 40},   {8, 4, 8},      {7, 9, 300},   {14, 32, 64},
                                  {15, 33, 65}, {13, 31, 257}, {64, 64, 64},   {65, 10, 130}, {10, 130, 65},
                                  {33, 70, 9},  {100, 90, 80}, {128, 10, 512}, {3, 5, 5000},  {40, 33, 2100},
                                  {2, 4200, 5}, {1, 300, 91},  {3, 1030, 20},  {4, 257, 70}};

enum class OperandLayout { rows, columns, strided, reversed };
inline const OperandLayout all_layouts[] = {OperandLayout::rows, OperandLayout::columns, OperandLayout::strided,
                                            OperandLayout::reversed};

/// A matrix of small random numbers in some layout, and the numbers.
template <class T>
struct Sample {
    Sample(std::int64_t rows, std::int64_t columns, OperandLayout layout, unsigned seed) : values(rows * columns) {
        std::mt19937 generator(seed);
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (double& value : values) value = static_cast<double>(static_cast<T>(uniform(generator)));
        std::int64_t row = columns, column = 1, gap = 1;
        if (layout == OperandLayout::columns) row = 1, column = rows;
        if (layout == OperandLayout::strided) row = 2 * columns + 3, column = 2;
        if (layout == OperandLayout::reversed) gap = -1;
        memory.assign(static_cast<std::size_t>((rows + 1) * (2 * columns + 5) + 8), static_cast<T>(NAN));
        T* origin =
            memory.data() + (layout == OperandLayout::reversed ? std::max<std::int64_t>(0, rows - 1) * columns : 0);
        row *= gap;
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
                origin[i * row + j * column] = static_cast<T>(values[i * columns + j]);
        matrix = {origin, row, column};
    }
    std::vector<double> values;
    std::vector<T> memory;
    Matrix matrix;
};

/// What an element is where a sum is one chain of fused multiply-adds.
template <class T>
T chain_of(const T* a, std::int64_t a_column, const T* b, std::int64_t b_row, std::int64_t k, T sum) {
    for (std::int64_t p = 0; p < k; ++p) sum = std::fma(a[p * a_column], b[p * b_row], sum);
    return sum;
}

/// The judge: sums in double, and the sum of magnitudes, which bounds the error.
struct Expected {
    double value, magnitude;
};
inline Expected inner_product(const std::vector<double>& a, const std::vector<double>& b, const Sizes& s,
                              std::int64_t i, std::int64_t j) {
    Expected sum{0, 0};
    for (std::int64_t k = 0; k < s.k; ++k) {
        double product = a[i * s.k + k] * b[k * s.n + j];
        sum.value += product;
        sum.magnitude += std::abs(product);
    }
    return sum;
}

template <class T>
std::vector<T> product(const Sizes& s, OperandLayout of_a, OperandLayout of_b, Scratch scratch = {}) {
    Sample<T> a(s.m, s.k, of_a, 3), b(s.k, s.n, of_b, 4);
    std::vector<T> c(static_cast<std::size_t>(s.m * s.n));
    gemm(dtype_of<T>, s.m, s.n, s.k, a.matrix, b.matrix, c.data(), s.n, false, {}, scratch);
    return c;
}

template <class T>
std::vector<T> own_product(const Sizes& s, OperandLayout of_a, OperandLayout of_b) {
    Sample<T> a(s.m, s.k, of_a, 3), b(s.k, s.n, of_b, 4);
    std::vector<T> c(static_cast<std::size_t>(s.m * s.n)), scratch(own_gemm_scratch<T>(s.m, s.n, s.k));
    own_gemm<T>({s.m, s.n, s.k, static_cast<const T*>(a.matrix.data), a.matrix.row_stride, a.matrix.column_stride,
                 static_cast<const T*>(b.matrix.data), b.matrix.row_stride, b.matrix.column_stride, c.data(), s.n},
                scratch.data());
    return c;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline const Sizes larger_sizes[] = {{128, 784, 256}, {200, 300, 300}, {300, 40, 2500},  {20, 20, 9000},
                                     {4100, 8, 70},   {5, 4100, 70},   {128, 128, 2100}, {1, 300, 3000},
                                     {300, 1, 3000},  {1, 2050, 301},  {2, 300, 70},     {3, 4100, 9},
                                     {4, 1000, 130},  {700, 140, 500}, {530, 130, 1024}, {4800, 100, 300}};

}  // namespace weft::cpu
