// What makes the transform of 2 m real numbers of that of m complex ones, made of two each, and back: X_k = E_k + u_k D_k, with E and D the sum
// and the difference of Z_k and conj Z_(m - k), u_k = -i exp(-pi i k / m), all over 2 (Press et al., Numerical Recipes, 12.3).
// Included by sources of isa/.
#pragma once

#include "weft/backend/cpu/isa/complex_vectors.h"

namespace weft::cpu::WEFT_ISA {

template <class R>
struct FourierFold : ComplexVectors<R> {
    using Base = ComplexVectors<R>;
    using Base::lanes, Base::numbers, Base::all, Base::times, Base::load_pairs, Base::store_pairs;
    using typename Base::Point, typename Base::Vector;

    struct Signs {
        Vector factor, given, made, turn;  // given, made, turn: -1 of what is conjugated
    };

    /// Point k of the result, of points k and m - k.
    WEFT_INLINE Point folded(Point a, Point b, Point u, const Signs& s, Point& mirrored) {
        a.im = a.im * s.given, b.im = b.im * s.given;
        Point even{a.re + b.re, a.im - b.im}, difference{a.re - b.re, a.im + b.im};
        Point odd = times(difference, u.re, u.im * s.turn);
        Point x = Point::sum(even, odd), y = Point::difference(even, odd);
        mirrored = {y.re * s.factor, -(y.im * s.factor) * s.made};
        return {x.re * s.factor, x.im * s.factor * s.made};
    }

    /// Between different rows: m points of `from` to m + 1, or `back`. `conjugate`: of these m + 1.
    static void fold(R* to, const R* from, const R* turns, std::int64_t m, R factor, bool back, bool conjugate) {
        R sign = conjugate ? R(-1) : R(1);
        Signs signs{all(back ? factor : factor / 2), all(back ? sign : R(1)), all(back ? R(1) : sign),
                    all(back ? R(-1) : R(1))};
        if (back) {
            to[0] = (from[0] + from[2 * m]) * factor, to[1] = (from[0] - from[2 * m]) * factor;
        } else {
            to[0] = (from[0] + from[1]) * factor, to[2 * m] = (from[0] - from[1]) * factor;
            to[1] = to[2 * m + 1] = 0;
        }
        if (m - 1 < lanes) return fold_few(to, from, turns, m, signs);
        for (std::int64_t k = 1; k <= m / 2; k += lanes) {
            std::int64_t at = k < m - lanes ? k : m - lanes, mirror = m - at - lanes + 1;
            Point x, y;
            x = folded(load_pairs(from + 2 * at), reversed(load_pairs(from + 2 * mirror)), load_pairs(turns + 2 * at),
                       signs, y);
            store_pairs(to + 2 * at, x), store_pairs(to + 2 * mirror, reversed(y));
        }
    }

  private:
    WEFT_INLINE Point reversed(Point x) { return {Base::backwards(x.re), Base::backwards(x.im)}; }

    static void fold_few(R* to, const R* from, const R* turns, std::int64_t m, const Signs& signs) {
        R mirrored[numbers] = {};
        for (std::int64_t k = 1; k < m; ++k)
            mirrored[2 * k - 2] = from[2 * (m - k)], mirrored[2 * k - 1] = from[2 * (m - k) + 1];
        if (m < 2) return;
        Point other;
        Point x = folded(load_pairs(from + 2, m - 1), load_pairs(mirrored), load_pairs(turns + 2, m - 1), signs, other);
        store_pairs(to + 2, x, m - 1);
    }
};

}  // namespace weft::cpu::WEFT_ISA
