// Functions without a rounding: copysign, nextafter, fmod. Callers: kernel/elementary.h.
#pragma once

#include "weft/kernel/elementary/basis.h"

namespace weft::elementary {

template <class V>
WEFT_ELEMENT V copysign(V x, V y) {
    return with_sign_of(magnitude(x), y);
}

/// Numbers of one sign are ordered as their bits are.
template <class V>
WEFT_ELEMENT V nextafter(V x, V y) {
    using Int = typename V::Int;
    auto away = ~(less(x, y) ^ less(all<V>(0), x));
    V next = V::from_bits(bits(x) + select(away, Int::all(1), Int::all(0) - Int::all(1)));
    next = select(equal(x, all<V>(0)), with_sign_of(V::from_bits(Int::all(1)), y), next);
    next = select(equal(x, y), y, next);
    return select(equal(x, x) & equal(y, y), next, V::all(FormatOf<V>::nan));
}

/// A positive finite number as 2^exponent * mantissa, the mantissa in [1, 2).
template <class V>
struct Scientific {
    V exponent, mantissa;
};
template <class V>
WEFT_ELEMENT Scientific<V> scientific(V u) {
    using F = FormatOf<V>;
    using Int = typename V::Int;
    auto tiny = less(u, V::all(F::least_normal));
    Int b = bits(select(tiny, u * all<V>(two_to<double>(F::digits)), u));
    V exponent = V::from_bits((b >> F::fraction) | bits(V::all(F::unit))) - V::all(F::unit + F::bias);
    V mantissa = V::from_bits((b & Int::all((typename F::Bits{1} << F::fraction) - 1)) | Int::all(F::one));
    return {select(tiny, exponent - all<V>(F::digits), exponent), mantissa};
}

/// Long division, some bits of the quotient at a time: each remainder is exact. Few quotients need a second round.
template <class V>
WEFT_ELEMENT V fmod(V x, V y) {
    using F = FormatOf<V>;
    constexpr int step = F::digits - 3, rounds = (2 * F::bias + F::digits) / step + 1;
    V zero = all<V>(0), a = magnitude(x), b = magnitude(y);
    Scientific<V> dividend = scientific(a), divisor = scientific(b);
    V left = dividend.exponent - divisor.exponent, m = divisor.mantissa, rest = dividend.mantissa;
    rest = select(less(rest, m), rest, rest - m);
    for (int round = 0; round < rounds; ++round) {
        V now = select(less(left, zero), zero, at_most(left, step));
        left = left - now;
        rest = rest * power_of_two(now);
        rest = fma(-whole(rest / m), m, rest);
        rest = select(less(rest, zero), rest + m, rest);
        if (!any(less(zero, left))) break;
    }
    V result = select(less(a, b), a, scaled(rest, divisor.exponent));
    auto defined = less(a, V::all(F::infinity)) & less(zero, b);
    return select(defined, with_sign_of(result, x), V::all(F::nan));
}

}  // namespace weft::elementary
