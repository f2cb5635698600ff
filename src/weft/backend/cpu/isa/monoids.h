// How two values are joined, and blocks of them: in 64 lanes, element i in lane i % 64, and these by halves. The order is fixed by
// numbers alone, so every instruction set gives the same bits. Only for sources below isa/. Callers: joined.h, best_of.h.
#pragma once

#include "weft/backend/cpu/block_loops.h"
#include "weft/kernel/element.h"

namespace weft::cpu::WEFT_ISA {

/// The loops of sums, products and extremes (reduce_joined.cpp); nullptr where a type has none.
const ReduceLoops* joined_loops(Reduction reduction, DType dtype);

namespace {

using element::Bool;
using element::Complex;

constexpr int width = 64;
constexpr int rows_together = 8;  // of columns, where they lie far apart

/// A monoid on values of type T: its neutral value and how two values are joined. Wide: what chunks are joined in.
template <class T>
struct Sum {
    using Value = T;
    using Wide = std::conditional_t<std::is_same_v<T, float>, double,
                                    std::conditional_t<std::is_same_v<T, Complex<float>>, Complex<double>, T>>;
    WEFT_ELEMENT static T neutral() { return T{}; }
    template <class V>
    WEFT_ELEMENT static V join(V a, V b) {
        return element::apply2<Opcode::add>(a, b);
    }
};
template <class T>
struct Product {
    using Value = T;
    using Wide = typename Sum<T>::Wide;
    WEFT_ELEMENT static T neutral() {
        if constexpr (element::is_complex<T>)
            return T{1, 0};
        else
            return T{1};
    }
    template <class V>
    WEFT_ELEMENT static V join(V a, V b) {
        return element::apply2<Opcode::multiply>(a, b);
    }
};
template <class T, bool greatest>
struct Extreme {
    using Value = T;
    using Wide = T;
    WEFT_ELEMENT static T neutral() {
        if constexpr (element::is_bool<T>)
            return {greatest ? std::uint8_t{0} : std::uint8_t{1}};
        else if constexpr (std::is_same_v<T, float>)
            return greatest ? -__builtin_inff() : __builtin_inff();
        else if constexpr (std::is_same_v<T, double>)
            return greatest ? -__builtin_inf() : __builtin_inf();
        else if constexpr (std::is_unsigned_v<T>)
            return greatest ? T{0} : static_cast<T>(~T{0});
        else {
            constexpr T top = static_cast<T>(static_cast<std::make_unsigned_t<T>>(~std::make_unsigned_t<T>{0}) >> 1);
            return greatest ? static_cast<T>(-top - 1) : top;
        }
    }
    /// The better of two numbers; b where one of them is NaN: what processors have.
    WEFT_ELEMENT static T better(T a, T b) {
        if constexpr (greatest)
            return a > b ? a : b;
        else
            return a < b ? a : b;
    }
    /// As element::apply2 of maximum and minimum, in a form that compilers keep in vectors.
    WEFT_ELEMENT static T join(T a, T b) {
        if constexpr (element::is_bool<T>) {
            return element::apply2 < greatest ? Opcode::maximum : Opcode::minimum > (a, b);
        } else {
            T known = better(a, b);
            return a == a ? known : a;
        }
    }
};

/// By halves: lane i with lane i + count / 2, and so on.
template <class M, int count>
WEFT_ELEMENT typename M::Value fold_lanes(typename M::Value* lanes) {
    if constexpr (count > 1) {
        constexpr int half = count / 2;
#pragma GCC ivdep
        for (int i = 0; i < half; ++i) lanes[i] = M::join(lanes[i], lanes[i + half]);
        return fold_lanes<M, half>(lanes);
    } else {
        return lanes[0];
    }
}

template <class M>
WEFT_ELEMENT void join_lanes(typename M::Value* lanes, const typename M::Value* values, std::int64_t count) {
    using T = typename M::Value;
    T sums[width];
    for (int k = 0; k < width; ++k) sums[k] = lanes[k];
    std::int64_t i = 0;
    for (; i + width <= count; i += width) {
        for (int k = 0; k < width; ++k) sums[k] = M::join(sums[k], values[i + k]);
    }
    for (int k = 0; i + k < count; ++k) sums[k] = M::join(sums[k], values[i + k]);
    for (int k = 0; k < width; ++k) lanes[k] = sums[k];
}

}  // namespace
}  // namespace weft::cpu::WEFT_ISA
