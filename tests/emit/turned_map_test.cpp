// Maps that read arrays across the order in which they lie: the interpreter's bits, nothing touched outside the arrays.
#include "effort.h"
#include "emit/emitter_cases.h"

namespace weft {
namespace {

/// x + y (or, of one operand, x * x) over `dims`; x lies with its axes in `order`, slowest first, the result in `result_order`.
Case turned_case(DType type, const Dims& dims, const std::vector<std::size_t>& order,
                 const std::vector<std::size_t>& result_order, bool two, int seed) {
    auto strides_of = [&](const std::vector<std::size_t>& axes) {
        Dims strides(dims.size());
        std::int64_t step = 1;
        for (std::size_t i = axes.size(); i-- > 0; step *= dims[axes[i]]) strides[axes[i]] = step;
        return strides;
    };
    DType computed = is_half(type) ? DType::float32 : type;
    ProgramBuilder builder;
    Scalar x = builder.input(computed);
    builder.output(two ? x + builder.input(computed) : x * x);
    Case c;
    c.at_end = seed % 2;
    c.loop = {.program = builder.take(),
              .dims = dims,
              .loads = {{type, strides_of(order)}},
              .stores = {{type, strides_of(result_order)}},
              .reductions = {}};
    if (two) c.loop.loads.push_back({type, strides_of(result_order)});
    if (two && seed % 3 == 0) c.loop.loads[1].strides[dims.size() - 1] = 0;
    Random random(static_cast<unsigned>(seed));
    for (const Access& access : c.loop.loads) c.loads.push_back(memory_for(random, access, dims, false));
    c.stores.push_back(memory_for(random, c.loop.stores[0], dims, false));
    return c;
}

TEST(TurnedMap, has_the_interpreters_bits) {
    if (emitted_isas().empty()) GTEST_SKIP() << no_emitter;
    struct Shape {
        Dims dims;
        std::vector<std::size_t> order, result_order;
    };
    const Shape shapes[] = {{{64, 64}, {1, 0}, {0, 1}},
                            {{65, 131}, {1, 0}, {0, 1}},
                            {{8, 300}, {1, 0}, {0, 1}},
                            {{300, 8}, {1, 0}, {0, 1}},
                            {{1000, 3}, {1, 0}, {0, 1}},
                            {{3, 1000}, {1, 0}, {0, 1}},
                            {{130, 70}, {0, 1}, {1, 0}},
                            {{6, 50, 20}, {0, 2, 1}, {0, 1, 2}},
                            {{30, 9, 40}, {2, 1, 0}, {0, 1, 2}},
                            {{20, 30, 40}, {1, 2, 0}, {0, 1, 2}},
                            {{5, 4, 17, 33}, {0, 3, 2, 1}, {0, 1, 2, 3}},
                            {{512, 64}, {1, 0}, {0, 1}},
                            {{48, 1024}, {1, 0}, {0, 1}}};
    int seed = 0, tried = 0, turned = 0;
    for (DType type : {DType::float32, DType::float64, DType::int32, DType::float16, DType::bfloat16, DType::int16,
                       DType::int64, DType::uint8}) {
        for (const Shape& shape : shapes) {
            for (bool two : {false, true}) {
                Case c = turned_case(type, shape.dims, shape.order, shape.result_order, two, ++seed);
                if (share_under_sanitizers > 1 && seed % 3) continue;
                ++tried;
                auto expected = expected_of(c);
                for (Isa isa : emitted_isas()) {
                    for (int threads : {1, 2}) {
                        UseIsa use(isa);
                        ThreadPool::instance().set_threads(threads);
                        auto prepared = cpu::emit::prepare_turned_map(c.loop);
                        if (!prepared) continue;
                        ++turned;
                        expect_same(c, expected, run_guarded(c, *prepared),
                                    text(type, ' ', shape.dims, ' ', two, ' ', cpu::name_of(isa)));
                        if (testing::Test::HasFatalFailure()) return;
                    }
                }
            }
        }
    }
    ThreadPool::instance().set_threads(1);
    auto most = static_cast<int>(2 * emitted_isas().size()) * tried;
    EXPECT_GE(turned, most * 8 / 10);  // all but three rows of a thousand
}

TEST(TurnedMap, is_for_arrays_that_lie_across_the_results) {
    auto made = [](const Case& c) { return cpu::emit::prepare_turned_map(c.loop) != nullptr; };
    if (emitted_isas().empty()) GTEST_SKIP() << no_emitter;
    Dims dims{100, 80};
    EXPECT_TRUE(made(turned_case(DType::float32, dims, {1, 0}, {0, 1}, true, 1)));
    EXPECT_FALSE(made(turned_case(DType::float32, dims, {0, 1}, {0, 1}, true, 1)));
    EXPECT_FALSE(made(turned_case(DType::float32, dims, {1, 0}, {1, 0}, true, 1)));
    EXPECT_FALSE(made(turned_case(DType::float32, {20, 30}, {1, 0}, {0, 1}, true, 1)));  // few
}

}  // namespace
}  // namespace weft
