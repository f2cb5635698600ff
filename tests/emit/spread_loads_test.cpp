// Short rows beside loads that do not run along with them, written out block by block: the interpreter's bits of maps, the block evaluator's of
// reductions, nothing read outside the arrays.
#include "weft/backend/cpu/emit/spread_loads.h"

#include "effort.h"
#include "emit/emitter_cases.h"

namespace weft {
namespace {

/// How the loads lie beside a box; the first runs on from row to row.
struct Lies {
    Dims dims;
    std::vector<Dims> strides;
};

/// Rows of `row` elements: a number a row, one of each second row of memory, one that an outer axis shares; a row that others share, rows apart.
std::vector<Lies> all_lies(std::int64_t row) {
    std::int64_t r = row;
    return {{{700, r}, {{r, 1}, {1, 0}}},
            {{700, r}, {{r, 1}, {2, 0}}},
            {{700, r}, {{r, 1}, {-1, 0}}},
            {{700, r}, {{r, 1}, {r + 3, 1}}},
            {{700, r}, {{r, 1}, {1, 0}, {0, 1}}},
            {{700, r}, {{r, 1}, {1, 0}, {0, 0}}},
            {{40, 50, r}, {{50 * r, r, 1}, {1, 40, 0}}},
            {{40, 50, r}, {{50 * r, r, 1}, {r, 0, 1}, {0, r, 1}}},
            {{3, 5, 7, r}, {{35 * r, 7 * r, r, 1}, {0, 1, 0, 0}, {7, 0, 1, 0}}},
            {{9, 2, 40, r}, {{80 * r, 40 * r, r, 1}, {40, 0, 1, 0}, {2 * r, r, 0, 1}}},
            {{5, r}, {{r, 1}, {1, 0}}}};
}

Case spread_case(DType type, const Lies& lies, std::size_t reduced_axis, int seed) {
    DType computed = is_half(type) ? DType::float32 : type;
    ProgramBuilder builder;
    Scalar value = builder.input(computed);
    for (std::size_t i = 1; i < lies.strides.size(); ++i)
        value = i % 2 ? value * builder.input(computed) : value + builder.input(computed);
    builder.output(value);
    Case c;
    c.at_end = seed % 2;
    c.loop.program = builder.take();
    c.loop.dims = lies.dims;
    for (const Dims& strides : lies.strides) c.loop.loads.push_back({type, strides});
    std::size_t axes = lies.dims.size();
    bool reduces = reduced_axis < axes;
    auto last = [&](Dims& of_axes) {
        std::rotate(of_axes.begin() + static_cast<std::ptrdiff_t>(reduced_axis),
                    of_axes.begin() + static_cast<std::ptrdiff_t>(reduced_axis) + 1, of_axes.end());
    };
    if (reduces) {
        last(c.loop.dims);
        for (Access& load : c.loop.loads) last(load.strides);
        c.loop.reduced = 1;
        c.loop.reductions = {seed % 3 ? Reduction::sum : Reduction::maximum};
    }
    Dims kept(c.loop.dims.begin(), c.loop.dims.end() - (reduces ? 1 : 0)), strides(kept.size());
    std::int64_t step = 1;
    for (std::size_t axis = kept.size(); axis-- > 0; step *= kept[axis]) strides[axis] = step;
    c.loop.stores = {{reduces ? computed : type, strides}};
    Random random(static_cast<unsigned>(seed));
    for (const Access& access : c.loop.loads) c.loads.push_back(memory_for(random, access, c.loop.dims, false));
    c.stores.push_back(memory_for(random, c.loop.stores[0], kept, false));
    return c;
}

/// Lengths of rows: all of these, for a sanitizer two or three.
std::vector<std::int64_t> some_of(std::vector<std::int64_t> rows) {
    if (share_under_sanitizers > 1) rows = {3, 8, rows.back()};
    return rows;
}

constexpr DType types[] = {DType::float32, DType::float64, DType::int32, DType::float16, DType::int64, DType::uint8};

template <class Check>
void for_all(Check check) {
    for (Isa isa : emitted_isas()) {
        for (int threads : {1, 2}) {
            UseIsa use(isa);
            ThreadPool::instance().set_threads(threads);
            check(isa);
            if (testing::Test::HasFatalFailure()) return;
        }
    }
    ThreadPool::instance().set_threads(1);
}

TEST(SpreadLoads, maps_have_the_interpreters_bits) {
    int seed = 0;
    for (DType type : types)
        for (std::int64_t row : some_of({2, 3, 4, 5, 7, 8, 9}))
            for (const Lies& lies : all_lies(row)) {
                Case c = spread_case(type, lies, 9, ++seed);
                auto expected = expected_of(c);
                for_all([&](Isa isa) {
                    auto prepared = cpu::emit::prepare_emitted_map(c.loop);
                    ASSERT_TRUE(prepared) << c.loop;
                    expect_same(c, expected, run_guarded(c, *prepared), text(type, ' ', cpu::name_of(isa)));
                });
                if (testing::Test::HasFatalFailure()) return;
            }
}

TEST(SpreadLoads, reductions_have_the_block_evaluators_bits) {
    int seed = 0;
    for (DType type : types)
        for (std::int64_t row : some_of({2, 3, 4, 7, 8, 9, 20, 31}))
            for (const Lies& lies : all_lies(row))
                for (std::size_t axis = 0; axis < lies.dims.size(); ++axis) {
                    Case c = spread_case(type, lies, axis, ++seed);
                    auto expected = run_plain(c, *cpu::prepare_reduction(c.loop));
                    for_all([&](Isa isa) {
                        auto prepared = cpu::prepare_reduction(c.loop, true);
                        expect_same(c, expected, run_guarded(c, *prepared),
                                    text(type, ", axis ", axis, ", ", cpu::name_of(isa)));
                    });
                    if (testing::Test::HasFatalFailure()) return;
                }
}

TEST(SpreadLoads, are_for_short_rows_of_what_moves_by_rows) {
    auto takes = [](const Dims& dims, std::vector<Dims> strides, bool repeated = false) {
        std::vector<cpu::Stream> streams;
        for (Dims& of_load : strides) {
            for (std::int64_t& stride : of_load) stride *= 4;
            streams.push_back({DType::float32, of_load});
        }
        bool taken = cpu::emit::SpreadLoads().take(dims, streams, 8, repeated);
        EXPECT_TRUE(!taken || std::all_of(streams.begin(), streams.end(), [&](const cpu::Stream& stream) {
            return stream.contiguous(dims) || stream.uniform() || (repeated && stream.innermost_alone());
        }));
        return taken;
    };
    EXPECT_TRUE(takes({100, 3}, {{3, 1}, {1, 0}}));
    EXPECT_TRUE(takes({100, 3}, {{3, 1}, {0, 1}}));
    EXPECT_FALSE(takes({100, 3}, {{3, 1}, {0, 1}}, true));
    EXPECT_TRUE(takes({100, 3}, {{3, 1}, {0, 1}, {1, 0}}, true));
    EXPECT_TRUE(takes({100, 4}, {{9, 1}}));
    EXPECT_FALSE(takes({100, 3}, {{3, 1}, {0, 0}}));          // there is nothing to write out
    EXPECT_FALSE(takes({100, 3}, {{3, 1}, {1, 0}, {6, 2}}));  // elements apart
    EXPECT_FALSE(takes({100, 9}, {{9, 1}, {1, 0}}));          // long rows
    EXPECT_FALSE(takes({100, 5}, {{9, 1}}));
    EXPECT_FALSE(takes({15, 3}, {{3, 1}, {1, 0}}));  // few
}

}  // namespace
}  // namespace weft
