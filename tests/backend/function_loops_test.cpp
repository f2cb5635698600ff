// The block loops of functions, on every instruction set that this machine has, give the bits of the element's body.
#include <gtest/gtest.h>

#include "numpy_ulps.h"
#include "weft/backend/cpu/block_loops.h"

namespace weft::cpu {
namespace {

template <class T>
std::vector<T> run(Isa isa, const Function& function, const std::vector<T>& a, const std::vector<T>& b,
                   unsigned uniform = 0) {
    Instruction at = Instruction::call(dtype_of<T>, function);
    StepInfo info;
    info.function = &function;
    info.uniform = uniform;
    std::vector<T> result(std::max(a.size(), b.size()));
    const void* operands[] = {a.data(), b.data(), a.data()};
    block_loops(isa).step(at, dtype_of<T>)(result.data(), operands, static_cast<std::int64_t>(result.size()), info);
    return result;
}

template <class T>
T body_of(const Function& function, T x, T y) {
    T operands[] = {x, y, x};
    if constexpr (sizeof(T) == 4)
        return function.f32(operands);
    else
        return function.f64(operands);
}

/// To the bit, but for NaN's.
template <class T>
bool same(T got, T want) {
    return std::isnan(want) ? std::isnan(got) : std::bit_cast<BitsOf<T>>(got) == std::bit_cast<BitsOf<T>>(want);
}

/// All exponents, numbers of ordinary size, and so many that a register is left half full.
template <class T>
std::vector<T> arguments(unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> ordinary(-20, 20);
    std::vector<T> values{T(0), -T(0), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()};
    while (values.size() < 20003) {
        values.push_back(std::bit_cast<T>(static_cast<BitsOf<T>>(random())));
        values.push_back(static_cast<T>(ordinary(random)));
        values.push_back(static_cast<T>(ordinary(random) / 20));
    }
    return values;
}

template <class T>
void loops_give_the_bodies_bits() {
    std::vector<T> a = arguments<T>(1), b = arguments<T>(2);
    for (const Function* function : all_functions()) {
        if (!function->f32) continue;
        std::vector<T> expected(a.size());
        for (std::size_t i = 0; i < a.size(); ++i) expected[i] = body_of(*function, a[i], b[i]);
        for (Isa isa : usable_isas()) {
            std::vector<T> got = run(isa, *function, a, b);
            int wrong = 0;
            for (std::size_t i = 0; i < a.size() && wrong < 3; ++i) {
                wrong += !same(got[i], expected[i]);
                EXPECT_TRUE(same(got[i], expected[i])) << function->name << '(' << a[i] << ", " << b[i] << ") on "
                                                       << name_of(isa) << ": " << got[i] << ", not " << expected[i];
            }
        }
    }
}

/// Of arguments that are not above 0, and a little above it.
template <class T>
void negative_exponentials_are_exponentials() {
    std::vector<T> x = arguments<T>(1);
    for (T& number : x) number = number > 59 ? -number : number;
    for (T number = -110; number < -80; number += T(0.0078125)) x.push_back(number), x.push_back(8 * number);
    for (Isa isa : usable_isas()) {
        std::vector<T> got = run(isa, exp_of_negative_function, x, x), want = run(isa, exp_function, x, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            ASSERT_TRUE(same(got[i], want[i]))
                << x[i] << " on " << name_of(isa) << ": " << got[i] << ", not " << want[i];
        }
    }
}
TEST(FunctionLoops, of_negative_exponentials_give_the_bits_of_exponentials) {
    negative_exponentials_are_exponentials<float>();
    negative_exponentials_are_exponentials<double>();
}

/// 2^61 e^x of arguments that are not above 0: the bits of exp, but for the exponent, where that is no denormal; as exact where it is one; 0 where it is 0.
template <class T>
void raised_exponentials_are_larger_by_a_power_of_two() {
    std::vector<T> x = arguments<T>(1);
    for (T& number : x) number = number > 0 ? -number : number;
    for (T number = -120; number < -80; number += T(0.0078125)) x.push_back(number), x.push_back(T(6.27) * number);
    for (Isa isa : usable_isas()) {
        std::vector<T> got = run(isa, exp_raised_function, x, x), power = run(isa, exp_function, x, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            auto where = [&] { return std::to_string(x[i]) + " on " + std::string(name_of(isa)); };
            ASSERT_TRUE(same(got[i], body_of(exp_raised_function, x[i], x[i]))) << where();
            if (!(power[i] < std::numeric_limits<T>::min())) {
                ASSERT_TRUE(same(got[i], std::ldexp(power[i], 61))) << where();
            } else if (power[i] > std::numeric_limits<T>::denorm_min()) {
                long double want = std::ldexp(std::exp(static_cast<long double>(x[i])), 61);
                ASSERT_LE(std::abs(got[i] - want), std::numeric_limits<T>::epsilon() * want) << where();
            } else if (x[i] < (sizeof(T) == 4 ? -131 : -752)) {
                ASSERT_TRUE(same(got[i], T(0))) << where() << ": " << got[i];
            }
        }
    }
}
TEST(FunctionLoops, of_raised_exponentials_give_the_bits_of_exponentials) {
    raised_exponentials_are_larger_by_a_power_of_two<float>();
    raised_exponentials_are_larger_by_a_power_of_two<double>();
}

/// One operand the same number for all elements, also -0, whose sign an atan2 shows.
template <class T>
void loops_take_one_number() {
    std::vector<T> many = arguments<T>(1);
    many.resize(203);
    for (const Function* function : all_functions()) {
        if (!function->f32 || function->arity != 2) continue;
        for (T number : {T(0), -T(0), T(1.5), T(-3), std::numeric_limits<T>::infinity()})
            for (bool first : {true, false})
                for (Isa isa : usable_isas()) {
                    std::vector<T> one{number},
                        got = first ? run(isa, *function, one, many, 1) : run(isa, *function, many, one, 2);
                    for (std::size_t i = 0; i < many.size(); ++i) {
                        T want = first ? body_of(*function, number, many[i]) : body_of(*function, many[i], number);
                        ASSERT_TRUE(same(got[i], want))
                            << function->name << ", " << number << (first ? " first, " : " second, ") << many[i]
                            << " on " << name_of(isa) << ": " << got[i] << ", not " << want;
                    }
                }
    }
}

TEST(FunctionLoops, of_one_number_and_many_give_the_bits_of_the_body) {
    loops_take_one_number<float>();
    loops_take_one_number<double>();
}

TEST(FunctionLoops, float32_loops_give_the_bits_of_the_body_on_every_instruction_set) {
    loops_give_the_bodies_bits<float>();
}

TEST(FunctionLoops, float64_loops_give_the_bits_of_the_body_on_every_instruction_set) {
    loops_give_the_bodies_bits<double>();
}

template <class T>
void loops_meet_the_set(NumpyUlps& set) {
    for (const auto& [function, values] : set.of<T>()) {
        std::vector<T> a;
        for (const auto& judged : values) a.push_back(judged.argument);
        for (Isa isa : usable_isas()) {
            std::vector<T> got = run(isa, *function, a, a);
            for (std::size_t i = 0; i < a.size(); ++i) {
                EXPECT_TRUE(meets(got[i], values[i])) << function->name << '(' << a[i] << ") on " << name_of(isa);
            }
        }
    }
}

TEST(FunctionLoops, every_line_of_numpys_validation_set_is_met) {
    auto set = numpy_ulps();
    if (!set) GTEST_SKIP() << no_numpy_ulps;
    loops_meet_the_set<float>(*set);
    loops_meet_the_set<double>(*set);
}

}  // namespace
}  // namespace weft::cpu
