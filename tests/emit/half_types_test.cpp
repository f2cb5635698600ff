// A float16 is read, rounded and stored as a float where its bits are not asked for: the interpreter's bits, however arrays lie and rows end.
#include "backend/random_loop.h"
#include "emit/emitter_cases.h"
#include "weft/kernel/builder.h"

namespace weft {
namespace {

/// Read, rounded between two operations, stored, stored as the float that it is, and asked for its bits.
Program rounding() {
    ProgramBuilder builder;
    Scalar x = cast(builder.input(DType::float16), DType::float32), y = builder.input(DType::float32);
    Scalar once = cast(x * y, DType::float16), twice = cast(cast(once, DType::float32) + y, DType::float16);
    builder.output(twice);
    builder.output(cast(twice, DType::float32));
    builder.output(cast(y, DType::float16));
    builder.output(bitcast(once, DType::uint16));
    return builder.take();
}

TEST(HalfTypes, are_read_rounded_and_stored_as_the_interpreter_does) {
    if (emitted_isas().empty()) GTEST_SKIP() << no_emitter;
    Random random(17);
    const DType stored[] = {DType::float16, DType::float32, DType::float16, DType::uint16};
    for (std::int64_t count : {1, 7, 16, 37, 300})
        for (std::int64_t step : {0, 1, 3}) {
            LoopCase c;
            c.loop = {.program = rounding(),
                      .dims = {count},
                      .loads = {{DType::float16, {step}}, {DType::float32, {1}}},
                      .stores = {},
                      .reductions = {}};
            for (const Access& access : c.loop.loads) c.loads.push_back(memory_for(random, access, c.loop.dims, true));
            for (DType dtype : stored) {
                c.loop.stores.push_back({dtype, {step == 3 ? 2 : 1}});
                c.stores.push_back(memory_for(random, c.loop.stores.back(), c.loop.dims, false));
            }
            auto expected = expected_of(c);
            for (Isa isa : emitted_isas())
                for (bool half : {false, true}) {
                    UseIsa use(isa);
                    EmitOptions options{.half = half};
                    auto prepared = cpu::emit::prepare_emitted_map(c.loop, &options);
                    ASSERT_TRUE(prepared);
                    expect_same(c, expected, run_plain(c, *prepared),
                                text(options_text(isa, options), ", ", count, " of step ", step));
                    if (HasFatalFailure()) return;
                }
        }
}

/// What is rounded to bfloat16, widened and stored as such is rounded once; what was not rounded before is.
TEST(HalfTypes, a_cast_to_bfloat16_that_is_stored_has_the_interpreters_bits) {
    if (emitted_isas().empty()) GTEST_SKIP() << no_emitter;
    constexpr std::int64_t count = 4096;
    ProgramBuilder builder;
    Scalar x = builder.input(DType::float32), bits = builder.input(DType::uint32);
    Scalar any = bitcast(bits, DType::float32);
    builder.output(cast(any, DType::bfloat16));
    builder.output(cast(cast(any, DType::bfloat16), DType::float32) * x);
    builder.output(cast(builder.input(DType::bfloat16), DType::float32));  // any NaN's bits, not rounded before
    LoopCase c;
    c.loop = {.program = builder.take(),
              .dims = {count},
              .loads = {{DType::float32, {1}}, {DType::uint32, {1}}, {DType::bfloat16, {1}}},
              .stores = {{DType::bfloat16, {1}}, {DType::bfloat16, {1}}, {DType::bfloat16, {1}}},
              .reductions = {}};
    Random random(23);
    for (const Access& access : c.loop.loads) c.loads.push_back(memory_for(random, access, c.loop.dims, true));
    for (std::size_t k : {1, 2})
        for (std::byte& byte : c.loads[k].bytes) byte = static_cast<std::byte>(pick(random, 256));
    for (const Access& access : c.loop.stores) c.stores.push_back(memory_for(random, access, c.loop.dims, false));
    auto expected = expected_of(c);
    for (Isa isa : emitted_isas()) {
        UseIsa use(isa);
        EmitOptions options{};
        auto prepared = cpu::emit::prepare_emitted_map(c.loop, &options);
        ASSERT_TRUE(prepared);
        expect_same(c, expected, run_plain(c, *prepared), options_text(isa, options));
    }
}

}  // namespace
}  // namespace weft
