// The square root by multiplications: to the bit the processor's own, whatever the number.
#include <bit>
#include <cmath>
#include <random>
#include <type_traits>
#include <vector>

#include "effort.h"
#include "emit/emitter_cases.h"

namespace weft {
namespace {

/// The square roots of such numbers.
template <class T>
LoopCase roots_of(const std::vector<T>& numbers) {
    constexpr DType dtype = sizeof(T) == 4 ? DType::float32 : DType::float64;
    ProgramBuilder builder;
    builder.output(sqrt(builder.input(dtype)));
    Access access{dtype, {1}};
    LoopCase c;
    c.loop = {.program = builder.take(),
              .dims = {static_cast<std::int64_t>(numbers.size())},
              .loads = {access},
              .stores = {access},
              .reductions = {}};
    Random random(1);
    c.loads.push_back(memory_for(random, access, c.loop.dims, false));
    c.stores.push_back(memory_for(random, access, c.loop.dims, false));
    std::copy(numbers.begin(), numbers.end(), reinterpret_cast<T*>(c.loads[0].data()));
    return c;
}

template <class T>
void expect_roots(const std::vector<T>& numbers) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    LoopCase c = roots_of(numbers);
    for (Isa isa : emitted_isas()) {
        UseIsa use(isa);
        auto prepared = cpu::emit::prepare_emitted_map(c.loop);
        ASSERT_TRUE(prepared);
        auto stored = run_plain(c, *prepared);
        const auto* root = reinterpret_cast<const T*>(stored[0].data());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            T expected = std::sqrt(numbers[i]);
            bool same = std::bit_cast<Bits>(root[i]) == std::bit_cast<Bits>(expected) ||
                        (root[i] != root[i] && expected != expected);
            ASSERT_TRUE(same) << text(cpu::name_of(isa), ": sqrt(", numbers[i], ") is ", expected, ", not ", root[i]);
        }
    }
}

/// The floats of so many bit patterns, from the first on `step` apart: all of them in the common path or not.
std::vector<float> floats_from(std::uint32_t first, std::uint32_t step, std::size_t count) {
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i)
        numbers[i] = std::bit_cast<float>(first + step * static_cast<std::uint32_t>(i));
    return numbers;
}

// Numbers evenly apart, of every exponent and both signs, from a different place on in each: at night all that there are.
TEST(EmittedRoot, is_the_processors_to_the_bit) {
    const auto numbers = static_cast<std::uint32_t>(cases(1 << 14, 1 << 23)), step = (1u << 23) / numbers;
    for (std::uint32_t exponent = 0; exponent < 512; ++exponent)
        expect_roots(floats_from((exponent << 23) + exponent * 77 % step, step, numbers));
}

// Of every exponent and both signs.
TEST(EmittedRoot, of_doubles_is_the_processors_to_the_bit) {
    std::mt19937_64 random(3);
    for (std::uint64_t exponent = 0; exponent < 4096; ++exponent) {
        std::vector<double> numbers(static_cast<std::size_t>(cases(64, 4096)));
        for (double& number : numbers) number = std::bit_cast<double>(exponent << 52 | random() >> 12);
        expect_roots(numbers);
    }
}

/// An odd number below 2^54, and not below 2^53, whose square is c (1 more than a multiple of 8) but for multiples of 2^55.
std::uint64_t root_of_residue(std::uint64_t c) {
    constexpr std::uint64_t all = std::uint64_t{1} << 54;
    std::uint64_t root = 1;
    for (int bit = 3; bit < 55; ++bit)
        if ((root * root - c) >> bit & 1) root += std::uint64_t{1} << (bit - 1);
    root %= all;
    return root >= all / 2 ? root : all - root;
}

// Doubles whose roots lie closest to halfway between two: (m + 1/2)^2 less c / 4, with the square of 2 m + 1 as above, for the smallest c.
TEST(EmittedRoot, of_doubles_that_lie_halfway_are_rounded_right) {
    std::vector<double> numbers;
    for (std::int64_t c = -8 * 2000 + 1; c < 8 * 2000; c += 8) {
        auto m = static_cast<double>(root_of_residue(static_cast<std::uint64_t>(c)) / 2);
        numbers.push_back(std::fma(m, m, m));
    }
    for (double number : numbers)
        expect_roots(std::vector<double>(9, number));  // one beside others might be made with them
}

template <class T>
void check_beside(const std::vector<T>& beside) {
    for (T one : beside)
        for (T other : beside) {
            std::vector<T> numbers(531);
            for (std::size_t i = 0; i < numbers.size(); ++i)
                numbers[i] = i % 5 ? T(1) + static_cast<T>(i) / T(977) : i % 2 ? one : other;
            expect_roots(numbers);
        }
}

TEST(EmittedRoot, zeros_and_what_has_no_root_stand_beside_others) {
    check_beside<float>({0.f, -0.f, 2.f, 1e-40f, INFINITY, -1.f, NAN, 0x1p-102f, 0x1.fffffep-103f, 3e38f});
    check_beside<double>({0., -0., 2., 1e-310, INFINITY, -1., NAN, 0x1p-959, 0x1.fffffffffffffp-960, 1e308});
}

}  // namespace
}  // namespace weft
