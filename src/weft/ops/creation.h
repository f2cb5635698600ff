// Tensors from nothing but numbers. Without a dtype: float32, or the default type of the number's kind. Callers: everyone.
#pragma once

#include "weft/graph/operation.h"

namespace weft {

Tensor full(const Shape& shape, const Literal& value, DType dtype);
Tensor full(const Shape& shape, const Literal& value);
Tensor zeros(const Shape& shape, DType dtype = DType::float32);
Tensor ones(const Shape& shape, DType dtype = DType::float32);
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
Tensor full_like(const Tensor& x, const Literal& value);
/// 0, 1, ..., n - 1 as int64.
Tensor iota(Size n, std::source_location where = std::source_location::current());
/// start, start + step, ... below stop (above, for a negative step). Without a dtype: int64 if all are integers, else float32.
Tensor arange(const Literal& start, const Literal& stop, const Literal& step = 1, std::optional<DType> dtype = {});
inline Tensor arange(const Literal& stop) { return arange(0, stop); }
/// `count` numbers from start to stop, evenly spaced; stop is the last, or with `endpoint` false the next after the last.
Tensor linspace(double start, double stop, std::int64_t count, DType dtype = DType::float32, bool endpoint = true);
/// Between the elements of two arrays, which are broadcast: the new axis is the first.
Tensor linspace(const Operand& start, const Operand& stop, std::int64_t count, bool endpoint = true);
/// Ones on a diagonal.
Tensor eye(std::int64_t rows, std::int64_t columns = -1, std::int64_t diagonal = 0, DType dtype = DType::float32);
/// Row i is 1 at labels[i], 0 elsewhere; a label outside [0, classes) gives a row of zeros.
Tensor one_hot(const Operand& labels, Size classes, DType dtype = DType::float32);
/// x on and below (tril), on and above (triu) the k-th diagonal, 0 elsewhere.
Tensor tril(const Operand& x, std::int64_t k = 0);
Tensor triu(const Operand& x, std::int64_t k = 0);

/// A size as a 0-d tensor: part of the program by name, not by number, so that another batch size is the same program.
Tensor size_as_tensor(Size size, DType dtype);

struct SizeAttributes {
    Size size;
    DType dtype = DType::int64;
    template <class V>
    void members(V& visit) {
        visit("size", size), visit("dtype", dtype);
    }
};
extern const Operation size_operation;

struct IotaAttributes {
    Size count;
    template <class V>
    void members(V& visit) {
        visit("count", count);
    }
};
extern const Operation iota_operation;

}  // namespace weft
