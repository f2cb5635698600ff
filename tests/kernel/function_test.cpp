// Every function against long double (or 128-bit) results, at random inputs and at the edges; its stated error is its limit.
#include "weft/kernel/function.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>

#include "weft/base/environment.h"

namespace weft {
namespace {

using Exact = std::function<long double(long double, long double)>;

struct Judge {
    const Function* function;
    Exact exact;
    double low, high;  // where random inputs come from, beside all bit patterns
    bool everywhere = true;
};

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
        WEFT_TWO(pow, 0, 10),
        WEFT_TWO(atan2, -5, 5),
        WEFT_TWO(hypot, -5, 5),
        WEFT_TWO(copysign, -5, 5),
        WEFT_TWO(fmod, -50, 50),
    };
    return all;
}

/// |got - exact| in units of the last place of a T of exact's size.
template <class T>
double ulps(T got, long double exact) {
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
    int exponent = std::max(std::ilogb(exact), std::numeric_limits<T>::min_exponent - 1);
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
                          T(2.4142137),
                          T(0.25),
                          T(1e-3),
                          T(16384),
                          T(268435456),
                          T(4),
                          T(6),
                          T(0.47693628)};
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
    using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    return std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(x) + count));
}

template <class T>
void judge(const Judge& judge) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const Function& function = *judge.function;
    double allowed = sizeof(T) == 4 ? function.ulp32 : function.ulp64, worst = 0;
    // The judge itself: long double carries 11 bits more than a double, so half a unit of its own is 2^-12 of a unit.
    allowed += 0.002;
    T worst_x = 0, worst_y = 0;
    auto check = [&](T x, T y) {
        T got = value_of(function, x, y);
        long double exact = judge.exact(x, y);
        double error = ulps(got, exact);
        if (exact == 0 && !std::isnan(got)) {
            EXPECT_EQ(std::signbit(got), std::signbit(exact)) << function.name << '(' << x << ", " << y << ')';
        }
        if (error > worst) worst = error, worst_x = x, worst_y = y;
    };
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> inside(judge.low, judge.high);
    int count = environment("WEFT_SHOW_ULPS") ? 1000000 : sizeof(T) == 4 ? 100000 : 50000;
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
        bool own = function == &erfinv_function || function == &lgamma_function || function == &digamma_function ||
                   function == &nextafter_function || function == &csqrt_function;
        EXPECT_TRUE(judged || own) << function->name;
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
    EXPECT_NEAR(lgamma(0.5), 0.57236494292470009, 2e-16);
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

/// NumPy's validation set, from the folder of judges: lines "dtype,input bits,output bits,ulp error". Where there is none: nothing.
std::optional<std::filesystem::path> numpy_set() {
    std::optional<std::filesystem::path> judges;
    if (auto folder = environment("WEFT_JUDGES"))
        judges = *folder;
    else if (auto data = environment("WEFT_DATA"))
        judges = std::filesystem::path(*data) / ".." / "judges";
    if (!judges || !std::filesystem::exists(*judges / "numpy-ulp.tar.xz")) return std::nullopt;
    auto to = std::filesystem::path(testing::TempDir()) / ("weft-numpy-ulp-" + std::to_string(std::random_device{}()));
    std::filesystem::create_directories(to);
    std::string command = "tar xf '" + (*judges / "numpy-ulp.tar.xz").string() + "' -C '" + to.string() + "'";
    if (std::system(command.c_str()) != 0) return std::nullopt;
    return to;
}

TEST(Function, agree_with_numpys_validation_set) {
    auto folder = numpy_set();
    if (!folder)
        GTEST_SKIP() << "neither WEFT_JUDGES nor WEFT_DATA/../judges has numpy-ulp.tar.xz (or tar with xz is missing)";
    const std::map<std::string, const Function*> names{
        {"arccos", &acos_function},   {"arccosh", &acosh_function}, {"arcsin", &asin_function},
        {"arcsinh", &asinh_function}, {"arctan", &atan_function},   {"arctanh", &atanh_function},
        {"cbrt", &cbrt_function},     {"cos", &cos_function},       {"cosh", &cosh_function},
        {"exp", &exp_function},       {"exp2", &exp2_function},     {"expm1", &expm1_function},
        {"log", &log_function},       {"log10", &log10_function},   {"log1p", &log1p_function},
        {"log2", &log2_function},     {"sin", &sin_function},       {"sinh", &sinh_function},
        {"tan", &tan_function},       {"tanh", &tanh_function}};
    int lines = 0;
    for (const auto& [name, function] : names) {
        std::ifstream file(*folder / "numpy-ulp" / ("umath-validation-set-" + name + ".csv"));
        ASSERT_TRUE(file) << name;
        for (std::string line; std::getline(file, line);) {
            bool single = line.starts_with("np.float32,"), wide = line.starts_with("np.float64,");
            if (!single && !wide) continue;
            char* end = nullptr;
            std::uint64_t in = std::strtoull(line.c_str() + 11, &end, 16), out = std::strtoull(end + 1, &end, 16);
            double allowed = std::strtod(end + 1, &end);
            auto compare = [&]<class T>(T x, T expected) {
                T got = single ? static_cast<T>(value_of<float>(*function, static_cast<float>(x), 0.f))
                               : static_cast<T>(value_of<double>(*function, static_cast<double>(x), 0.));
                if (std::isnan(expected))
                    EXPECT_TRUE(std::isnan(got)) << name << ' ' << line;
                else
                    EXPECT_LE(ulps(got, expected), allowed) << name << ' ' << line;
                ++lines;
            };
            if (single)
                compare(std::bit_cast<float>(static_cast<std::uint32_t>(in)),
                        std::bit_cast<float>(static_cast<std::uint32_t>(out)));
            else
                compare(std::bit_cast<double>(in), std::bit_cast<double>(out));
        }
    }
    EXPECT_GT(lines, 20000);
    std::filesystem::remove_all(*folder);
}

}  // namespace
}  // namespace weft
