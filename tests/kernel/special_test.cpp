// The special functions against values from mpmath, and at the edges of their domains.
#include "weft/kernel/special.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "special_values.h"

namespace weft {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

const Function* named(std::string_view name) {
    for (const Function* function : all_functions())
        if (function->name == name) return function;
    return nullptr;
}

/// J and Y have zeros, and so have logarithms and Ei: their errors count in units at 1.
bool has_zeros(std::string_view name) { return name[0] == 'j' || name[0] == 'y' || name == "betaln" || name == "expi"; }

/// How far `got` is from `exact`, in units in the last place of T.
template <class T>
double units(T got, long double exact, bool of_one) {
    using L = std::numeric_limits<T>;
    if (std::isinf(static_cast<T>(exact))) return got == static_cast<T>(exact) ? 0 : inf;
    int exponent;
    (void)std::frexp(of_one ? std::max(std::abs(exact), 1.0L) : exact, &exponent);
    long double unit = std::ldexp(1.0L, std::max(exponent - L::digits, L::min_exponent - L::digits));
    return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / unit);
}

TEST(Special, values_are_mpmaths_within_the_stated_bounds) {
    for (const SpecialValue& at : special_values) {
        const Function* function = named(at.function);
        ASSERT_TRUE(function) << at.function;
        float narrow[3];
        for (int i = 0; i < 3; ++i) narrow[i] = static_cast<float>(at.operands[i]);
        EXPECT_LE(units(function->f64(at.operands), at.value, has_zeros(at.function)), function->ulp64)
            << at.function << '(' << at.operands[0] << ", " << at.operands[1] << ", " << at.operands[2] << ") is "
            << function->f64(at.operands) << ", not " << at.value;
        if (std::abs(at.value) < std::numeric_limits<float>::min()) continue;
        EXPECT_LE(units(function->f32(narrow), at.value, has_zeros(at.function)), function->ulp32)
            << at.function << '(' << at.operands[0] << ", " << at.operands[1] << ", " << at.operands[2]
            << ") of float32 is " << function->f32(narrow) << ", not " << at.value;
    }
}

TEST(Special, every_special_function_stands_in_the_table) {
#define WEFT_FUNCTION_1(name, ...) #name,
#define WEFT_FUNCTION_2(name, ...) #name,
#define WEFT_FUNCTION_3(name, ...) #name,
    const std::string_view names[] = {
#include "weft/kernel/special.inc"
    };
    for (std::string_view name : names) {
        if (named(name)->f64 == nullptr) continue;  // of complex numbers: tests/ops/special_test.cpp
        bool stands = std::any_of(std::begin(special_values), std::end(special_values),
                                  [&](const SpecialValue& value) { return value.function == name; });
        EXPECT_TRUE(stands) << name;
    }
}

struct Edge {
    std::string_view function;
    double operands[3];
    double value;
};
constexpr Edge known[] = {{"erfcx", {-inf}, inf},
                          {"erfcx", {inf}, 0},
                          {"erfcinv", {0}, inf},
                          {"erfcinv", {2}, -inf},
                          {"erfcinv", {-0.1}, nan},
                          {"erfcinv", {2.1}, nan},
                          {"gamma", {0}, inf},
                          {"gamma", {-0.0}, -inf},
                          {"gamma", {-1}, nan},
                          {"gamma", {inf}, inf},
                          {"gamma", {-inf}, nan},
                          {"gamma", {172}, inf},
                          {"trigamma", {0}, inf},
                          {"trigamma", {-3}, inf},
                          {"trigamma", {inf}, 0},
                          {"j0", {inf}, 0},
                          {"y0", {0}, -inf},
                          {"y1", {-1}, nan},
                          {"i0", {-inf}, inf},
                          {"i1", {-inf}, -inf},
                          {"k0", {0}, inf},
                          {"k1", {inf}, 0},
                          {"k0e", {-1}, nan},
                          {"exp1", {0}, inf},
                          {"exp1", {-1}, nan},
                          {"exp1", {inf}, 0},
                          {"expi", {0}, -inf},
                          {"expi", {-inf}, 0},
                          {"expi", {inf}, inf},
                          {"expn", {0, 0}, inf},
                          {"expn", {3, 0}, 0.5},
                          {"expn", {1.5, 2}, nan},
                          {"expn", {-1, 2}, nan},
                          {"spence", {0}, std::numbers::pi* std::numbers::pi / 6},
                          {"spence", {1}, 0},
                          {"spence", {-1}, nan},
                          {"lambertw", {0}, 0},
                          {"lambertw", {inf}, inf},
                          {"lambertw", {-0.4}, nan},
                          {"zeta", {1, 2}, inf},
                          {"zeta", {0.5, 2}, nan},
                          {"zeta", {2, -1}, inf},
                          {"zeta", {2.5, -0.5}, nan},
                          {"gammainc", {2, 0}, 0},
                          {"gammainc", {2, inf}, 1},
                          {"gammainc", {0, 0}, nan},
                          {"gammainc", {-1, 2}, nan},
                          {"gammaincc", {0, 3}, 0},
                          {"gammaincinv", {2, 1}, inf},
                          {"gammaincinv", {2, 1.5}, nan},
                          {"gammainccinv", {2, 0}, inf},
                          {"beta", {0, 2}, inf},
                          {"beta", {-3, 2}, 1.0 / 6},
                          {"poch", {0, 0}, 1},
                          {"poch", {-2, 3}, 0},
                          {"binom", {-1, 2}, nan},
                          {"binom", {5, 7}, 0},
                          {"jv", {0, 0}, 1},
                          {"jv", {0.5, -1}, nan},
                          {"yv", {2, 0}, -inf},
                          {"iv", {1, -inf}, -inf},
                          {"kv", {2, 0}, inf},
                          {"kv", {2, -1}, nan},
                          {"owens_t", {0, inf}, 0.25},
                          {"betainc", {2, 3, 0}, 0},
                          {"betainc", {2, 3, 1}, 1},
                          {"betainc", {2, 3, 1.5}, nan},
                          {"betaincinv", {2, 3, 1}, 1},
                          {"betaincinv", {0.5, nan, 1}, nan}};

TEST(Special, gamma_of_float32_is_infinite_beyond_its_range) {
    // From 105 on Stirling's formula was infinity times 0.
    for (float x : {36.F, 104.5F, 171.F, 1e4F, std::numeric_limits<float>::max(), static_cast<float>(inf)}) {
        EXPECT_EQ(named("gamma")->f32(&x), inf) << x;
    }
    for (float x : {-60.5F, -104.5F, -300.25F}) EXPECT_EQ(named("gamma")->f32(&x), 0) << x;
}

TEST(Special, edges_are_limits_or_nan) {
    for (const Edge& edge : known) {
        double got = named(edge.function)->f64(edge.operands);
        if (std::isnan(edge.value)) {
            EXPECT_TRUE(std::isnan(got)) << edge.function << '(' << edge.operands[0] << ", " << edge.operands[1] << ')';
        } else {
            EXPECT_DOUBLE_EQ(got, edge.value)
                << edge.function << '(' << edge.operands[0] << ", " << edge.operands[1] << ')';
        }
    }
}

}  // namespace
}  // namespace weft
