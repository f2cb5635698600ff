// The arithmetic of complex numbers as loops over blocks: what kernel/element.h says of one, in vectors, to the bit.
// Included by isa/element_loops.cpp.
#pragma once

#include "weft/backend/cpu/isa/complex_vectors.h"
#include "weft/kernel/element.h"

namespace weft::cpu::WEFT_ISA {

template <class R>
struct ComplexLoops : ComplexVectors<R> {
    using Base = ComplexVectors<R>;
    using Base::lanes, Base::load_pairs, Base::store_pairs, Base::all;
    using typename Base::Point, typename Base::Vector;

    template <Opcode op>
    static void binary(R* to, const R* a, const R* b, std::int64_t count) {
        if constexpr (op == Opcode::add || op == Opcode::subtract) {
#pragma GCC ivdep
            for (std::int64_t i = 0; i < 2 * count; ++i) to[i] = op == Opcode::add ? a[i] + b[i] : a[i] - b[i];
        } else {
            std::int64_t i = 0;
            for (; i + lanes <= count; i += lanes) {
                Point x = load_pairs(a + 2 * i), y = load_pairs(b + 2 * i);
                if (op == Opcode::multiply) {
                    store_pairs(to + 2 * i,
                                {product(x.re, y.re) - product(x.im, y.im), product(x.re, y.im) + product(x.im, y.re)});
                } else if (!divide(to + 2 * i, x, y)) {
                    one_by_one<op>(to + 2 * i, a + 2 * i, b + 2 * i, lanes);
                }
            }
            one_by_one<op>(to + 2 * i, a + 2 * i, b + 2 * i, count - i);
        }
    }

  private:
    template <Opcode op>
    static void one_by_one(R* to, const R* a, const R* b, std::int64_t count) {
        using C = element::Complex<R>;
        for (std::int64_t i = 0; i < 2 * count; i += 2) {
            C result = element::apply2<op>(C{a[i], a[i + 1]}, C{b[i], b[i + 1]});
            to[i] = result.re, to[i + 1] = result.im;
        }
    }
    /// A product that stays one, as element::product.
    WEFT_INLINE Vector product(Vector a, Vector b) {
        a = a * b;
#if defined(__x86_64__)
        asm("" : "+v"(a));
#elif defined(__aarch64__)
        asm("" : "+w"(a));
#endif
        return a;
    }
    WEFT_INLINE bool any_zero(Vector a) {
#if defined(WEFT_ISA_avx2) || defined(WEFT_ISA_avx512)
        return Vec<R>::equal(a, Vec<R>::zero()) != 0;
#else
        bool any = false;
        for (int i = 0; i < lanes; ++i) any |= a[i] == 0;
        return any;
#endif
    }
    /// Smith's, both of its cases as one; false where a divisor is 0.
    WEFT_INLINE bool divide(R* to, Point x, Point y) {
        Vector re = y.re < 0 ? -y.re : y.re, im = y.im < 0 ? -y.im : y.im;
        auto wide = re >= im;
        Vector large = wide ? y.re : y.im, small = wide ? y.im : y.re;
        if (any_zero(large)) return false;
        Vector first = wide ? x.re : x.im, second = wide ? x.im : x.re;
        Vector ratio = small / large, scale = 1 / (large + product(small, ratio)), part = product(first, ratio);
        store_pairs(
            to, {(first + product(second, ratio)) * scale, ((wide ? second : part) - (wide ? part : second)) * scale});
        return true;
    }
};

}  // namespace weft::cpu::WEFT_ISA
