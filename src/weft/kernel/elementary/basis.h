// What weft's own functions are written with, over an arithmetic type V: kernel/lanes.h computes, kernel/recorded.h writes
// Programs. Polynomials, numbers in two parts, exponents. Only what an opcode stands for, explicit fused multiply-adds, selects in
// place of branches: so one number and sixteen give the same bits everywhere. A branch may ask any(), and the common path must
// give the same bits wherever it asked no. Callers: the other headers of this folder.
#pragma once

#include "weft/base/unsigned_of.h"
#include "weft/kernel/coefficients.h"
#include "weft/kernel/element.h"

namespace weft::elementary {

template <class V>
using ElementOf = typename V::Element;

/// The format of a floating type.
template <class T>
struct Format {
    using Bits = UnsignedOf<sizeof(T)>;
    static constexpr int digits = sizeof(T) == 4 ? 24 : 53, fraction = digits - 1, width = 8 * sizeof(T);
    static constexpr int bias = sizeof(T) == 4 ? 127 : 1023;
    static constexpr Bits sign = Bits{1} << (width - 1), one = Bits{bias} << fraction;
    static constexpr T unit = T(Bits{1} << fraction);  // 2^fraction: numbers from here on are whole
    static constexpr T magic = unit + unit / 2;  // adding it rounds to a whole number and leaves that in the low bits
    static constexpr T top = std::numeric_limits<T>::max(), least_normal = std::numeric_limits<T>::min();
    static constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    static constexpr T tiny = T(1) / unit / 4;  // 2^-(digits + 1): 1 + tiny is 1
};
template <class V>
using FormatOf = Format<ElementOf<V>>;

/// A power of two as a constant. Never a function at run time: one compiled for a newer processor must not leak.
template <class T>
consteval T two_to(int n) {
    T result = 1;
    for (; n > 0; --n) result *= 2;
    for (; n < 0; ++n) result /= 2;
    return result;
}

template <class V>
WEFT_ELEMENT V all(double value) {
    return V::all(static_cast<ElementOf<V>>(value));
}

/// c0 + c1 x + c2 x^2 + ..., Horner's way, of the coefficients C.
template <template <class> class C, int at = 0, class V>
WEFT_ELEMENT V polynomial(V x) {
    constexpr auto& c = C<ElementOf<V>>::c;
    if constexpr (at + 1 == sizeof c / sizeof c[0])
        return V::all(c[at]);
    else
        return fma(polynomial<C, at + 1>(x), x, V::all(c[at]));
}

/// The same in pairs, c0 + c1 x and so on, summed up in x^2: half as long a chain (G. Estrin, 1960).
template <template <class> class C, int at = 0, class V>
WEFT_ELEMENT V polynomial_in_pairs(V x, V square) {
    constexpr auto& c = C<ElementOf<V>>::c;
    constexpr int left = sizeof c / sizeof c[0] - at;
    if constexpr (left == 1) return V::all(c[at]);
    if constexpr (left >= 2) {
        V pair = fma(x, V::all(c[at + 1]), V::all(c[at]));
        if constexpr (left == 2)
            return pair;
        else
            return fma(polynomial_in_pairs<C, at + 2>(x, square), square, pair);
    }
}

/// Of two polynomials' coefficients that which `first` chooses; beyond the end of A, that of B.
template <template <class> class A, template <class> class B, int at, class V>
WEFT_ELEMENT V either_coefficient(typename V::Mask first) {
    constexpr auto& a = A<ElementOf<V>>::c;
    constexpr auto& b = B<ElementOf<V>>::c;
    if constexpr (at < sizeof a / sizeof a[0])
        return select(first, V::all(a[at]), V::all(b[at]));
    else
        return V::all(b[at]);
}

/// One of two polynomials by Horner's way, coefficient by coefficient; A is of the same degree as B or less. A coefficient is chosen where the
/// chain needs it: one chosen early is a register held.
template <template <class> class A, template <class> class B, int at = 0, class V>
WEFT_ELEMENT V either_polynomial(typename V::Mask first, V x) {
    constexpr auto& a = A<ElementOf<V>>::c;
    constexpr auto& b = B<ElementOf<V>>::c;
    constexpr int of_first = sizeof a / sizeof a[0], of_second = sizeof b / sizeof b[0];
    static_assert(of_first <= of_second);
    if constexpr (at + 1 == of_second) {
        return either_coefficient<A, B, at, V>(first);
    } else {
        V higher = either_polynomial<A, B, at + 1>(first, x);
        if constexpr (at + 1 == of_first)
            return select(first, V::all(a[at]), fma(higher, x, V::all(b[at])));
        else
            return fma(higher, x, either_coefficient<A, B, at, V>(first));
    }
}

/// The same in pairs, of polynomials of one degree.
template <template <class> class A, template <class> class B, int at = 0, class V>
WEFT_ELEMENT V either_polynomial_in_pairs(typename V::Mask first, V x, V square) {
    constexpr int count = sizeof A<ElementOf<V>>::c / sizeof(ElementOf<V>), left = count - at;
    static_assert(sizeof A<ElementOf<V>>::c == sizeof B<ElementOf<V>>::c);
    if constexpr (left == 1) {
        return either_coefficient<A, B, at, V>(first);
    } else if constexpr (left == 2) {
        return fma(x, either_coefficient<A, B, at + 1, V>(first), either_coefficient<A, B, at, V>(first));
    } else {
        V higher = either_polynomial_in_pairs<A, B, at + 2>(first, x, square);
        V pair = fma(x, either_coefficient<A, B, at + 1, V>(first), either_coefficient<A, B, at, V>(first));
        return fma(higher, square, pair);
    }
}

template <class V>
WEFT_ELEMENT V magnitude(V x) {
    return V::from_bits(bits(x) & V::Int::all(~FormatOf<V>::sign));
}
template <class V>
WEFT_ELEMENT V with_sign_of(V magnitude, V sign) {
    return V::from_bits(bits(magnitude) | (bits(sign) & V::Int::all(FormatOf<V>::sign)));
}
template <class V>
WEFT_ELEMENT V maximum(V a, V b) {
    return select(less(a, b), b, a);
}
template <class V>
WEFT_ELEMENT V minimum(V a, V b) {
    return select(less(a, b), a, b);
}

/// x rounded to a whole number, |x| < 2^(fraction - 1). The low bits of `shifted` hold it as an integer.
template <class V>
struct Whole {
    V shifted, value;
};
template <class V>
WEFT_ELEMENT Whole<V> whole_of_shifted(V shifted) {
    return {shifted, shifted - V::all(FormatOf<V>::magic)};
}
template <class V>
WEFT_ELEMENT V whole(V x) {
    return whole_of_shifted(x + V::all(FormatOf<V>::magic)).value;
}

/// 2^n for whole n in [1 - bias, bias]; 0 for -bias.
template <class V>
WEFT_ELEMENT V power_of_two(V n) {
    using F = FormatOf<V>;
    return V::from_bits(bits(n + V::all(F::magic + F::bias)) << F::fraction);
}

/// a * 2^n, rounded once: see scaled_by in kernel/lanes.h.
template <class V>
WEFT_ELEMENT V scaled(V a, V n) {
    return scaled_by(
        a, n, [](V x, V k) __attribute__((always_inline)) {
            V half = whole(k * all<V>(0.5));
            return x * power_of_two(half) * power_of_two(k - half);
        });
}

/// high + low, low being what high lacks.
template <class V>
struct Words {
    V high, low;
};
/// a + b exactly (Knuth, 1969).
template <class V>
WEFT_ELEMENT Words<V> two_sum(V a, V b) {
    V sum = a + b, other = sum - a;
    return {sum, (a - (sum - other)) + (b - other)};
}
/// The same for |a| >= |b| (Dekker, 1971).
template <class V>
WEFT_ELEMENT Words<V> fast_two_sum(V a, V b) {
    V sum = a + b;
    return {sum, b - (sum - a)};
}
template <class V>
WEFT_ELEMENT Words<V> two_product(V a, V b) {
    V product = a * b;
    return {product, fma(a, b, -product)};
}
template <class V>
WEFT_ELEMENT Words<V> product(Words<V> a, Words<V> b) {
    Words<V> result = two_product(a.high, b.high);
    return {result.high, fma(a.low, b.high, fma(a.high, b.low, result.low))};
}

/// A positive normal number as 2^exponent * (1 + fraction), 1 + fraction in [sqrt(1/2), sqrt(2)).
template <class V>
struct Split {
    typename V::Int biased;  // exponent + bias
    V exponent, fraction;
};
template <class V>
WEFT_ELEMENT Split<V> split(V u) {
    using F = FormatOf<V>;
    using Int = typename V::Int;
    constexpr typename F::Bits root_half = sizeof(ElementOf<V>) == 4 ? 0x3f3504f3u : 0x3fe6a09e667f3bcdull;
    Int biased = (bits(u) + Int::all(F::one - root_half)) >> F::fraction;
    V exponent = V::from_bits(biased | bits(V::all(F::unit))) - V::all(F::unit + F::bias);
    Int fraction = bits(u) - (biased << F::fraction) + Int::all(F::one);
    return {biased, exponent, V::from_bits(fraction) - all<V>(1)};
}
/// The same for any positive finite number.
template <class V>
WEFT_ELEMENT Split<V> split_any(V u) {
    using F = FormatOf<V>;
    auto tiny = less(u, V::all(F::least_normal));
    Split<V> parts = split(select(tiny, u * all<V>(two_to<double>(F::digits + 1)), u));
    parts.exponent = select(tiny, parts.exponent - all<V>(F::digits + 1), parts.exponent);
    return parts;
}

}  // namespace weft::elementary
