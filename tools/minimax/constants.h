// The constants that go with the polynomials, in parts, and 2 / pi to as many words as arguments of any size need.
// Callers: functions.cpp.
#pragma once

#include "remez.h"

/// Numbers in [0, 2^32) with a fraction of `size` words, most significant first: enough for a long division.
struct Long {
    static constexpr std::size_t size = 100;
    std::vector<std::uint32_t> words = std::vector<std::uint32_t>(size + 1);

    Long over(std::uint32_t divisor) const {
        Long result;
        std::uint64_t rest = 0;
        for (std::size_t i = 0; i <= size; ++i) {
            rest = rest << 32 | words[i];
            result.words[i] = static_cast<std::uint32_t>(rest / divisor);
            rest %= divisor;
        }
        return result;
    }
    void add(const Long& other, bool subtract) {
        std::int64_t carry = 0;
        for (std::size_t i = size + 1; i-- > 0;) {
            std::int64_t sum =
                carry + words[i] +
                (subtract ? -static_cast<std::int64_t>(other.words[i]) : static_cast<std::int64_t>(other.words[i]));
            words[i] = static_cast<std::uint32_t>(sum);
            carry = sum >> 32;
        }
    }
};

/// times * atan(1 / x), by its series.
inline Long arctangent(std::uint32_t times, std::uint32_t x) {
    Long term, sum;
    term.words[0] = times;
    term = term.over(x);
    for (std::uint32_t k = 1; term.words != Long().words; k += 2) {
        sum.add(term.over(k), k % 4 == 3);
        term = term.over(x).over(x);
    }
    return sum;
}

/// The first words of 2 / pi, by long division with pi = 16 atan(1/5) - 4 atan(1/239) (Machin, 1706).
inline std::vector<std::uint32_t> two_over_pi(std::size_t count) {
    Long pi = arctangent(16, 5), rest;
    pi.add(arctangent(4, 239), true);
    rest.words[0] = 2;
    std::vector<std::uint32_t> result(count);
    for (std::size_t bit = 0; bit < 32 * count; ++bit) {
        Long twice = rest;
        twice.add(rest, false);
        rest = twice;
        if (rest.words >= pi.words) {
            rest.add(pi, true);
            result[bit / 32] |= 1u << (31 - bit % 32);
        }
    }
    return result;
}

/// pi as the sum of two numbers, the second from where the first one's bits end.
inline std::pair<Real, Real> pi_in_two() {
    Long pi = arctangent(16, 5);
    pi.add(arctangent(4, 239), true);
    Real high = 0, low = 0;
    for (int i = 3; i >= 0; --i) high += ldexpq(pi.words[static_cast<std::size_t>(i)], -32 * i);
    for (int i = 6; i >= 4; --i) low += ldexpq(pi.words[static_cast<std::size_t>(i)], -32 * i);
    return {high, low};
}

Real digamma_root();  // in functions.cpp

/// A constant, high + low, as a sum of `count` numbers of the type.
template <class T>
void parts(const char* name, int count, Real high, Real low = 0) {
    std::printf("    static constexpr %s %s[] = {", sizeof(T) == 4 ? "float" : "double", name);
    for (int i = 0; i < count; ++i) {
        if (i) std::printf(", ");
        T part = static_cast<T>(high);
        print<T>(part);
        high -= part;
        Real sum = high + low;
        low -= sum - high;
        high = sum;
    }
    std::printf("};\n");
}

template <class T>
void constants(const char* type) {
    std::printf("template <>\nstruct Constants<%s> {\n", type);
    parts<T>("ln2", 2, M_LN2q);
    parts<T>("log2_e", 2, M_LOG2Eq);
    parts<T>("log10_e", 2, M_LOG10Eq);
    parts<T>("log10_2", 2, M_LN2q / M_LN10q);
    auto [high, low] = pi_in_two();
    parts<T>("half_pi", 3, high / 2, low / 2);
    parts<T>("digamma_root", 2, digamma_root());
    std::printf("};\n");
}
