// What the kernels of factorizations share: how their operands lie, and what they say of a matrix that has no result.
// Callers: backend/cpu/factorization.cpp, small_factorization.cpp.
#pragma once

#include <array>
#include <complex>
#include <memory>
#include <string_view>

#include "weft/backend/cpu/matrix/problem.h"
#include "weft/backend/cpu/strided.h"

namespace weft::cpu {

/// The last axes of an operand that are one matrix, packed parts or a number: sizes and strides, a missing axis of size 1.
struct Core {
    std::int64_t rows = 1, columns = 1, row = 0, column = 0;
    Core() = default;
    Core(const Layout& layout, int axes) {
        std::size_t last = layout.dims.size() - 1;
        if (axes == 2) columns = layout.dims[last], column = layout.strides[last], --last;
        if (axes > 0) rows = layout.dims[last], row = layout.strides[last];
    }
    std::int64_t size() const { return rows * columns; }
    // Between where it lies and a dense column-major copy.
    template <class T>
    void gather(const T* from, T* to) const {
        for (std::int64_t j = 0; j < columns; ++j) copy_run(to + j * rows, 1, from + j * column, row, rows);
    }
    template <class T>
    void scatter(const T* from, T* to) const {
        for (std::int64_t j = 0; j < columns; ++j) copy_run(to + j * column, row, from + j * rows, 1, rows);
    }
};

struct FactorizationOperands {
    std::string_view name;
    DType dtype, result_dtype;
    matrix::Problem problem;
    Dims batch_dims;
    Box<4> batch;  // the result, then what is read
    Core result;
    std::array<Core, 3> cores;  // of what is read
    std::array<std::size_t, 3> reads{};
    std::size_t count = 0;

    FactorizationOperands(const Node& node, std::span<const Layout> inputs, const Layout& output);
    std::size_t result_operand() const { return reads[count - 1] + 1; }  // the last input is always read
    /// ValueError that says which of the batch it is.
    [[noreturn]] void refuse(matrix::Outcome outcome, std::int64_t number) const;
};

/// Many small matrices at a time, one in each lane of a vector; null where they are large, complex or taken apart in other ways.
std::unique_ptr<Kernel> small_factorization_kernel(const FactorizationOperands& operands);

}  // namespace weft::cpu
