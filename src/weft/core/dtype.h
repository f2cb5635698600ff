// Element types: those of the Python array API standard, and the two half types (stored in 16 bits, computed in float32).
// Promotion is the standard's (2024.12, "Type promotion rules"); Python and C++ scalars are weak.
// Callers: every floor from here down.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string_view>

#include "weft/core/half.h"

namespace weft {

enum class DType : std::uint8_t {
    bool_,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,
    complex128
};
inline constexpr int dtype_count = 15;

// clang-format off
inline constexpr DType bool_ = DType::bool_, int8 = DType::int8, int16 = DType::int16, int32 = DType::int32, int64 = DType::int64,
    uint8 = DType::uint8, uint16 = DType::uint16, uint32 = DType::uint32, uint64 = DType::uint64, float16 = DType::float16,
    bfloat16 = DType::bfloat16, float32 = DType::float32, float64 = DType::float64, complex64 = DType::complex64,
    complex128 = DType::complex128;
// clang-format on

/// What kind of number a type holds; the order is the order of weak promotion.
enum class Kind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating, complex };

Kind kind_of(DType dtype);
inline bool is_integer(DType d) { return kind_of(d) == Kind::signed_integer || kind_of(d) == Kind::unsigned_integer; }
inline bool is_unsigned(DType d) { return kind_of(d) == Kind::unsigned_integer; }
inline bool is_floating(DType d) { return kind_of(d) == Kind::floating; }
inline bool is_complex(DType d) { return kind_of(d) == Kind::complex; }
/// Floating or complex: what has a derivative.
inline bool is_inexact(DType d) { return is_floating(d) || is_complex(d); }
inline bool is_half(DType d) { return d == DType::float16 || d == DType::bfloat16; }

std::size_t size_of(DType dtype);          ///< bytes an element
std::string_view name_of(DType dtype);     ///< NumPy's name: "float32", "bool", ...
DType dtype_named(std::string_view name);  ///< the inverse; DTypeError names the nearest known type
std::ostream& operator<<(std::ostream& out, DType dtype);
std::span<const DType> all_dtypes();

/// The type of a result of operands of types a and b. DTypeError where the standard defines none (int64 with uint64, ...) is
/// not raised: as NumPy does, mixed signs that no integer holds become float64, integers beside floats take the float's type.
DType promote(DType a, DType b);

/// A scalar of C++ or Python beside an array takes the array's type if its kind allows, else the default of its kind:
/// bool -> any; integer -> any number; float -> any inexact (float32 beside integers); complex -> any complex.
DType promote_weak(DType array, Kind scalar);
/// The type of a scalar that stands alone: bool, int64, float32, complex64.
DType default_dtype(Kind scalar);
/// The floating type in which an inexact function of this type is computed: itself if inexact, float32 for bool and integers
/// ("nothing becomes float64 that the user did not ask for").
DType inexact(DType dtype);
/// complex64 -> float32, complex128 -> float64, others themselves.
DType real_of(DType dtype);
/// The type that arithmetic runs in: float32 for the half types, else itself.
DType compute_dtype(DType dtype);

// The C++ type of a DType, and back.
template <DType>
struct CppTypeOf;
template <class T>
struct DTypeOf;
// clang-format off
#define WEFT_FOR_EACH_DTYPE(X)                                                                                        \
    X(bool_, bool)                                                                                                    \
    X(int8, std::int8_t)                                                                                              \
    X(int16, std::int16_t)                                                                                            \
    X(int32, std::int32_t) X(int64, std::int64_t) X(uint8, std::uint8_t) X(uint16, std::uint16_t)                     \
        X(uint32, std::uint32_t) X(uint64, std::uint64_t) X(float16, Float16) X(bfloat16, BFloat16) X(float32, float) \
            X(float64, double) X(complex64, std::complex<float>) X(complex128, std::complex<double>)
// clang-format on
#define WEFT_DTYPE_TRAIT(name, type)                \
    template <>                                     \
    struct CppTypeOf<DType::name> {                 \
        using Type = type;                          \
    };                                              \
    template <>                                     \
    struct DTypeOf<type> {                          \
        static constexpr DType value = DType::name; \
    };
WEFT_FOR_EACH_DTYPE(WEFT_DTYPE_TRAIT)
#undef WEFT_DTYPE_TRAIT
template <DType d>
using CppType = typename CppTypeOf<d>::Type;
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

template <class T>
struct TypeTag {
    using Type = T;
};

/// Calls f(TypeTag<T>{}) with the C++ type of `dtype`: the one place where a run-time type becomes a compile-time one.
template <class F>
decltype(auto) with_dtype(DType dtype, F&& f) {
    switch (dtype) {
#define WEFT_DTYPE_CASE(name, type) \
    case DType::name:               \
        return f(TypeTag<type>{});
        WEFT_FOR_EACH_DTYPE(WEFT_DTYPE_CASE)
#undef WEFT_DTYPE_CASE
    }
    __builtin_unreachable();
}

}  // namespace weft
