// Transforms of 2, 3, 4, 5 and 8 points that are held in registers, in place. Included by sources of isa/.
#pragma once

#include "weft/backend/cpu/isa/complex_vectors.h"

namespace weft::cpu::WEFT_ISA {

template <class R>
struct FourierButterflies : ComplexVectors<R> {
    using Base = ComplexVectors<R>;
    using Base::all, Base::fma, Base::fnma;
    using typename Base::Point, typename Base::Vector;

    WEFT_INLINE void of_two(Point& a, Point& b) {
        Point difference = Point::difference(a, b);
        a = Point::sum(a, b), b = difference;
    }
    /// a + factor b
    WEFT_INLINE Point more(Point a, Vector factor, Point b) {
        return {fma(factor, b.re, a.re), fma(factor, b.im, a.im)};
    }
    WEFT_INLINE Point less(Point a, Vector factor, Point b) {
        return {fnma(factor, b.re, a.re), fnma(factor, b.im, a.im)};
    }
    /// a + i factor b, a - i factor b
    WEFT_INLINE void around(Point a, Vector factor, Point b, Point& above, Point& below) {
        above = {fnma(factor, b.im, a.re), fma(factor, b.re, a.im)};
        below = {fma(factor, b.im, a.re), fnma(factor, b.re, a.im)};
    }

    template <int radix>
    WEFT_INLINE void transform(Point* x) {
        if constexpr (radix == 2) of_two(x[0], x[1]);
        if constexpr (radix == 3) of_three(x);
        if constexpr (radix == 4) of_four(x[0], x[1], x[2], x[3]);
        if constexpr (radix == 5) of_five(x);
        if constexpr (radix == 8) of_eight(x);
    }

    WEFT_INLINE void of_three(Point* x) {
        Point sum = Point::sum(x[1], x[2]), difference = Point::difference(x[1], x[2]);
        Point middle = less(x[0], all(R(0.5)), sum);
        x[0] = Point::sum(x[0], sum);
        around(middle, all(static_cast<R>(0.866025403784438646763723170752936183L)), difference, x[2], x[1]);
    }

    WEFT_INLINE void of_four(Point& x0, Point& x1, Point& x2, Point& x3) {
        of_two(x0, x2), of_two(x1, x3);
        Point turned = Point::turned(x3), even = x2;
        of_two(x0, x1);
        x2 = x1;
        x1 = Point::sum(even, turned), x3 = Point::difference(even, turned);
    }

    WEFT_INLINE void of_five(Point* x) {
        Vector c1 = all(static_cast<R>(0.309016994374947424102293417182819059L)),
               s1 = all(static_cast<R>(0.951056516295153572116439333379382143L)),
               c2 = all(static_cast<R>(0.809016994374947424102293417182819059L)),
               s2 = all(static_cast<R>(0.587785252292473129168705954639072769L));
        Point b = Point::sum(x[1], x[4]), c = Point::sum(x[2], x[3]);
        Point d = Point::difference(x[1], x[4]), e = Point::difference(x[2], x[3]);
        Point near = less(more(x[0], c1, b), c2, c), far = more(less(x[0], c2, b), c1, c);
        x[0] = Point::sum(x[0], Point::sum(b, c));
        Point turn{fma(s2, e.re, s1 * d.re), fma(s2, e.im, s1 * d.im)};
        Point other{fnma(s1, e.re, s2 * d.re), fnma(s1, e.im, s2 * d.im)};
        x[1] = {near.re + turn.im, near.im - turn.re}, x[4] = {near.re - turn.im, near.im + turn.re};
        x[2] = {far.re + other.im, far.im - other.re}, x[3] = {far.re - other.im, far.im + other.re};
    }

    WEFT_INLINE void of_eight(Point* x) {
        of_four(x[0], x[2], x[4], x[6]);
        of_four(x[1], x[3], x[5], x[7]);
        Vector root = all(static_cast<R>(0.707106781186547524400844362104849039L));
        Point turned = Point::turned(x[5]);
        Point right{x[3].re + x[3].im, x[3].im - x[3].re}, left{x[7].im - x[7].re, -x[7].re - x[7].im};
        Point e0 = x[0], e1 = x[2], e2 = x[4], e3 = x[6], odd = x[1];
        x[0] = Point::sum(e0, odd), x[4] = Point::difference(e0, odd);
        x[1] = more(e1, root, right), x[5] = less(e1, root, right);
        x[2] = Point::sum(e2, turned), x[6] = Point::difference(e2, turned);
        x[3] = more(e3, root, left), x[7] = less(e3, root, left);
    }
};

}  // namespace weft::cpu::WEFT_ISA
