// Quotients and remainders of whole numbers by the block loops of every instruction set, which divide floating numbers: judged in 128 bits.
#include <gtest/gtest.h>

#include <random>

#include "weft/backend/cpu/block_loops.h"

namespace weft::cpu {
namespace {

__extension__ typedef __int128 Wide;

template <class T>
std::vector<T> run(Isa isa, Opcode opcode, const std::vector<T>& a, const std::vector<T>& b) {
    Instruction at{.opcode = opcode, .dtype = dtype_of<T>};
    std::vector<T> result(a.size());
    const void* operands[] = {a.data(), b.data(), a.data()};
    block_loops(isa).step(at, dtype_of<T>)(result.data(), operands, static_cast<std::int64_t>(a.size()), StepInfo{});
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

}  // namespace
}  // namespace weft::cpu
