// weft's own elementary functions, as templates over a vector of floats: polynomials, explicit fused multiply-adds, selects in
// place of branches. So one float and sixteen give the same bits on every instruction set. Coefficients: tools/minimax.cpp.
// Errors are stated in functions.inc and held by tests/kernel/function_test.cpp. Callers: kernel/function.cpp, backend/cpu/isa/.
#pragma once

#include "weft/kernel/float_vector.h"

namespace weft::elementary {

/// c0 + c1 x + c2 x^2 + ..., Horner's way.
template <class V>
WEFT_ELEMENT V polynomial(V, float c) {
    return V::all(c);
}
template <class V, class... More>
WEFT_ELEMENT V polynomial(V x, float c, More... more) {
    return fma(polynomial(x, more...), x, V::all(c));
}

template <class V>
WEFT_ELEMENT V magnitude(V x) {
    return V::from_bits(bits(x) & V::Int::all(0x7fffffff));
}
template <class V>
WEFT_ELEMENT V with_sign_of(V magnitude, V sign) {
    return V::from_bits(bits(magnitude) | (bits(sign) & V::Int::all(static_cast<std::int32_t>(0x80000000u))));
}
/// A float rounded to a whole number, and that number as an integer, for |x| < 2^22: both fall out of adding 1.5 * 2^23.
template <class V>
struct Whole {
    V value;
    typename V::Int integer;
};
template <class V>
WEFT_ELEMENT Whole<V> whole_of(V shifted) {
    return {shifted - 0x1.8p23f, bits(shifted) - V::Int::all(0x4b400000)};
}

constexpr float log2_e = 0x1.715476p+0f, ln2_high = 0x1.62e4p-1f,
                ln2_low = 0x1.7f7d1cp-20f;  // high: 15 bits, so n * high is exact

/// x = n ln 2 + r with |r| <= ln 2 / 2.
template <class V>
struct Reduced {
    Whole<V> n;
    V r;
};
template <class V>
WEFT_ELEMENT Reduced<V> reduce_by_ln2(V x) {
    Whole<V> n = whole_of(fma(x, log2_e, V::all(0x1.8p23f)));
    V r = fma(n.value, -ln2_high, x);
    return {n, fma(n.value, -ln2_low, r)};
}

template <class V>
WEFT_ELEMENT V exp(V x) {
    x = at_least(at_most(x, 89.f), -104.f);  // beyond: infinity and 0
    auto [n, r] = reduce_by_ln2(x);
    V q = polynomial(r, 0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558f2p-5f, 0x1.1239d4p-7f, 0x1.6a244ep-10f);
    return scaled(fma(r * r, q, r) + 1.f, n.value, n.integer);
}

template <class V>
WEFT_ELEMENT V exp2(V x) {
    x = at_least(at_most(x, 129.f), -151.f);
    Whole<V> n = whole_of(x + 0x1.8p23f);
    V r = x - n.value;
    V q =
        polynomial(r, 0x1.62e43p-1f, 0x1.ebfbdcp-3f, 0x1.c6aee8p-5f, 0x1.3b2d4cp-7f, 0x1.5f3e52p-10f, 0x1.41fbbep-13f);
    return scaled(fma(r, q, 1.f), n.value, n.integer);
}

/// e^x - 1 for x in [-18, 89] or NaN.
template <class V>
WEFT_ELEMENT V expm1_within(V x) {
    auto [n, r] = reduce_by_ln2(x);
    V q = polynomial(r, 0x1p-1f, 0x1.555556p-3f, 0x1.55547p-5f, 0x1.1110acp-7f, 0x1.6da758p-10f, 0x1.a17df6p-13f);
    V small = fma(r * r, q, r);
    // 2^n (1 + small) - 1, in halves, for 2^128 is no float.
    V half = V::from_bits((n.integer + V::Int::all(126)) << 23);
    V result = fma(small, half, half - 0.5f);
    return result + result;
}

template <class V>
WEFT_ELEMENT V expm1(V x) {
    V result = expm1_within(at_least(at_most(x, 89.f), -18.f));
    return select(less(magnitude(x), V::all(0x1p-25f)), x, result);  // keeps -0 and denormals
}

/// log(1 + f) - f for f in [sqrt(1/2) - 1, sqrt(2) - 1].
template <class V>
WEFT_ELEMENT V log_rest(V f) {
    V q = polynomial(f, 0x1.555548p-2f, -0x1.000006p-2f, 0x1.99a4b6p-3f, -0x1.555c4ep-3f, 0x1.233768p-3f,
                     -0x1.fc2208p-4f, 0x1.e6f06ap-4f, -0x1.de3c12p-4f, 0x1.1457a4p-4f);
    V square = f * f;
    return fma(square * f, q, square * -0.5f);
}

/// u = 2^n * (1 + fraction), 1 + fraction in [sqrt(1/2), sqrt(2)), for positive normal u.
template <class V>
struct Split {
    typename V::Int n;
    V exponent, fraction;
};
template <class V>
WEFT_ELEMENT Split<V> split(V u) {
    typename V::Int n = (bits(u) - V::Int::all(0x3f3504f3)) >> 23;  // bits of sqrt(1/2)
    V exponent = V::from_bits(n + V::Int::all(0x4b400000)) - 0x1.8p23f;
    return {n, exponent, V::from_bits(bits(u) - (n << 23)) - 1.f};
}

/// The values that a logarithm takes where its argument is 0, negative, infinite or NaN.
template <class V>
WEFT_ELEMENT V log_special(V u, V result) {
    result = select(less(V::all(__FLT_MAX__), u), u, result);
    result = select(equal(u, V::all(0.f)), V::all(-__builtin_inff()), result);
    V nan = V::all(__builtin_nanf(""));
    result = select(less(u, V::all(0.f)), nan, result);
    return select(equal(u, u), result, nan);
}

/// finish(split(x)) for positive normal x; denormals are scaled first. What is neither is rare, so a branch.
template <class V, class Finish>
WEFT_ELEMENT V logarithm(V x, Finish finish) {
    if (!any(~(less(V::all(0x1.fffffcp-127f), x) & less(x, V::all(__builtin_inff()))))) return finish(split(x));
    auto tiny = less(x, V::all(0x1p-126f));
    Split<V> parts = split(select(tiny, x * 0x1p25f, x));
    parts.exponent = select(tiny, parts.exponent - 25.f, parts.exponent);
    return log_special(x, finish(parts));
}

template <class V>
WEFT_ELEMENT V log(V x) {
    return logarithm(
        x, [](const Split<V>& s) __attribute__((always_inline)) {
            V rest = fma(s.exponent, ln2_low, log_rest(s.fraction));
            return fma(s.exponent, ln2_high, s.fraction + rest);
        });
}

template <class V>
WEFT_ELEMENT V log2(V x) {
    return logarithm(
        x, [](const Split<V>& s) __attribute__((always_inline)) {
            constexpr float high = log2_e, low = 0x1.4ae0cp-26f;  // log2(e) in two parts
            V f = s.fraction, head = f * high, lost = fma(f, high, -head);
            return s.exponent + (head + fma(log_rest(f), high, fma(f, low, lost)));
        });
}

template <class V>
WEFT_ELEMENT V log1p(V x) {
    V u = x + 1.f;
    auto [n, e, large_f] = split(u);
    // 1 + f = (1 + x) / 2^n: x / 2^n is exact, so nothing of x is lost where it is small. Where it is large, u is x.
    V scale = V::from_bits((V::Int::all(127) - n) << 23);
    V f = select(less(V::all(0x1p30f), u), large_f, fma(x, scale, scale - 1.f));
    V result = fma(e, ln2_high, f + fma(e, ln2_low, log_rest(f)));
    result = select(less(magnitude(x), V::all(0x1p-25f)), x, result);  // keeps -0 and denormals
    if (!any(~(less(V::all(0.f), u) & less(u, V::all(__builtin_inff()))))) return result;
    return log_special(u, result);
}

template <class V>
WEFT_ELEMENT V tanh(V x) {
    V t = expm1_within(at_most(magnitude(x), 10.f) * 2.f);
    V result = with_sign_of(t / (t + 2.f), x);
    return select(less(magnitude(x), V::all(0x1p-13f)), x, result);
}

template <class V>
WEFT_ELEMENT V sigmoid(V x) {
    V small = exp(-magnitude(x));
    return select(less(x, V::all(0.f)), small, V::all(1.f)) / (small + 1.f);
}

/// x + x p(x^2) up to 1; beyond, 1 - e^(-x q(x)).
template <class V>
WEFT_ELEMENT V erf(V x) {
    V a = magnitude(x), z = x * x;
    V near = fma(x,
                 polynomial(z, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2dp-4f, -0x1.b7f97ep-6f, 0x1.540898p-8f,
                            -0x1.a4095ap-11f, 0x1.4996fap-14f),
                 x);
    V far_a = at_most(a, 4.f);
    V q = polynomial(far_a, 0x1.20f89ap+0f, 0x1.44e53p-1f, 0x1.b72d4cp-4f, -0x1.9362a2p-6f, 0x1.09cb3ep-8f,
                     -0x1.bf7a58p-12f, 0x1.6f69dap-16f);
    V far = with_sign_of(V::all(1.f) - exp(-(far_a * q)), x);
    return select(less(V::all(1.f), a), far, near);
}

template <class V>
WEFT_ELEMENT V rsqrt(V x) {
    return V::all(1.f) / sqrt(x);
}

/// Sine (quadrant 0) or cosine (quadrant 1) of x for |x| <= 2^16: x minus a multiple of pi / 2 in three parts (Cody & Waite, 1980),
/// fused multiply-adds losing nothing that matters, then one of two polynomials. The sign of zero is x's.
constexpr float trigonometric_limit = 0x1p16f;
template <class V>
WEFT_ELEMENT V sine_in_quadrant(V x, int quadrant) {
    Whole<V> n = whole_of(fma(x, 0x1.45f306p-1f, V::all(0x1.8p23f)));
    V r = fma(n.value, -0x1.921fb6p+0f, x);
    r = fma(n.value, 0x1.777a5cp-25f, r);
    r = fma(n.value, 0x1.ee59dap-50f, r);
    V z = r * r;
    V sine = fma(r * z, polynomial(z, -0x1.555546p-3f, 0x1.11076p-7f, -0x1.994e6p-13f), r);
    V cosine = fma(z * z, polynomial(z, 0x1.55554ap-5f, -0x1.6c0c18p-10f, 0x1.99df64p-16f), fma(z, -0.5f, V::all(1.f)));
    typename V::Int turn = n.integer + V::Int::all(quadrant);
    V odd = V::from_bits((turn & V::Int::all(1)) + V::Int::all(0x3f800000));  // 1, or a little more
    V value = select(less(V::all(1.f), odd), cosine, sine);
    return V::from_bits(bits(value) ^ ((turn & V::Int::all(2)) << 30));
}

/// The C library's through double, for the lanes beyond the limit: rare, so a branch.
template <class V>
WEFT_ELEMENT V with_far_lanes(V x, V result, double (*)(double)) {
    (void)any(less(V::all(trigonometric_limit), magnitude(x)));
    return result;
}
template <class V>
requires(V::lanes > 0) WEFT_ELEMENT V with_far_lanes(V x, V result, double (*far)(double)) {
    if (any(less(V::all(trigonometric_limit), magnitude(x)))) {
        float arguments[V::lanes], values[V::lanes];
        x.store(arguments);
        result.store(values);
        for (int i = 0; i < V::lanes; ++i) {
            if (__builtin_fabsf(arguments[i]) > trigonometric_limit) values[i] = static_cast<float>(far(arguments[i]));
        }
        result = V::load(values);
    }
    return result;
}

template <class V>
WEFT_ELEMENT V sin(V x) {
    V result = select(less(magnitude(x), V::all(0x1p-12f)), x, sine_in_quadrant(x, 0));
    return with_far_lanes(x, result, __builtin_sin);
}

template <class V>
WEFT_ELEMENT V cos(V x) {
    return with_far_lanes(x, sine_in_quadrant(x, 1), __builtin_cos);
}

}  // namespace weft::elementary
