// erf and erfc. Errors are stated in functions.inc. Callers: kernel/elementary.h.
#pragma once

#include "weft/kernel/elementary/exponential.h"

namespace weft::elementary {

/// erf(x) for |x| <= 1.
template <class V>
WEFT_ELEMENT V erf_near(V x) {
    return fma(x, polynomial<ErfNear>(x * x), x);
}

/// Two polynomials of one degree: below a place one in x^2, above it a root of erfc, which varies so little that one will do for all of it.
/// A vector computes one chain with the coefficients that each element chooses: choices go where no multiplication would, a second chain
/// or an exponential would wait for the same units. The root is not of a higher order, for powers multiply its rounding errors.
template <class V>
WEFT_ELEMENT V erf(V x) {
    using T = ElementOf<V>;
    V a = magnitude(x);
    auto inner = less(a, V::all(erf_split<T>));
    V p = either_polynomial<ErfInner, ErfcRoot>(
        inner, select(inner, fma(a, a, V::all(-erf_centre<T>)), at_most(a, erf_top<T>)));
    V square = p * p, rest = square * square;
    if constexpr (sizeof(T) == 8) rest = rest * rest;
    return select(inner, fma(x, p, x), with_sign_of(all<V>(1) - rest, x));
}

/// For |x| >= 1/2 e^(-x^2) times a function that varies little, of a variable in [-1, 1] (Shepherd & Laframboise, 1981); below, 1 - erf(x).
template <class V>
WEFT_ELEMENT V erfc(V x) {
    using T = ElementOf<V>;
    V b = magnitude(x), a = at_most(b, sizeof(T) == 4 ? T(10.2) : T(27.4));  // beyond: 0
    auto inner = less(b, all<V>(0.5));
    V t = (a - all<V>(erfc_centre)) / (a + all<V>(erfc_centre));
    V p = either_polynomial<ErfSmall, ErfcScaled>(inner, select(inner, a * a, t));
    Words<V> square = two_product(a, a);
    V far = p / fma(a, all<V>(2), all<V>(1)) * exp_words(Words<V>{-square.high, -square.low});
    far = select(less(x, all<V>(0)), all<V>(2) - far, far);
    return select(inner, all<V>(1) - fma(x, p, x), far);
}

/// The derivative of x (1 + erf(x / sqrt(2))) / 2, by one exponential: what erfc adds to the density's is a factor of the same e^(-x^2/2).
/// The factor is multiplied before 2^n is, for e^(-x^2/2) alone would have lost digits where it is denormal.
template <class V>
WEFT_ELEMENT V gelu_slope(V x) {
    using T = ElementOf<V>;
    V a = at_most(magnitude(x), sizeof(T) == 4 ? T(15) : T(39.5));
    V sum = a + all<V>(gelu_pole), factor = polynomial<GeluSlope>((a - all<V>(gelu_centre)) / sum) * sum;
    Reduced<V> reduced =
        reduce_negative_by_ln2(at_least(x * x * all<V>(-0.5), sizeof(T) == 4 ? T(-110) : T(-750)));  // 0 from there on
    V product = factor * (exp_small(reduced.r) + all<V>(1));
    V part = V::scales_by_instruction() ? scaled(product, reduced.n) : lowered(product * raised_power(reduced));
    return select(less(x, all<V>(0)), -part, all<V>(1) + part);
}

}  // namespace weft::elementary
