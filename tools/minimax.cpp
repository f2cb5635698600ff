// Finds the coefficients of kernel/elementary.h: polynomials whose largest weighted error on an interval is least (Remez, 1934), in
// 128-bit arithmetic, then rounded to float: all at once, or from the lowest order up with the rest fitted again, whichever is better.
// Build and run: g++ -O2 -std=gnu++20 tools/minimax.cpp -lquadmath -o minimax && ./minimax
#include <quadmath.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

using Real = __float128;
using Map = std::function<Real(Real)>;

/// Solves a x = b by elimination with row exchange.
std::vector<Real> solve(std::vector<std::vector<Real>> a, std::vector<Real> b) {
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

struct Problem {
    std::string name;
    Map function, weight;  // minimise max |weight(x) * (p(x) - function(x))| for
    Real low, high;        // x in [low, high]
    int degree;
    int lowest = 0;  // p(x) = sum of c[k] x^k from k = lowest to degree
};

/// The minimax polynomial and its error.
std::pair<std::vector<Real>, Real> remez(const Problem& problem) {
    int terms = problem.degree - problem.lowest + 1, points = terms + 1;
    std::vector<Real> at(static_cast<std::size_t>(points)), c;
    Real middle = (problem.low + problem.high) / 2, half = (problem.high - problem.low) / 2, worst = 0;
    for (int i = 0; i < points; ++i) at[static_cast<std::size_t>(i)] = middle - half * cosq(M_PIq * i / (points - 1));
    auto error = [&](Real x) {
        Real p = 0;
        for (int k = terms; k-- > 0;) p = p * x + c[static_cast<std::size_t>(k)];
        return problem.weight(x) * (p * powq(x, problem.lowest) - problem.function(x));
    };
    for (int round = 0; round < 12; ++round) {
        std::vector<std::vector<Real>> a;
        std::vector<Real> b;
        for (int i = 0; i < points; ++i) {
            Real x = at[static_cast<std::size_t>(i)];
            std::vector<Real> row;
            for (int k = 0; k < terms; ++k) row.push_back(powq(x, problem.lowest + k));
            row.push_back((i % 2 ? -1 : 1) / problem.weight(x));
            a.push_back(row);
            b.push_back(problem.function(x));
        }
        c = solve(a, b);
        c.pop_back();  // the error itself
        // The extrema of the error between its sign changes become the new points.
        constexpr int samples = 2000;
        std::vector<Real> peaks;
        Real best = 0, best_at = problem.low;
        worst = 0;
        for (int i = 0; i <= samples; ++i) {
            Real x = middle - half * cosq(M_PIq * i / samples), e = error(x);
            if (best != 0 && (e > 0) != (best > 0)) {
                peaks.push_back(best_at);
                best = 0;
            }
            if (fabsq(e) >= fabsq(best)) best = e, best_at = x;
            if (fabsq(e) > worst) worst = fabsq(e);
        }
        peaks.push_back(best_at);
        if (static_cast<int>(peaks.size()) != points) break;
        at = peaks;
    }
    return {c, worst};
}

/// The largest weighted error of a polynomial with these coefficients.
Real error_of(const Problem& problem, const std::vector<Real>& c) {
    Real worst = 0;
    for (int i = 0; i <= 2000; ++i) {
        Real x = problem.low + (problem.high - problem.low) * i / 2000, p = 0;
        for (std::size_t k = c.size(); k-- > 0;) p = p * x + c[k];
        worst = fmaxq(worst, fabsq(problem.weight(x) * (p - problem.function(x))));
    }
    return worst;
}

void report(const Problem& problem) {
    auto [exact, error] = remez(problem);
    std::vector<Real> rounded, refitted;
    for (Real c : exact) rounded.push_back(static_cast<float>(c));
    for (Problem rest = problem; rest.lowest <= rest.degree;) {
        auto c = static_cast<float>(remez(rest).first[0]);
        refitted.push_back(c);
        Map before = rest.function;
        int power = rest.lowest++;
        rest.function = [=](Real x) { return before(x) - c * powq(x, power); };
    }
    bool refit = error_of(problem, refitted) < error_of(problem, rounded);
    const auto& best = refit ? refitted : rounded;
    std::printf("%s: degree %d, error 2^%.1f, in float 2^%.1f%s\n", problem.name.c_str(), problem.degree,
                static_cast<double>(log2q(error)), static_cast<double>(log2q(error_of(problem, best))),
                refit ? " (refitted)" : "");
    for (Real c : best) std::printf(" %af,", static_cast<double>(c));
    std::printf("\n");
}

int main() {
    const Real ln2 = M_LN2q, root_half = sqrtq(0.5Q);
    // e^r = 1 + r + r^2 q(r). The small interval around 0 where q cancels is stepped over.
    auto exp_rest = [](Real r) {
        if (fabsq(r) < 1e-6Q) return 0.5Q + r / 6 + r * r / 24;
        return (expm1q(r) - r) / (r * r);
    };
    report({"exp: (e^r - 1 - r) / r^2", exp_rest, [](Real r) { return r * r / expq(r); }, -ln2 / 2, ln2 / 2, 4});
    report({"expm1: (e^r - 1 - r) / r^2", exp_rest,
            [](Real r) { return fabsq(r) < 1e-6Q ? fabsq(r) : r * r / fabsq(expm1q(r)); }, -ln2 / 2, ln2 / 2, 5});
    report({"exp2: (2^r - 1) / r",
            [=](Real r) { return fabsq(r) < 1e-9Q ? ln2 + r * ln2 * ln2 / 2 : expm1q(r * ln2) / r; },
            [=](Real r) { return (fabsq(r) + 1e-6Q) / expq(r * ln2); }, -0.5Q, 0.5Q, 5});
    // log(1 + f) = f - f^2 / 2 + f^3 q(f)
    auto log_rest = [](Real f) {
        if (fabsq(f) < 1e-6Q) return 1 / 3.0Q - f / 4 + f * f / 5;
        return (log1pq(f) - f + f * f / 2) / (f * f * f);
    };
    report({"log: (log(1 + f) - f + f^2 / 2) / f^3", log_rest,
            [](Real f) { return fabsq(f) < 1e-6Q ? f * f : fabsq(f * f * f / log1pq(f)); }, root_half - 1,
            2 * root_half - 1, 8});
    auto sine_rest = [](Real z) {
        Real r = sqrtq(z);
        return z < 1e-8Q ? -1 / 6.0Q + z / 120 : (sinq(r) - r) / (r * z);
    };
    auto cosine_rest = [](Real z) {
        Real r = sqrtq(z);
        return z < 1e-6Q ? 1 / 24.0Q - z / 720 : (cosq(r) - 1 + z / 2) / (z * z);
    };
    Real quarter = M_PI_4q * 1.0001Q;
    report({"sin: (sin r - r) / r^3 in r^2", sine_rest, [](Real z) { return z + 1e-5Q; }, 0, quarter * quarter, 2});
    report({"cos: (cos r - 1 + r^2 / 2) / r^4 in r^2", cosine_rest, [](Real z) { return z * z + 1e-5Q; }, 0,
            quarter * quarter, 2});
    report({"erf: erf(x) / x - 1 in x^2",
            [](Real z) {
                Real x = sqrtq(z);
                return (z < 1e-12Q ? M_2_SQRTPIq * (1 - z / 3) : erfq(x) / x) - 1;
            },
            [](Real z) {
                Real x = sqrtq(z);
                return z < 1e-12Q ? 1 : x / erfq(x);
            },
            0, 1, 6});
    report({"erfc: -log(erfc(x)) / x", [](Real x) { return -logq(erfcq(x)) / x; }, [](Real x) { return x * erfcq(x); },
            0.99Q, 4, 6});
}
