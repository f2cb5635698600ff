// Quotients and remainders by the block loops of every instruction set, which divide floating numbers in vectors: those of whole numbers are
// judged in 128 bits, those of floating ones by fmod.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "weft/backend/cpu/block_loops.h"
#include "weft/base/unsigned_of.h"

namespace weft::cpu {
namespace {

__extension__ typedef __int128 Wide;

template <class T>
std::vector<T> run(Isa isa, Opcode opcode, const std::vector<T>& a, const std::vector<T>& b, unsigned uniform = 0) {
    Instruction at{.opcode = opcode, .dtype = dtype_of<T>};
    std::vector<T> result(std::max(a.size(), b.size()));
    const void* operands[] = {a.data(), b.data(), a.data()};
    block_loops(isa).step(at, dtype_of<T>)(result.data(), operands, static_cast<std::int64_t>(result.size()),
                                           StepInfo{uniform});
    return result;
}

template <class T>
void add_pairs(std::vector<T>& a, std::vector<T>& b) {
    constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    const T edges[] = {least, static_cast<T>(least + 1), static_cast<T>(-2), static_cast<T>(-1), 0, 1, 2, 3,
                       most,  static_cast<T>(most - 1)};
    for (T x : edges)
        for (T y : edges) a.push_back(x), b.push_back(y);
    std::mt19937_64 random(3);
    if constexpr (sizeof(T) == 8)  // beside powers of two, of which a double keeps no more than the power
        for (int i = 0; i < 4000; ++i) {
            auto near = [&] { return (std::uint64_t{1} << (50 + random() % 14)) + random() % 4097 - 2048; };
            auto x = static_cast<T>(near()), y = static_cast<T>(near());
            a.push_back(random() % 2 ? x : static_cast<T>(-static_cast<std::uint64_t>(x)));
            b.push_back(random() % 2 ? y : static_cast<T>(-static_cast<std::uint64_t>(y)));
        }
    while (a.size() < 70001) {  // numbers of every length, and those at or one beside a multiple
        auto x = static_cast<T>(random() >> random() % 64), y = static_cast<T>(random() >> random() % 64);
        a.push_back(random() % 2 ? x : static_cast<T>(static_cast<std::uint64_t>(y) * (random() % 100) - random() % 2));
        b.push_back(y);
    }
}

template <class T>
void divides_as_defined() {
    std::vector<T> a, b;
    add_pairs(a, b);
    for (Isa isa : usable_isas()) {
        std::vector<T> quotients = run(isa, Opcode::floor_divide, a, b), rests = run(isa, Opcode::remainder, a, b);
        for (std::size_t i = 0; i < a.size(); ++i) {
            Wide x = a[i], y = b[i], rest = y == 0 ? 0 : x % y;
            if (rest != 0 && (rest < 0) != (y < 0)) rest += y;
            Wide quotient = y == 0 ? 0 : (x - rest) / y;
            ASSERT_EQ(quotients[i], static_cast<T>(quotient)) << +a[i] << " / " << +b[i] << " on " << name_of(isa);
            ASSERT_EQ(rests[i], static_cast<T>(rest)) << +a[i] << " mod " << +b[i] << " on " << name_of(isa);
        }
    }
}

TEST(DivisionLoops, quotients_are_the_whole_numbers_below_and_rests_have_the_divisors_sign) {
    divides_as_defined<std::int8_t>();
    divides_as_defined<std::uint8_t>();
    divides_as_defined<std::int16_t>();
    divides_as_defined<std::uint16_t>();
    divides_as_defined<std::int32_t>();
    divides_as_defined<std::uint32_t>();
    divides_as_defined<std::int64_t>();
    divides_as_defined<std::uint64_t>();
}

TEST(DivisionLoops, one_divisor_gives_what_as_many_of_it_give) {
    std::vector<std::int32_t> a, b;
    add_pairs(a, b);
    for (Isa isa : usable_isas())
        for (std::int32_t divisor : {1, -1, 0, 2, -2, 3, -3, 49, 98, 103, 107, 161, -187, 641, 65537, -1000003,
                                     INT32_MAX, INT32_MIN, INT32_MIN + 1}) {
            std::vector<std::int32_t> alike(a.size(), divisor), one{divisor}, near = a;
            for (std::size_t i = 0; i < near.size(); i += 2)  // multiples, and beside them
                near[i] = static_cast<std::int32_t>(
                    static_cast<std::int64_t>(a[i]) / (divisor ? divisor : 1) * divisor + static_cast<int>(i % 3) - 1);
            for (Opcode opcode : {Opcode::floor_divide, Opcode::remainder})
                for (const auto& numbers : {a, near})
                    ASSERT_EQ(run(isa, opcode, numbers, one, 2), run(isa, opcode, numbers, alike))
                        << divisor << " on " << name_of(isa);
        }
}

template <class T>
T number_of_any_size(std::mt19937_64& random, int within) {
    constexpr T limits[] = {0,
                            std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::quiet_NaN(),
                            1,
                            std::numeric_limits<T>::denorm_min(),
                            std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max()};
    T x = random() % 40 == 0
              ? limits[random() % 7]
              : std::ldexp(static_cast<T>(1 + random() % (std::uint64_t{1} << std::numeric_limits<T>::digits)),
                           static_cast<int>(random() % static_cast<unsigned>(within)) - within / 2);
    return random() % 2 ? x : -x;
}

template <class T>
void expect_of_fmod(Isa isa, const std::vector<T>& a, const std::vector<T>& b, unsigned uniform) {
    std::vector<T> quotients = run(isa, Opcode::floor_divide, a, b, uniform),
                   rests = run(isa, Opcode::remainder, a, b, uniform);
    auto same = [](T x, T y) {
        return (x != x && y != y) || std::bit_cast<UnsignedOf<sizeof(T)>>(x) == std::bit_cast<UnsignedOf<sizeof(T)>>(y);
    };
    for (std::size_t i = 0; i < quotients.size(); ++i) {
        T x = a[uniform & 1 ? 0 : i], y = b[uniform & 2 ? 0 : i], rest = std::fmod(x, y), left = rest;
        if (rest != 0 && (rest < 0) != (y < 0)) rest += y;
        if (rest == 0 && y != 0) rest = std::copysign(rest, y);
        ASSERT_TRUE(same(rests[i], rest))
            << x << " mod " << y << " is " << rest << ", not " << rests[i] << ", on " << name_of(isa);
        T quotient = (x - left) / y, whole = std::floor(quotient);
        if (left != 0 && (left < 0) != (y < 0)) quotient -= 1, whole = std::floor(quotient);
        if (quotient - whole > T(0.5)) whole += 1;
        if (quotient == 0) whole = std::copysign(T(0), x / y);
        if (y == 0 || !std::isfinite(x) || !std::isfinite(y)) whole = std::floor(x / y);
        ASSERT_TRUE(same(quotients[i], whole))
            << x << " // " << y << " is " << whole << ", not " << quotients[i] << ", on " << name_of(isa);
    }
}

template <class T>
void divides_floating_as_defined() {
    std::mt19937_64 random(7);
    for (int within : {1, 30, 2 * std::numeric_limits<T>::max_exponent - 100})
        for (std::size_t count : {1, 16, 63, 64, 65, 30000}) {
            std::vector<T> a(count), b(count);
            for (std::size_t i = 0; i < count; ++i) {
                a[i] = number_of_any_size<T>(random, within), b[i] = number_of_any_size<T>(random, within);
                if (i % 3 == 0) a[i] = b[i] * static_cast<T>(random() % 100);        // a multiple, rounded
                if (i % 9 == 0) a[i] = std::nextafter(a[i], static_cast<T>(i % 2));  // and beside it
            }
            for (Isa isa : usable_isas()) {
                expect_of_fmod(isa, a, b, 0);
                expect_of_fmod(isa, a, {b[count / 2]}, 2);
                expect_of_fmod(isa, {a[count / 2]}, b, 1);
            }
        }
}

TEST(DivisionLoops, floating_remainders_are_fmods_moved_to_the_divisors_sign_to_the_bit) {
    divides_floating_as_defined<float>();
    divides_floating_as_defined<double>();
}

}  // namespace
}  // namespace weft::cpu
