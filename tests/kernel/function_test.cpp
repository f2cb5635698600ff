// Every function against long double (or 128-bit) results, at random inputs and at the edges; its stated error is its limit.
#include "weft/kernel/function.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

#include "effort.h"
#include "numpy_ulps.h"
#include "special_values.h"
#include "weft/base/environment.h"
#include "weft/kernel/function_program.h"
#include "weft/kernel/interpreter.h"

namespace weft {
namespace {

using Exact = std::function<long double(long double, long double)>;

struct Judge {
    const Function* function;
    Exact exact;
    double low, high;      // where random inputs come from, beside all bit patterns
    double near_root = 0;  // what the judge itself may be off by, where it sums to a small value
    Exact terms = {};      // the size of what it is a sum of, where that counts
};

/// By the recurrence up to 30 and the asymptotic series; below 0, where roots lie close together, nobody is judged.
long double exact_digamma(long double x, long double) {
    if (!(x > 0) || std::isinf(x)) return std::numeric_limits<long double>::signaling_NaN();
    long double sum = 0;
    for (; x < 30; x += 1) sum -= 1 / x;
    long double z = 1 / (x * x);
    return sum + std::log(x) - 1 / (2 * x) -
           z * (1 / 12.0L -
                z * (1 / 120.0L - z * (1 / 252.0L - z * (1 / 240.0L - z * (1 / 132.0L - z * 691 / 32760)))));
}

long double exact_gelu_slope(long double x, long double) {
    if (std::fabs(x) > 100) return x > 0 ? 1 : -0.0L;
    return 0.5L * std::erfc(-x * std::numbers::sqrt2_v<long double> / 2) +
           x * std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<long double> / std::numbers::sqrt2_v<long double>;
}
/// The size of its terms, and below 0 what the rounding of the exponent adds to them.
long double gelu_slope_terms(long double x, long double) {
    if (std::fabs(x) > 100) return 0;
    long double density =
        std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<long double> / std::numbers::sqrt2_v<long double>;
    return (0.5L * std::erfc(-x * std::numbers::sqrt2_v<long double> / 2) + std::fabs(x) * density) *
           (1 + (x < 0 ? x * x / 4 : 0));
}

#define WEFT_ONE(name, low, high)                                                                           \
    {                                                                                                       \
        &name##_function, [](long double x, long double) -> long double { return std::name(x); }, low, high \
    }
#define WEFT_TWO(name, low, high)                                                                                \
    {                                                                                                            \
        &name##_function, [](long double x, long double y) -> long double { return std::name(x, y); }, low, high \
    }

const std::vector<Judge>& judges() {
    static const std::vector<Judge> all{
        WEFT_ONE(exp, -104, 90),
        WEFT_ONE(exp2, -150, 129),
        WEFT_ONE(expm1, -20, 90),
        WEFT_ONE(log, 0, 10),
        WEFT_ONE(log2, 0, 10),
        WEFT_ONE(log1p, -1, 10),
        WEFT_ONE(tanh, -11, 11),
        WEFT_ONE(erf, -5, 5),
        WEFT_ONE(sin, -200, 200),
        WEFT_ONE(cos, -200, 200),
        WEFT_ONE(log10, 0, 10),
        WEFT_ONE(tan, -200, 200),
        WEFT_ONE(asin, -1, 1),
        WEFT_ONE(acos, -1, 1),
        WEFT_ONE(atan, -10, 10),
        WEFT_ONE(sinh, -90, 90),
        WEFT_ONE(cosh, -90, 90),
        WEFT_ONE(asinh, -90, 90),
        WEFT_ONE(acosh, 1, 90),
        WEFT_ONE(atanh, -1, 1),
        WEFT_ONE(erfc, -5, 27),
        WEFT_ONE(cbrt, -90, 90),
        {&sigmoid_function, [](long double x, long double) { return 1 / (1 + std::exp(-x)); }, -104, 30},
        {&rsqrt_function, [](long double x, long double) { return 1 / std::sqrt(x); }, 0, 10},
        {&lgamma_function, [](long double x, long double) { return lgammal(x); }, -20, 20, 0,
         [](long double x, long double) { return x < 0 ? 1 + std::fabs(lgammal(-x)) : 0; }},
        {&digamma_function, exact_digamma, 0, 20, 3e-18},
        {&gelu_slope_function, exact_gelu_slope, -15, 15, 0, gelu_slope_terms},
        WEFT_TWO(pow, 0, 10),
        WEFT_TWO(atan2, -5, 5),
        WEFT_TWO(hypot, -5, 5),
        WEFT_TWO(copysign, -5, 5),
        WEFT_TWO(fmod, -50, 50),
    };
    return all;
}

/// |got - exact| in units of the last place of a T of exact's size, or of that of the terms.
template <class T>
double ulps(T got, long double exact, long double terms = 0) {
    auto rounded = static_cast<T>(exact);
    if (std::isnan(got) || std::isnan(exact))
        return std::isnan(got) && std::isnan(exact) ? 0 : std::numeric_limits<double>::infinity();
    if (std::isinf(rounded) || std::isinf(got)) {
        // One step beyond the greatest number is infinity.
        if (rounded == got) return 0;
        auto top = static_cast<long double>(std::numeric_limits<T>::max());
        return std::fabs(std::isinf(got) ? (exact - std::copysign(top, exact)) : (got - std::copysign(top, exact))) == 0
                   ? 0.5
                   : 1;
    }
    if (exact == 0) return got == 0 ? 0 : std::numeric_limits<double>::infinity();
    int exponent = std::max(std::ilogb(std::max(std::fabs(exact), terms)), std::numeric_limits<T>::min_exponent - 1);
    long double unit = std::ldexp(1.0L, exponent - (std::numeric_limits<T>::digits - 1));
    return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) / unit);
}

