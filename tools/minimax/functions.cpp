// Writes kernel/coefficients.h: the polynomials of weft's own functions, and their constants.
// Build and run: g++ -O2 -std=gnu++20 tools/minimax/functions.cpp -lquadmath -o minimax && ./minimax > src/weft/kernel/coefficients.h
#include "constants.h"

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

/// erf below and above a place, by polynomials of one degree.
void error_function_in_two(const Map& ratio) {
    const Real splits[] = {1.35Q, 1.414Q}, centres[] = {0.90625Q, 1.03125Q}, tops[] = {3.93Q, 5.95Q};
    std::printf(
        "\n/// Where erf changes its polynomial, the square that the first is counted from, and where erf is 1.\n");
    for (auto [name, places] : {std::pair{"split", splits}, {"centre", centres}, {"top", tops}})
        std::printf("template <class T>\ninline constexpr T erf_%s = T(sizeof(T) == 4 ? %.9g : %.9g);\n", name,
                    static_cast<double>(places[0]), static_cast<double>(places[1]));
    Problem inner{"ErfInner", "erf(x) / x - 1 in x^2 - erf_centre, below erf_split.", {}, {}, 0, 0};
    introduce(inner);
    for (int type : {0, 1}) {
        Real centre = centres[type];
        inner.function = [=](Real t) { return ratio(fmaxq(t + centre, 0)) - 1; };
        inner.weight = [=](Real t) { return 1 / ratio(fmaxq(t + centre, 0)); };
        inner.low = -centre;
        inner.high = splits[type] * splits[type] - centre;
        type ? report<double>(inner, 62) : report<float>(inner, 28);
    }
    Problem outer{"ErfcRoot", "The fourth root of erfc(x), of doubles the eighth, from erf_split on.", {}, {}, 0, 0};
    introduce(outer);
    for (int type : {0, 1}) {
        Real order = type ? 8 : 4;
        outer.function = [=](Real x) { return powq(erfcq(x), 1 / order); };
        outer.weight = [=](Real x) { return order * powq(erfcq(x), 1 - 1 / order); };
        outer.low = splits[type];
        outer.high = tops[type];
        type ? report<double>(outer, 55.5) : report<float>(outer, 28.5);
    }
}

void error_functions() {
    auto ratio = [](Real z) {
        Real x = sqrtq(z);
        return z < 1e-12Q ? M_2_SQRTPIq * (1 - z / 3) : erfq(x) / x;
    };
    report(
        {"ErfNear", "erf(x) / x - 1 in x^2, |x| <= 1.", [=](Real z) { return ratio(z) - 1; }, relative(ratio), 0, 1});
    error_function_in_two(ratio);
    report({"ErfSmall", "erf(x) / x - 1 in x^2, |x| <= 1/2, for erfc.", [=](Real z) { return ratio(z) - 1; },
            relative(ratio), 0, 0.25Q});
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

/// The slope of gelu is -e^(-a^2/2) D(a) at -a, 1 + e^(-a^2/2) D(a) at a. D has a zero, beside which errors are absolute.
void gelu_slope() {
    const Real centre = 0.75Q, pole = 4;  // most numbers are small, and few terms count near the centre
    std::printf("\ninline constexpr double gelu_centre = %a, gelu_pole = %a;\n", static_cast<double>(centre),
                static_cast<double>(pole));
    auto slope = [](Real a) {
        Real z = a * M_SQRT1_2q, scaled = z > 60 ? 0 : expq(z * z) * erfcq(z);
        return a * M_2_SQRTPIq * M_SQRT1_2q / 2 - scaled / 2;
    };
    auto from = [=](Real t) { return (centre + pole * t) / (1 - t); };
    auto place = [=](Real a) { return (a - centre) / (a + pole); };
    Problem problem{"GeluSlope",
                    "(a - sqrt(pi / 2) exp(a^2 / 2) erfc(a / sqrt(2))) / sqrt(2 pi) / (a + pole) in (a - centre) / (a "
                    "+ pole), from 0 to "
                    "where exp(-a^2 / 2) is 0.",
                    [=](Real t) { return slope(from(t)) / (from(t) + pole); },
                    [=](Real t) { return (from(t) + pole) / (fabsq(slope(from(t))) + 0.25Q); },
                    place(0),
                    place(15)};
    introduce(problem);
    report<float>(problem, 29);
    problem.high = place(39.5Q);
    report<double>(problem, 58);
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
        "Written by tools/minimax/functions.cpp:\n"
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
    gelu_slope();
    gammas();
    inverse_error_function();
    std::printf("// clang-format on\n\n}  // namespace weft::elementary\n");
}
