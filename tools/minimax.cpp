// Writes kernel/coefficients.h: polynomials whose largest weighted error on an interval is least (Remez, 1934), in 128-bit
// arithmetic, of the least degree that meets the precision of float (of double), then rounded: all at once, or from the lowest order
// up with the rest fitted again, whichever is better. And the constants that go with them, in parts.
// Build and run: g++ -O2 -std=gnu++20 tools/minimax.cpp -lquadmath -o minimax && ./minimax > src/weft/kernel/coefficients.h
#include <quadmath.h>

#include <cstdint>
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

Real power(Real x, int n) {
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
std::pair<std::vector<Real>, Real> remez(const Sampled& on, int lowest, int degree) {
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

Real error_of(const Sampled& on, const std::vector<Real>& c) {
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

void introduce(const Problem& problem) {
    std::printf("\n/// %s\ntemplate <class T>\nstruct %s;\n", problem.says.c_str(), problem.name.c_str());
}
/// For both types; extra: bits beyond what the type's precision asks for.
void report(const Problem& problem, double extra = 3) {
    introduce(problem);
    report<float>(problem, 24 + extra);
    report<double>(problem, 53 + extra);
}

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
Long arctangent(std::uint32_t times, std::uint32_t x) {
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
std::vector<std::uint32_t> two_over_pi(std::size_t count) {
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
std::pair<Real, Real> pi_in_two() {
    Long pi = arctangent(16, 5);
    pi.add(arctangent(4, 239), true);
    Real high = 0, low = 0;
    for (int i = 3; i >= 0; --i) high += ldexpq(pi.words[static_cast<std::size_t>(i)], -32 * i);
    for (int i = 6; i >= 4; --i) low += ldexpq(pi.words[static_cast<std::size_t>(i)], -32 * i);
    return {high, low};
}

Real digamma_root();

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

Map relative(Map function) {
    return [function](Real x) { return 1 / fabsq(function(x)); };
}

/// (f(x) / x - 1) / x^2 as a polynomial in z = x^2, for an odd f whose first terms are x + third x^3 + fifth x^5: what
/// x + x z p(z) needs.
Problem odd(const char* name, const char* says, Real (*f)(Real), Real third, Real fifth, Real high) {
    return {name,
            says,
            [=](Real z) {
                Real x = sqrtq(z);
                return z < 1e-8Q ? third + fifth * z : (f(x) - x) / (x * z);
            },
            [=](Real z) { return (z + 1e-7Q) * sqrtq(z + 1e-20Q) / f(sqrtq(z + 1e-20Q)); },
            0,
            high};
}

void exponentials() {
    const Real ln2 = M_LN2q;
    auto exp_rest = [](Real r) { return fabsq(r) < 1e-6Q ? 0.5Q + r / 6 + r * r / 24 : (expm1q(r) - r) / (r * r); };
    Real half = ln2 / 2 * 1.0001Q;
    Problem exp{"ExpRest", "(e^r - 1 - r) / r^2 for |r| <= ln 2 / 2, for e^r.",
                exp_rest,  [](Real r) { return (r * r + 1e-6Q) / expq(r); },
                -half,     half};
    introduce(exp);
    report<float>(exp, 27);
    report<double>(exp, 58);
    report({"Expm1Rest", "The same, for e^r - 1.", exp_rest,
            [](Real r) { return fabsq(r) < 1e-6Q ? 1e-6Q : r * r / fabsq(expm1q(r)); }, -half, half});
    report({"Exp2Rest", "(2^r - 1) / r for |r| <= 1/2.",
            [=](Real r) { return fabsq(r) < 1e-9Q ? ln2 + r * ln2 * ln2 / 2 : expm1q(r * ln2) / r; },
            [=](Real r) { return (fabsq(r) + 1e-6Q) / expq(r * ln2); }, -0.501Q, 0.501Q});
    report({"Exp2Second", "(2^r - 1 - r ln 2) / r^2, for pow.",
            [=](Real r) {
                return fabsq(r) < 1e-7Q ? ln2 * ln2 / 2 + r * ln2 * ln2 * ln2 / 6
                                        : (expm1q(r * ln2) - r * ln2) / (r * r);
            },
            [=](Real r) { return (r * r + 1e-6Q) / expq(r * ln2); }, -0.501Q, 0.501Q},
           5);
    report(odd("TanhRest", "(tanh x / x - 1) / x^2 in x^2, |x| <= 0.5625.", tanhq, -1 / 3.0Q, 2 / 15.0Q,
               0.5625Q * 0.5625Q));
    report(odd("SinhRest", "(sinh x / x - 1) / x^2 in x^2, |x| <= 1.", sinhq, 1 / 6.0Q, 1 / 120.0Q, 1));
}

void logarithms() {
    Real low = sqrtq(0.5Q) - 1, high = sqrtq(2) - 1;
    Problem rest{"LogRest",
                 "(log(1 + f) - f + f^2 / 2) / f^3 for 1 + f in [sqrt(1/2), sqrt(2)].",
                 [](Real f) {
                     return fabsq(f) < 1e-6Q ? 1 / 3.0Q - f / 4 + f * f / 5 : (log1pq(f) - f + f * f / 2) / (f * f * f);
                 },
                 [](Real f) { return fabsq(f) < 1e-6Q ? f * f + 1e-12Q : fabsq(f * f * f / log1pq(f)); },
                 low,
                 high};
    introduce(rest);
    report<float>(rest, 26);
    // With s = f / (2 + f): log(1 + f) = 2 atanh(s).
    Real far = high / (2 + high) * 1.0001Q;
    auto series = [](Real z, int from) {
        Real sum = 0;
        for (int k = 60; k >= from; --k) sum = sum * z + 2 / (2 * Real(k) + 1);
        return sum;
    };
    Problem atanh_rest{"LogSeries",
                       "(2 atanh(s) / s - 2) / s^2 in s^2, s = f / (2 + f).",
                       [=](Real z) { return series(z, 1); },
                       [](Real z) { return z / 2 + 1e-6Q; },
                       0,
                       far * far};
    introduce(atanh_rest);
    report<double>(atanh_rest, 57);
    Problem pow_rest{"PowSeries",
                     "(2 atanh(s) / s - 2 - 2/3 s^2) / s^4 in s^2: for a logarithm of more than the type's precision.",
                     [=](Real z) { return series(z, 2); },
                     [](Real z) { return z * z / 2 + 1e-6Q; },
                     0,
                     far * far};
    introduce(pow_rest);
    report<float>(pow_rest, 24 + 11);
    report<double>(pow_rest, 53 + 14);
}

void angles() {
    auto sine_rest = [](Real z) {
        Real r = sqrtq(z);
        return z < 1e-8Q ? -1 / 6.0Q + z / 120 : (sinq(r) - r) / (r * z);
    };
    auto cosine_rest = [](Real z) {
        Real r = sqrtq(z);
        return z < 1e-6Q ? 1 / 24.0Q - z / 720 : (cosq(r) - 1 + z / 2) / (z * z);
    };
    Real quarter = M_PI_4q * 1.002Q;
    report({"SineRest", "(sin r - r) / r^3 in r^2, |r| <= pi / 4.", sine_rest, [](Real z) { return z + 1e-5Q; }, 0,
            quarter * quarter},
           2.5);
    report({"CosineRest", "(cos r - 1 + r^2 / 2) / r^4 in r^2.", cosine_rest, [](Real z) { return z * z + 1e-5Q; }, 0,
            quarter * quarter});
    report(odd("AsinRest", "(asin x / x - 1) / x^2 in x^2, |x| <= 1/2.", asinq, 1 / 6.0Q, 3 / 40.0Q, 0.2501Q));
    Real eighth = tanq(M_PIq / 8) * 1.0001Q;
    report(odd("AtanRest", "(atan x / x - 1) / x^2 in x^2, |x| <= tan(pi / 8).", atanq, -1 / 3.0Q, 1 / 5.0Q,
               eighth * eighth));
}

void error_functions() {
    auto ratio = [](Real z) {
        Real x = sqrtq(z);
        return z < 1e-12Q ? M_2_SQRTPIq * (1 - z / 3) : erfq(x) / x;
    };
    report(
        {"ErfNear", "erf(x) / x - 1 in x^2, |x| <= 1.", [=](Real z) { return ratio(z) - 1; }, relative(ratio), 0, 1});
    Problem tail{"ErfTail",
                 "-log(erfc(x)) / x for x in [1, 4], for erf.",
                 [](Real x) { return -logq(erfcq(x)) / x; },
                 [](Real x) { return x * erfcq(x); },
                 0.99Q,
                 4};
    introduce(tail);
    report<float>(tail, 26.5);
    // Where the variable is 0, the polynomial is a float and a little: so its constant term has no error.
    const Real centre = 2.21875Q;
    std::printf("\ninline constexpr double erfc_centre = %a;\n", static_cast<double>(centre));
    auto scaled = [=](Real t) {
        Real a = centre * (1 + t) / (1 - t);
        return (1 + 2 * a) * expq(a * a) * erfcq(a);
    };
    auto place = [=](Real a) { return (a - centre) / (a + centre); };
    Problem erfc{"ErfcScaled",
                 "(1 + 2 a) exp(a^2) erfc(a) in (a - centre) / (a + centre), for a from 1/2 to where erfc(a) is 0.",
                 scaled,
                 relative(scaled),
                 place(0.499Q),
                 0};
    introduce(erfc);
    erfc.high = place(10.2Q);
    report<float>(erfc, 27);
    erfc.high = place(27.4Q);
    report<double>(erfc, 56);
}

void roots() {
    auto inverse = [](Real x) { return 1 / cbrtq(x); };
    Problem root{"CbrtStart", "m^(-1/3) for m in [sqrt(1/2), sqrt(2)], a start that iterations triple.",
                 inverse,     relative(inverse),
                 sqrtq(0.5Q), sqrtq(2)};
    introduce(root);
    report<float>(root, 9);
    report<double>(root, 9);
}

/// The derivative of log gamma: recurrence to 40, then the asymptotic series (Abramowitz & Stegun 6.3.18).
Real digamma(Real x) {
    constexpr int bernoulli[][2] = {{1, 6},       {-1, 30}, {1, 42},      {-1, 30},    {5, 66},
                                    {-691, 2730}, {7, 6},   {-3617, 510}, {43867, 798}};
    Real sum = 0, power = 1;
    for (; x < 40; x += 1) sum -= 1 / x;
    sum += logq(x) - 1 / (2 * x);
    for (int k = 1; k <= 9; ++k) {
        power *= x * x;
        sum -= Real(bernoulli[k - 1][0]) / bernoulli[k - 1][1] / (2 * k * power);
    }
    return sum;
}

/// Where the digamma function is 0.
Real digamma_root() {
    Real low = 1.4Q, high = 1.5Q;
    for (int i = 0; i < 120; ++i) (digamma((low + high) / 2) < 0 ? low : high) = (low + high) / 2;
    return low;
}

void gammas() {
    Real root = digamma_root();
    auto ratio = [=](Real d) {
        Real x = 1.5Q + d;
        if (fabsq(x - root) < 1e-12Q) x = root + 1e-12Q;
        return digamma(x) / (x - root);
    };
    report({"DigammaNear", "digamma(x) / (x - root) in x - 3/2, x from 1 to 2.", ratio, relative(ratio), -0.5Q, 0.5Q},
           2);
    auto rest = [](Real z) {
        Real x = 1 / sqrtq(z);
        return z < 1e-5Q ? 1 / 12.0Q - z / 120 + z * z / 252 : (logq(x) - 1 / (2 * x) - digamma(x)) * x * x;
    };
    report({"DigammaFar", "(log x - 1 / 2x - digamma(x)) x^2 in 1 / x^2, x from 10 on.", rest,
            [](Real z) { return z + 1e-5Q; }, 0, 0.01001Q});
    auto near = [](Real d) {
        return fabsq(d) < 1e-10Q
                   ? 1 - 0.577215664901532860606512090082402431Q + d * 0.322467033424113218236207583323012595Q
                   : lgammaq(2 + d) / d;
    };
    report({"LgammaNear", "lgamma(2 + d) / d for -3/4 <= d <= 1/2.", near, relative(near), -0.75Q, 0.5Q}, 2);
    auto stirling = [](Real z) {
        Real x = 1 / sqrtq(z);
        Real rest = lgammaq(x) - ((x - 0.5Q) * logq(x) - x + 0.5Q * logq(2 * M_PIq));
        return z < 1e-5Q ? 1 / 12.0Q - z / 360 + z * z / 1260 : rest * x;
    };
    report({"LgammaFar", "What Stirling's formula for lgamma(x) lacks, times x, in 1 / x^2, x from 8 on.", stirling,
            [](Real z) { return z + 1e-4Q; }, 0, 0.01563Q},
           1);
}

/// erfinv(x) / x for -log(1 - x^2) = w: Newton's method on erf, or on erfc where x is nearly 1.
Real erfinv_over_x(Real w) {
    if (w < 1e-20Q) return 1 / M_2_SQRTPIq;
    Real x = sqrtq(-expm1q(-w)), rest = expq(-w) / (1 + x), y = x < 0.5Q ? x / M_2_SQRTPIq : sqrtq(w) * 0.9Q;
    for (int i = 0; i < 60; ++i) {
        Real step = (x < 0.5Q ? erfq(y) - x : rest - erfcq(y)) / (M_2_SQRTPIq * expq(-y * y));
        y -= step / (1 + y * step);
    }
    return y / x;
}

void inverse_error_function() {
    const Real far = 6.25Q, centre = 4.25Q;
    std::printf("\n/// Where erfinv changes its variable, and what the second one is counted from.\n");
    std::printf("inline constexpr double erfinv_far = %a, erfinv_centre = %a;\n", static_cast<double>(far),
                static_cast<double>(centre));
    auto near = [=](Real t) { return erfinv_over_x(t + far / 2); };
    report({"ErfinvNear", "erfinv(x) / x in w - erfinv_far / 2, w = -log(1 - x^2) up to erfinv_far.", near,
            relative(near), -far / 2, far / 2},
           2);
    auto root = [=](Real s) { return erfinv_over_x((s + centre) * (s + centre)); };
    Problem tail{"ErfinvFar",
                 "erfinv(x) / x in sqrt(w) - erfinv_centre, from there on.",
                 root,
                 relative(root),
                 2.499Q - centre,
                 0};
    introduce(tail);
    tail.high = 4.05Q - centre;
    report<float>(tail, 26);
    tail.high = 6.06Q - centre;
    report<double>(tail, 55);
}

int main() {
    std::printf(
        "// Coefficients of weft's own functions, lowest power first, and constants in parts, the largest first. "
        "Written by tools/minimax.cpp:\n"
        "// not to be edited. The error of a polynomial is relative to the function that it serves. Callers: "
        "kernel/elementary/.\n"
        "#pragma once\n\n#include <cstdint>\n\nnamespace weft::elementary {\n\n// clang-format off\n"
        "template <class T>\nstruct Constants;\n");
    constants<float>("float");
    constants<double>("double");
    std::printf("\n/// 2 / pi, the bits after the point.\ninline constexpr std::uint32_t two_over_pi[] = {");
    auto words = two_over_pi(40);
    for (std::size_t i = 0; i < words.size(); ++i) std::printf("%s0x%08x", i ? ", " : "", words[i]);
    std::printf("};\n");
    exponentials();
    logarithms();
    angles();
    error_functions();
    roots();
    gammas();
    inverse_error_function();
    std::printf("// clang-format on\n\n}  // namespace weft::elementary\n");
}
