// erf and erfc. Errors are stated in functions.inc. Callers: kernel/elementary.h.
#pragma once

#include "weft/kernel/elementary/exponential.h"

namespace weft::elementary {

/// erf(x) for |x| <= 1.
template <class V>
WEFT_ELEMENT V erf_near(V x) {
    return fma(x, polynomial<ErfNear>(x * x), x);
}

/// erfc(a) for a >= 1/2: e^(-a^2) times a function that varies little, of a variable in [-1, 1] (Shepherd & Laframboise, 1981).
template <class V>
WEFT_ELEMENT V erfc_far(V a) {
    a = at_most(a, sizeof(ElementOf<V>) == 4 ? ElementOf<V>(10.2) : ElementOf<V>(27.4));  // beyond: 0
    V t = (a - all<V>(erfc_centre)) / (a + all<V>(erfc_centre));
    Words<V> square = two_product(a, a);
    V decay = exp_words(Words<V>{-square.high, -square.low});
    return polynomial<ErfcScaled>(t) / fma(a, all<V>(2), all<V>(1)) * decay;
}

template <class V>
WEFT_ELEMENT V erf(V x) {
    V a = magnitude(x), rest = a;
    if constexpr (sizeof(ElementOf<V>) == 4) {
        V b = at_most(a, 4.f);  // log(erfc(4)) is -18: nothing to cut off
        rest = exp_shifted(b * polynomial<ErfTail>(b), 0);
    } else {
        rest = erfc_far(at_least(at_most(a, 6.), 0.5));
    }
    return select(less(all<V>(1), a), with_sign_of(all<V>(1) - rest, x), erf_near(x));
}

template <class V>
WEFT_ELEMENT V erfc(V x) {
    V a = magnitude(x), far = erfc_far(at_least(a, ElementOf<V>(0.5)));
    far = select(less(x, all<V>(0)), all<V>(2) - far, far);
    return select(less(a, all<V>(0.5)), all<V>(1) - erf_near(x), far);
}

}  // namespace weft::elementary