template <class T>
std::vector<T> edges() {
    using L = std::numeric_limits<T>;
    std::vector<T> values{0,
                          L::denorm_min(),
                          L::min(),
                          std::nextafter(L::min(), T{0}),
                          L::epsilon(),
                          L::max(),
                          L::infinity(),
                          1,
                          2,
                          0.5,
                          std::nextafter(T{1}, T{0}),
                          std::nextafter(T{1}, T{2}),
                          T(0.69314718),
                          T(1.5707964),
                          T(3.1415927),
                          T(88.72283),
                          T(88.722839),
                          T(87.33654),
                          T(103.97208),
                          T(103.97209),
                          T(128),
                          T(127.99999),
                          T(149),
                          T(150),
                          T(709.78271),
                          T(745.13321),
                          T(65536),
                          T(65537),
                          T(1e10),
                          T(0.70710677),
                          T(1.4142135),
                          T(9.01),
                          T(10),
                          T(18),
                          T(0.35),
                          T(0.5625),
                          T(0.41421356),
                          T(0x1.8a7c12p+0),
                          T(2.4142137),
                          T(0.25),
                          T(1e-3),
                          T(16384),
                          T(268435456),
                          T(4),
                          T(6),
                          T(0.47693628),
                          T(1.35),
                          T(1.414),
                          T(3.93),
                          T(5.95)};
    std::vector<T> both{L::quiet_NaN()};
    for (T value : values) both.push_back(value), both.push_back(-value);
    return both;
}

template <class T>
T value_of(const Function& function, T x, T y) {
    T operands[] = {x, y};
    if constexpr (std::is_same_v<T, float>)
        return function.f32(operands);
    else
        return function.f64(operands);
}

/// The number `count` places on.
template <class T>
T step(T x, int count) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;  // wraps: some places lie at an end
    return std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(x) + static_cast<Bits>(count)));
}

