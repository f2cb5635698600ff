// A map and the reduction of its rows in one pass: the bits of the block evaluator's map, then its reduction.
#include "weft/backend/cpu/stored_reduction.h"

#include <map>

#include "emit/emitter_cases.h"
#include "weft/kernel/function.h"

namespace weft {
namespace {

struct Pair {
    Loop map, reduction;
    std::vector<Memory> loads;
    Memory made, result;
    bool in_place = false;  // what is made lies where the first load does
};

/// Some axes of rows, then one of `length`: exp(a - b) (a * b - a of whole numbers) is stored, it or its square joined.
Pair random_pair(int seed, std::int64_t length) {
    Random random(static_cast<unsigned>(seed));
    static constexpr DType types[] = {DType::float32, DType::float64, DType::int32, DType::int64};
    static constexpr Reduction reductions[] = {Reduction::sum, Reduction::maximum, Reduction::minimum,
                                               Reduction::product};
    DType type = types[pick(random, 4)];
    Pair pair;
    Dims dims;
    for (int axes = pick(random, 3); axes > 0; --axes) dims.push_back(1 + pick(random, 5));
    Dims kept = dims;
    dims.push_back(length);
    ProgramBuilder builder;
    Scalar a = builder.input(type), b = builder.input(type);
    // A sine of what is large leaves the common path.
    builder.output(!is_floating(type) ? a * b - a : seed % 7 == 0 ? sin(a * 10000) : exp(a - b));
    pair.in_place = seed % 3 == 0;
    Dims first = pair.in_place ? contiguous_strides(dims) : random_strides(random, dims, true);
    pair.map = {.program = builder.take(),
                .dims = dims,
                .loads = {{type, first}, {type, random_strides(random, dims, true)}},
                .stores = {{type, contiguous_strides(dims)}},
                .reductions = {}};
    Scalar x = builder.input(type);
    builder.output(seed % 2 ? x * x : x);
    pair.reduction = {.program = builder.take(),
                      .dims = dims,
                      .reduced = 1,
                      .loads = pair.map.stores,
                      .stores = {{type, contiguous_strides(kept)}},
                      .reductions = {reductions[pick(random, 4)]}};
    for (const Access& load : pair.map.loads) pair.loads.push_back(memory_for(random, load, dims, seed % 5 == 0));
    pair.made = memory_for(random, pair.map.stores[0], dims, false);
    pair.result = memory_for(random, pair.reduction.stores[0], kept, false);
    return pair;
}

using Bytes = std::vector<std::byte>;

std::pair<Bytes, Bytes> after(Pair pair, const std::function<void(void* const* operands)>& run) {
    Memory& made = pair.in_place ? pair.loads[0] : pair.made;
    void* operands[] = {pair.loads[0].data(), pair.loads[1].data(), made.data(), pair.result.data()};
    run(operands);
    return {made.bytes, pair.result.bytes};
}

void run_block(const Loop& loop, void* const* operands) {
    auto prepared = loop.reduces() ? cpu::prepare_reduction(loop) : cpu::prepare_map(loop);
    auto scratch = Buffer::allocate(prepared->scratch_bytes());
    prepared->run(const_cast<const void* const*>(operands), operands + loop.loads.size(),
                  static_cast<std::byte*>(scratch->data()));
}

/// All rows, some at a time: one, two, three, one ...; each second and third time it goes on, else it is told where anew.
void run_by_turns(const Kernel& kernel, std::int64_t rows, std::int64_t step, void* const* operands) {
    std::vector<std::int64_t> cursor(kernel.cursor_bytes(rows, step) / sizeof(std::int64_t));
    auto* at = reinterpret_cast<std::byte*>(cursor.data());
    for (std::int64_t row = 0, count = 1; row < rows; row += count, count = count % 3 + 1) {
        if (count == 1) kernel.start_rows(rows, row, operands, at);
        auto* cursor = std::launder(reinterpret_cast<RowCursor*>(at));
        cursor->make(*cursor, std::min(count, rows - row));
    }
}

int by_turns = 0;  // how many ran so

/// In one pass as one after the other, on all instruction sets, one thread and two. `made`: called for each kernel there is.
void expect_both(int seed, const Pair& pair, const std::function<void(Isa)>& made) {
    auto expected = after(pair, [&](void* const* operands) {
        run_block(pair.map, operands);
        run_block(pair.reduction, operands + 2);
    });
    for (Isa isa : emitted_isas()) {
        for (int threads : {1, 2}) {
            UseIsa use(isa);
            ThreadPool::instance().set_threads(threads);
            auto kernel = cpu::stored_reduction(&pair.map, pair.reduction);
            // Which has 16 registers; of short rows of exponentials the sums are taken apart.
            bool apart = pair.map.dims.back() <= 64 && is_floating(pair.map.stores[0].dtype);
            EXPECT_TRUE(kernel || isa == Isa::avx2 || apart) << seed << '\n' << pair.map;
            EXPECT_FALSE(kernel && isa == Isa::avx512 && apart) << seed << '\n' << pair.map;
            if (!kernel) continue;
            made(isa);
            auto scratch = Buffer::allocate(kernel->scratch_bytes());
            auto got = after(
                pair, [&](void* const* operands) { kernel->run(operands, static_cast<std::byte*>(scratch->data())); });
            DType type = pair.map.stores[0].dtype;
            bool same =
                difference(type, expected.first, got.first) < 0 && difference(type, expected.second, got.second) < 0;
            ASSERT_TRUE(same) << seed << ", " << cpu::name_of(isa) << ", " << threads << " threads\n"
                              << pair.map << pair.reduction;
            const Dims& dims = pair.map.dims;
            std::int64_t rows = element_count(dims) / std::max<std::int64_t>(dims.back(), 1);
            auto step = static_cast<std::int64_t>(size_of(type));  // the results lie one behind the other
            if (kernel->cursor_bytes(rows, step) == 0) continue;
            ++by_turns;
            got = after(pair, [&](void* const* operands) { run_by_turns(*kernel, rows, step, operands); });
            same = difference(type, expected.first, got.first) < 0 && difference(type, expected.second, got.second) < 0;
            ASSERT_TRUE(same) << "in turns: " << seed << ", " << cpu::name_of(isa) << '\n'
                              << pair.map << pair.reduction;
        }
    }
    ThreadPool::instance().set_threads(1);
}

TEST(StoredReduction, has_the_bits_of_a_map_and_a_reduction) {
    auto count = static_cast<int>(cases(200, 2000));
    std::map<Isa, int> made;
    for (int seed = 0; seed < count; ++seed) {
        static constexpr std::int64_t lengths[] = {32, 33, 64, 100, 257, 1000};
        expect_both(seed, random_pair(seed, lengths[seed % 6]), [&](Isa isa) { ++made[isa]; });
        if (testing::Test::HasFatalFailure()) return;
    }
    for (Isa isa : emitted_isas()) EXPECT_GT(made[isa], count / 3) << cpu::name_of(isa);
    // A third of them and more; of the few that sanitizers try, where AVX2 is all there is, a fifth.
    EXPECT_TRUE(emitted_isas().empty() || !cpu::is_no_zen() || by_turns > count / 8) << by_turns;
}

TEST(StoredReduction, long_rows_are_joined_chunk_by_chunk_as_a_reduction_joins_them) {
    int made = 0;
    for (int seed = 0; seed < 24; ++seed) {
        static constexpr std::int64_t lengths[] = {16384 + 32, 2 * 16384, 50257, 3 * 16384 + 100};
        expect_both(seed, random_pair(seed, lengths[seed % 4]), [&](Isa) { ++made; });
        if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_TRUE(emitted_isas().empty() || made > 12) << made;
}

TEST(StoredReduction, is_refused_where_rows_are_not_joined_at_a_stretch) {
    auto made = [](const Pair& pair) { return cpu::stored_reduction(&pair.map, pair.reduction) != nullptr; };
    EXPECT_FALSE(made(random_pair(1, 31)));
    EXPECT_FALSE(made(random_pair(1, 16385)));
    Pair other_place = random_pair(1, 100), half = other_place, other_box = other_place, turned = other_place;
    other_place.reduction.loads[0].strides.back() = 2;
    EXPECT_FALSE(made(other_place));
    half.map.stores[0].dtype = half.reduction.loads[0].dtype = DType::bfloat16;  // joined is what was rounded
    EXPECT_FALSE(made(half));
    other_box.reduction.dims.back() = 50;
    EXPECT_FALSE(made(other_box));
    turned.map.stores[0].strides.back() = turned.reduction.loads[0].strides.back() = -1;
    EXPECT_FALSE(made(turned));
}

}  // namespace
}  // namespace weft
