// pow, roots and hypot. Errors are stated in functions.inc. Callers: kernel/elementary.h.
#pragma once

#include "weft/kernel/elementary/exponential.h"

namespace weft::elementary {

template <class V>
WEFT_ELEMENT V rsqrt(V x) {
    return all<V>(1) / sqrt(x);
}

/// log2(1 + f) = s (2 log2(e) + z (second + z p(z))), s = f / (2 + f), z = s^2: the second factor in two parts, the coefficients of p.
template <class T>
struct Log2Series;
template <>
struct Log2Series<float> {
    static constexpr float second[] = {0x1.ec709ep-1f, -0x1.e2fe02p-28f}, by = Constants<float>::log2_e[0];
    static constexpr auto& of_e = PowSeries<float>::c;
    static constexpr float c[] = {of_e[0] * by, of_e[1] * by, of_e[2] * by};
};
template <>
struct Log2Series<double> {
    static constexpr double second[] = {0x1.ec709dc3a03fdp-1, 0x1.d27f05548af0cp-55}, by = Constants<double>::log2_e[0];
    static constexpr auto& of_e = PowSeries<double>::c;
    static constexpr double c[] = {of_e[0] * by, of_e[1] * by, of_e[2] * by, of_e[3] * by,
                                   of_e[4] * by, of_e[5] * by, of_e[6] * by, of_e[7] * by};
};

/// log2 of a positive number, some ten bits beyond the type's precision.
template <class V>
WEFT_ELEMENT Words<V> log2_words(const Split<V>& parts) {
    using C = Constants<ElementOf<V>>;
    using Series = Log2Series<ElementOf<V>>;
    V f = parts.fraction, inverse = all<V>(1) / (f + all<V>(2));
    // What is left of f is exact but for its last step, for 2 s is near f.
    V high = f * inverse, low = fma(-high, f, fma(high, all<V>(-2), f)) * inverse;
    V square = high * high;
    Words<V> z{square, fma(high + high, low, fma(high, high, -square))};
    Words<V> second = fast_two_sum(V::all(Series::second[0]), square * polynomial<Log2Series>(square));
    second.low = second.low + V::all(Series::second[1]);
    Words<V> term = product(z, second), factor = fast_two_sum(V::all(2 * C::log2_e[0]), term.high);
    factor.low = factor.low + (term.low + V::all(2 * C::log2_e[1]));
    Words<V> result = product(Words<V>{high, low}, factor), sum = fast_two_sum(parts.exponent, result.high);
    return {sum.high, sum.low + result.low};
}

/// 2^(r + low) with |r| <= 1/2 and low below 2^-16. 1 + r ln 2 + (what is small), the first two in two parts each, so that powers that
/// are numbers come out exact.
template <class V>
WEFT_ELEMENT V exp2_within(V r, V low) {
    using C = Constants<ElementOf<V>>;
    Words<V> linear = two_product(r, V::all(C::ln2[0])), sum = fast_two_sum(all<V>(1), linear.high);
    V rest = fma(low, V::all(C::ln2[0]), fma(r, V::all(C::ln2[1]), linear.low)), near = r + low;
    return sum.high + (sum.low + fma(near * near, polynomial<Exp2Second>(near), rest));
}

/// y log2(x), whose words may be no numbers where x or y is extreme.
template <class V>
WEFT_ELEMENT Words<V> times(Words<V> logarithm, V y) {
    V high = y * logarithm.high;
    return {high, fma(y, logarithm.low, fma(y, logarithm.high, -high))};
}

/// |x|^y for finite |x| > 0 and finite y.
template <class V>
WEFT_ELEMENT V pow_within(V a, V y) {
    Words<V> power = times(log2_words(split_any(a)), y);
    V clamped = exp2_clamped(power.high), n = whole(clamped);
    V low = select(equal(power.high, clamped), power.low, all<V>(0));
    return scaled(exp2_within(clamped - n, low), n);
}

/// Whether |y| is a whole number.
template <class V>
WEFT_ELEMENT typename V::Mask is_whole(V a) {
    V unit = V::all(FormatOf<V>::unit);
    return ~less(a, unit) | equal((a + unit) - unit, a);
}

/// The value, where it is not what follows from |x|^y = `value` alone: zeros, infinities, NaN, negative x.
template <class V>
WEFT_ELEMENT V pow_special(V x, V y, V value) {
    using F = FormatOf<V>;
    V zero = all<V>(0), one = all<V>(1), infinite = V::all(F::infinity), nan = V::all(F::nan);
    V a = magnitude(x), b = magnitude(y);
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

/// A positive normal number to a power that is one, too, is all but 2^(y log2(x)); the others are rare, so a branch.
template <class V>
WEFT_ELEMENT V pow(V x, V y) {
    using F = FormatOf<V>;
    Words<V> power = times(log2_words(split(x)), y);
    auto common = ~less(x, V::all(F::least_normal)) & less(x, V::all(F::infinity)) &
                  less(magnitude(power.high), all<V>(F::bias - 1));
    if (!any(~common)) {
        V n = whole(power.high);
        return exp2_within(power.high - n, power.low) * power_of_two(n);
    }
    return pow_special(x, y, pow_within(magnitude(x), y));
}

/// a^(-1/3), a positive normal number, but for 4 %: a third of its bits, taken as a whole number, is nearly a third of its logarithm.
template <class V>
WEFT_ELEMENT V inverse_cbrt_start(V a) {
    using F = FormatOf<V>;
    constexpr int dropped = F::width - F::fraction;  // so that numbers of F's precision hold what is left
    constexpr double kept = two_to<double>(F::fraction - dropped), start = (4.0 / 3 * F::bias - 0.067) * kept;
    V number = V::from_bits((bits(a) >> dropped) | bits(V::all(F::unit)));
    V third = fma(number, all<V>(-1.0 / 3), all<V>(F::unit + start + F::unit / 3));
    return V::from_bits(bits(third) << dropped);
}

/// The cube root of a positive number that is neither tiny nor near the largest. The inverse root by Halley's iteration, which needs no
/// division; the last step on the root itself, its remainder computed exactly.
template <class V>
WEFT_ELEMENT V cbrt_within(V a) {
    constexpr bool wide = sizeof(ElementOf<V>) == 8;
    V r = inverse_cbrt_start(a), square = r * r, third = all<V>(1.0 / 3);
    for (int i = 0; i < (wide ? 2 : 1); ++i) {
        V h = fma(-(a * r), square, all<V>(1));
        r = fma(r * h, fma(h, all<V>(2.0 / 9), third), r);
        square = r * r;
    }
    if constexpr (!wide) {
        r = fma(r * third, fma(-(a * r), square, all<V>(1)), r);  // Newton's is enough here
        square = r * r;
    }
    V root = a * square;
    Words<V> power = two_product(root, root), cube = two_product(power.high, root);
    V rest = (a - cube.high) - fma(power.low, root, cube.low);
    return fma(rest * third, square, root);
}

/// Numbers whose products are out of range, or lose their last parts, are rare, so a branch.
template <class V>
WEFT_ELEMENT V cbrt(V x) {
    using F = FormatOf<V>;
    constexpr int edge = sizeof(ElementOf<V>) == 4 ? 60 : 800, moved = sizeof(ElementOf<V>) == 4 ? 90 : 300;
    V a = magnitude(x), one = all<V>(1);
    auto small = less(a, all<V>(two_to<double>(-edge))), large = less(all<V>(two_to<double>(edge)), a);
    if (!any(small | large | ~equal(a, a))) return with_sign_of(cbrt_within(a), x);
    auto scale = [&](double up, double down) __attribute__((always_inline)) {
        return select(small, all<V>(up), select(large, all<V>(down), one));
    };
    V root = cbrt_within(a * scale(two_to<double>(moved), two_to<double>(-moved)));
    root = root * scale(two_to<double>(-moved / 3), two_to<double>(moved / 3));
    auto finite = less(all<V>(0), a) & less(a, V::all(F::infinity));
    return select(finite, with_sign_of(root, x), x);
}

/// Numbers whose squares are out of range are rare, so a branch.
template <class V>
WEFT_ELEMENT V hypot(V x, V y) {
    using F = FormatOf<V>;
    V a = magnitude(x), b = magnitude(y), most = maximum(a, b), least = minimum(a, b);
    constexpr int far = sizeof(ElementOf<V>) == 4 ? 90 : 700, near = sizeof(ElementOf<V>) == 4 ? 50 : 400;
    auto large = less(all<V>(two_to<double>(near)), most), small = less(most, all<V>(two_to<double>(-near)));
    auto nan = ~(equal(x, x) & equal(y, y));
    if (!any(large | small | nan)) return sqrt(fma(most, most, least * least));
    auto scale = [&](double up, double down) __attribute__((always_inline)) {
        return select(large, all<V>(down), select(small, all<V>(up), all<V>(1)));
    };
    V to = scale(two_to<double>(far), two_to<double>(-far)), back = scale(two_to<double>(-far), two_to<double>(far));
    most = most * to;
    least = least * to;
    V result = sqrt(fma(most, most, least * least)) * back;
    auto endless = equal(a, V::all(F::infinity)) | equal(b, V::all(F::infinity));
    return select(endless, V::all(F::infinity), select(nan, V::all(F::nan), result));
}

}  // namespace weft::elementary