template <class T>
void judge(const Judge& judge) {
    using Bits = BitsOf<T>;
    const Function& function = *judge.function;
    double allowed = sizeof(T) == 4 ? function.ulp32 : function.ulp64, worst = 0;
    // The judge itself: long double carries 11 bits more than a double, so half a unit of its own is 2^-12 of a unit.
    allowed += 0.002;
    T worst_x = 0, worst_y = 0;
    auto check = [&](T x, T y) {
        T got = value_of(function, x, y);
        long double exact = judge.exact(x, y);
        if (function.name == "digamma" && std::isnan(exact)) return;
        double error = ulps(got, exact, judge.terms ? judge.terms(x, y) : 0);
        if (judge.near_root != 0 && std::fabs(got - exact) < judge.near_root) error = 0;
        if (exact == 0 && !std::isnan(got)) {
            EXPECT_EQ(std::signbit(got), std::signbit(exact)) << function.name << '(' << x << ", " << y << ')';
        }
        if (error > worst) worst = error, worst_x = x, worst_y = y;
    };
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> inside(judge.low, judge.high);
    int count = environment("WEFT_SHOW_ULPS") ? 1000000 : static_cast<int>(cases(sizeof(T) == 4 ? 100000 : 50000));
    for (int i = 0; i < count; ++i) check(static_cast<T>(inside(random)), static_cast<T>(inside(random)));
    for (int i = 0; i < count; ++i)
        check(std::bit_cast<T>(static_cast<Bits>(random())), std::bit_cast<T>(static_cast<Bits>(random())));
    for (T x : edges<T>()) {
        for (T y : edges<T>()) {
            check(x, y);
            if (function.arity == 1) break;
        }
        for (int k = -count / 2000; k < count / 2000; ++k) check(step(x, k), static_cast<T>(inside(random)));
    }
    // The numbers next to multiples of pi / 2, whose sine or cosine is nearly 0.
    for (int i = 0; i < count / 10; ++i) {
        auto multiple = static_cast<long double>(random() >> random() % 64) * 1.57079632679489661923132169163975144L;
        for (int k = -1; k <= 1; ++k) check(step(static_cast<T>(multiple), k), T{1});
    }
    EXPECT_LE(worst, allowed) << function.name << (sizeof(T) == 4 ? " float32" : " float64") << " at " << worst_x
                              << ", " << worst_y << " gives " << value_of(function, worst_x, worst_y);
    if (environment("WEFT_SHOW_ULPS"))
        std::printf("%-10s %zu %.3f at %.9g\n", std::string(function.name).c_str(), sizeof(T) * 8, worst,
                    double(worst_x));
}

TEST(Function, float32_errors_are_within_their_stated_bounds) {
    for (const Judge& each : judges()) judge<float>(each);
}

TEST(Function, float64_errors_are_within_their_stated_bounds) {
    for (const Judge& each : judges()) judge<double>(each);
}

TEST(Function, every_function_is_judged_or_has_a_test_of_its_own) {
    for (const Function* function : all_functions()) {
        bool judged =
            std::any_of(judges().begin(), judges().end(), [&](const Judge& j) { return j.function == function; });
        bool own = function == &erfinv_function || function == &nextafter_function || function->f64 == nullptr;
        own |= std::any_of(std::begin(special_values), std::end(special_values),
                           [&](const SpecialValue& value) { return value.function == function->name; });
        EXPECT_TRUE(judged || own) << function->name;
    }
}

template <class T>
void nextafter_is_the_c_librarys() {
    for (T x : edges<T>()) {
        for (T y : edges<T>()) {
            T got = value_of(nextafter_function, x, y), expected = std::nextafter(x, y);
            if (std::isnan(expected))
                EXPECT_TRUE(std::isnan(got)) << x << ' ' << y;
            else
                EXPECT_EQ(std::bit_cast<BitsOf<T>>(got), std::bit_cast<BitsOf<T>>(expected)) << x << ' ' << y;
        }
    }
}

TEST(Function, nextafter_is_the_next_number) {
    nextafter_is_the_c_librarys<float>();
    nextafter_is_the_c_librarys<double>();
}

TEST(Function, powers_that_are_numbers_are_exact) {
    for (double x : {1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 11.0, 0.5, 1.5, 12.25, 1e-300, 1e300, 1.0000000000000002}) {
        double one[] = {x, 1}, two[] = {x, 2}, square = x * x;
        EXPECT_EQ(pow_function.f64(one), x);
        EXPECT_EQ(pow_function.f64(two), square) << x;
        for (double power = x, k = 1; power == std::floor(power) && power < 0x1p53; power *= x, k += 1) {
            double operands[] = {x, k};
            EXPECT_EQ(pow_function.f64(operands), power) << x << ' ' << k;
            if (x == 1 && k > 5) break;
        }
    }
    for (int x = 1; x < 4096; ++x) {
        float operands[] = {static_cast<float>(x), 2};
        EXPECT_EQ(pow_function.f32(operands), static_cast<float>(x) * static_cast<float>(x));
    }
}

