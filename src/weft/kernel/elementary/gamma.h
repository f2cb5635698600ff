// lgamma and its derivative digamma, and the inverse of erf. Errors are stated in functions.inc. Callers: kernel/elementary.h.
#pragma once

#include "weft/kernel/elementary/logarithm.h"
#include "weft/kernel/elementary/trigonometric.h"

namespace weft::elementary {

/// Sine and cosine of pi times the distance from a >= 0 to the nearest whole number, and on which side of that a lies.
template <class V>
struct HalfTurns {
    V sine, cosine, side;
    typename V::Mask pole;  // a is whole
};
template <class V>
WEFT_ELEMENT HalfTurns<V> half_turns(V a) {
    using C = Constants<ElementOf<V>>;
    V unit = V::all(FormatOf<V>::unit), side = a - ((a + unit) - unit), rest = magnitude(side);
    auto steep = less(all<V>(0.25), rest);
    V u = select(steep, all<V>(0.5) - rest, rest), pi = V::all(2 * C::half_pi[0]);
    Words<V> angle = two_product(u, pi);
    angle.low = fma(u, V::all(2 * C::half_pi[1]), angle.low);
    auto [sine, cosine] = sine_and_cosine(Angle<V>{angle.high, angle.low, V::Int::all(0)});
    auto pole = equal(rest, all<V>(0)) | ~less(a, unit);
    return {select(steep, cosine, sine), select(steep, sine, cosine), side, pole};
}

/// log gamma(a) for a >= 0, and the logarithm that it was made of: of a (1 + a) below 1/2.
template <class V>
WEFT_ELEMENT Words<V> lgamma_positive(V a) {
    // From 8 on Stirling's series. Below, gamma(a) = (a - 1) (a - 2) ... gamma(t) leads down to t in [3/2, 5/2), where lgamma is
    // (t - 2) times a polynomial; so does one step up from below 5/4.
    V one = all<V>(1), t = a, product = one;
    for (int i = 0; i < 6; ++i) {
        auto above = ~less(t, all<V>(2.5));
        V below = t - one;
        product = select(above, product * below, product);
        t = select(above, below, t);
    }
    auto less_than_half = less(a, all<V>(0.5)), rises = less(a, all<V>(1.25)), far = ~less(a, all<V>(8));
    V d = select(less_than_half, a, select(rises, a - one, t - all<V>(2)));
    V argument = select(less_than_half, fma(a, a, a), select(rises | far, a, product));
    V logarithm = log(argument);
    V near = d * polynomial<LgammaNear>(d) + select(rises, -logarithm, logarithm);
    V inverse = one / at_least(a, 1);
    V rest =
        fma(inverse, polynomial<LgammaFar>(inverse * inverse), all<V>(0x1.acfe390c97d6ap-2));  // (log 2 pi - 1) / 2
    V stirling = fma(a - all<V>(0.5), logarithm - one, rest);
    return {select(far, stirling, near), logarithm};
}

template <class V>
WEFT_ELEMENT V lgamma(V x) {
    using F = FormatOf<V>;
    V a = magnitude(x);
    auto [value, logarithm] = lgamma_positive(a);
    value = select(equal(x, x), value, V::all(F::nan));
    auto negative = less(x, all<V>(0));
    if (!any(negative)) return value;
    // gamma(-a) gamma(a) a sin(pi a) is pi, but for its sign.
    auto turns = half_turns(a);
    V reflected = log(V::all(2 * Constants<ElementOf<V>>::half_pi[0]) / (a * turns.sine)) - value;
    reflected = select(less(a, V::all(F::tiny)), -logarithm, reflected);
    reflected = select(turns.pole, V::all(F::infinity), reflected);
    return select(negative, reflected, value);
}

/// digamma(x) for x >= 0.
template <class V>
WEFT_ELEMENT V digamma_positive(V x) {
    // Down from 10 by the recurrence digamma(t) = digamma(t - 1) + 1 / (t - 1), the sum as one quotient, to t in [1, 2]: there it is the
    // distance from the root, where its value is small beside the terms of any sum, times a polynomial.
    V one = all<V>(1), t = at_most(x, 10), over = all<V>(0), under = one;
    for (int i = 0; i < 8; ++i) {
        auto above = less(all<V>(2), t);
        V below = t - one;
        over = select(above, fma(over, below, under), over);
        under = select(above, under * below, under);
        t = select(above, below, t);
    }
    auto rises = less(x, one);
    t = select(rises, x + one, t), over = select(rises, -one, over), under = select(rises, x, under);
    using C = Constants<ElementOf<V>>;
    V distance = (t - V::all(C::digamma_root[0])) - V::all(C::digamma_root[1]);
    V near = fma(distance, polynomial<DigammaNear>(t - all<V>(1.5)), over / under);
    V inverse = one / at_least(x, 1), square = inverse * inverse;
    V far = log(x) - fma(inverse, all<V>(0.5), square * polynomial<DigammaFar>(square));
    return select(less(x, all<V>(10)), near, far);
}

template <class V>
WEFT_ELEMENT V digamma(V x) {
    using F = FormatOf<V>;
    auto negative = less(x, all<V>(0));
    V value = digamma_positive(select(negative, all<V>(1) - x, x));
    value = select(equal(x, x), value, V::all(F::nan));
    if (!any(negative)) return value;
    auto turns = half_turns(magnitude(x));
    V slope = V::all(2 * Constants<ElementOf<V>>::half_pi[0]) * turns.cosine / turns.sine;
    V reflected = value + with_sign_of(slope, turns.side);
    return select(negative, select(turns.pole, V::all(F::nan), reflected), value);
}

/// x times a function of w = -log(1 - x^2) (Giles, 2012), by polynomials in w and, from erfinv_far on, in its square root.
template <class V>
WEFT_ELEMENT V erfinv(V x) {
    V w = -log(fma(-x, x, all<V>(1)));
    V near = polynomial<ErfinvNear>(w - all<V>(erfinv_far / 2));
    V far = polynomial<ErfinvFar>(sqrt(at_least(w, ElementOf<V>(erfinv_far))) - all<V>(erfinv_centre));
    V value = x * select(less(w, all<V>(erfinv_far)), near, far);
    return select(equal(magnitude(x), all<V>(1)), with_sign_of(V::all(FormatOf<V>::infinity), x), value);
}

}  // namespace weft::elementary
