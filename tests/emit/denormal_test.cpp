// Choices of 0 in the place of numbers below the least normal one, as code: against the interpreter.
#include <cmath>
#include <limits>

#include "emit/emitter_cases.h"

namespace weft {
namespace {

// What a loop's derivative is carried on by: where 0 is chosen for denormal numbers, and for what they are a factor of.
TEST(EmittedDenormals, numbers_below_the_least_normal_one_are_chosen_as_the_interpreter_does) {
    for (DType type : {DType::float32, DType::float64}) {
        ProgramBuilder builder;
        Scalar x = builder.input(type), y = builder.input(type);
        double least = type == DType::float32 ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
        Scalar normal = select(abs(x) < least, 0, x), other = select(abs(y) < 2 * least, 0, y);
        builder.output(normal);
        builder.output(select(normal == 0, 0, normal * y));
        builder.output(select(normal == 0, 0, y * normal));
        builder.output(select(normal == 0, 0, other * y));
        builder.output(select(other == 0, 0, other * x));
        Access access{type, {1}};
        LoopCase c;
        c.loop = {.program = builder.take(),
                  .dims = {3001},
                  .loads = {access, access},
                  .stores = {access, access, access, access, access},
                  .reductions = {}};
        Random random(3);
        for (int i = 0; i < 2; ++i) c.loads.push_back(memory_for(random, access, c.loop.dims, true));
        for (int i = 0; i < 5; ++i) c.stores.push_back(memory_for(random, access, c.loop.dims, false));
        // Around the least normal number, of either sign, beside what is there.
        auto fill = [&]<class T>(T* values) {
            T near[] = {T(least), std::nextafter(T(least), T(0)), std::numeric_limits<T>::denorm_min(), T(0),
                        T(2 * least)};
            for (std::size_t i = 0; i < 40; ++i) values[7 * i] = i % 2 ? near[i / 2 % 5] : -near[i / 2 % 5];
        };
        if (type == DType::float32)
            fill(reinterpret_cast<float*>(c.loads[0].data()));
        else
            fill(reinterpret_cast<double*>(c.loads[0].data()));
        auto expected = expected_of(c);
        for (Isa isa : emitted_isas()) {
            UseIsa use(isa);
            auto prepared = cpu::emit::prepare_emitted_map(c.loop);
            ASSERT_TRUE(prepared);
            expect_same(c, expected, run_plain(c, *prepared), text(cpu::name_of(isa), ", ", type));
        }
    }
}

}  // namespace
}  // namespace weft
