// The block evaluator against the interpreter: random programs over random boxes, strides, instruction sets and threads.
#include "weft/backend/cpu/block_evaluator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "backend/scan_cases.h"
#include "backend/scatter_cases.h"
#include "effort.h"
#include "weft/backend/cpu/isa.h"
#include "weft/base/error.h"
#include "weft/base/thread_pool.h"
#include "weft/compile/device.h"
#include "weft/core/array.h"
#include "weft/kernel/builder.h"
#include "weft/kernel/function.h"
#include "weft/kernel/function_program.h"
#include "weft/kernel/interpreter.h"

namespace weft {
namespace {

/// What a kernel left in its stores, for a run of `loop` from the given memories.
using Result = std::vector<std::vector<std::byte>>;

Result run(const Loop& loop, std::vector<Memory> loads, std::vector<Memory> stores, bool oracle) {
    std::vector<const void*> from;
    std::vector<void*> to;
    for (Memory& memory : loads) from.push_back(memory.data());
    for (Memory& memory : stores) to.push_back(memory.data());
    if (oracle) {
        interpret(loop, from.data(), to.data());
    } else {
        BlockKernel kernel(loop);
        auto scratch = Buffer::allocate(kernel.scratch_bytes());
        kernel.run(from.data(), to.data(), scratch->data());
    }
    Result result;
    for (Memory& memory : stores) result.push_back(memory.bytes);
    return result;
}

/// Runs on every instruction set with one and with two threads; all must agree with `expected` to the bit.
void expect_same_everywhere(const Loop& loop, const std::vector<Memory>& loads, const std::vector<Memory>& stores,
                            const Result& expected, int seed) {
    cpu::Isa chosen = cpu::best_isa();
    for (cpu::Isa isa : cpu::usable_isas()) {
        for (int threads : {1, 2}) {
            cpu::use_isa(isa);
            ThreadPool::instance().set_threads(threads);
            Result got = run(loop, loads, stores, false);
            for (std::size_t i = 0; i < got.size(); ++i) {
                std::int64_t at = difference(loop.stores[i].dtype, expected[i], got[i]);
                ASSERT_EQ(at, -1) << "seed " << seed << ", " << cpu::name_of(isa) << ", " << threads
                                  << " threads, store " << i << '\n'
                                  << loop;
            }
        }
    }
    ThreadPool::instance().set_threads(1);
    cpu::use_isa(chosen);
}

LoopCase random_map(int seed) {
    Random random(static_cast<unsigned>(seed));
    LoopCase made;
    auto& [loop, loads, stores] = made;
    std::vector<DType> types = random_types(random);
    bool plain = seed % 3 == 0;
    if (plain) std::fill(types.begin(), types.end(), DType::float32);
    ProgramMaker maker(random, types);
    maker.grow(1 + pick(random, 12), plain);
    int outputs = 1 + pick(random, 3);
    for (int i = 0; i < outputs; ++i) maker.builder().output(maker.any());
    loop.program = maker.builder().take();
    loop.dims = random_dims(random, 4, seed % 20 == 0 ? 100000 : 3000);
    bool special = pick(random, 3) == 0;
    for (DType type : types) {
        loop.loads.push_back({memory_type(random, type), random_strides(random, loop.dims, true)});
        loads.push_back(memory_for(random, loop.loads.back(), loop.dims, special));
    }
    for (std::int32_t output : loop.program.outputs) {
        loop.stores.push_back(
            {memory_type(random, loop.program.dtype(output)), random_strides(random, loop.dims, false)});
        stores.push_back(memory_for(random, loop.stores.back(), loop.dims, false));
    }
    if (seed % 2) load_by_indices(random, made);
    if (seed % 4 > 1) load_without_memory(random, made);
    return made;
}

TEST(BlockEvaluator, maps_have_the_interpreters_bits) {
    for (int seed = 0; seed < 1000; ++seed) {
        LoopCase made = random_map(seed);
        expect_same_everywhere(made.loop, made.loads, made.stores, run(made.loop, made.loads, made.stores, true), seed);
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(BlockEvaluator, functions_have_the_interpreters_bits) {
    Random random(3);
    for (const Function* function : all_functions()) {
        if (!function->f32) continue;
        // Not a multiple of any vector; few for functions without a Program, which are called an element at a time by everyone.
        std::int64_t count = program_of(*function, DType::float32) ? 20003 : 503;
        ProgramBuilder builder;
        Scalar operands[] = {builder.input(DType::float32), builder.input(DType::float32),
                             builder.input(DType::float32)};
        builder.output(
            weft::call(*function, std::span<const Scalar>(operands).first(static_cast<std::size_t>(function->arity))));
        Access access{DType::float32, {1}};
        Loop loop{.program = builder.take(),
                  .dims = {count},
                  .loads = {access, access, access},
                  .stores = {access},
                  .reductions = {}};
        std::vector<Memory> loads(3), stores{memory_for(random, access, loop.dims, true)};
        for (Memory& memory : loads) {  // all kinds of floats: half of them any bits, half of middling size
            memory = memory_for(random, access, loop.dims, true);
            for (std::size_t i = 0; i + 4 <= memory.bytes.size() / 2; i += 4) {
                auto bits = static_cast<std::uint32_t>(random());
                std::memcpy(memory.bytes.data() + i, &bits, 4);
            }
        }
        expect_same_everywhere(loop, loads, stores, run(loop, loads, stores, true), 0);
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(BlockEvaluator, a_map_may_store_where_it_loads) {
    for (std::int64_t size : {3, 500, 40000}) {
        ProgramBuilder builder;
        Scalar x = builder.input(DType::float32), y = builder.input(DType::float32);
        Scalar sum = x + y;
        builder.output(sum);          // to x
        builder.output(x - sum * y);  // to y: x is read after the sum is made
        builder.output(x);
        Loop loop{.program = builder.take(),
                  .dims = {size},
                  .loads = {{DType::float32, {1}}, {DType::float32, {1}}},
                  .stores = {{DType::float32, {1}}, {DType::float32, {1}}, {DType::float32, {1}}},
                  .reductions = {}};
        std::vector<float> a(static_cast<std::size_t>(size)), b(a), c(a), x0, y0;
        for (std::size_t i = 0; i < a.size(); ++i)
            a[i] = static_cast<float>(i) * 0.5f, b[i] = 3 - static_cast<float>(i);
        x0 = a, y0 = b;
        BlockKernel kernel(loop);
        auto scratch = Buffer::allocate(kernel.scratch_bytes());
        const void* loads[] = {a.data(), b.data()};
        void* stores[] = {a.data(), b.data(), c.data()};
        kernel.run(loads, stores, scratch->data());
        for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_EQ(a[i], x0[i] + y0[i]);
            ASSERT_EQ(b[i], x0[i] - (x0[i] + y0[i]) * y0[i]);
            ASSERT_EQ(c[i], x0[i]);
        }
    }
}

/// Sums of floats joined in another order: each of n additions rounds by at most half a unit of a partial sum, which the sum of
/// magnitudes bounds (Higham, Accuracy and Stability, 4.2). A term of these programs is below 1e3 or so, or the sum is larger still.
void expect_near(DType dtype, const std::vector<std::byte>& a, const std::vector<std::byte>& b, std::int64_t count,
                 int seed) {
    with_dtype(real_of(dtype), [&](auto tag) {
        using T = typename decltype(tag)::Type;
        if constexpr (std::is_floating_point_v<T>) {
            std::vector<T> x(a.size() / sizeof(T)), y(x.size());
            std::memcpy(x.data(), a.data(), a.size());
            std::memcpy(y.data(), b.data(), b.size());
            double most = static_cast<double>(count);
            for (T value : x) {
                if (std::isfinite(value)) most = std::max(most, std::fabs(static_cast<double>(value)));
            }
            double unit = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24,
                   bound = static_cast<double>(count + 2) * unit * most * 1e3;
            for (std::size_t i = 0; i < x.size(); ++i) {
                if (!std::isfinite(x[i])) continue;
                ASSERT_NEAR(x[i], y[i], bound) << "seed " << seed;
            }
        }
    });
}

TEST(BlockEvaluator, reductions_agree_with_the_interpreter) {
    for (int seed = 0; seed < 600; ++seed) {
        LoopCase reduction = random_reduction(seed);
        const auto& [loop, loads, stores] = reduction;
        Dims kept(loop.dims.begin(), loop.dims.end() - static_cast<std::ptrdiff_t>(loop.reduced));
        Result oracle = run(loop, loads, stores, true), first = run(loop, loads, stores, false);
        std::int64_t count = 1;
        for (std::size_t axis = kept.size(); axis < loop.dims.size(); ++axis) count *= loop.dims[axis];
        for (std::size_t i = 0; i < first.size(); ++i) {
            DType dtype = loop.stores[i].dtype;
            bool inexact_sum = loop.reductions[i] == Reduction::sum && is_inexact(dtype);
            if (inexact_sum)
                expect_near(dtype, oracle[i], first[i], count, seed);
            else
                EXPECT_EQ(difference(dtype, oracle[i], first[i], true), -1) << "seed " << seed << " store " << i << '\n'
                                                                            << loop;
            if (testing::Test::HasFailure()) return;
        }
        expect_same_everywhere(loop, loads, stores, first, seed);
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(BlockEvaluator, scans_have_the_interpreters_bits) {
    for (int seed = 0; seed < 800; ++seed) {
        LoopCase made = random_scan(seed);
        expect_same_everywhere(made.loop, made.loads, made.stores, run(made.loop, made.loads, made.stores, true), seed);
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(BlockEvaluator, scatters_have_the_interpreters_bits) {
    for (int seed = 0; seed < static_cast<int>(cases(300, 20000)); ++seed) {
        LoopCase made = random_scatter(seed);
        expect_same_everywhere(made.loop, made.loads, made.stores, run(made.loop, made.loads, made.stores, true), seed);
        if (testing::Test::HasFatalFailure()) return;
    }
}

/// As plans run it: with places made of indices that are read often, by machine code where there is any.
Result run_compiled(const LoopCase& c, int threads) {
    LoopCase copy = c;
    std::vector<void*> operands;
    for (auto* memories : {&copy.loads, &copy.stores})
        for (Memory& memory : *memories) operands.push_back(memory.data());
    ThreadPool::instance().set_threads(threads);
    std::unique_ptr<Kernel> kernel = cpu_compiler().loop(c.loop);
    auto scratch = Buffer::allocate(kernel->scratch_bytes());
    kernel->run(operands.data(), scratch->data());
    ThreadPool::instance().set_threads(1);
    Result result;
    for (Memory& memory : copy.stores) result.push_back(memory.bytes);
    return result;
}

TEST(CompiledLoops, are_the_interpreters_on_any_number_of_threads) {
    for (int seed = 0; seed < 1000; ++seed) {
        LoopCase made = seed % 2 ? random_map(seed) : random_reduction(3 * seed + 2);
        std::int64_t count = 1;
        for (std::size_t axis = made.loop.dims.size() - made.loop.reduced; axis < made.loop.dims.size(); ++axis)
            count *= made.loop.dims[axis];
        Result oracle = run(made.loop, made.loads, made.stores, true), first = run_compiled(made, 1);
        for (std::size_t i = 0; i < first.size(); ++i) {
            DType dtype = made.loop.stores[i].dtype;
            if (made.loop.reduces() && made.loop.reductions[i] == Reduction::sum && is_inexact(dtype))
                expect_near(dtype, oracle[i], first[i], count, seed);
            else
                EXPECT_EQ(difference(dtype, oracle[i], first[i], made.loop.reduces()), -1) << "seed " << seed << '\n'
                                                                                           << made.loop;
        }
        EXPECT_EQ(first, run_compiled(made, 2)) << "seed " << seed << '\n' << made.loop;
        if (testing::Test::HasFailure()) return;
    }
}

/// By machine code of every instruction set and by the block evaluator, on one and two threads.
void expect_compiled_everywhere(const LoopCase& made, int seed) {
    Result oracle = run(made.loop, made.loads, made.stores, true);
    cpu::Isa chosen = cpu::best_isa();
    for (cpu::Isa isa : cpu::usable_isas()) {
        cpu::use_isa(isa);
        for (int threads : {1, 2})
            EXPECT_EQ(difference(made.loop.stores[0].dtype, oracle[0], run_compiled(made, threads)[0]), -1)
                << "seed " << seed << ", " << cpu::name_of(isa) << ", " << threads << " threads\n"
                << made.loop;
    }
    cpu::use_isa(chosen);
}

TEST(CompiledLoops, scans_have_the_interpreters_bits_on_any_number_of_threads) {
    for (int seed = 0; seed < static_cast<int>(cases(600, 20000)) && !testing::Test::HasFailure(); ++seed)
        expect_compiled_everywhere(random_scan(seed), seed);
}

TEST(CompiledLoops, scatters_have_the_interpreters_bits_on_any_number_of_threads) {
    for (int seed = 0; seed < static_cast<int>(cases(200, 20000)) && !testing::Test::HasFailure(); ++seed)
        expect_compiled_everywhere(random_scatter(seed), seed);
}

/// Two threads have pieces of their own: of rows (also where they do not come out even), and of the axes in front.
TEST(CompiledLoops, large_scatters_are_joined_by_several_threads_in_the_order_of_the_box) {
    Random random(3);
    struct Form {
        Dims dims, store, index;
        std::int64_t step;
    };
    for (const Form& form : {Form{{1500, 128}, {0, 1}, {1, 0}, 128}, Form{{900, 160}, {0, 1}, {1, 0}, 160},
                             Form{{900, 101}, {0, 1}, {1, 0}, 101}, Form{{70, 1000}, {40, 0}, {1000, 1}, 1},
                             Form{{600, 5, 32}, {0, 32, 1}, {1, 0, 0}, 160}, Form{{90000}, {0}, {1}, 1},
                             Form{{300, 7, 33}, {33 * 40, 0, 1}, {7, 1, 0}, 33}}) {
        for (ScatterMode mode : {ScatterMode::set, ScatterMode::add, ScatterMode::maximum}) {
            LoopCase made;
            Loop& loop = made.loop;
            ProgramBuilder builder;
            Scalar x = builder.input(DType::float32), y = builder.input(DType::float32);
            builder.output(x * 0.5 + y);
            loop.program = builder.take();
            loop.dims = form.dims;
            Dims dense = contiguous_strides(form.dims);
            for (int k = 0; k < 2; ++k) {
                loop.loads.push_back({DType::float32, dense});
                made.loads.push_back(memory_for(random, loop.loads.back(), loop.dims, false));
            }
            std::int32_t index = add_indices(random, made, DType::int64, 40);
            loop.loads.back().strides = form.index;
            made.loads.back() = memory_for(random, {DType::uint8, form.index}, loop.dims, false);
            std::vector<std::byte> bytes;
            for (std::byte byte : made.loads.back().bytes) {
                std::int64_t at = std::to_integer<std::int64_t>(byte) % 40 - (std::to_integer<int>(byte) & 64 ? 40 : 0);
                auto* from = reinterpret_cast<std::byte*>(&at);
                bytes.insert(bytes.end(), from, from + sizeof at);
            }
            made.loads.back() = {std::move(bytes), 0};
            loop.stores.push_back({DType::float32, form.store, {{index, 40, form.step, 0, "scatter"}}});
            loop.scatter = mode;
            made.stores.push_back(memory_for(random, loop.stores[0], loop.dims, false));
            expect_compiled_everywhere(made, 0);
        }
    }
}

/// Of an index outside its axis nothing is written.
TEST(CompiledLoops, scatters_check_all_indices_before_they_write) {
    for (int seed = 0; seed < 60; ++seed) {
        LoopCase made = random_scatter(seed);
        const Pointer& pointer = made.loop.stores[0].pointers[0];
        auto from = static_cast<std::size_t>(pointer.load);
        const Access& index = made.loop.loads[from];
        if (element_count(made.loop.dims) == 0 || index.dtype != DType::int64) continue;
        Extent extent = extent_of(index, made.loop.dims);
        std::int64_t last = made.loads[from].first / 8 + extent.last;
        std::memcpy(made.loads[from].bytes.data() + last * 8, &pointer.size, 8);
        LoopCase before = made;
        std::vector<void*> operands;
        for (auto* memories : {&made.loads, &made.stores})
            for (Memory& memory : *memories) operands.push_back(memory.data());
        std::unique_ptr<Kernel> kernel = cpu_compiler().loop(made.loop);
        auto scratch = Buffer::allocate(kernel->scratch_bytes());
        EXPECT_THROW(kernel->check(operands.data()), IndexError);
        EXPECT_THROW(kernel->run(operands.data(), scratch->data()), IndexError);
        EXPECT_THROW(BlockKernel(made.loop).run(operands.data(), operands.data() + made.loads.size(), scratch->data()),
                     IndexError);
        EXPECT_EQ(made.stores[0].bytes, before.stores[0].bytes);
    }
}

TEST(BlockEvaluator, long_sums_stay_accurate) {
    std::vector<float> values(3000000);
    Random random(7);
    double exact = 0;
    for (float& value : values) value = std::uniform_real_distribution<float>()(random), exact += value;
    ProgramBuilder builder;
    builder.output(builder.input(DType::float32));
    auto count = static_cast<std::int64_t>(values.size());
    Loop loop{.program = builder.take(),
              .dims = {count},
              .reduced = 1,
              .loads = {{DType::float32, {1}}},
              .stores = {{DType::float32, {}}},
              .reductions = {Reduction::sum}};
    BlockKernel kernel(loop);
    auto scratch = Buffer::allocate(kernel.scratch_bytes());
    float sum = 0;
    const void* loads[] = {values.data()};
    void* stores[] = {&sum};
    kernel.run(loads, stores, scratch->data());
    // A lane of a chunk holds 256 numbers: at most 256 + 6 roundings before chunks are joined in double.
    EXPECT_NEAR(sum, exact, 262 * 0x1p-24 * exact);
}

TEST(BlockEvaluator, refuses_an_address_that_is_not_aligned_as_promised) {
    ProgramBuilder builder;
    builder.output(-builder.input(DType::float32));
    Loop loop{.program = builder.take(),
              .dims = {8},
              .loads = {{.dtype = DType::float32, .strides = {1}, .alignment = 32}},
              .stores = {{.dtype = DType::float32, .strides = {1}, .alignment = 64}},
              .reductions = {}};
    alignas(64) float x[16] = {}, y[32] = {};
    BlockKernel kernel(loop);
    auto prepared = cpu_compiler().loop(loop);
    auto scratch = Buffer::allocate(std::max(kernel.scratch_bytes(), prepared->scratch_bytes()));
    auto run = [&](float* from, float* to) {
        const void* loads[] = {from};
        void *stores[] = {to}, *operands[] = {from, to};
        prepared->run(operands, scratch->data());
        kernel.run(loads, stores, scratch->data());
    };
    run(x + 8, y);
    EXPECT_THROW(run(x + 4, y), InternalError);
    EXPECT_THROW(run(x, y + 8), InternalError);
    void *unaligned[] = {x, y + 8}, *aligned[] = {x, y + 16};
    EXPECT_THROW(prepared->run(unaligned, scratch->data()), InternalError);
    prepared->run(aligned, scratch->data());
}

}  // namespace
}  // namespace weft
