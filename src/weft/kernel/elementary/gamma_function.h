// The gamma function and the second derivative of its logarithm. Errors are stated in special.inc. Callers: kernel/function.cpp,
// kernel/function_program.cpp.
#pragma once

#include "weft/kernel/elementary/gamma.h"
#include "weft/kernel/elementary/power.h"
#include "weft/kernel/special_coefficients.h"

namespace weft::elementary {

/// gamma(a) for a >= 0 as first * second: two factors, for the inverse may be a number where the product is none.
template <class V>
struct GammaFactors {
    V first, second;
};
template <class V>
WEFT_ELEMENT GammaFactors<V> gamma_positive(V a) {
    // Below 8, gamma(a) = (a - 1) (a - 2) ... gamma(t) leads down to t in [3/2, 5/2); from below 3/2 one or two steps lead up.
    V one = all<V>(1), t = a, product = one;
    for (int i = 0; i < 6; ++i) {
        auto above = ~less(t, all<V>(2.5));
        V below = t - one;
        product = select(above, product * below, product);
        t = select(above, below, t);
    }
    auto twice = less(a, all<V>(0.5)), rises = less(a, all<V>(1.5));
    V d = select(twice, a, select(rises, a - one, t - all<V>(2)));
    V under = select(twice, fma(a, a, a), a), value = polynomial<GammaNear>(d);
    V near = select(rises, value / under, value * product);
    // From there on Stirling's formula sqrt(2 pi) a^(a - 1/2) e^-a, the power as a square, which is the last to overflow.
    // Beyond the cut both factors would leave the type's range, one upwards, one downwards.
    constexpr auto last = sizeof(ElementOf<V>) == 4 ? 40 : 200;
    V b = at_least(at_most(a, last), 8), power = pow_within(b, fma(b, all<V>(0.5), all<V>(-0.25)));
    V rest = power * exp(-b) * (polynomial<GammaFar>(one / b) * all<V>(0x1.40d931ff62706p+1));
    auto far = ~less(a, all<V>(8));
    return {select(far, rest, near), select(far, power, one)};
}

template <class V>
WEFT_ELEMENT V gamma(V x) {
    using F = FormatOf<V>;
    V a = magnitude(x);
    auto [first, second] = gamma_positive(a);
    V value = first * second;
    value = select(equal(a, all<V>(0)), V::all(F::infinity), value);
    value = select(equal(x, x), value, V::all(F::nan));
    auto negative = ~equal(bits(x) & V::Int::all(F::sign), V::Int::all(0));
    if (!any(negative)) return value;
    // gamma(-a) gamma(a) a sin(pi a) is -pi; the sine's sign changes with every whole number.
    auto turns = half_turns(a);
    V reflected = V::all(2 * Constants<ElementOf<V>>::half_pi[0]) / (a * turns.sine) / first / second;
    V nearest = a - turns.side, floor = select(less(turns.side, all<V>(0)), nearest - all<V>(1), nearest);
    reflected = select(is_whole(floor * all<V>(0.5)), -reflected, reflected);
    reflected = select(turns.pole & less(all<V>(0), a), V::all(F::nan), reflected);
    reflected = select(less(a, V::all(F::tiny)), all<V>(1) / x, reflected);
    return select(negative & equal(x, x), reflected, value);
}

/// Bernoulli's numbers B2, B4, ...
template <class T>
struct Bernoulli {
    static constexpr T c[] = {T(1.0 / 6),  T(-1.0 / 30),       T(1.0 / 42),  T(-1.0 / 30),
                              T(5.0 / 66), T(-691.0 / 2730.0), T(7.0 / 6.0), T(-3617.0 / 510)};
};

/// The second derivative of log gamma: from 10 on its asymptotic series (Abramowitz & Stegun 6.4.12); ten steps lead up there.
template <class V>
WEFT_ELEMENT V trigamma_positive(V x) {
    constexpr int steps = 10;
    V one = all<V>(1), sum = all<V>(0);
    for (int i = steps; i-- > 0;) {
        V inverse = one / (x + all<V>(i));
        sum = fma(inverse, inverse, sum);
    }
    auto far = ~less(x, all<V>(steps));
    V inverse = one / select(far, x, x + all<V>(steps)), square = inverse * inverse;
    V series = inverse + fma(square, all<V>(0.5), square * inverse * polynomial<Bernoulli>(square));
    return select(far, series, sum + series);
}

template <class V>
WEFT_ELEMENT V trigamma(V x) {
    using F = FormatOf<V>;
    auto negative = less(x, all<V>(0));
    V value = trigamma_positive(select(negative, all<V>(1) - x, x));
    if (!any(negative)) return value;
    auto turns = half_turns(magnitude(x));
    V slope = V::all(2 * Constants<ElementOf<V>>::half_pi[0]) / turns.sine;
    V reflected = select(turns.pole, V::all(F::infinity), fma(slope, slope, -value));
    return select(negative, reflected, value);
}

}  // namespace weft::elementary
