// Of numbers as they lie, real parts beside imaginary ones: products with b straight (re re, im im) and crossed (re im, im re).
#include "weft/backend/cpu/isa/complex_dots.h"

#include "weft/backend/cpu/isa/complex_vectors.h"

namespace weft::cpu::WEFT_ISA {
namespace {

template <class R>
struct ComplexDotLoops : ComplexVectors<R> {
    using Base = ComplexVectors<R>;
    using Base::lanes, Base::load, Base::fma, Base::store;
    using typename Base::Vector;

    template <int rows>
    static void dots_of(R* to, std::int64_t to_step, const R* a, std::int64_t row, const R* b, std::int64_t numbers,
                        bool accumulate) {
        Vector straight[rows] = {}, crossed[rows] = {};
        std::int64_t i = 0;
        for (; i + lanes <= numbers; i += lanes) add<rows>(straight, crossed, a + i, row, load(b + i));
        if (i < numbers) {
            R last_b[lanes] = {}, last_a[rows * lanes] = {};
            std::size_t bytes = static_cast<std::size_t>(numbers - i) * sizeof(R);
            __builtin_memcpy(last_b, b + i, bytes);
            for (int r = 0; r < rows; ++r) __builtin_memcpy(last_a + r * lanes, a + r * row + i, bytes);
            add<rows>(straight, crossed, last_a, lanes, load(last_b));
        }
        for (int r = 0; r < rows; ++r) {
            R s[lanes], c[lanes];
            store(s, straight[r]), store(c, crossed[r]);
            for (int half = lanes / 2; half > 1; half /= 2)
                for (int j = 0; j < half; ++j) s[j] += s[j + half], c[j] += c[j + half];
            R re = s[0] - s[1], im = c[0] + c[1];
            R* x = to + r * to_step;
            x[0] = accumulate ? x[0] + re : re, x[1] = accumulate ? x[1] + im : im;
        }
    }
    template <int rows>
    WEFT_INLINE void add(Vector* straight, Vector* crossed, const R* a, std::int64_t row, Vector of_b) {
        Vector turned = Base::neighbours(of_b);
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) {
            Vector of_a = load(a + r * row);
            straight[r] = fma(of_a, of_b, straight[r]), crossed[r] = fma(of_a, turned, crossed[r]);
        }
    }

    static void run(R* to, std::int64_t to_step, const R* a, std::int64_t row, const R* b, std::int64_t count,
                    std::int64_t rows, bool accumulate) {
        std::int64_t i = 0;
        for (; i + 4 <= rows; i += 4) dots_of<4>(to + i * to_step, to_step, a + i * row, row, b, 2 * count, accumulate);
        for (; i < rows; ++i) dots_of<1>(to + i * to_step, to_step, a + i * row, row, b, 2 * count, accumulate);
    }
};

}  // namespace

extern const ComplexDots<float> complex_dots_f32 = ComplexDotLoops<float>::run;
extern const ComplexDots<double> complex_dots_f64 = ComplexDotLoops<double>::run;

}  // namespace weft::cpu::WEFT_ISA
