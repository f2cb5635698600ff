// The emitter against the interpreter: random programs over every opcode and type, both instruction sets, several vectors side by
// side, few registers, odd sizes and addresses, and pages that may not be touched beside every array.
#include <bit>
#include <cmath>
#include <thread>

#include "emit/emitter_cases.h"
#include "weft/compile/device.h"

namespace weft {
namespace {

DType real_dtype(Random& random) {
    static constexpr DType likely[] = {DType::float32, DType::float32, DType::float64, DType::int32, DType::bool_};
    if (pick(random, 3)) return likely[pick(random, 5)];
    DType dtype;
    do dtype = all_dtypes()[static_cast<std::size_t>(pick(random, dtype_count))];
    while (is_complex(dtype));
    return dtype;
}

Dims small_dims(Random& random) {
    switch (pick(random, 5)) {
        case 0:
            return {};
        case 1:
            return {pick(random, 8), 1 + pick(random, 40)};
        case 2:
            return {1 + pick(random, 4), 1 + pick(random, 5), pick(random, 20)};
        default:
            return {pick(random, 301)};
    }
}

Case random_case(std::uint64_t seed) {
    Random random(static_cast<unsigned>(seed));
    Case c;
    std::vector<DType> types;
    bool plain = seed % 4 == 0;
    for (int i = 1 + pick(random, 4); i > 0; --i) types.push_back(plain ? DType::float32 : real_dtype(random));
    ProgramMaker maker(random, types, false);
    maker.grow(1 + pick(random, seed % 16 == 0 ? 60 : 12), plain);
    for (int i = 1 + pick(random, 3); i > 0; --i) maker.builder().output(maker.any());
    c.loop.program = maker.builder().take();
    c.loop.dims = small_dims(random);
    c.at_end = pick(random, 3) != 0;
    bool special = pick(random, 3) == 0;
    for (DType type : types) {
        c.loop.loads.push_back({memory_type(random, type), random_strides(random, c.loop.dims, true)});
        c.loads.push_back(memory_for(random, c.loop.loads.back(), c.loop.dims, special));
    }
    for (std::int32_t output : c.loop.program.outputs) {
        c.loop.stores.push_back(
            {memory_type(random, c.loop.program.dtype(output)), random_strides(random, c.loop.dims, false)});
        c.stores.push_back(memory_for(random, c.loop.stores.back(), c.loop.dims, false));
    }
    if (seed % 3 == 0) let_pass(c.loop);
    return c;
}

/// Some of whose loads move by indices, or are of no memory.
Case case_of_all_loads(std::uint64_t seed, Random& random) {
    Case c = random_case(seed);
    if (seed % 5 == 0) load_by_indices(random, c);
    if (seed % 3 == 0) load_without_memory(random, c);
    return c;
}

const EmitOptions whatever_it_calls;  // without them maps that mostly call the block evaluator's loops are left to it

EmitOptions random_options(Random& random) {
    static constexpr int unrolls[] = {0, 1, 2, 3, 4};
    return {.unroll = unrolls[pick(random, 5)],
            .registers = pick(random, 3) ? 1000 : 6,
            .half = pick(random, 4) == 0,
            .masked = pick(random, 2) == 0};
}

TEST(Emitter, random_programs_have_the_interpreters_bits) {
    if (emitted_isas().empty()) GTEST_SKIP() << no_emitter;
    std::uint64_t count = cases(5000, 200000);
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        Random random(static_cast<unsigned>(seed + 1));
        Case c = case_of_all_loads(seed, random);
        auto expected = expected_of(c);
        if (seed % 2 == 0) promise_alignments(c);
        for (Isa isa : emitted_isas()) {
            expect_bits(c, expected, isa, random_options(random), text("seed ", seed));
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(Emitter, maps_of_few_elements_have_the_interpreters_bits_the_first_time_and_after) {
    if (emitted_isas().empty()) GTEST_SKIP() << no_emitter;
    Emitting when_they_run_again(cpu::emit::Emission::on);
    std::uint64_t few = 0, count = cases(1000, 20000);
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        Random random(static_cast<unsigned>(seed + 1));
        Case c = case_of_all_loads(seed, random);
        auto expected = expected_of(c);
        auto prepared = cpu::emit::prepare_map_of_few(Loop(c.loop));
        if (!prepared) continue;
        ++few;
        for (int run = 0; run < 3; ++run) {
            ASSERT_EQ(prepared->by(), run < 2 ? "block evaluator" : "emitter");
            auto got = run_guarded(c, *prepared);
            for (std::size_t i = 0; i < got.size(); ++i)
                ASSERT_EQ(difference(c.loop.stores[i].dtype, expected[i], got[i]), -1)
                    << "seed " << seed << ", run " << run << ", store " << i << '\n'
                    << c.loop;
        }
    }
    EXPECT_GT(few, count / 2);
}

TEST(Emitter, a_map_of_few_elements_may_be_run_by_many_threads_at_once) {
    if (emitted_isas().empty()) GTEST_SKIP() << no_emitter;
    Emitting when_they_run_again(cpu::emit::Emission::on);
    for (std::uint64_t seed = 1; seed < cases(100, 1000); ++seed) {
        Case c = random_case(seed);
        auto expected = expected_of(c);
        auto prepared = cpu::emit::prepare_map_of_few(Loop(c.loop));
        if (!prepared) continue;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                auto got = run_plain(c, *prepared);
                for (std::size_t i = 0; i < got.size(); ++i)
                    EXPECT_EQ(difference(c.loop.stores[i].dtype, expected[i], got[i]), -1) << "seed " << seed;
            });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(prepared->by(), "emitter");
    }
}

TEST(Emitter, maps_of_many_elements_and_those_run_often_are_code_at_once) {
    if (emitted_isas().empty()) GTEST_SKIP() << no_emitter;
    Emitting when_they_run_again(cpu::emit::Emission::on);
    auto by = [](std::int64_t size, bool often) {
        ProgramBuilder builder;
        Scalar x = builder.input(DType::float32);
        builder.output(x * x);
        Access access{DType::float32, {1}};
        Loop loop{.program = builder.take(), .dims = {size}, .loads = {access}, .stores = {access}, .reductions = {}};
        return std::string(cpu_compiler().loop(loop, often)->by());
    };
    EXPECT_EQ(by(1024, false), "block evaluator");
    EXPECT_EQ(by(1025, false), "emitter");
    EXPECT_EQ(by(1024, true), "emitter");
}

TEST(Emitter, boxes_of_many_axes_give_the_same_bits_on_any_number_of_threads) {
    for (int seed = 0; seed < static_cast<int>(cases(100, 2000)); ++seed) {
        Random random(static_cast<unsigned>(seed));
        Case c = random_case(static_cast<std::uint64_t>(seed));
        c.loop.dims = random_dims(random, 5, 20000);
        c.loads.clear(), c.stores.clear();
        for (Access& access : c.loop.loads) {
            access.strides = random_strides(random, c.loop.dims, true);
            c.loads.push_back(memory_for(random, access, c.loop.dims, false));
        }
        for (Access& access : c.loop.stores) {
            access.strides = random_strides(random, c.loop.dims, false);
            c.stores.push_back(memory_for(random, access, c.loop.dims, false));
        }
        auto expected = expected_of(c);
        for (Isa isa : emitted_isas()) {
            for (int threads : {1, 2}) {
                UseIsa use(isa);
                ThreadPool::instance().set_threads(threads);
                auto prepared = cpu::emit::prepare_emitted_map(c.loop, &whatever_it_calls);
                ASSERT_TRUE(prepared);
                expect_same(c, expected, run_plain(c, *prepared), text("seed ", seed, ", ", cpu::name_of(isa)));
                if (testing::Test::HasFatalFailure()) return;
            }
        }
    }
    ThreadPool::instance().set_threads(1);
}

/// A map of numbers of all kinds by this program, whose inputs are as many.
void expect_interpreters_bits(Program program, DType dtype, std::size_t inputs, std::string_view name) {
    Random random(7);
    LoopCase c;
    Access access{dtype, {1}};
    c.loop = {.program = std::move(program),
              .dims = {3001},
              .loads = std::vector<Access>(inputs, access),
              .stores = {access},
              .reductions = {}};
    for (std::size_t i = 0; i < inputs; ++i) c.loads.push_back(memory_for(random, access, c.loop.dims, true));
    c.stores.push_back(memory_for(random, access, c.loop.dims, false));
    auto expected = expected_of(c);
    for (Isa isa : emitted_isas()) {
        UseIsa use(isa);
        auto prepared = cpu::emit::prepare_emitted_map(c.loop, &whatever_it_calls);
        ASSERT_TRUE(prepared) << name;
        expect_same(c, expected, run_plain(c, *prepared), text(name, ", ", cpu::name_of(isa)));
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(Emitter, functions_have_the_interpreters_bits) {
    if (emitted_isas().empty()) GTEST_SKIP() << no_emitter;
    for (DType dtype : {DType::float32, DType::float64}) {
        for (const Function* function : all_functions()) {
            if (!function->f32) continue;
            ProgramBuilder builder;
            Scalar operands[] = {builder.input(dtype), builder.input(dtype), builder.input(dtype)};
            builder.output(weft::call(
                *function, std::span<const Scalar>(operands).first(static_cast<std::size_t>(function->arity))));
            expect_interpreters_bits(builder.take(), dtype, std::size(operands), function->name);
            if (HasFatalFailure()) return;
        }
        for (bool raised : {false, true}) {  // of their arguments alone
            ProgramBuilder builder;
            Scalar x = -abs(builder.input(dtype));
            builder.output(raised ? exp_raised(x) : exp_of_negative(x));
            expect_interpreters_bits(builder.take(), dtype, 1, "e^x of an x that is not above 0");
            if (HasFatalFailure()) return;
        }
    }
}

/// sin(x) + cos(x), and a number beside them: each row's own x (`by_rows`) or each element's; one of these is what only the complete path takes.
LoopCase rare_argument_of_two(DType type, bool by_rows, std::int64_t length, std::int64_t at) {
    ProgramBuilder builder;
    Scalar x = builder.input(type);
    builder.output(sin(x) + cos(x));
    builder.output(x * x);
    Access access{type, {by_rows ? 1 : length, by_rows ? 0 : 1}}, result{type, {length, 1}};
    constexpr std::int64_t rows = 3;
    LoopCase c;
    c.loop = {.program = builder.take(),
              .dims = {rows, length},
              .loads = {access},
              .stores = {result, result},
              .reductions = {}};
    Random random(1);
    c.loads.push_back(memory_for(random, access, c.loop.dims, false));
    for (int i = 0; i < 2; ++i) c.stores.push_back(memory_for(random, result, c.loop.dims, false));
    std::int64_t numbers = by_rows ? rows : rows * length;
    auto fill = [&]<class T>(T* values) {
        for (std::int64_t i = 0; i < numbers; ++i) values[i] = T(i % 7) / 8 - T(0.5);
        values[at % numbers] = T(1e30);
    };
    if (type == DType::float32)
        fill(reinterpret_cast<float*>(c.loads[0].data()));
    else
        fill(reinterpret_cast<double*>(c.loads[0].data()));
    return c;
}

TEST(Emitter, ends_of_rows_and_what_is_computed_once_a_row_leave_the_common_path_too) {
    for (DType type : {DType::float32, DType::float64})
        for (bool by_rows : {false, true})
            for (std::int64_t length : {1, 3, 8, 20, 47})
                for (std::int64_t at = 0; at<(by_rows ? 3 : 3 * length); at += length> 20 ? 5 : 1) {
                    LoopCase c = rare_argument_of_two(type, by_rows, length, at);
                    auto expected = expected_of(c);
                    for (Isa isa : emitted_isas()) {
                        UseIsa use(isa);
                        auto prepared = cpu::emit::prepare_emitted_map(c.loop);
                        ASSERT_TRUE(prepared);
                        expect_same(
                            c, expected, run_plain(c, *prepared),
                            text(cpu::name_of(isa), ", ", type, by_rows ? " by rows, " : ", ", length, " at ", at));
                        if (testing::Test::HasFatalFailure()) return;
                    }
                }
}

// Numbers of every size, infinities and NaN, evenly by their bits: where 2^n is one instruction, e^x is not cut off above, and what
// vanishes is left out.
TEST(Emitter, exponentials_of_any_number_have_the_interpreters_bits) {
    constexpr std::int64_t count = 65536 + 5;
    auto check = [&](auto zero, const Function& function) {
        using T = decltype(zero);
        using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        constexpr T infinity = std::numeric_limits<T>::infinity();
        Random random(1);
        ProgramBuilder builder;
        Scalar x = builder.input(dtype_of<T>);
        builder.output(weft::call(function, std::span<const Scalar>(&x, 1)));
        LoopCase c;
        Access access{dtype_of<T>, {1}};
        c.loop = {.program = builder.take(), .dims = {count}, .loads = {access}, .stores = {access}, .reductions = {}};
        c.loads.push_back(memory_for(random, access, c.loop.dims, false));
        c.stores.push_back(memory_for(random, access, c.loop.dims, false));
        T* numbers = static_cast<T*>(c.loads[0].data());
        for (std::int64_t i = 0; i < 65536; ++i)
            numbers[i] = std::bit_cast<T>(static_cast<Bits>(i) << (8 * sizeof(T) - 16));
        for (std::int64_t i = 65536; i < count; ++i)
            numbers[i] = i == 65536 ? infinity : std::nextafter(numbers[i - 1], T{0});
        auto expected = expected_of(c);
        for (Isa isa : emitted_isas()) {
            UseIsa use(isa);
            for (bool masked : {false, true}) {
                EmitOptions options{.masked = masked};
                auto prepared = cpu::emit::prepare_emitted_map(c.loop, &options);
                ASSERT_TRUE(prepared) << function.name;
                expect_same(c, expected, run_plain(c, *prepared),
                            text(function.name, ", ", cpu::name_of(isa), masked ? ", masked" : ""));
            }
        }
    };
    for (const Function* function :
         {&exp_function, &exp2_function, &sigmoid_function, &erfc_function, &sinh_function, &cosh_function}) {
        check(0.0f, *function);
        check(0.0, *function);
    }
}

TEST(Emitter, blocks_of_large_arrays_give_the_same_bits_and_touch_nothing_beyond) {
    for (std::int64_t width : {16, 48, 50, 64, 256, 1000, 1024, 33000}) {
        for (DType type : {DType::float32, DType::float64}) {
            Random random(static_cast<unsigned>(width));
            ProgramBuilder builder;
            Scalar x = builder.input(type), top = builder.input(type);
            Scalar e = exp(x - top);
            builder.output(e);
            builder.output(e < 1);
            Case c;
            c.loop.program = builder.take();
            c.loop.dims = {3, width};
            c.loop.loads = {{type, {width, 1}}, {type, {1, 0}}};
            c.loop.stores = {{type, {width, 1}}, {DType::bool_, {width, 1}}};
            for (const Access& access : c.loop.loads) c.loads.push_back(memory_for(random, access, c.loop.dims, false));
            for (const Access& access : c.loop.stores)
                c.stores.push_back(memory_for(random, access, c.loop.dims, false));
            auto expected = expected_of(c);
            let_pass(c.loop);
            for (Isa isa : emitted_isas())
                for (bool at_end : {true, false}) {
                    c.at_end = at_end;
                    expect_bits(c, expected, isa, {}, text("rows of ", width, ' ', type));
                    if (HasFatalFailure()) return;
                }
        }
    }
}

/// The interpreter's, of a map whose first result takes the place of its first argument.
void expect_bits_in_place(const Case& c, Random& random, int seed) {
    auto expected = expected_of(c);
    for (Isa isa : emitted_isas()) {
        UseIsa use(isa);
        EmitOptions options = random_options(random);
        auto prepared = cpu::emit::prepare_emitted_map(c.loop, &options);
        ASSERT_TRUE(prepared);
        expect_same(c, expected, run_plain(c, *prepared, true), text("seed ", seed, ", ", options_text(isa, options)));
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(Emitter, a_map_may_store_where_it_loads) {
    for (int seed = 0; seed < static_cast<int>(cases(300, 5000)); ++seed) {
        Random random(static_cast<unsigned>(seed));
        Case c = random_case(static_cast<std::uint64_t>(seed) * 4);  // of float32 alone
        c.loop.dims = {pick(random, 300)};
        c.loads.clear(), c.stores.clear();
        for (Access& access : c.loop.loads) {
            access = {DType::float32, {1}};
            c.loads.push_back(memory_for(random, access, c.loop.dims, seed % 2));
        }
        for (Access& access : c.loop.stores) {
            access = {DType::float32, {1}};
            c.stores.push_back(memory_for(random, access, c.loop.dims, false));
        }
        c.stores[0] = c.loads[0];
        expect_bits_in_place(c, random, seed);
        if (testing::Test::HasFatalFailure()) return;
    }
}

/// Rows of x times a number of each row, and one more, in place of x; rows lie side by side or with gaps between, which nobody touches.
Case rows_written_over(Random& random, DType type) {
    std::int64_t rows = 1 + pick(random, 8), width = 1 + pick(random, 90), gap = pick(random, 3) * pick(random, 5);
    ProgramBuilder builder;
    Scalar x = builder.input(type), of_row = builder.input(type);
    builder.output(x * of_row + x);
    Case c;
    c.loop.program = builder.take();
    c.loop.dims = {rows, width};
    c.loop.loads = {{type, {width + gap, 1}}, {type, {1, 0}}};
    c.loop.stores = {{type, {width + gap, 1}}};
    for (const Access& access : c.loop.loads) c.loads.push_back(memory_for(random, access, c.loop.dims, false));
    c.stores = {c.loads[0]};
    return c;
}

TEST(Emitter, rows_may_be_written_over) {
    static constexpr DType types[] = {DType::float32, DType::float64, DType::int32, DType::int64};
    for (int seed = 0; seed < static_cast<int>(cases(300, 5000)); ++seed) {
        Random random(static_cast<unsigned>(seed));
        Case c = rows_written_over(random, types[seed % 4]);
        expect_bits_in_place(c, random, seed);
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(Emitter, maps_that_mostly_call_are_left_to_the_block_evaluator) {
    if (emitted_isas().empty()) GTEST_SKIP() << no_emitter;
    for (int more : {0, 20}) {
        ProgramBuilder builder;
        Scalar x = builder.input(DType::int64), y = floor_divide(x, x + 7);
        for (int i = 0; i < more; ++i) y = y * x + i;
        builder.output(y);
        LoopCase c;
        Access access{DType::int64, {1}};
        c.loop = {.program = builder.take(), .dims = {5000}, .loads = {access}, .stores = {access}, .reductions = {}};
        EXPECT_EQ(cpu::emit::prepare_emitted_map(c.loop) != nullptr, more > 0);
        EXPECT_TRUE(cpu::emit::prepare_emitted_map(c.loop, &whatever_it_calls));
    }
    ProgramBuilder copy;  // which calls nothing, and computes nothing
    copy.output(copy.input(DType::int64));
    Access access{DType::int64, {1}};
    EXPECT_TRUE(cpu::emit::prepare_emitted_map(
        {.program = copy.take(), .dims = {5000}, .loads = {access}, .stores = {access}, .reductions = {}}));
}

}  // namespace
}  // namespace weft
