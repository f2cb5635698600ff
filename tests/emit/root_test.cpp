// The square root by multiplications: to the bit the processor's own, whatever the number.
#include <bit>
#include <cmath>

#include "effort.h"
#include "emit/emitter_cases.h"

namespace weft {
namespace {

/// The square roots of so many floats, the bits of the first and then every `step`-th one after it, all of them in the common path or not.
LoopCase roots_of(std::uint32_t first, std::uint32_t step, std::int64_t count) {
    ProgramBuilder builder;
    builder.output(sqrt(builder.input(DType::float32)));
    Access access{DType::float32, {1}};
    LoopCase c;
    c.loop = {.program = builder.take(), .dims = {count}, .loads = {access}, .stores = {access}, .reductions = {}};
    Random random(1);
    c.loads.push_back(memory_for(random, access, c.loop.dims, false));
    c.stores.push_back(memory_for(random, access, c.loop.dims, false));
    auto* x = reinterpret_cast<float*>(c.loads[0].data());
    for (std::int64_t i = 0; i < count; ++i) x[i] = std::bit_cast<float>(first + step * static_cast<std::uint32_t>(i));
    return c;
}

void expect_roots(LoopCase c) {
    const auto* x = reinterpret_cast<const float*>(c.loads[0].data());
    auto count = static_cast<std::size_t>(c.loop.dims[0]);
    for (Isa isa : emitted_isas()) {
        UseIsa use(isa);
        auto prepared = cpu::emit::prepare_emitted_map(c.loop);
        ASSERT_TRUE(prepared);
        auto stored = run_plain(c, *prepared);
        const auto* root = reinterpret_cast<const float*>(stored[0].data());
        for (std::size_t i = 0; i < count; ++i) {
            float expected = std::sqrt(x[i]);
            bool same = std::bit_cast<std::uint32_t>(root[i]) == std::bit_cast<std::uint32_t>(expected) ||
                        (root[i] != root[i] && expected != expected);
            ASSERT_TRUE(same) << text(cpu::name_of(isa), ": sqrt(", x[i], ") is ", expected, ", not ", root[i]);
        }
    }
}

// Numbers evenly apart, of every exponent and both signs, from a different place on in each: at night all that there are.
TEST(EmittedRoot, is_the_processors_to_the_bit) {
    const auto numbers = static_cast<std::uint32_t>(cases(1 << 14, 1 << 23)), step = (1u << 23) / numbers;
    for (std::uint32_t exponent = 0; exponent < 512; ++exponent)
        expect_roots(roots_of((exponent << 23) + exponent * 77 % step, step, numbers));
}

TEST(EmittedRoot, zeros_and_what_has_no_root_stand_beside_others) {
    const float beside[] = {0.f, -0.f, 2.f, 1e-40f, INFINITY, -1.f, NAN, 0x1p-102f, 0x1.fffffep-103f, 3e38f};
    for (float one : beside)
        for (float other : beside) {
            LoopCase c = roots_of(0x3f800000, 977, 531);
            auto* x = reinterpret_cast<float*>(c.loads[0].data());
            for (std::size_t i = 0; i < 531; i += 5) x[i] = i % 2 ? one : other;
            expect_roots(std::move(c));
        }
}

}  // namespace
}  // namespace weft
