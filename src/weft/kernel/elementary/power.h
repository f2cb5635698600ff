// pow, roots and hypot. Errors are stated in functions.inc. Callers: kernel/elementary.h.
#pragma once

#include "weft/kernel/elementary/exponential.h"

namespace weft::elementary {

template <class V>
WEFT_ELEMENT V rsqrt(V x) {
    return all<V>(1) / sqrt(x);
}

/// log2(u) of a positive finite u, some ten bits beyond the type's precision: 2 atanh(s), s = f / (2 + f), the first two terms of
/// its series in two parts.
template <class V>
WEFT_ELEMENT Words<V> log2_words(V u) {
    using C = Constants<ElementOf<V>>;
    Split<V> parts = split_any(u);
    V f = parts.fraction;
    Words<V> d = fast_two_sum(all<V>(2), f);
    V inverse = all<V>(1) / d.high, high = f * inverse;
    Words<V> s{high, fma(-high, d.low, fma(-high, d.high, f)) * inverse};
    Words<V> z = product(s, s);
    constexpr double two_thirds = 0x1.5555555555555p-1, rest = 0x1.5555555555555p-55;
    constexpr ElementOf<V> first = static_cast<ElementOf<V>>(two_thirds);
    Words<V> third = fast_two_sum(V::all(first), z.high * polynomial<PowSeries>(z.high));
    third.low = third.low + all<V>(two_thirds - first + rest);
    Words<V> w = product(z, third);
    Words<V> g = fast_two_sum(all<V>(2), w.high);
    g.low = g.low + w.low;
    Words<V> result = product(product(s, g), Words<V>{V::all(C::log2_e[0]), V::all(C::log2_e[1])});
    Words<V> sum = fast_two_sum(parts.exponent, result.high);
    return {sum.high, sum.low + result.low};
}

/// |x|^y for finite |x| > 0 and finite y.
template <class V>
WEFT_ELEMENT V pow_within(V a, V y) {
    using C = Constants<ElementOf<V>>;
    Words<V> logarithm = log2_words(a);
    V high = y * logarithm.high, low = fma(y, logarithm.low, fma(y, logarithm.high, -high));
    V clamped = exp2_clamped(high);
    low = select(equal(high, clamped), low, all<V>(0));
    V n = whole(clamped);
    // 2^(r + low) = 1 + r ln 2 + (what is small), the first two in two parts each: so powers that are numbers come out exact.
    V r = clamped - n;
    Words<V> linear = two_product(r, V::all(C::ln2[0]));
    V rest = fma(r, V::all(C::ln2[1]), linear.low), curve = r * r * polynomial<Exp2Second>(r);
    Words<V> sum = fast_two_sum(all<V>(1), linear.high);
    V slope = (sum.high + curve) * V::all(C::ln2[0]);
    return scaled(sum.high + (sum.low + fma(low, slope, curve + rest)), n);
}

/// Whether |y| is a whole number.
template <class V>
WEFT_ELEMENT typename V::Mask is_whole(V a) {
    V unit = V::all(FormatOf<V>::unit);
    return ~less(a, unit) | equal((a + unit) - unit, a);
}

template <class V>
WEFT_ELEMENT V pow(V x, V y) {
    using F = FormatOf<V>;
    V zero = all<V>(0), one = all<V>(1), infinite = V::all(F::infinity), nan = V::all(F::nan);
    V a = magnitude(x), b = magnitude(y), value = pow_within(a, y);
    // Where x is 0 or infinite, or y is infinite, the value is 0 or infinite.
    auto extreme = equal(a, zero) | equal(a, infinite) | equal(b, infinite);
    value = select(extreme, select(less(one, a) ^ less(y, zero), infinite, zero), value);
    auto whole_y = is_whole(b), odd = whole_y & ~is_whole(b * all<V>(0.5));
    auto negative = ~equal(bits(x) & V::Int::all(F::sign), V::Int::all(0));
    value = select(negative & odd, -value, value);
    value = select(less(x, zero) & ~whole_y & ~equal(a, infinite), nan, value);
    value = select(equal(x, x) & equal(y, y), value, nan);
    return select(equal(y, zero) | equal(x, one) | (equal(a, one) & equal(b, infinite)), one, value);
}

/// x = 2^(3q) m. The inverse root of m by Halley's iteration, which needs no division; the last step on the root itself, its
/// remainder computed exactly.
template <class V>
WEFT_ELEMENT V cbrt(V x) {
    using F = FormatOf<V>;
    V a = magnitude(x);
    Split<V> parts = split_any(a);
    V q = whole(parts.exponent * all<V>(1.0 / 3)), k = parts.exponent - q * all<V>(3);
    V base = parts.fraction + all<V>(1), m = base * power_of_two(k);
    V turn = select(less(all<V>(0), k), all<V>(0x1.965fea53d6e3dp-1),
                    select(less(k, all<V>(0)), all<V>(0x1.428a2f98d728bp+0), all<V>(1)));
    V r = polynomial<CbrtStart>(base) * turn;
    for (int i = 0; i < (sizeof(ElementOf<V>) == 4 ? 1 : 2); ++i) {
        V h = fma(-(m * r), r * r, all<V>(1));
        r = fma(r * h, fma(h, all<V>(2.0 / 9), all<V>(1.0 / 3)), r);
    }
    V root = m * (r * r);
    Words<V> square = two_product(root, root), cube = two_product(square.high, root);
    V rest = (m - cube.high) - fma(square.low, root, cube.low);
    root = fma(rest * all<V>(1.0 / 3), r * r, root) * power_of_two(q);
    auto finite = less(all<V>(0), a) & less(a, V::all(F::infinity));
    return select(finite, with_sign_of(root, x), x);
}

template <class V>
WEFT_ELEMENT V hypot(V x, V y) {
    using F = FormatOf<V>;
    V a = magnitude(x), b = magnitude(y), most = maximum(a, b), least = minimum(a, b);
    constexpr int far = sizeof(ElementOf<V>) == 4 ? 90 : 700, near = sizeof(ElementOf<V>) == 4 ? 50 : 400;
    auto large = less(all<V>(two_to<double>(near)), most), small = less(most, all<V>(two_to<double>(-near)));
    auto scale = [&](double up, double down) __attribute__((always_inline)) {
        return select(large, all<V>(down), select(small, all<V>(up), all<V>(1)));
    };
    V to = scale(two_to<double>(far), two_to<double>(-far)), back = scale(two_to<double>(-far), two_to<double>(far));
    most = most * to;
    least = least * to;
    V result = sqrt(fma(most, most, least * least)) * back;
    auto nan = ~(equal(x, x) & equal(y, y)), endless = equal(a, V::all(F::infinity)) | equal(b, V::all(F::infinity));
    return select(endless, V::all(F::infinity), select(nan, V::all(F::nan), result));
}

}  // namespace weft::elementary
