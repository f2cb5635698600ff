// Reductions by machine code and by the block evaluator: the same bits on all instruction sets and any number of threads.
#include <bit>
#include <cstring>

#include "emit/emitter_cases.h"
#include "weft/base/unsigned_of.h"
#include "weft/compile/device.h"

namespace weft {
namespace {

TEST(Emitter, reductions_have_the_block_evaluators_bits) {
    int emitted = 0;
    auto count = static_cast<int>(cases(500, 5000));
    for (int seed = 0; seed < count; ++seed) {
        LoopCase c = random_reduction(seed, false);
        if (seed % 3 == 0) let_pass(c.loop);
        for (Isa isa : emitted_isas()) {
            for (int threads : {1, 2}) {
                UseIsa use(isa);
                ThreadPool::instance().set_threads(threads);
                auto block = cpu::prepare_reduction(c.loop), prepared = cpu::prepare_reduction(c.loop, true);
                emitted += prepared->by() == "emitter";
                expect_same(c, run_plain(c, *block), run_plain(c, *prepared),
                            text("seed ", seed, ", ", cpu::name_of(isa)));
                if (testing::Test::HasFatalFailure()) return;
            }
        }
    }
    ThreadPool::instance().set_threads(1);
    EXPECT_TRUE(emitted_isas().empty() || emitted > count * static_cast<int>(emitted_isas().size()) / 2) << emitted;
}

TEST(Emitter, long_rows_are_joined_to_the_block_evaluators_bits) {
    static constexpr DType types[] = {DType::float32, DType::float64, DType::int32,
                                      DType::uint32,  DType::int64,   DType::uint64};
    static constexpr Reduction reductions[] = {Reduction::sum, Reduction::product, Reduction::maximum,
                                               Reduction::minimum};
    int seed = 0;
    for (DType type : types) {
        for (Reduction reduction : reductions) {
            for (std::int64_t length : {257, 300, 1023, 1088, 20011}) {
                Random random(static_cast<unsigned>(++seed));
                ProgramBuilder builder;
                Scalar x = builder.input(type), y = builder.input(type);
                builder.output(seed % 3 ? x * y : x);
                LoopCase c;
                c.loop.program = builder.take();
                c.loop.dims = {3, length};
                c.loop.reduced = 1;
                c.loop.reductions = {reduction};
                c.loop.loads = {{memory_type(random, type), {length + 1, 1}}, {type, {seed % 2, seed % 5 ? 1 : 2}}};
                c.loop.stores = {{type, {1}}};
                for (const Access& access : c.loop.loads)
                    c.loads.push_back(memory_for(random, access, c.loop.dims, seed % 4 == 0));
                c.stores.push_back(memory_for(random, c.loop.stores[0], {3}, false));
                for (Isa isa : emitted_isas()) {
                    UseIsa use(isa);
                    auto block = cpu::prepare_reduction(c.loop), prepared = cpu::prepare_reduction(c.loop, true);
                    std::string name = text(cpu::name_of(isa), ", ", name_of(reduction), " of ", length);
                    EXPECT_TRUE(prepared->by() == "emitter" || isa == Isa::avx2) << name << '\n' << c.loop;
                    expect_same(c, run_plain(c, *block), run_plain(c, *prepared), name);
                    if (testing::Test::HasFatalFailure()) return;
                }
            }
        }
    }
}

/// Arrays against pages that may not be touched: by machine code and by the block evaluator, all instruction sets, one and two threads.
void expect_alike(const Case& c, const std::string& name) {
    auto expected = run_plain(c, *cpu::prepare_reduction(c.loop));
    for (Isa isa : emitted_isas()) {
        for (int threads : {1, 2}) {
            UseIsa use(isa);
            ThreadPool::instance().set_threads(threads);
            auto prepared = cpu::prepare_reduction(c.loop, true);
            expect_same(c, expected, run_guarded(c, *prepared), text(name, ", ", cpu::name_of(isa)));
            if (testing::Test::HasFatalFailure()) return;
        }
    }
    ThreadPool::instance().set_threads(1);
}

TEST(Emitter, arrays_as_they_lie_are_joined_by_instructions_that_read_them) {
    int seed = 0;
    for (DType type : {DType::float32, DType::float64, DType::int32, DType::int64, DType::uint64}) {
        for (Reduction reduction : {Reduction::sum, Reduction::product, Reduction::maximum}) {
            for (std::int64_t length : {40, 64, 67, 256, 300, 1088, 20011}) {
                const std::int64_t rows = length > 2000 ? 1 : 5;
                Random random(static_cast<unsigned>(++seed));
                ProgramBuilder builder;
                Scalar x = builder.input(type);
                builder.output(seed % 5 == 0 ? builder.constant(type, 2) : x);  // which is read for nothing then
                Case c;
                c.loop.program = builder.take();
                c.loop.dims = {rows, length};
                c.loop.reduced = 1;
                c.loop.reductions = {reduction};
                c.loop.loads = {{type, {length + seed % 2, 1}}};
                c.loop.stores = {{type, {1}}};
                if (seed % 3 == 0) let_pass(c.loop);
                c.loads.push_back(memory_for(random, c.loop.loads[0], c.loop.dims, seed % 4 == 0));
                c.stores.push_back(memory_for(random, c.loop.stores[0], {rows}, false));
                expect_alike(c, text(type, ' ', name_of(reduction), " of ", length));
                if (testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

/// Sums of rows of a function, one argument of which only its complete path takes (1e7 of a sine, the least number of a logarithm).
LoopCase rare_argument(DType type, bool sine, std::int64_t length, std::int64_t at) {
    ProgramBuilder builder;
    Scalar x = builder.input(type);
    builder.output(sine ? sin(x) : log(x));
    LoopCase c;
    c.loop.program = builder.take();
    c.loop.dims = {2, length};
    c.loop.reduced = 1;
    c.loop.reductions = {Reduction::sum};
    c.loop.loads = {{type, {length, 1}}};
    c.loop.stores = {{type, {1}}};
    Random random(1);
    c.loads.push_back(memory_for(random, c.loop.loads[0], c.loop.dims, false));
    c.stores.push_back(memory_for(random, c.loop.stores[0], {2}, false));
    auto fill = [&]<class T>(T* values) {
        for (std::int64_t i = 0; i < 2 * length; ++i) values[i] = T(0.5) + T(i % 7) / 8;
        values[at] = sine ? T(1e7) : std::numeric_limits<T>::denorm_min();
    };
    if (type == DType::float32)
        fill(reinterpret_cast<float*>(c.loads[0].data()));
    else
        fill(reinterpret_cast<double*>(c.loads[0].data()));
    return c;
}

// A long polynomial needs a register or two for itself, so constants have all others: but for those in which a row's sums are folded.
TEST(Emitter, sums_in_the_frame_leave_constants_their_registers) {
    if (emitted_isas().empty()) GTEST_SKIP() << no_emitter;
    for (DType type : {DType::float32, DType::float64}) {
        for (int terms : {7, 9, 12, 20}) {
            for (std::int64_t length : {256, 300, 1023}) {
                Random random(static_cast<unsigned>(terms + length));
                ProgramBuilder builder;
                Scalar x = builder.input(type), y = x;
                for (int term = 0; term < terms; ++term) y = y * x + 0.3 / (term + 1);
                builder.output(y);
                Case c;
                c.loop.program = builder.take();
                c.loop.dims = {4, length};
                c.loop.reduced = 1;
                c.loop.reductions = {Reduction::sum};
                c.loop.loads = {{type, {length, 1}}};
                c.loop.stores = {{type, {1}}};
                c.loads.push_back(memory_for(random, c.loop.loads[0], c.loop.dims, false));
                c.stores.push_back(memory_for(random, c.loop.stores[0], {4}, false));
                expect_alike(c, text(type, ", ", terms, " terms, rows of ", length));
                if (testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

TEST(Emitter, what_leaves_the_common_path_is_joined_once) {
    for (DType type : {DType::float32, DType::float64}) {
        for (bool sine : {true, false}) {
            for (std::int64_t length : {100, 1024, 20011}) {
                const std::int64_t apart = length > 1024 ? 9 : share_under_sanitizers > 1 ? 5 : 1;
                for (std::int64_t at = 0; at < 64; at += apart) {
                    LoopCase c = rare_argument(type, sine, length, at);
                    for (Isa isa : emitted_isas()) {
                        UseIsa use(isa);
                        auto block = cpu::prepare_reduction(c.loop), prepared = cpu::prepare_reduction(c.loop, true);
                        expect_same(c, run_plain(c, *block), run_plain(c, *prepared),
                                    text(cpu::name_of(isa), ", ", type, sine ? " sin " : " log ", length, " at ", at));
                        if (testing::Test::HasFatalFailure()) return;
                    }
                }
            }
        }
    }
}

TEST(Emitter, columns_are_joined_to_the_block_evaluators_bits) {
    static constexpr DType types[] = {DType::float32, DType::float64, DType::int32,
                                      DType::uint32,  DType::int64,   DType::bfloat16};
    static constexpr Reduction reductions[] = {Reduction::sum, Reduction::product, Reduction::maximum,
                                               Reduction::minimum, Reduction::argmax};
    int seed = 0;
    for (DType type : types) {
        for (Reduction reduction : reductions) {
            for (const Dims& dims : {Dims{1, 1, 5},
                                     {1, 3, 67},
                                     {3, 70, 15},
                                     {2, 9, 1500},
                                     {1, 300, 130},
                                     {1, 40, 2111},
                                     {2, 1030, 1},
                                     {3, 41, 3},
                                     {1, 2300, 16},
                                     {1, 77, 33}}) {
                Random random(static_cast<unsigned>(++seed));
                bool computed = seed % 3 != 0 && type != DType::bfloat16;
                DType lane = compute_dtype(type);
                ProgramBuilder builder;
                Scalar x = builder.input(lane), y = builder.input(lane);
                builder.output(computed ? x * y : x);
                Case c;
                c.at_end = seed % 2;
                std::int64_t row = dims[2] + seed % 5, block = dims[1] * row;  // of the box: outer, columns, rows
                c.loop.program = builder.take();
                c.loop.dims = {dims[0], dims[2], dims[1]};
                c.loop.reduced = 1;
                c.loop.reductions = {reduction};
                c.loop.loads = {{type, {block, 1, row}}, {lane, {seed % 4 ? 1 : 0, seed % 7 ? 1 : 0, 0}}};
                if (seed % 2) c.loop.loads[1].strides = {block, 1, row};  // rows of few columns are computed as one
                c.loop.stores = {{result_dtype(reduction, lane), {dims[2], 1}}};
                for (const Access& access : c.loop.loads)
                    c.loads.push_back(memory_for(random, access, c.loop.dims, seed % 4 == 0));
                c.stores.push_back(memory_for(random, c.loop.stores[0], {dims[0], dims[2]}, false));
                expect_alike(c, text(name_of(reduction), " of ", type, ", ", dims[1], " rows of ", dims[2]));
                if (HasFatalFailure()) return;
            }
        }
    }
}

/// What is read, value by value in the order of joining, one after another.
LoopCase laid_out(const LoopCase& c) {
    LoopCase flat = c;
    const Dims& dims = c.loop.dims;
    flat.loop.dims = {dims[0], dims[1] * dims[2]};
    flat.loop.reduced = 1;
    for (std::size_t i = 0; i < c.loads.size(); ++i) {
        const Access& access = c.loop.loads[i];
        std::size_t size = size_of(access.dtype);
        flat.loop.loads[i].strides = contiguous_strides(flat.loop.dims);
        flat.loads[i].first = 0;
        flat.loads[i].bytes.resize(static_cast<std::size_t>(element_count(dims)) * size);
        std::byte* to = flat.loads[i].bytes.data();
        for (std::int64_t row = 0; row < dims[0]; ++row)
            for (std::int64_t run = 0; run < dims[1]; ++run)
                for (std::int64_t k = 0; k < dims[2]; ++k, to += size) {
                    std::int64_t at = row * access.strides[0] + run * access.strides[1] + k * access.strides[2];
                    std::memcpy(to, c.loads[i].bytes.data() + c.loads[i].first + at * std::int64_t(size), size);
                }
    }
    return flat;
}

TEST(Emitter, runs_along_several_axes_are_joined_as_if_they_lay_one_after_another) {
    int seed = 0;
    for (DType type : {DType::float32, DType::float64, DType::int32}) {
        for (std::int64_t length : {255, 256, 300, 784, 1000}) {
            for (std::int64_t runs : {3, 40}) {  // of 40 some lie on both sides of where a task ends
                for (bool computed : {false, true}) {
                    Random random(static_cast<unsigned>(++seed));
                    ProgramBuilder builder;
                    Scalar x = builder.input(type), y = builder.input(type);
                    builder.output(computed ? x * y : x);
                    LoopCase c;
                    c.loop = {.program = builder.take(),
                              .dims = {4, runs, length},
                              .reduced = 2,
                              .loads = {{type, {length + seed % 2, 5 * length, 1}}, {type, {1, 0, 0}}},
                              .stores = {{type, {1}}},
                              .reductions = {seed % 3 ? Reduction::sum : Reduction::maximum}};
                    for (const Access& access : c.loop.loads)
                        c.loads.push_back(memory_for(random, access, c.loop.dims, seed % 4 == 0));
                    c.stores.push_back(memory_for(random, c.loop.stores[0], {4}, false));
                    LoopCase flat = laid_out(c);
                    for (Isa isa : emitted_isas()) {
                        UseIsa use(isa);
                        auto expected = run_plain(flat, *cpu::prepare_reduction(flat.loop));
                        std::string name = text(cpu::name_of(isa), ", ", runs, " runs of ", length, ' ', type);
                        expect_same(c, expected, run_plain(c, *cpu::prepare_reduction(c.loop)), name);
                        expect_same(c, expected, run_plain(c, *cpu::prepare_reduction(c.loop, true)), name);
                        if (testing::Test::HasFatalFailure()) return;
                    }
                }
            }
        }
    }
}

TEST(Emitter, values_joined_in_columns_never_pass_through_memory) {
    ProgramBuilder builder;
    Scalar x = builder.input(DType::float32), y = builder.input(DType::float32);
    builder.output(x * y);
    Loop loop{.program = builder.take(),
              .dims = {100, 300},
              .reduced = 1,
              .loads = {{DType::float32, {1, 100}}, {DType::float32, {1, 100}}},
              .stores = {{DType::float32, {1}}},
              .reductions = {Reduction::sum}};
    for (Isa isa : emitted_isas()) {
        UseIsa use(isa);
        EXPECT_EQ(cpu::prepare_reduction(loop, true)->by(), "emitter") << cpu::name_of(isa);
    }
}

// Elsewhere a row's number would be computed for each of its elements (a layer norm 3.2 of the time).
TEST(Emitter, rows_take_turns_where_there_is_machine_code_alone) {
    for (Isa isa : cpu::usable_isas()) {
        UseIsa use(isa);
        bool emitted = !emitted_isas().empty() && isa != Isa::baseline;
        Turns best = cpu::is_no_zen() ? Turns::fetched : cpu::is_zen4() ? Turns::beside : Turns::plain;
        EXPECT_EQ(cpu_compiler().turns(), emitted ? best : Turns::plain) << cpu::name_of(isa);
        Emitting none(cpu::emit::Emission::off);
        EXPECT_EQ(cpu_compiler().turns(), Turns::plain) << cpu::name_of(isa);
    }
}

/// Rows of numbers, of some -0, infinity and NaN of several signs and payloads, the first of these at `first`.
template <class T>
std::vector<T> rows_with_nan(Random& random, std::int64_t rows, std::int64_t length, std::int64_t first) {
    using Bits = UnsignedOf<sizeof(T)>;
    std::vector<T> values;
    for (std::int64_t i = 0; i < rows * length; ++i) {
        T value = static_cast<T>(pick(random, 9) - 4) * T(0.25);
        int kind = pick(random, 40);
        if (kind == 0) value = -T(0);
        if (kind == 1)
            value = pick(random, 2) ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
        if (i % length == first || (first >= 0 && i % length > first && kind == 2)) {
            auto bits = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN()) | static_cast<Bits>(1 + i % 1000);
            value = std::bit_cast<T>(static_cast<Bits>(pick(random, 2) ? bits : ~(~bits << 1 >> 1)));
        }
        values.push_back(value);
    }
    return values;
}

// What is greatest of an array as it lies is joined without regard to NaN until there is one: from there on the first of each lane stays, as elsewhere.
template <class T>
void expect_extremes(DType dtype) {
    static constexpr std::int64_t rows = 5;
    int seed = 0;
    for (std::int64_t length : {31, 64, 65, 128, 200, 1000, 1024}) {
        for (std::int64_t first : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{17}, length / 2, length - 1}) {
            Random random(static_cast<unsigned>(++seed));
            std::vector<T> values = rows_with_nan<T>(random, rows, length, first);
            for (Reduction reduction : {Reduction::maximum, Reduction::minimum}) {
                ProgramBuilder builder;
                builder.output(builder.input(dtype));
                Loop loop;
                loop.program = builder.take(), loop.dims = {rows, length}, loop.reduced = 1;
                loop.loads = {{dtype, {length, 1}}}, loop.stores = {{dtype, {1}}}, loop.reductions = {reduction};
                auto results = [&](const Kernel& kernel) {
                    std::vector<T> kept(rows);
                    void* operands[] = {values.data(), kept.data()};
                    std::vector<std::byte> scratch(kernel.scratch_bytes());
                    kernel.run(operands, scratch.data());
                    return kept;
                };
                for (Isa isa : emitted_isas()) {
                    UseIsa use(isa);
                    std::vector<T> expected, found = results(*cpu_compiler().loop(loop, true));
                    {
                        Emitting none(cpu::emit::Emission::off);
                        expected = results(*cpu_compiler().loop(loop, true));
                    }
                    ASSERT_EQ(std::memcmp(expected.data(), found.data(), rows * sizeof(T)), 0)
                        << cpu::name_of(isa) << ", " << name_of(reduction) << " of " << length << ", NaN from "
                        << first;
                }
            }
        }
    }
}

TEST(Emitter, extremes_of_rows_with_and_without_nan) {
    expect_extremes<float>(DType::float32);
    expect_extremes<double>(DType::float64);
}

}  // namespace
}  // namespace weft
