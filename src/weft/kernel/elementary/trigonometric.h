// sin, cos, tan, and their inverses. Errors are stated in functions.inc. Callers: kernel/elementary.h.
#pragma once

#include "weft/kernel/elementary/angle.h"

namespace weft::elementary {

/// Sine and cosine of an angle within its quadrant.
template <class V>
struct SineCosine {
    V sine, cosine;
};
template <class V>
WEFT_ELEMENT SineCosine<V> sine_and_cosine(const Angle<V>& angle) {
    V r = angle.high, z = r * r, half = z * all<V>(0.5), w = all<V>(1) - half;
    V sine = r + fma(r * z, polynomial<SineRest>(z), angle.low * w);
    V lost = (all<V>(1) - w) - half;
    V cosine = w + fma(z * z, polynomial<CosineRest>(z), fma(-r, angle.low, lost));
    return {sine, cosine};
}

/// Where the sine and the tangent are their argument, whose sign a zero keeps.
template <class V>
WEFT_ELEMENT V or_itself_if_tiny(V x, V value) {
    return select(less(magnitude(x), all<V>(two_to<double>(-(FormatOf<V>::digits / 2 + 1)))), x, value);
}

/// The sine of the angle `quadrants` quarter turns on.
template <class V>
WEFT_ELEMENT V sine_after(V x, int quadrants) {
    using Int = typename V::Int;
    Angle<V> angle = reduce(x);
    auto [sine, cosine] = sine_and_cosine(angle);
    Int turn = quadrants == 0 ? angle.quadrant : angle.quadrant + Int::all(1);
    V value = select(equal(turn & Int::all(1), Int::all(0)), sine, cosine);
    return V::from_bits(bits(value) ^ ((turn & Int::all(2)) << (FormatOf<V>::width - 2)));
}

template <class V>
WEFT_ELEMENT V sin(V x) {
    return or_itself_if_tiny(x, sine_after(x, 0));
}

template <class V>
WEFT_ELEMENT V cos(V x) {
    return sine_after(x, 1);
}

template <class V>
WEFT_ELEMENT V tan(V x) {
    using Int = typename V::Int;
    Angle<V> angle = reduce(x);
    auto [sine, cosine] = sine_and_cosine(angle);
    auto even = equal(angle.quadrant & Int::all(1), Int::all(0));
    return or_itself_if_tiny(x, select(even, sine, -cosine) / select(even, cosine, sine));
}

/// asin is x + x^3 p(x^2) up to 1/2; above, pi / 2 - 2 asin(sqrt((1 - x) / 2)).
template <class V>
struct ArcSine {
    typename V::Mask large;
    V argument, rest;  // |x| or the square root, and how much greater its asin is
};
template <class V>
WEFT_ELEMENT ArcSine<V> arc_sine(V a) {
    auto large = less(all<V>(0.5), a);
    V half_rest = (all<V>(1) - a) * all<V>(0.5);
    V z = select(large, half_rest, a * a), t = select(large, sqrt(half_rest), a);
    return {large, t, t * (z * polynomial<AsinRest>(z))};
}

template <class V>
WEFT_ELEMENT V asin(V x) {
    using C = Constants<ElementOf<V>>;
    auto [large, t, rest] = arc_sine(magnitude(x));
    Words<V> far = fast_two_sum(V::all(C::half_pi[0]), -(t + t));
    far.low = far.low - fma(rest, all<V>(2), V::all(-C::half_pi[1]));
    return with_sign_of(select(large, far.high + far.low, t + rest), x);
}

template <class V>
WEFT_ELEMENT V acos(V x) {
    using C = Constants<ElementOf<V>>;
    auto [large, t, rest] = arc_sine(magnitude(x));
    auto negative = less(x, all<V>(0));
    V near = t + rest, twice = near + near;
    V far = select(negative, V::all(2 * C::half_pi[0]) - (twice - V::all(2 * C::half_pi[1])), twice);
    V middle = V::all(C::half_pi[0]) - (select(negative, -near, near) - V::all(C::half_pi[1]));
    return select(large, far, middle);
}

/// The angle of the point (x, y), y >= 0, from the lesser and the greater of |x| and y; `steep` if y is the greater one, `left` if
/// x is negative. It is atan(least / most), of a quotient of at most tan(pi / 8) after a turn by pi / 4, and then as many times
/// pi / 4 on.
template <bool may_be_left, class V>
WEFT_ELEMENT V angle_of(V least, V most, typename V::Mask steep, typename V::Mask left) {
    using C = Constants<ElementOf<V>>;
    auto turned = less(most * all<V>(0x1.a827999fcef32p-2), least);
    // The quotient in two parts: its own rounding, and those of the sums that it is made of.
    V nothing = all<V>(0);
    Words<V> over = fast_two_sum(-most, least), under = fast_two_sum(most, least);
    over = {select(turned, over.high, least), select(turned, over.low, nothing)};
    under = {select(turned, under.high, most), select(turned, under.low, nothing)};
    V inverse = all<V>(1) / under.high, t = over.high * inverse;
    V lost = (fma(-t, under.high, over.high) + fma(-t, under.low, over.low)) * inverse;
    V z = t * t, near = t + fma(t * z, polynomial<AtanRest>(z), lost);
    V eighths = select(turned, all<V>(1), all<V>(0));
    eighths = select(steep, all<V>(2) - eighths, eighths);
    near = select(steep, -near, near);
    if constexpr (may_be_left) {
        eighths = select(left, all<V>(4) - eighths, eighths);
        near = select(left, -near, near);
    }
    return fma(eighths, V::all(C::half_pi[0] / 2), fma(eighths, V::all(C::half_pi[1] / 2), near));
}

template <class V>
WEFT_ELEMENT V atan(V x) {
    V a = at_most(magnitude(x), 2 * FormatOf<V>::unit * FormatOf<V>::unit), one = all<V>(1);  // its inverse is normal
    auto steep = less(one, a);
    return with_sign_of(angle_of<false>(select(steep, one, a), select(steep, a, one), steep, steep), x);
}

/// atan2(y, x).
template <class V>
WEFT_ELEMENT V atan2(V y, V x) {
    using F = FormatOf<V>;
    V a = magnitude(x), b = magnitude(y), one = all<V>(1), zero = all<V>(0);
    auto steep = less(a, b);
    V least = select(steep, a, b), most = select(steep, b, a);
    // Sums and inverses must be normal numbers; infinities and zeros count as 1 and 0.
    V scale = select(less(most, V::all(F::least_normal * F::unit)), V::all(F::unit), one);
    scale = select(less(V::all(F::top / 16), most), all<V>(0x1p-4), scale);
    auto endless = equal(most, V::all(F::infinity));
    least = select(endless, select(equal(least, most), one, zero), least * scale);
    most = select(endless | equal(most, zero), one, most * scale);
    auto left = ~equal(bits(x) & V::Int::all(F::sign), V::Int::all(0));
    V result = with_sign_of(angle_of<true>(least, most, steep, left), y);
    return select(equal(x, x) & equal(y, y), result, V::all(F::nan));
}

}  // namespace weft::elementary
