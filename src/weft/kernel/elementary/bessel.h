// Bessel functions of orders 0 and 1. Near 0 by polynomials or series, far out by polynomials in the inverse (Abramowitz & Stegun 9
// and 9.7). Errors are stated in special.inc; J and Y have zeros, near which their errors are absolute.
// Callers: kernel/function.cpp, kernel/function_program.cpp.
#pragma once

#include "weft/kernel/elementary/exponential.h"
#include "weft/kernel/elementary/logarithm.h"
#include "weft/kernel/elementary/trigonometric.h"
#include "weft/kernel/special_coefficients.h"

namespace weft::elementary {

inline constexpr double two_over_pi_number = 0x1.45f306dc9c883p-1, euler_gamma = 0x1.2788cfc6fb619p-1;

/// Where the polynomials change over to those in the inverse.
template <class V>
WEFT_ELEMENT typename V::Mask is_far(V a) {
    return less(all<V>(8), a);
}
/// x^2 / 32 - 1 for x up to 8.
template <class V>
WEFT_ELEMENT V near_variable(V a) {
    V b = at_most(a, 8);
    return fma(b * all<V>(1.0 / 32), b, all<V>(-1));
}

/// J0 up to 8: 1 less what is exact beside it.
template <class V>
WEFT_ELEMENT V j0_near(V a) {
    V b = at_most(a, 8);
    return fma(b * b, polynomial<J0Near>(near_variable(a)), all<V>(1));
}

/// sqrt(2 / (pi a)) times P and Q, and cosine and sine of a - pi / 4, for a from 8 on.
template <class V>
struct Wave {
    V p, q, cosine, sine;
};
template <template <class> class P, template <class> class Q, class V>
WEFT_ELEMENT Wave<V> wave(V a) {
    using Int = typename V::Int;
    a = at_least(a, 8);
    V inverse = all<V>(8) / a, t = fma(inverse + inverse, inverse, all<V>(-1));
    V size = sqrt(all<V>(two_over_pi_number) / a);
    Angle<V> angle = reduce(a);
    auto [s, c] = sine_and_cosine(angle);
    auto even = equal(angle.quadrant & Int::all(1), Int::all(0));
    auto signed_by = [](V value, Int quadrant) __attribute__((always_inline)) {
        return V::from_bits(bits(value) ^ ((quadrant & Int::all(2)) << (FormatOf<V>::width - 2)));
    };
    V sine = signed_by(select(even, s, c), angle.quadrant);
    V cosine = signed_by(select(even, c, s), angle.quadrant + Int::all(1));
    V root = all<V>(0x1.6a09e667f3bcdp-1);
    return {size * polynomial<P>(t), size * inverse * polynomial<Q>(t), (cosine + sine) * root, (sine - cosine) * root};
}

/// What is 0 at infinity, where the wave has no value.
template <class V>
WEFT_ELEMENT V vanishing(V a, V value) {
    return select(equal(a, V::all(FormatOf<V>::infinity)), all<V>(0), value);
}
/// What is infinite at 0 and not defined below.
template <class V>
WEFT_ELEMENT V of_positive(V x, V at_zero, V value) {
    value = select(equal(x, all<V>(0)), at_zero, value);
    return select(less(x, all<V>(0)), V::all(FormatOf<V>::nan), value);
}

template <class V>
WEFT_ELEMENT V j0(V x) {
    V a = magnitude(x);
    Wave<V> w = wave<HankelP0, HankelQ0>(a);
    V far = vanishing(a, fma(w.p, w.cosine, -(w.q * w.sine)));
    return select(is_far(a), far, j0_near(a));
}

template <class V>
WEFT_ELEMENT V j1(V x) {
    V a = magnitude(x);
    Wave<V> w = wave<HankelP1, HankelQ1>(a);  // a - 3 pi / 4: a quarter turn behind
    V far = vanishing(a, fma(w.p, w.sine, w.q * w.cosine));
    V value = select(is_far(a), far, a * polynomial<J1Near>(near_variable(a)));
    return V::from_bits(bits(value) ^ (bits(x) & V::Int::all(FormatOf<V>::sign)));
}

template <class V>
WEFT_ELEMENT V y0(V x) {
    V a = magnitude(x), b = at_most(a, 8), square = b * b;
    Wave<V> w = wave<HankelP0, HankelQ0>(a);
    V far = vanishing(a, fma(w.p, w.sine, w.q * w.cosine));
    V scale = (log(b * all<V>(0.5)) + all<V>(euler_gamma)) * all<V>(two_over_pi_number);
    V near = fma(scale, j0_near(a), square * polynomial<Y0Near>(near_variable(a)));
    return of_positive(x, V::all(-FormatOf<V>::infinity), select(is_far(a), far, near));
}

template <class V>
WEFT_ELEMENT V y1(V x) {
    V a = magnitude(x), t = near_variable(a), b = at_most(a, 8);
    Wave<V> w = wave<HankelP1, HankelQ1>(a);
    V far = vanishing(a, fma(w.q, w.sine, -(w.p * w.cosine)));
    V singular = fma(log(b), b * polynomial<J1Near>(t), all<V>(-1) / b);
    V near = fma(singular, all<V>(two_over_pi_number), b * polynomial<Y1Near>(t));
    return of_positive(x, V::all(-FormatOf<V>::infinity), select(is_far(a), far, near));
}

/// The coefficients of a series in (x / 2)^2, of f(k) / (k! (k + order)!).
template <class T, int count>
struct Series {
    T c[count];
};
template <class T, int count, int order, class Factor>
constexpr Series<T, count> series_of(Factor factor) {
    Series<T, count> result{};
    double inverse = 1;
    for (int k = 0; k < count; ++k) {
        if (k > 0) inverse /= k;
        if (k + order > 1) inverse /= k + order;
        result.c[k] = static_cast<T>(inverse * factor(k));
    }
    return result;
}
constexpr double harmonic(int n) {
    double sum = 0;
    for (int i = n; i > 0; --i) sum += 1.0 / i;
    return sum;
}
template <class T>
inline constexpr int i_terms = sizeof(T) == 4 ? 17 : 24;  // up to 8
template <class T>
struct I0Series {
    static constexpr auto all = series_of<T, i_terms<T>, 0>([](int) { return 1.0; });
    static constexpr auto& c = all.c;
};
template <class T>
struct I1Series {
    static constexpr auto all = series_of<T, i_terms<T>, 1>([](int) { return 1.0; });
    static constexpr auto& c = all.c;
};
inline constexpr int k_terms = 10;  // up to 1
template <class T>
struct K0Series {
    static constexpr auto all = series_of<T, k_terms, 0>([](int k) { return harmonic(k); });
    static constexpr auto& c = all.c;
};
template <class T>
struct K1Series {
    static constexpr auto all =
        series_of<T, k_terms, 1>([](int k) { return harmonic(k) + harmonic(k + 1) - 2 * euler_gamma; });
    static constexpr auto& c = all.c;
};

/// (x / 2)^2 for x up to a limit.
template <class V>
WEFT_ELEMENT V quarter_square(V b) {
    V half = b * all<V>(0.5);
    return half * half;
}

/// I of order 0 or 1 for a >= 0, times e^-a if `scaled`. Near 8 the series and the polynomial are both exact.
template <int order, bool scaled, class V>
WEFT_ELEMENT V i_of(V a) {
    V b = at_most(a, 8), z = quarter_square(b), near = all<V>(0), far = near;
    V large = at_least(a, 8), t = fma(all<V>(16), all<V>(1) / large, all<V>(-1));
    if constexpr (order == 0) {
        near = polynomial<I0Series>(z), far = polynomial<I0Far>(t);
    } else {
        near = b * all<V>(0.5) * polynomial<I1Series>(z), far = polynomial<I1Far>(t);
    }
    far = far / sqrt(large);
    if constexpr (scaled) return select(is_far(a), far, near * exp(-b));
    V growth = exp(large * all<V>(0.5));
    far = select(equal(large, V::all(FormatOf<V>::infinity)), large, far * growth * growth);
    return select(is_far(a), far, near);
}

template <class V>
WEFT_ELEMENT V i0(V x) {
    return i_of<0, false>(magnitude(x));
}
template <class V>
WEFT_ELEMENT V i0e(V x) {
    return i_of<0, true>(magnitude(x));
}
template <class V>
WEFT_ELEMENT V i1(V x) {
    V value = i_of<1, false>(magnitude(x));
    return V::from_bits(bits(value) ^ (bits(x) & V::Int::all(FormatOf<V>::sign)));
}
template <class V>
WEFT_ELEMENT V i1e(V x) {
    V value = i_of<1, true>(magnitude(x));
    return V::from_bits(bits(value) ^ (bits(x) & V::Int::all(FormatOf<V>::sign)));
}

/// K of order 0 or 1, times e^x if `scaled`: up to 1 by the series with the logarithm (Abramowitz & Stegun 9.6.13).
template <int order, bool scaled, class V>
WEFT_ELEMENT V k_of(V x) {
    V b = at_most(x, 1), z = quarter_square(b), near = all<V>(0), far = near, half_log = log(b * all<V>(0.5));
    V large = at_least(x, 1), t = (large - all<V>(2)) / (large + all<V>(2));
    t = select(equal(large, V::all(FormatOf<V>::infinity)), all<V>(1), t);
    if constexpr (order == 0) {
        near = fma(-(half_log + all<V>(euler_gamma)), polynomial<I0Series>(z), polynomial<K0Series>(z));
        far = polynomial<K0Far>(t);
    } else {
        V half = b * all<V>(0.5);
        V regular = fma(half_log, polynomial<I1Series>(z), all<V>(-0.5) * polynomial<K1Series>(z));
        near = fma(half, regular, all<V>(1) / b);
        far = polynomial<K1Far>(t);
    }
    far = far / sqrt(large);
    if constexpr (scaled)
        near = near * exp(b);
    else
        far = far * exp(-large);
    return of_positive(x, V::all(FormatOf<V>::infinity), select(less(all<V>(1), x), far, near));
}

template <class V>
WEFT_ELEMENT V k0(V x) {
    return k_of<0, false>(x);
}
template <class V>
WEFT_ELEMENT V k0e(V x) {
    return k_of<0, true>(x);
}
template <class V>
WEFT_ELEMENT V k1(V x) {
    return k_of<1, false>(x);
}
template <class V>
WEFT_ELEMENT V k1e(V x) {
    return k_of<1, true>(x);
}

}  // namespace weft::elementary
