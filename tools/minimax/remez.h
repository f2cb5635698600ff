// Polynomials whose largest weighted error on an interval is least (Remez, 1934), in 128-bit arithmetic, of the least degree that meets
// the precision of float (of double), then rounded: all at once, or from the lowest order up with the rest fitted again, whichever is
// better. Printed as C++. Callers: the other files of this folder.
#pragma once

#include <quadmath.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

using Real = __float128;
using Map = std::function<Real(Real)>;

/// Solves a x = b by elimination with row exchange.
inline std::vector<Real> solve(std::vector<std::vector<Real>> a, std::vector<Real> b) {
    std::size_t n = b.size();
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t best = k;
        for (std::size_t i = k; i < n; ++i) {
            if (fabsq(a[i][k]) > fabsq(a[best][k])) best = i;
        }
        std::swap(a[k], a[best]);
        std::swap(b[k], b[best]);
        for (std::size_t i = k + 1; i < n; ++i) {
            Real factor = a[i][k] / a[k][k];
            for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    return b;
}

inline Real power(Real x, int n) {
    Real result = 1;
    for (; n > 0; --n) result *= x;
    return result;
}

struct Problem {
    std::string name, says;
    Map function, weight;        // minimise max |weight(x) * (p(x) - function(x))| for
    Real low, high;              // x in [low, high]
    int degree = 0, lowest = 0;  // p(x) = sum of c[k] x^k from k = lowest to degree
};

constexpr int samples = 1200;

/// A function at the sampled points: extrema of the Chebyshev polynomial, denser at the ends, as the error's are.
struct Sampled {
    std::vector<Real> x, f, w;
    explicit Sampled(const Problem& problem) {
        Real middle = (problem.low + problem.high) / 2, half = (problem.high - problem.low) / 2;
        for (int i = 0; i <= samples; ++i) {
            x.push_back(middle - half * cosq(M_PIq * i / samples));
            f.push_back(problem.function(x.back()));
            w.push_back(problem.weight(x.back()));
        }
    }
};

/// The minimax polynomial among those of powers [lowest, degree], and its error.
inline std::pair<std::vector<Real>, Real> remez(const Sampled& on, int lowest, int degree) {
    int terms = degree - lowest + 1, points = terms + 1;
    std::vector<int> at;
    std::vector<Real> c;
    Real worst = 0;
    for (int i = 0; i < points; ++i) at.push_back(samples * i / (points - 1));
    for (int round = 0; round < 16; ++round) {
        std::vector<std::vector<Real>> a;
        std::vector<Real> b;
        for (int i = 0; i < points; ++i) {
            auto k = static_cast<std::size_t>(at[static_cast<std::size_t>(i)]);
            std::vector<Real> row;
            for (int n = 0; n < terms; ++n) row.push_back(power(on.x[k], lowest + n));
            row.push_back((i % 2 ? -1 : 1) / on.w[k]);
            a.push_back(row);
            b.push_back(on.f[k]);
        }
        c = solve(a, b);
        c.pop_back();  // the error itself
        // The extrema of the error between its sign changes become the new points.
        std::vector<int> peaks;
        Real best = 0;
        int best_at = 0;
        worst = 0;
        for (std::size_t i = 0; i <= samples; ++i) {
            Real p = 0;
            for (int n = terms; n-- > 0;) p = p * on.x[i] + c[static_cast<std::size_t>(n)];
            Real e = on.w[i] * (p * power(on.x[i], lowest) - on.f[i]);
            if (best != 0 && (e > 0) != (best > 0)) {
                peaks.push_back(best_at);
                best = 0;
            }
            if (fabsq(e) >= fabsq(best)) best = e, best_at = static_cast<int>(i);
            worst = fmaxq(worst, fabsq(e));
        }
        peaks.push_back(best_at);
        if (static_cast<int>(peaks.size()) != points || peaks == at) break;
        at = peaks;
    }
    return {c, worst};
}

inline Real error_of(const Sampled& on, const std::vector<Real>& c) {
    Real worst = 0;
    for (std::size_t i = 0; i <= samples; ++i) {
        Real p = 0;
        for (std::size_t k = c.size(); k-- > 0;) p = p * on.x[i] + c[k];
        worst = fmaxq(worst, fabsq(on.w[i] * (p - on.f[i])));
    }
    return worst;
}

template <class T>
void print(Real value) {
    std::printf(sizeof(T) == 4 ? "%af" : "%a", static_cast<double>(static_cast<T>(value)));
}

/// The polynomial of least degree whose error is at most 2^-bits.
template <class T>
void report(const Problem& problem, double bits) {
    Sampled on(problem);
    int degree = 0;
    while (degree < 34 && remez(on, 0, degree).second > powq(2, -bits)) ++degree;
    std::vector<Real> rounded, refitted;
    for (Real c : remez(on, 0, degree).first) rounded.push_back(static_cast<T>(c));
    Sampled rest = on;
    for (int k = 0; k <= degree; ++k) {
        Real c = static_cast<T>(remez(rest, k, degree).first[0]);
        refitted.push_back(c);
        for (std::size_t i = 0; i <= samples; ++i) rest.f[i] -= c * power(on.x[i], k);
    }
    const auto& best = error_of(on, refitted) < error_of(on, rounded) ? refitted : rounded;
    const char* type = sizeof(T) == 4 ? "float" : "double";
    std::printf("template <>\nstruct %s<%s> {  // error 2^%.1f\n    static constexpr %s c[] = {", problem.name.c_str(),
                type, static_cast<double>(log2q(error_of(on, best))), type);
    for (std::size_t k = 0; k < best.size(); ++k) {
        if (k) std::printf(", ");
        print<T>(best[k]);
    }
    std::printf("};\n};\n");
}

inline void introduce(const Problem& problem) {
    std::printf("\n/// %s\ntemplate <class T>\nstruct %s;\n", problem.says.c_str(), problem.name.c_str());
}
/// For both types; extra: bits beyond what the type's precision asks for.
inline void report(const Problem& problem, double extra = 3) {
    introduce(problem);
    report<float>(problem, 24 + extra);
    report<double>(problem, 53 + extra);
}
