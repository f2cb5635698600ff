// How an elementwise operation is declared: one record that shows value and derivative together.
//
//     WEFT_UNARY(log1p, .doc = "Natural logarithm of 1 + x, accurate near 0.", .numpy = "log1p", .dtype = inexact,
//                .body = [](Scalar x) { return log1p(x); }, .partial = {[](Scalar x, Scalar) { return 1 / (1 + x); }},
//                .oracle = [](long double x) { return std::log1p(x); }, .domain = {{-0.9, 1e3}}, .ulp = 3)
//
// In weft's own lists (unary.inc, binary.inc, ...) the line is a declaration here and a definition in the list's source; in a
// user's program it is both. `.partial` gives d result / d operand i from the operands and the result (last); without it the
// operation is a composite, differentiated through the operations of its body.
// Inputs of all types are converted to the type in which they meet (`.dtype`, default: the promoted one), half types to float32.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <numbers>

#include "weft/graph/node.h"
#include "weft/graph/operation.h"
#include "weft/kernel/function.h"

namespace weft {

namespace detail {
template <class R, class T, int N>
struct FunctionOf;
template <class R, class T>
struct FunctionOf<R, T, 1> {
    using Type = R (*)(T);
};
template <class R, class T>
struct FunctionOf<R, T, 2> {
    using Type = R (*)(T, T);
};
template <class R, class T>
struct FunctionOf<R, T, 3> {
    using Type = R (*)(T, T, T);
};
template <class R, class T>
struct FunctionOf<R, T, 4> {
    using Type = R (*)(T, T, T, T);
};
}  // namespace detail

/// What the macros below take, by name.
template <int N>
struct Elementwise {
    std::string_view doc = "", numpy = "", torch = "";
    DType (*dtype)(DType) = nullptr;  // e.g. inexact: integers are computed as float32
    bool (*takes)(DType) = nullptr;   // operand types it is defined for (default: real numbers)
    typename detail::FunctionOf<Scalar, Scalar, N>::Type body = nullptr;
    std::vector<typename detail::FunctionOf<Scalar, Scalar, N + 1>::Type> partial = {};
    // Of complex operands, where the function is not holomorphic, or linear over the real numbers alone (graph/operation.h): partials
    // hold for real ones then.
    Tensor (*transpose)(const Tensor& result, std::size_t i, const Tensor& cotangent) = nullptr;
    Tensor (*jvp)(const Tensor& result, std::span<const Tensor> tangents) = nullptr;
    bool condition = false;      // the first operand is a condition (bool)
    bool differentiable = true;  // false: its derivative does not exist, and asking names it
    typename detail::FunctionOf<long double, long double, N>::Type oracle = nullptr;
    std::vector<Domain> domain = {};
    double defined_to = std::numeric_limits<double>::infinity();
    double ulp = 0.5;
};

// Operand types, for `.takes`
inline bool real_number(DType d) { return !is_complex(d); }
inline bool any_number(DType) { return true; }
inline bool only_bool(DType d) { return d == DType::bool_; }
inline bool bool_or_integer(DType d) { return d == DType::bool_ || is_integer(d); }
inline bool only_integer(DType d) { return is_integer(d); }
inline bool only_floating(DType d) { return is_floating(d); }
/// For which algebra may regroup, too. Half types stay as they are written: their range is small, and users scale by hand to stay inside it.
inline bool full_width(DType d) { return d == DType::float32 || d == DType::float64; }
inline bool only_inexact(DType d) { return is_inexact(d); }
// Meeting types, for `.dtype` (with inexact and real_of of core/dtype.h)
inline DType as_bool(DType) { return DType::bool_; }
inline DType not_bool(DType d) { return d == DType::bool_ ? DType::int64 : d; }

/// Shape by broadcasting, dtype from promotion and the body. The infer rule of every elementwise operation.
Meta infer_elementwise(const Operation& operation, std::span<const Tensor> inputs, const Attributes* attributes);
/// The node of an operation on operands; plain numbers take the type of what stands beside them.
Tensor apply(const Operation& operation, std::span<const Operand> operands, AttributesHandle attributes = nullptr);
inline Tensor apply(const Operation& operation, std::initializer_list<Operand> operands,
                    AttributesHandle attributes = nullptr) {
    return apply(operation, std::span<const Operand>(operands.begin(), operands.size()), std::move(attributes));
}
/// The same on operands where they stand: a list would copy them.
Tensor apply(const Operation& operation, std::span<const Operand* const> operands,
             AttributesHandle attributes = nullptr);
template <std::same_as<Operand>... Operands>
Tensor apply(const Operation& operation, const Operands&... operands) {
    const Operand* all[] = {&operands...};
    return apply(operation, std::span<const Operand* const>(all));
}
/// ValueError of the function of that name if the operand is a whole number that `dtype`, of whole numbers, does not hold.
void refuse_number(std::string_view name, const Operand& operand, DType dtype);
/// The type in which the operands of a node of this operation meet.
DType meeting_dtype(const Operation& operation, std::span<const Tensor> inputs);
/// The body on operands (each of its tensor's compute type) for a result of type `result`: converts them to the meeting type and
/// rounds half types. What kernels inline.
Scalar inline_body(const Operation& operation, std::span<const Scalar> operands, DType meeting, DType result,
                   const Attributes* attributes);

namespace detail {

/// Whether x can only be a whole number, so that rounding leaves it as it is.
inline bool whole(const Scalar& x) { return x.dtype() == DType::bool_ || is_integer(x.dtype()); }
/// a**b by squaring, in a's integer type (wrapping); 0 for a negative power, but of 1 and -1.
Scalar integer_power(Scalar a, Scalar b);
/// The remainder with a's sign, of integers; 0 by 0.
Scalar integer_fmod(Scalar a, Scalar b);
/// Of a floating number.
inline Scalar infinite(const Scalar& x) { return abs(x) == std::numeric_limits<double>::infinity(); }
/// x / |x| of a complex number, 0 of 0.
Scalar direction(Scalar x);

template <int N, class T, class F, std::size_t... I>
auto spread(F f, std::span<const T> values, std::index_sequence<I...>) {
    return f(values[I]...);
}

/// Integers are computed as float32, unless the record says otherwise.
template <int N>
Elementwise<N> in_floating(Elementwise<N> declared) {
    if (!declared.dtype) declared.dtype = inexact;
    return declared;
}

template <int N>
Operation record(std::string_view name, const Elementwise<N>& declared) {
    Operation operation;
    operation.name = name;
    operation.family = Family::elementwise;
    operation.arity = N;
    operation.doc = declared.doc, operation.numpy = declared.numpy, operation.torch = declared.torch;
    operation.infer = infer_elementwise;
    operation.meet = declared.dtype;
    operation.takes = declared.takes ? declared.takes : real_number;
    operation.body = [f = declared.body](std::span<const Scalar> x, const Attributes*) {
        return spread<N, Scalar>(f, x, std::make_index_sequence<N>());
    };
    for (auto f : declared.partial) {
        operation.partials.push_back(
            [f](std::span<const Scalar> x) { return spread<N + 1, Scalar>(f, x, std::make_index_sequence<N + 1>()); });
    }
    if (declared.transpose) operation.transpose = declared.transpose;
    if (declared.jvp) operation.jvp = declared.jvp;
    operation.differentiable = declared.differentiable;
    operation.condition = declared.condition;
    operation.composite = declared.differentiable && declared.partial.empty() && !declared.transpose && !declared.jvp;
    if (declared.oracle) {
        operation.oracle = [f = declared.oracle](std::span<const long double> x) {
            return spread<N, long double>(f, x, std::make_index_sequence<N>());
        };
    }
    operation.domain = declared.domain;
    operation.defined_to = declared.defined_to;
    operation.ulp = declared.ulp;
    return operation;
}

}  // namespace detail

// What the records of weft's own lists become in this header: declarations.
#define WEFT_UNARY(name, ...)                \
    extern const Operation name##_operation; \
    Tensor name(const Operand& x);
#define WEFT_BINARY(name, ...)               \
    extern const Operation name##_operation; \
    Tensor name(const Operand& a, const Operand& b);
#define WEFT_TERNARY(name, ...)              \
    extern const Operation name##_operation; \
    Tensor name(const Operand& a, const Operand& b, const Operand& c);
#include "weft/ops/activation.inc"
#include "weft/ops/arithmetic.inc"
#include "weft/ops/logic.inc"
#include "weft/ops/mathematical.inc"
#include "weft/ops/stable.inc"
#undef WEFT_UNARY
#undef WEFT_BINARY
#undef WEFT_TERNARY

// And what a record becomes in a source (weft's or a user's): the record, its registration, the function.
#define WEFT_UNARY(name, ...)                                                                                         \
    extern const ::weft::Operation name##_operation;                                                                  \
    const ::weft::Operation name##_operation = ::weft::detail::record<1>(#name, ::weft::Elementwise<1>{__VA_ARGS__}); \
    WEFT_REGISTER(name##_operation);                                                                                  \
    ::weft::Tensor name(const ::weft::Operand& x) { return ::weft::apply(name##_operation, x); }
#define WEFT_BINARY(name, ...)                                                                                        \
    extern const ::weft::Operation name##_operation;                                                                  \
    const ::weft::Operation name##_operation = ::weft::detail::record<2>(#name, ::weft::Elementwise<2>{__VA_ARGS__}); \
    WEFT_REGISTER(name##_operation);                                                                                  \
    ::weft::Tensor name(const ::weft::Operand& a, const ::weft::Operand& b) {                                         \
        return ::weft::apply(name##_operation, a, b);                                                                 \
    }
#define WEFT_TERNARY(name, ...)                                                                                       \
    extern const ::weft::Operation name##_operation;                                                                  \
    const ::weft::Operation name##_operation = ::weft::detail::record<3>(#name, ::weft::Elementwise<3>{__VA_ARGS__}); \
    WEFT_REGISTER(name##_operation);                                                                                  \
    ::weft::Tensor name(const ::weft::Operand& a, const ::weft::Operand& b, const ::weft::Operand& c) {               \
        return ::weft::apply(name##_operation, a, b, c);                                                              \
    }
/// A function of one number, computed in floating types, without a derivative of its own.
#define WEFT_COMPOSITE(name, ...) WEFT_UNARY(name, ::weft::detail::in_floating(::weft::Elementwise<1>{__VA_ARGS__}))

// Operators, with NumPy's meaning. Comparison gives a bool tensor; `a.is(b)` asks for identity.
Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
Tensor operator/(const Operand& a, const Operand& b);
Tensor operator%(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a);
Tensor operator~(const Operand& a);
Tensor operator&(const Operand& a, const Operand& b);
Tensor operator|(const Operand& a, const Operand& b);
Tensor operator^(const Operand& a, const Operand& b);
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);
Tensor operator==(const Operand& a, const Operand& b);
Tensor operator!=(const Operand& a, const Operand& b);

/// The same numbers as another dtype: float to integer truncates and saturates, anything to bool is != 0.
Tensor astype(const Operand& x, DType dtype);
extern const Operation astype_operation;
struct CastAttributes {
    DType dtype = DType::float32;
    template <class V>
    void members(V& visit) {
        visit("dtype", dtype);
    }
};

}  // namespace weft
