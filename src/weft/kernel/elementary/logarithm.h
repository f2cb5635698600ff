// log and its family, and the inverse hyperbolic functions, which are logarithms. Errors are stated in functions.inc.
// Callers: kernel/elementary.h.
#pragma once

#include "weft/kernel/elementary/basis.h"

namespace weft::elementary {

/// log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)]. For doubles by 2 atanh(f / (2 + f)), whose series is the shorter one.
template <class V>
WEFT_ELEMENT V log_rest(V f) {
    V square = f * f;
    if constexpr (sizeof(ElementOf<V>) == 4) {
        return fma(square * f, polynomial<LogRest>(f), square * all<V>(-0.5));
    } else {
        V s = f / (f + all<V>(2)), z = s * s, half = square * all<V>(0.5);
        return fma(s, fma(z, polynomial<LogSeries>(z), half), -half);
    }
}

/// The values that a logarithm takes where its argument is 0, negative, infinite or NaN.
template <class V>
WEFT_ELEMENT V log_special(V u, V result) {
    using F = FormatOf<V>;
    result = select(less(V::all(F::top), u), u, result);
    result = select(equal(u, all<V>(0)), V::all(-F::infinity), result);
    result = select(less(u, all<V>(0)), V::all(F::nan), result);
    return select(equal(u, u), result, V::all(F::nan));
}

/// finish(split(x)) for positive normal x. What is neither is rare, so a branch.
template <class V, class Finish>
WEFT_ELEMENT V logarithm(V x, Finish finish) {
    using F = FormatOf<V>;
    auto common = ~less(x, V::all(F::least_normal)) & less(x, V::all(F::infinity));
    if (!any(~common)) return finish(split(x));
    return log_special(x, finish(split_any(x)));
}

template <class V>
WEFT_ELEMENT V log_of_split(V exponent, V f, V rest) {
    using C = Constants<ElementOf<V>>;
    rest = fma(exponent, V::all(C::ln2[1]), rest);
    return fma(exponent, V::all(C::ln2[0]), f + rest);
}

template <class V>
WEFT_ELEMENT V log(V x) {
    return logarithm(
        x, [](const Split<V>& s)
               __attribute__((always_inline)) { return log_of_split(s.exponent, s.fraction, log_rest(s.fraction)); });
}

/// log(1 + f) times a constant in two parts: head + tail.
template <class V>
WEFT_ELEMENT Words<V> scaled_log(V f, const ElementOf<V> (&scale)[2]) {
    V high = V::all(scale[0]);
    Words<V> head = two_product(f, high);
    return {head.high, fma(log_rest(f), high, fma(f, V::all(scale[1]), head.low))};
}

template <class V>
WEFT_ELEMENT V log2(V x) {
    return logarithm(
        x, [](const Split<V>& s) __attribute__((always_inline)) {
            auto [head, tail] = scaled_log(s.fraction, Constants<ElementOf<V>>::log2_e);
            return s.exponent + (head + tail);
        });
}

template <class V>
WEFT_ELEMENT V log10(V x) {
    return logarithm(
        x, [](const Split<V>& s) __attribute__((always_inline)) {
            using C = Constants<ElementOf<V>>;
            auto [head, tail] = scaled_log(s.fraction, C::log10_e);
            V rest = head + fma(s.exponent, V::all(C::log10_2[1]), tail);
            return fma(s.exponent, V::all(C::log10_2[0]), rest);
        });
}

/// log(1 + x) + exponents ln 2 for finite x > -1; a NaN is lost.
template <class V>
WEFT_ELEMENT V log1p_within(V x, V exponents) {
    using F = FormatOf<V>;
    V u = x + all<V>(1);
    Split<V> parts = split(u);
    // 1 + f = (1 + x) / 2^n: x / 2^n is exact, so nothing of x is lost where it is small. Where it is large, u is x.
    V scale = V::from_bits((V::Int::all(2 * F::bias) - parts.biased) << F::fraction);
    Words<V> f = two_sum(scale - all<V>(1), x * scale);
    auto large = less(all<V>(two_to<double>(F::digits + 6)), u);
    V fraction = select(large, parts.fraction, f.high), low = select(large, all<V>(0), f.low);
    return log_of_split(parts.exponent + exponents, fraction, log_rest(fraction) + low);
}

template <class V>
WEFT_ELEMENT V log1p(V x) {
    using F = FormatOf<V>;
    V result = log1p_within(x, all<V>(0));
    result = select(less(magnitude(x), V::all(F::tiny)), x, result);  // keeps -0 and denormals
    V u = x + all<V>(1);
    if (!any(~(less(all<V>(0), u) & less(u, V::all(F::infinity))))) return result;
    return log_special(u, result);
}

/// From here on the square root of 1 + a^2 is a.
template <class T>
inline constexpr T square_takes_all = two_to<T>(sizeof(T) == 4 ? 14 : 28);

template <class V>
WEFT_ELEMENT V asinh(V x) {
    V a = magnitude(x), square = a * a;
    auto large = less(V::all(square_takes_all<ElementOf<V>>), a);
    V within = a + square / (sqrt(square + all<V>(1)) + all<V>(1));
    V result = log1p_within(select(large, a - all<V>(1), within), select(large, all<V>(1), all<V>(0)));
    return with_sign_of(select(less(a, V::all(FormatOf<V>::infinity)), result, a), x);
}

template <class V>
WEFT_ELEMENT V acosh(V x) {
    V t = x - all<V>(1);
    auto large = less(V::all(square_takes_all<ElementOf<V>>), x);
    V within = t + sqrt(fma(t, t, t + t));
    V result = log1p_within(select(large, t, within), select(large, all<V>(1), all<V>(0)));
    result = select(less(x, V::all(FormatOf<V>::infinity)), result, x);
    return select(less(x, all<V>(1)), V::all(FormatOf<V>::nan), result);
}

template <class V>
WEFT_ELEMENT V atanh(V x) {
    using F = FormatOf<V>;
    V a = magnitude(x), below = all<V>(1) - a;
    V result = log1p_within((a + a) / below, all<V>(0)) * all<V>(0.5);
    result = select(equal(below, all<V>(0)), V::all(F::infinity), result);
    return with_sign_of(select(~less(below, all<V>(0)) & equal(a, a), result, V::all(F::nan)), x);
}

}  // namespace weft::elementary