TEST(Function, erfinv_inverts_erf) {
    for (double y = -5.5; y <= 5.5; y += 0.001) {
        // A relative change d of erf(y) moves y by d erf(y) / erf'(y): the inverse cannot be better than its argument's rounding.
        double x = std::erf(y);
        if (std::fabs(x) == 1) continue;
        double slope = 2 / std::sqrt(M_PI) * std::exp(-y * y), own = 8 * 0x1p-52 * std::fabs(y),
               given = 0x1p-53 * std::fabs(x) / slope;
        EXPECT_NEAR(erfinv_function.f64(&x), y, own + 2 * given) << x;
    }
    double one = -1, two = 2, zero = -0.0;
    EXPECT_EQ(erfinv_function.f64(&one), -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(erfinv_function.f64(&two)));
    EXPECT_TRUE(std::signbit(erfinv_function.f64(&zero)));
}

TEST(Function, lgamma_and_digamma_have_the_published_values) {
    // Abramowitz & Stegun, tables 6.1 and 6.3; the rest by identities.
    auto digamma = [](double x) { return digamma_function.f64(&x); };
    auto lgamma = [](double x) { return lgamma_function.f64(&x); };
    EXPECT_NEAR(digamma(1), -0.57721566490153286, 1e-15);
    EXPECT_NEAR(digamma(0.5), -1.9635100260214235, 1e-15);
    EXPECT_NEAR(digamma(2), 0.42278433509846714, 1e-15);
    EXPECT_NEAR(digamma(10), 2.2517525890667211, 2e-15);
    EXPECT_NEAR(digamma(1.4616321449683622), -9.2412655217294275e-17, 1e-24);
    for (double x : {0.1, 0.7, 1.42, 1.45, 1.48, 1.5, 3.3, 9.9, 25.0}) {
        EXPECT_NEAR(digamma(x + 1), digamma(x) + 1 / x, 4e-15 * std::max(1.0, 1 / x)) << x;
        if (x == std::floor(x)) continue;
        EXPECT_NEAR(digamma(1 - x), digamma(x) + M_PI / std::tan(M_PI * x),
                    1e-11 * (1 + std::fabs(1 / std::tan(M_PI * x))))
            << x;
    }
    EXPECT_NEAR(lgamma(0.5), 0.57236494292470009, 4e-16);
    EXPECT_NEAR(lgamma(10), 12.801827480081469, 4e-15);
    EXPECT_TRUE(std::isnan(digamma(-3)));
    EXPECT_EQ(digamma(0.0), -std::numeric_limits<double>::infinity());
}

TEST(Function, complex_functions_agree_with_their_identities) {
    std::complex<double> z(0.3, -1.7);
    std::complex<float> single(0.3f, -1.7f);
    EXPECT_NEAR(std::abs(exp_function.c128(&z) - std::exp(0.3) * std::complex<double>(std::cos(-1.7), std::sin(-1.7))),
                0, 1e-15);
    auto root = csqrt_function.c128(&z);
    EXPECT_NEAR(std::abs(root * root - z), 0, 1e-15);
    EXPECT_NEAR(std::abs(std::complex<double>(tanh_function.c64(&single)) - std::tanh(z)), 0, 1e-6);
}

template <class T>
int judge_by_numpy(NumpyUlps& set) {
    int lines = 0;
    for (const auto& [function, values] : set.of<T>()) {
        const Program* program = program_of(*function, dtype_of<T>);
        if (!program) {
            ADD_FAILURE() << function->name << " is not a program";
            continue;
        }
        for (const auto& judged : values) {
            T by_program{};
            const void* inputs[] = {&judged.argument};
            void* outputs[] = {&by_program};
            interpret(*program, inputs, outputs);
            EXPECT_TRUE(meets(value_of(*function, judged.argument, T{}), judged))
                << function->name << '(' << judged.argument << ") is to be " << judged.value;
            EXPECT_TRUE(meets(by_program, judged))
                << "the program of " << function->name << '(' << judged.argument << ") is to give " << judged.value;
            ++lines;
        }
    }
    return lines;
}

TEST(Function, every_line_of_numpys_validation_set_is_met) {
    auto set = numpy_ulps();
    if (!set) GTEST_SKIP() << no_numpy_ulps;
    EXPECT_GT(judge_by_numpy<float>(*set) + judge_by_numpy<double>(*set), 26000);
}

}  // namespace
}  // namespace weft
