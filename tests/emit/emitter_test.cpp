// The emitter against the interpreter: random programs over every opcode and type, both instruction sets, several vectors side by
// side, few registers, odd sizes and addresses, and pages that may not be touched beside every array.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "backend/random_loop.h"
#include "effort.h"
#include "weft/backend/cpu/emit/emitted_kernel.h"
#include "weft/backend/cpu/isa.h"
#include "weft/base/thread_pool.h"
#include "weft/core/buffer.h"
#include "weft/found.h"
#include "weft/kernel/interpreter.h"

namespace weft {
namespace {

using cpu::Isa;
using cpu::emit::CompileOptions;

/// The instruction sets that are emitted for on this machine; none without xbyak.
std::vector<Isa> emitted_isas() {
    std::vector<Isa> isas;
#if WEFT_HAVE_XBYAK
    for (Isa isa : cpu::usable_isas())
        if (isa != Isa::baseline) isas.push_back(isa);
#endif
    return isas;
}

class UseIsa {
  public:
    explicit UseIsa(Isa isa) : before_(cpu::best_isa()) { cpu::use_isa(isa); }
    ~UseIsa() { cpu::use_isa(before_); }

  private:
    Isa before_;
};

/// Memory between two pages that may not be touched.
class Guarded {
  public:
    static constexpr std::size_t room = 1 << 20, page = 4096;
    Guarded() {
        base_ = static_cast<std::byte*>(mmap(nullptr, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(base_ + page, room, PROT_READ | PROT_WRITE);
    }
    ~Guarded() { munmap(base_, room + 2 * page); }
    Guarded(const Guarded&) = delete;
    /// The bytes, against the end or the start of the room.
    std::byte* place(const std::vector<std::byte>& bytes, bool at_end) {
        std::byte* to = base_ + page + (at_end ? room - bytes.size() : 0);
        std::memcpy(to, bytes.data(), bytes.size());
        return to;
    }

  private:
    std::byte* base_;
};

Guarded& arena(std::size_t number) {
    static std::vector<std::unique_ptr<Guarded>> arenas;
    while (arenas.size() <= number) arenas.push_back(std::make_unique<Guarded>());
    return *arenas[number];
}

struct Case : LoopCase {
    bool at_end = true;
};

std::vector<std::vector<std::byte>> expected_of(const LoopCase& c) {
    std::vector<Memory> stores = c.stores, loads = c.loads;
    std::vector<const void*> from;
    std::vector<void*> to;
    for (Memory& memory : loads) from.push_back(memory.data());
    for (Memory& memory : stores) to.push_back(memory.data());
    interpret(c.loop, from.data(), to.data());
    std::vector<std::vector<std::byte>> result;
    for (Memory& memory : stores) result.push_back(memory.bytes);
    return result;
}

std::vector<std::vector<std::byte>> run_guarded(const Case& c, const cpu::PreparedLoop& prepared) {
    std::vector<const void*> from;
    std::vector<void*> to;
    std::vector<std::byte*> starts;
    std::size_t next = 0;
    for (const Memory& memory : c.loads) from.push_back(arena(next++).place(memory.bytes, c.at_end) + memory.first);
    for (const Memory& memory : c.stores) {
        starts.push_back(arena(next++).place(memory.bytes, c.at_end));
        to.push_back(starts.back() + memory.first);
    }
    auto scratch = Buffer::allocate(prepared.scratch_bytes());
    prepared.run(from.data(), to.data(), static_cast<std::byte*>(scratch->data()));
    std::vector<std::vector<std::byte>> result;
    for (std::size_t i = 0; i < starts.size(); ++i)
        result.emplace_back(starts[i], starts[i] + c.stores[i].bytes.size());
    return result;
}

std::string options_text(Isa isa, const CompileOptions& options) {
    return text(cpu::name_of(isa), ", unroll ", options.unroll, ", registers ", options.registers);
}

/// Compares on one instruction set; zeros of either sign may be taken for equal.
void expect_bits(const Case& c, const std::vector<std::vector<std::byte>>& expected, Isa isa,
                 const CompileOptions& options, const std::string& name) {
    UseIsa use(isa);
    auto prepared = cpu::emit::prepare_emitted_map(c.loop, &options);
    ASSERT_TRUE(prepared) << name << ": " << options_text(isa, options) << '\n' << c.loop;
    auto got = run_guarded(c, *prepared);
    for (std::size_t i = 0; i < got.size(); ++i) {
        std::int64_t at = difference(c.loop.stores[i].dtype, expected[i], got[i]);
        ASSERT_EQ(at, -1) << name << ": " << options_text(isa, options) << ", store " << i << '\n' << c.loop;
    }
}

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
    return c;
}

CompileOptions random_options(Random& random) {
    static constexpr int unrolls[] = {0, 1, 2, 4};
    return {.unroll = unrolls[pick(random, 4)], .registers = pick(random, 3) ? 1000 : 6};
}

TEST(Emitter, random_programs_have_the_interpreters_bits) {
    if (emitted_isas().empty()) GTEST_SKIP() << "this build or processor has no emitter";
    std::uint64_t count = cases(5000, 200000);
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        Case c = random_case(seed);
        Random random(static_cast<unsigned>(seed + 1));
        if (seed % 5 == 0) load_by_indices(random, c);
        auto expected = expected_of(c);
        for (Isa isa : emitted_isas()) {
            expect_bits(c, expected, isa, random_options(random), text("seed ", seed));
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

/// Without guards: what a prepared loop leaves in its stores.
std::vector<std::vector<std::byte>> run_plain(LoopCase c, const cpu::PreparedLoop& prepared, bool in_place = false) {
    std::vector<const void*> from;
    std::vector<void*> to;
    for (Memory& memory : c.loads) from.push_back(memory.data());
    for (Memory& memory : c.stores) to.push_back(memory.data());
    if (in_place) to[0] = c.loads[0].data();
    auto scratch = Buffer::allocate(prepared.scratch_bytes());
    prepared.run(from.data(), to.data(), static_cast<std::byte*>(scratch->data()));
    std::vector<std::vector<std::byte>> result;
    for (Memory& memory : c.stores) result.push_back(memory.bytes);
    if (in_place) result[0] = c.loads[0].bytes;
    return result;
}

void expect_same(const LoopCase& c, const std::vector<std::vector<std::byte>>& expected,
                 const std::vector<std::vector<std::byte>>& got, const std::string& name) {
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(difference(c.loop.stores[i].dtype, expected[i], got[i]), -1) << name << ", store " << i << '\n'
                                                                               << c.loop;
}

TEST(Emitter, boxes_of_many_axes_give_the_same_bits_on_any_number_of_threads) {
    for (int seed = 0; seed < 100; ++seed) {
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
                auto prepared = cpu::emit::prepare_emitted_map(c.loop);
                ASSERT_TRUE(prepared);
                expect_same(c, expected, run_plain(c, *prepared), text("seed ", seed, ", ", cpu::name_of(isa)));
                if (testing::Test::HasFatalFailure()) return;
            }
        }
    }
    ThreadPool::instance().set_threads(1);
}

TEST(Emitter, functions_have_the_interpreters_bits) {
    for (DType dtype : {DType::float32, DType::float64}) {
        for (const Function* function : all_functions()) {
            if (!function->f32) continue;
            Random random(7);
            ProgramBuilder builder;
            Scalar x = builder.input(dtype), y = builder.input(dtype), operands[] = {x, y};
            builder.output(weft::call(
                *function, std::span<const Scalar>(operands).first(static_cast<std::size_t>(function->arity))));
            LoopCase c;
            Access access{dtype, {1}};
            c.loop = {.program = builder.take(),
                      .dims = {3001},
                      .loads = {access, access},
                      .stores = {access},
                      .reductions = {}};
            for (int i = 0; i < 2; ++i) c.loads.push_back(memory_for(random, access, c.loop.dims, true));
            c.stores.push_back(memory_for(random, access, c.loop.dims, false));
            auto expected = expected_of(c);
            for (Isa isa : emitted_isas()) {
                UseIsa use(isa);
                auto prepared = cpu::emit::prepare_emitted_map(c.loop);
                ASSERT_TRUE(prepared) << function->name;
                expect_same(c, expected, run_plain(c, *prepared), text(function->name, ", ", cpu::name_of(isa)));
                if (testing::Test::HasFatalFailure()) return;
            }
        }
    }
}

TEST(Emitter, a_map_may_store_where_it_loads) {
    for (int seed = 0; seed < 300; ++seed) {
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
        auto expected = expected_of(c);
        for (Isa isa : emitted_isas()) {
            UseIsa use(isa);
            CompileOptions options = random_options(random);
            auto prepared = cpu::emit::prepare_emitted_map(c.loop, &options);
            ASSERT_TRUE(prepared);
            expect_same(c, expected, run_plain(c, *prepared, true),
                        text("seed ", seed, ", ", options_text(isa, options)));
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(Emitter, reductions_have_the_block_evaluators_bits) {
    int emitted = 0;
    for (int seed = 0; seed < 500; ++seed) {
        LoopCase c = random_reduction(seed, false);
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
    EXPECT_TRUE(emitted_isas().empty() || emitted > 500) << emitted;
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

TEST(Emitter, columns_are_joined_to_the_block_evaluators_bits) {
    static constexpr DType types[] = {DType::float32, DType::float64, DType::int32,
                                      DType::uint32,  DType::int64,   DType::bfloat16};
    static constexpr Reduction reductions[] = {Reduction::sum, Reduction::product, Reduction::maximum,
                                               Reduction::minimum, Reduction::argmax};
    int seed = 0;
    for (DType type : types) {
        for (Reduction reduction : reductions) {
            for (const Dims& dims :
                 {Dims{1, 1, 5}, {1, 3, 67}, {3, 70, 15}, {2, 9, 1500}, {1, 300, 130}, {1, 40, 2111}}) {
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

TEST(Emitter, large_results_stored_past_the_caches_are_the_same) {
    const std::int64_t count = (std::int64_t{9} << 20) + 77;
    for (DType dtype : {DType::float32, DType::float64}) {
        ProgramBuilder builder;
        Scalar x = builder.input(dtype);
        builder.output(x + 1);
        builder.output(x < 0);
        Loop loop{.program = builder.take(),
                  .dims = {count},
                  .loads = {{dtype, {1}}},
                  .stores = {{dtype, {1}}, {DType::bool_, {1}}},
                  .reductions = {}};
        auto bytes = static_cast<std::size_t>(count) * size_of(dtype);
        auto from = Buffer::allocate(bytes + 64), small = Buffer::allocate(bytes + 64),
             large = Buffer::allocate(bytes + 64), truth = Buffer::allocate(static_cast<std::size_t>(count) + 64);
        for (std::size_t i = 0; i < bytes / 4; ++i) {
            auto value = static_cast<float>(static_cast<int>(i % 1001) - 500);
            std::memcpy(from->data() + 4 * i, &value, 4);
        }
        for (Isa isa : emitted_isas()) {
            UseIsa use(isa);
            for (std::size_t offset : {0, 16}) {  // aligned, and not: then the ordinary code runs
                auto run = [&](std::int64_t part, std::int64_t start, Buffer& to) {
                    Loop piece = loop;
                    piece.dims = {part};
                    auto prepared = cpu::emit::prepare_emitted_map(piece);
                    ASSERT_TRUE(prepared);
                    std::size_t at = static_cast<std::size_t>(start) * size_of(dtype);
                    const void* loads[] = {from->data() + at};
                    void* stores[] = {to.data() + offset + at, truth->data() + start};
                    auto scratch = Buffer::allocate(prepared->scratch_bytes());
                    prepared->run(loads, stores, scratch->data());
                };
                run(count, 0, *large);
                std::memset(small->data(), 0, bytes + 64);
                for (std::int64_t start = 0; start < count; start += 1 << 20)
                    run(std::min<std::int64_t>(1 << 20, count - start), start, *small);
                EXPECT_EQ(std::memcmp(small->data() + offset, large->data() + offset, bytes), 0)
                    << dtype << ' ' << cpu::name_of(isa) << ", offset " << offset;
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

}  // namespace
}  // namespace weft
