// A Literal is a number written in a program: its kind and its value, without a dtype. It takes the dtype of what stands beside
// it (weak promotion). Callers: kernel/ (constants), graph/ (scalars of C++ and Python).
#pragma once

#include <complex>
#include <cstdint>
#include <ostream>
#include <type_traits>

#include "weft/core/dtype.h"

namespace weft {

struct Literal {
    Kind kind = Kind::floating;
    std::int64_t integer =
        0;            // boolean and integers; an unsigned value beyond int64 keeps its bits with Kind::unsigned_integer
    double real = 0;  // floating and complex
    double imaginary = 0;  // complex

    Literal() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Literal(T value) {
        if constexpr (std::is_same_v<T, bool>)
            kind = Kind::boolean, integer = value;
        else if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)
            kind = Kind::signed_integer, integer = value;
        else if constexpr (std::is_integral_v<T>)
            kind = Kind::unsigned_integer, integer = static_cast<std::int64_t>(value);
        else
            real = static_cast<double>(value);
    }
    Literal(std::complex<double> value) : kind(Kind::complex), real(value.real()), imaginary(value.imag()) {}

    /// The value as T, converted as C++ does (a half type through float; complex to real drops the imaginary part).
    template <class T>
    T as() const;
    /// Exact equality of kind and bits (so NaN equals itself, 0.0 differs from -0.0): for hashing and merging.
    bool same(const Literal& other) const;
    /// Whether a type of whole numbers holds this whole number; other types, and other numbers, are not asked.
    bool fits(DType dtype) const;
};

std::ostream& operator<<(std::ostream& out, const Literal& literal);  ///< as one would write it: 1, 0.5, True, (1+2j)

template <class T>
T Literal::as() const {
    constexpr bool to_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
    if constexpr (to_complex) {
        using Part = typename T::value_type;
        if (kind == Kind::complex || kind == Kind::floating)
            return T(static_cast<Part>(real), static_cast<Part>(imaginary));
        return T(static_cast<Part>(as<double>()), 0);
    } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        return T(as<float>());
    } else if constexpr (std::is_same_v<T, bool>) {
        return kind == Kind::floating || kind == Kind::complex ? real != 0 || imaginary != 0 : integer != 0;
    } else {
        if (kind == Kind::floating || kind == Kind::complex) return static_cast<T>(real);
        if (kind == Kind::unsigned_integer) return static_cast<T>(static_cast<std::uint64_t>(integer));
        return static_cast<T>(integer);
    }
}

}  // namespace weft
