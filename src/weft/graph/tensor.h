// Tensor: the only value that a user handles. An immutable handle to a node of a graph: an operation with its inputs, or a leaf.
// Shapes and dtypes are checked when an expression is written; numbers are computed when they are asked for (item, array,
// printing, eval). Copying a Tensor copies a handle; nothing that a user holds is ever changed by what others do.
// Callers: everyone.
#pragma once

#include <cstdint>
#include <ostream>
#include <source_location>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "weft/core/array.h"
#include "weft/core/dtype.h"
#include "weft/core/literal.h"
#include "weft/core/shape.h"

namespace weft {

struct Node;
struct Operation;
class Attributes;
class Parameter;
class At;
struct Index;

class Tensor {
  public:
    Tensor() = default;                             ///< holds nothing; using it is a ValueError
    Tensor(Array array);                            ///< shares the array's memory, which must not change any more
    explicit Tensor(Node* owned) : node_(owned) {}  ///< takes over one count
    Tensor(const Tensor& other);
    Tensor(Tensor&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Tensor& operator=(const Tensor& other);
    Tensor& operator=(Tensor&& other) noexcept;
    ~Tensor();

    /// A 0-d tensor of the default dtype of its kind (bool, int64, float32), or of the one that is said.
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    explicit Tensor(T value) : Tensor(of_literal(Literal(value), default_dtype(Literal(value).kind))) {}
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Tensor(T value, DType dtype) : Tensor(of_literal(Literal(value), dtype)) {}
    /// From values in row-major order, e.g. Tensor::of<float>({1, 2, 3, 4}, {2, 2}).
    template <class Value>
    static Tensor of(std::initializer_list<Value> values, const Dims& dims) {
        return Tensor(Array::from<Value>(std::span<const Value>(values.begin(), values.size()), dims));
    }
    template <class Value>
    static Tensor of(const std::vector<Value>& values, const Dims& dims) {
        return Tensor(Array::from<Value>(values, dims));
    }
    template <class Value>
    static Tensor of(std::initializer_list<Value> values) {
        return of(values, {static_cast<std::int64_t>(values.size())});
    }

    explicit operator bool() const { return node_ != nullptr; }
    Node* node() const { return node_; }
    Node* release() { return std::exchange(node_, nullptr); }  ///< gives its count to the caller, and holds nothing
    bool is(const Tensor& other) const { return node_ == other.node_; }  ///< the same node

    const Shape& shape() const;
    Dims dims() const { return dims_of(shape()); }
    DType dtype() const;
    std::size_t ndim() const { return shape().size(); }
    Size size() const { return element_count(shape()); }

    // What computes
    const Tensor& eval() const;  ///< computes it now, if it is not computed
    bool computed() const;
    Array array() const;  ///< its numbers (strided); computes them
    template <class Value>
    Value item() const {
        return literal().template as<Value>();
    }  ///< the only element; ShapeError if there are more
    Literal literal() const;
    template <class Value>
    std::vector<Value> to_vector() const;  ///< row-major; DTypeError if Value is not the element type

    // Parts and forms, as NumPy's methods
    Tensor operator[](std::initializer_list<Index> index) const;
    Tensor operator[](const Index& index) const;
    At at(std::initializer_list<Index> index) const;  ///< x.at({...}).set(v), .add(v): functional writes
    Tensor T(std::source_location where = std::source_location::current()) const;  ///< axes reversed
    Tensor reshape(const Shape& shape, std::source_location where = std::source_location::current()) const;
    Tensor astype(DType dtype, std::source_location where = std::source_location::current()) const;

  private:
    static Tensor of_literal(Literal literal, DType dtype);
    Node* node_ = nullptr;
};

/// What operations take: a Tensor, a Parameter, or a plain number (weak: it takes the type of what stands beside it), together with
/// the place in the user's source where it was handed over, which errors and profiles name.
struct Operand {
    Tensor tensor;  // empty: a number
    Literal literal;
    std::source_location where;

    /// ValueError for an empty Tensor.
    Operand(const Tensor& given, std::source_location where = std::source_location::current())
        : tensor(given), where(where) {
        if (!tensor) refuse_empty(where);
    }
    Operand(Tensor&& given, std::source_location where = std::source_location::current())
        : tensor(std::move(given)), where(where) {
        if (!tensor) refuse_empty(where);
    }
    Operand(const Parameter& parameter, std::source_location where = std::source_location::current());
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Operand(T number, std::source_location where = std::source_location::current()) : literal(number), where(where) {}
    Operand(std::complex<double> number, std::source_location where = std::source_location::current())
        : literal(number), where(where) {}

    bool weak() const { return !tensor; }
    /// As a tensor: a number becomes a constant of `dtype`.
    Tensor as(DType dtype) const;
    /// As a tensor: a number takes the default type of its kind.
    Tensor as_tensor() const;

  private:
    [[noreturn]] static void refuse_empty(std::source_location where);
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);  ///< as NumPy prints; computes it
std::string str(const Tensor& tensor);
std::string repr(const Tensor& tensor);  ///< as NumPy shows arrays: "array([1., 2.], dtype=float32)"

/// Computes several at once, sharing what they share.
void eval(std::span<const Tensor> tensors);

template <class T>
std::vector<T> Tensor::to_vector() const {
    Array values = contiguous(array());
    const T* first = values.data<T>();
    return std::vector<T>(first, first + values.size());
}
template <>
std::vector<bool> Tensor::to_vector<bool>() const;

}  // namespace weft
