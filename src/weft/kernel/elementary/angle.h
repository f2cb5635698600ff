// An angle less a multiple of pi / 2. Near 0 by subtracting the multiple in three parts (Cody & Waite, 1980), fused multiply-adds
// losing nothing that matters; far out by multiplying with the bits of 2 / pi that matter (Payne & Hanek, 1983), in whole numbers.
// Callers: kernel/elementary/trigonometric.h.
#pragma once

#include <utility>

#include "weft/kernel/elementary/basis.h"

namespace weft::elementary {

/// x = quadrant pi / 2 + high + low, |high| <= pi / 4 or a little more. Of the quadrant the two lowest bits count.
template <class V>
struct Angle {
    V high, low;
    typename V::Int quadrant;
};

/// Up to here the subtraction is exact enough.
template <class T>
inline constexpr T near_angle = two_to<T>(sizeof(T) == 4 ? 16 : 28);

template <class V>
WEFT_ELEMENT Angle<V> reduce_near(V x) {
    using C = Constants<ElementOf<V>>;
    constexpr double two_over_pi_rounded = 0x1.45f306dc9c883p-1;
    Whole<V> n = whole_of_shifted(fma(x, all<V>(two_over_pi_rounded), V::all(FormatOf<V>::magic)));
    V a = fma(n.value, V::all(-C::half_pi[0]), x);  // exact: both are multiples of the last place of pi / 2
    Words<V> next = two_product(n.value, V::all(C::half_pi[1]));
    V b = a - next.high, lost = (a - b) - next.high;  // exact unless b is as small as what is subtracted
    return {b, fma(n.value, V::all(-C::half_pi[2]), lost - next.low), bits(n.shifted)};
}

/// Whole numbers in words of half a lane's width, so that the product of two fits a lane; the most significant first.
template <class V, int count>
struct HalfWords {
    typename V::Int word[count];
};

/// Word `at` of 2 / pi; the first is 0, so that the window of the nearest far angle begins at one.
template <class T>
consteval typename Format<T>::Bits word_of_two_over_pi(int at) {
    if (at == 0) return 0;
    if constexpr (sizeof(T) == 8) return two_over_pi[at - 1];
    return two_over_pi[(at - 1) / 2] >> (at % 2 ? 16 : 0) & 0xffff;
}

/// Words [first, first + count) of 2 / pi: a bit of `first` after another, from the highest, chooses between two places. Here
/// those bits of it count that are not below `step`.
template <class V, int count, int step>
struct Window {
    using T = ElementOf<V>;
    using Int = typename V::Int;
    static constexpr bool all_bits = step == (sizeof(T) == 4 ? 8 : 32);

    WEFT_ELEMENT static HalfWords<V, count> of(Int first) {
        return of(first, std::make_integer_sequence<int, count>());
    }

  private:
    template <int... at>
    WEFT_ELEMENT static HalfWords<V, count> of(Int first, std::integer_sequence<int, at...>) {
        if constexpr (all_bits) {
            return {{Int::all(word_of_two_over_pi<T>(at))...}};
        } else {
            auto wide = Window<V, count + step, 2 * step>::of(first);
            auto unset = equal(first & Int::all(step), Int::all(0));
            return {{select(unset, wide.word[at], wide.word[at + step])...}};
        }
    }
};

/// The fraction of multiple * 0.w0 w1 w2 ... as four words; what is below them is left out.
template <class V>
WEFT_ELEMENT HalfWords<V, 4> fraction_of_product(const HalfWords<V, 3>& multiple, const HalfWords<V, 6>& w) {
    using Int = typename V::Int;
    constexpr int half = FormatOf<V>::width / 2;
    const Int mask = Int::all((typename FormatOf<V>::Bits{1} << half) - 1), zero = Int::all(0);
    HalfWords<V, 4> column{{zero, zero, zero, zero}};
    for (int k = 0; k < 4; ++k) {
        for (int j = 0; j < 3; ++j) {
            Int product = multiple.word[2 - j] * w.word[k + j];
            column.word[k] = column.word[k] + (product & mask);
            if (k > 0) column.word[k - 1] = column.word[k - 1] + (product >> half);
        }
    }
    for (int k = 3; k > 0; --k) column.word[k - 1] = column.word[k - 1] + (column.word[k] >> half);
    for (int k = 0; k < 4; ++k) column.word[k] = column.word[k] & mask;
    return column;
}

/// x = m 2^e; of m 2^e 2 / pi only the part below 4 counts, so only the words of 2 / pi from place e - 2 on.
template <class V>
WEFT_ELEMENT Angle<V> reduce_far(V x) {
    using T = ElementOf<V>;
    using F = Format<T>;
    using Int = typename V::Int;
    using C = Constants<T>;
    constexpr int half = F::width / 2, log_half = half == 16 ? 4 : 5;
    constexpr auto least = typename F::Bits{1} << F::fraction;
    const Int mask = Int::all((typename F::Bits{1} << half) - 1);
    Int a = bits(magnitude(x)), m = (a & Int::all(least - 1)) | Int::all(least);
    Int place = (a >> F::fraction) - Int::all(F::bias + F::fraction + 2 - half);  // e - 2, past the word of 0
    Int shift = place & Int::all(half - 1);
    Int low = (m & mask) << shift, high = ((m >> half) << shift) + (low >> half);
    HalfWords<V, 3> multiple{{high >> half, high & mask, low & mask}};
    HalfWords<V, 4> f = fraction_of_product(multiple, Window<V, 6, 1>::of(place >> log_half));

    // The first two bits are the quadrant, the rest a signed fraction of one, in four exact pieces.
    Int above = f.word[0] << half | f.word[1], below = f.word[2] << half | f.word[3];
    Int signed_above = above << 2 | below >> (F::width - 2), rest = below << 2;
    Int quadrant = (above >> (F::width - 2)) + (signed_above >> (F::width - 1));
    constexpr auto flip = typename F::Bits{1} << (half - 1);
    auto piece = [](Int word, double offset, int place) __attribute__((always_inline)) {
        V whole = V::from_bits(word | bits(V::all(F::unit))) - all<V>(F::unit + offset);
        return whole * V::from_bits(Int::all(static_cast<typename F::Bits>(F::bias - half * place) << F::fraction));
    };
    Words<V> first =
        fast_two_sum(piece((signed_above >> half) ^ Int::all(flip), flip, 1), piece(signed_above & mask, 0, 2));
    Words<V> second = fast_two_sum(first.high, piece(rest >> half, 0, 3));
    Words<V> turn{second.high, first.low + (second.low + piece(rest & mask, 0, 4))};
    Words<V> angle = product(turn, Words<V>{V::all(C::half_pi[0]), V::all(C::half_pi[1])});

    auto negative = less(x, all<V>(0));
    return {select(negative, -angle.high, angle.high), select(negative, -angle.low, angle.low),
            select(negative, Int::all(0) - quadrant, quadrant)};
}

/// Infinities and NaN give NaN.
template <class V>
WEFT_ELEMENT Angle<V> reduce(V x) {
    using F = FormatOf<V>;
    Angle<V> near = reduce_near(x);
    V a = magnitude(x);
    auto is_far = less(V::all(near_angle<ElementOf<V>>), a) & less(a, V::all(F::infinity));
    if (!any(is_far)) return near;
    Angle<V> far = reduce_far(x);
    return {select(is_far, far.high, near.high), select(is_far, far.low, near.low),
            select(is_far, far.quadrant, near.quadrant)};
}

}  // namespace weft::elementary
