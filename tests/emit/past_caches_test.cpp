// Maps whose results are stored past the caches: the interpreter's bits wherever rows begin, nothing touched outside the arrays.
#include "emit/emitter_cases.h"

namespace weft {
namespace {

/// A block of a large array: three rows, `row` elements apart.
Case rows_of(Program program, DType type, std::int64_t length, std::int64_t row, const std::vector<Dims>& loads,
             int seed) {
    Case c;
    c.loop.program = std::move(program);
    c.loop.dims = {3, length};
    for (const Dims& strides : loads) c.loop.loads.push_back({type, strides});
    c.loop.stores = {{type, {row, 1}}};
    Random random(static_cast<unsigned>(seed));
    for (const Access& load : c.loop.loads) c.loads.push_back(memory_for(random, load, c.loop.dims, seed % 2));
    c.stores.push_back(memory_for(random, c.loop.stores[0], c.loop.dims, false));
    return c;
}

void expect_bits_past(Case c, const std::string& name) {
    auto expected = expected_of(c);
    let_pass(c.loop);
    for (Isa isa : emitted_isas())
        for (int unroll : {0, 1, 3})
            for (bool at_end : {true, false}) {  // which decides where in a line of memory the first row begins
                c.at_end = at_end;
                expect_bits(c, expected, isa, {.unroll = unroll}, name);
                if (testing::Test::HasFatalFailure()) return;
            }
}

TEST(PastCaches, rows_begin_anywhere_in_a_line_of_memory) {
    int seed = 0;
    for (DType type : {DType::float32, DType::float64, DType::int32, DType::int64})
        for (std::int64_t length : {1, 15, 256, 257, 271, 300, 1031, 1088})
            for (std::int64_t gap : {0, 1, 5, 16}) {
                std::int64_t row = length + gap;
                ProgramBuilder builder;
                Scalar x = builder.input(type), y = builder.input(type);
                builder.output(x * y + x);
                Dims along{length, 1}, once{1, 0};
                Case c = rows_of(builder.take(), type, length, row, {along, seed % 3 ? along : once}, seed);
                expect_bits_past(std::move(c), text(type, ", rows of ", length, ", ", row, " apart"));
                if (HasFatalFailure()) return;
                ++seed;
            }
}

// Exponentials leave the common path for a vector, quotients by a number that is the same along the row for all of it.
TEST(PastCaches, so_do_rows_that_leave_the_common_path) {
    int seed = 0;
    for (DType type : {DType::float32, DType::float64})
        for (std::int64_t length : {256, 263, 509, 1031})
            for (bool for_all : {false, true}) {
                ProgramBuilder builder;
                Scalar x = builder.input(type), y = builder.input(type);
                builder.output(for_all ? x / y : exp(x * y));
                Case c = rows_of(builder.take(), type, length, length, {{length, 1}, {1, 0}}, ++seed);
                expect_bits_past(std::move(c),
                                 text(type, ", rows of ", length, for_all ? " divided" : ", exponentials"));
                if (HasFatalFailure()) return;
            }
}

TEST(PastCaches, large_results_are_the_same) {
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
            for (std::size_t offset : {0, 16}) {  // aligned, and not: then, of two results, the ordinary code runs
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

}  // namespace
}  // namespace weft
