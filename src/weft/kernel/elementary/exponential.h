// exp and its family. Errors are stated in functions.inc. Callers: kernel/elementary.h.
#pragma once

#include "weft/kernel/elementary/basis.h"

namespace weft::elementary {

/// Where e^x is beyond the format on either side (below so far that scaled_by leaves it out, kernel/lanes.h), and where e^x is nothing beside 1.
template <class T>
inline constexpr T exp_top = sizeof(T) == 4 ? 89 : 710;
template <class T>
inline constexpr T exp_bottom = sizeof(T) == 4 ? T(-107.5) : -749;
template <class T>
inline constexpr T exp_vanishes = sizeof(T) == 4 ? -18 : -38;

/// x = n ln 2 + r with |r| <= ln 2 / 2. The first product is exact in the sum: both are multiples of the last place of ln 2.
template <class V>
struct Reduced {
    V n, r, shifted;  // the last: a number whose low bits are those of n + offset
};
/// `offset`: even, so that what lies between two whole numbers is rounded as without it. As it is unless said, code may make an exponent of these bits
/// (backend/cpu/emit/vector_arithmetic.cpp).
template <int offset = 0, class V>
WEFT_ELEMENT Reduced<V> reduce_by_ln2(V x) {
    using C = Constants<ElementOf<V>>;
    using F = FormatOf<V>;
    constexpr int low = offset == 0 ? F::bias - exponent_below : offset;
    static_assert(low % 2 == 0);
    V shifted = fma(x, V::all(C::log2_e[0]), V::all(F::magic + low)), n = shifted - V::all(F::magic + low);
    V r = fma(n, V::all(-C::ln2[0]), x);
    return {n, fma(n, V::all(-C::ln2[1]), r), shifted};
}

/// x - n ln 2 - r.
template <class V>
WEFT_ELEMENT V lost_by_reduction(V x, V n, V r) {
    using C = Constants<ElementOf<V>>;
    return fma(n, V::all(-C::ln2[1]), fma(n, V::all(-C::ln2[0]), x) - r);
}

/// e^r - 1 for |r| <= ln 2 / 2, good enough to be added to 1.
template <class V>
WEFT_ELEMENT V exp_small(V r) {
    V square = r * r;
    return fma(square, polynomial_in_pairs<ExpRest>(r, square), r);
}

/// e^x 2^shift for a clamped x.
template <class V>
WEFT_ELEMENT V exp_shifted(V x, double shift) {
    auto [n, r, shifted] = reduce_by_ln2(x);
    return scaled(exp_small(r) + all<V>(1), shift == 0 ? n : n + all<V>(shift));
}

/// Where 2^n is an instruction's, nothing is cut off: of a large x, r is whatever rounding left, but a polynomial of even degree with
/// such coefficients is positive everywhere, and of infinity n is infinite and r NaN, by which that instruction means infinity; of a small one it
/// looks at n alone.
template <class V>
WEFT_ELEMENT V exp(V x) {
    using T = ElementOf<V>;
    static_assert(sizeof ExpRest<T>::c / sizeof(T) % 2 == 1);
    return exp_shifted(at_least_in_steps(at_most_in_steps(x, exp_top<T>), exp_bottom<T>), 0);
}

/// Of n that are not above 0 (nor much: 86): 2^(n + up) is large enough to be no denormal, whatever number is made small by 2^-up then.
template <class V>
inline constexpr int up = sizeof(ElementOf<V>) == 4 ? 41 : 61;
template <class V>
WEFT_ELEMENT Reduced<V> reduce_negative_by_ln2(V x) {
    return reduce_by_ln2<FormatOf<V>::bias + up<V>>(x);
}
template <class V>
WEFT_ELEMENT V raised_power(const Reduced<V>& x) {
    return V::from_bits(bits(x.shifted) << FormatOf<V>::fraction);
}
template <class V>
WEFT_ELEMENT V lowered(V a) {
    return a * V::all(two_to<ElementOf<V>>(-up<V>));
}

/// e^x for an x that is not above 0 (nor much: 59), or NaN, to the bits of exp(x).
template <class V>
WEFT_ELEMENT V exp_of_negative(V x) {
    Reduced<V> reduced = reduce_negative_by_ln2(at_least_in_steps(x, exp_bottom<ElementOf<V>>));
    V small = exp_small(reduced.r);
    if (V::scales_by_instruction()) return scaled(small + all<V>(1), reduced.n);
    V power = raised_power(reduced);
    return lowered(fma(small, power, power));
}

/// e^x 2^raised_by for an x that is not above 0, or NaN: nothing of it is a denormal, so what lowers it again may wait until all of it has been
/// added up. 0 where e^x is; of a softmax's numbers one of twelve multiplications less.
inline constexpr int raised_by = 61;
template <class V>
WEFT_ELEMENT V exp_raised(V x) {
    using C = Constants<ElementOf<V>>;
    constexpr int zero = FormatOf<V>::bias + raised_by;  // of n = -zero the power's bits are those of 0
    Reduced<V> reduced = reduce_by_ln2<zero>(at_least(x, static_cast<ElementOf<V>>(-zero * (C::ln2[0] + C::ln2[1]))));
    V power = raised_power(reduced);
    return fma(exp_small(reduced.r), power, power);
}

/// e^(high + low) for a clamped high; low is below 2^-20.
template <class V>
WEFT_ELEMENT V exp_words(Words<V> x) {
    auto [n, r, shifted] = reduce_by_ln2(x.high);
    V small = exp_small(r), low = x.low + lost_by_reduction(x.high, n, r);
    return scaled(fma(small + all<V>(1), low, small) + all<V>(1), n);
}

template <class V>
WEFT_ELEMENT V exp2_clamped(V x) {
    using T = ElementOf<V>;
    return at_least(at_most(x, sizeof(T) == 4 ? T(129) : T(1025)), sizeof(T) == 4 ? T(-155) : T(-1080));
}

template <class V>
WEFT_ELEMENT V exp2(V x) {
    x = exp2_clamped(x);
    V n = whole(x);
    V r = x - n;
    return scaled(fma(r, polynomial<Exp2Rest>(r), all<V>(1)), n);
}

template <class V>
WEFT_ELEMENT V expm1(V x) {
    using T = ElementOf<V>;
    V within = at_least(at_most(x, exp_top<T>), exp_vanishes<T>);
    auto [n, r, shifted] = reduce_by_ln2(within);
    V rest = fma(r * r, polynomial<Expm1Rest>(r), lost_by_reduction(within, n, r));
    // 2^n (1 + r + rest) - 1, in halves, for 2^(bias + 1) is no number.
    V half = power_of_two(n - all<V>(1)), start = half - all<V>(0.5);
    V sum = fma(half, r, start), result = sum + fma(half, rest, fma(half, r, start - sum));
    return select(less(magnitude(x), V::all(FormatOf<V>::tiny)), x, result + result);  // keeps -0 and denormals
}

template <class V>
WEFT_ELEMENT V sigmoid(V x) {
    V small = exp_of_negative(-magnitude(x));
    return select(less(x, all<V>(0)), small, all<V>(1)) / (small + all<V>(1));
}

/// x + x^3 p(x^2) for x >= 0, below some limit.
template <template <class> class C, class V>
WEFT_ELEMENT V odd_series(V x) {
    V z = x * x;
    return fma(x * z, polynomial<C>(z), x);
}

/// 1 - 2 / (e^2a + 1) for a >= 0, that is e^2a as 2^n e^r. Steps of a recurrence wait for all of it, so what waits for the other is short:
/// 2^n + 1 is there while e^r - 1 is computed, what the reduction rounds off is added where it weighs most alone, and a is not cut off.
template <class V>
WEFT_ELEMENT V tanh_far(V a) {
    using C = Constants<ElementOf<V>>;
    V twice = a + a, n = whole_of_shifted(fma(a, V::all(2 * C::log2_e[0]), V::all(FormatOf<V>::magic))).value;
    V r = fma(n, V::all(-C::ln2[0]), twice), square = r * r, power = power_of_two(n);
    constexpr auto& c = ExpRest<ElementOf<V>>::c;
    V first = fma(square, fma(r, V::all(c[1]), V::all(c[0])), fma(n, V::all(-C::ln2[1]), r));
    V small = fma(square * square, polynomial_in_pairs<ExpRest, 2>(r, square), first);
    V result = all<V>(1) - all<V>(2) / fma(power, small, power + all<V>(1));
    return select(less(all<V>(20), a), all<V>(1), result);  // 1 from 9.02 on, of doubles from 19.07 on
}

/// The same and the odd series below 0.5625 by one chain of either's coefficients: the series' variable is a^2, its result what e^2a - 1 would
/// be. For doubles, whose two polynomials are of one degree and long.
template <class V>
WEFT_ELEMENT V tanh_by_either(V a) {
    using C = Constants<ElementOf<V>>;
    auto inner = less(a, all<V>(0.5625));
    V twice = a + a, n = whole_of_shifted(fma(a, V::all(2 * C::log2_e[0]), V::all(FormatOf<V>::magic))).value;
    V r = fma(n, V::all(-C::ln2[0]), twice), z = a * a, x = select(inner, z, r), square = x * x;
    V scale = select(inner, a * z, square), start = select(inner, a, fma(n, V::all(-C::ln2[1]), r));
    V small = fma(scale, either_polynomial_in_pairs<TanhRest, ExpRest>(inner, x, square), start),
      power = power_of_two(n);
    V far = all<V>(1) - all<V>(2) / fma(power, small, power + all<V>(1));
    return select(inner, small, select(less(all<V>(20), a), all<V>(1), far));
}

template <class V>
WEFT_ELEMENT V tanh(V x) {
    V a = magnitude(x);
    if constexpr (sizeof(ElementOf<V>) == 8)
        return with_sign_of(tanh_by_either(a), x);
    else
        return with_sign_of(select(less(a, all<V>(0.5625)), odd_series<TanhRest>(a), tanh_far(a)), x);
}

/// e^|x| / 2, up to where cosh is infinite.
template <class V>
WEFT_ELEMENT V half_exp(V a) {
    return exp_shifted(at_most(a, exp_top<ElementOf<V>> + 1), -1);
}

template <class V>
WEFT_ELEMENT V sinh(V x) {
    V a = magnitude(x), half = half_exp(a);
    V far = half - all<V>(0.25) / half;
    return with_sign_of(select(less(a, all<V>(1)), odd_series<SinhRest>(a), far), x);
}

template <class V>
WEFT_ELEMENT V cosh(V x) {
    V half = half_exp(magnitude(x));
    return half + all<V>(0.25) / half;
}

}  // namespace weft::elementary
