// The scaled complementary error function and the inverse of erfc. Errors are stated in special.inc. Callers: kernel/function.cpp,
// kernel/function_program.cpp.
#pragma once

#include "weft/kernel/elementary/error_function.h"
#include "weft/kernel/elementary/gamma.h"
#include "weft/kernel/special_coefficients.h"

namespace weft::elementary {

/// a sqrt(pi) exp(a^2) erfc(a) in 1 / (2 a^2): the asymptotic series (Abramowitz & Stegun 7.1.23).
template <class T>
struct ErfcxFar {
    static constexpr T c[] = {1, -1, 3, -15, 105, -945, 10395, -135135};
};

/// exp(x^2) erfc(x).
template <class V>
WEFT_ELEMENT V erfcx(V x) {
    using T = ElementOf<V>;
    constexpr T limit = sizeof(T) == 4 ? T(10) : T(27), most = sizeof(T) == 4 ? T(9.43) : T(26.645);
    V a = magnitude(x), one = all<V>(1), b = at_least(at_most(a, limit), 0.5);
    V t = (b - all<V>(erfc_centre)) / (b + all<V>(erfc_centre));
    V far = polynomial<ErfcScaled>(t) / fma(b, all<V>(2), one);
    V large = at_least(a, limit), inverse = one / large;
    V beyond = inverse * all<V>(0x1.20dd750429b6dp-1) * polynomial<ErfcxFar>(inverse * inverse * all<V>(0.5));
    far = select(less(V::all(limit), a), beyond, far);
    Words<V> square = two_product(at_most(a, most), at_most(a, most));
    V growth = exp_words(square);  // infinite from `most` on
    V near = growth * (one - erf_near(at_least(at_most(x, 1), -1)));
    far = select(less(x, all<V>(0)), fma(growth, all<V>(2), -far), far);
    return select(less(a, all<V>(0.5)), near, far);
}

/// The x whose erfc is y. Between 1/2 and 3/2 that is erfinv(1 - y), whose argument is exact; else sqrt(-log(y)) times a polynomial.
template <class V>
WEFT_ELEMENT V erfcinv(V y) {
    using F = FormatOf<V>;
    V other = all<V>(2) - y, small = minimum(y, other);
    V s = sqrt(-log(small));
    V value = s * polynomial<ErfcinvTail>((s - all<V>(3)) / (s + all<V>(3)));
    value = select(equal(small, all<V>(0)), V::all(F::infinity), value);
    value = select(less(all<V>(1), y), -value, value);
    return select(less(small, all<V>(0.5)), value, erfinv(all<V>(1) - y));
}

}  // namespace weft::elementary
