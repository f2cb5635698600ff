// Columns that wait in registers while the rows pass (writer_columns.cpp), against the block evaluator: all numbers of vectors, last ones that are not
// full, parts side by side, NaN wherever it may be, and memory that may not be touched around what is read.
#include <limits>

#include "emit/emitter_cases.h"
#include "weft/compile/device.h"

namespace weft {
namespace {

Case columns_of(DType type, Reduction reduction, std::int64_t rows, std::int64_t columns, std::int64_t row_step,
                Random& random) {
    ProgramBuilder builder;
    builder.output(builder.input(type));
    Case c;
    c.loop.program = builder.take();
    c.loop.dims = {2, columns, rows};
    c.loop.reduced = 1;
    c.loop.reductions = {reduction};
    c.loop.loads = {{type, {(rows + 1) * std::abs(row_step), 1, row_step}}};
    c.loop.stores = {{type, {columns, 1}}};
    c.loads.push_back(memory_for(random, c.loop.loads[0], c.loop.dims, false));
    c.stores.push_back(memory_for(random, c.loop.stores[0], {2, columns}, false));
    return c;
}

/// Numbers of which one, in the second of the two, is NaN; `nan` -1: none is.
template <class T>
void fill(Case& c, std::int64_t nan, Random& random) {
    Memory& memory = c.loads[0];
    auto* values = reinterpret_cast<T*>(memory.bytes.data());
    for (std::size_t i = 0; i < memory.bytes.size() / sizeof(T); ++i)
        values[i] = static_cast<T>(static_cast<double>(random() % 4001) / 1000 - 2);
    if (nan < 0) return;
    const Dims& dims = c.loop.dims;
    const Dims& strides = c.loop.loads[0].strides;
    std::int64_t row = nan / dims[1] % dims[2], column = nan % dims[1];
    reinterpret_cast<T*>(memory.data())[strides[0] + column + row * strides[2]] = std::numeric_limits<T>::quiet_NaN();
}

void expect_block_bits(const Case& c, const std::string& name) {
    auto expected = run_plain(c, *cpu::prepare_reduction(c.loop));
    for (Isa isa : emitted_isas()) {
        UseIsa use(isa);
        auto prepared = cpu::prepare_reduction(c.loop, true);
        expect_same(c, expected, run_guarded(c, *prepared), text(name, ", ", cpu::name_of(isa)));
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(EmittedColumns, every_number_of_vectors_has_the_block_evaluators_bits) {
    unsigned seed = 0;
    for (std::int64_t columns = 9; columns < 1100; columns += columns < 560 ? 13 : 171) {
        for (DType type : {DType::float32, DType::float64}) {
            for (Reduction reduction : {Reduction::sum, Reduction::product, Reduction::maximum, Reduction::minimum}) {
                Random random(++seed);
                const std::int64_t rows = 1 + random() % 40, apart = columns + random() % 3;
                Case c = columns_of(type, reduction, rows, columns, seed % 5 ? apart : -apart, random);
                c.at_end = seed % 2;
                if (seed % 3 == 0) let_pass(c.loop);
                std::int64_t nan = seed % 4 ? random() % static_cast<unsigned>(rows * columns) : -1;
                type == DType::float32 ? fill<float>(c, nan, random) : fill<double>(c, nan, random);
                expect_block_bits(c, text(name_of(reduction), " of ", rows, " rows of ", columns, ' ', type));
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST(EmittedColumns, whole_numbers_too) {
    unsigned seed = 0;
    for (DType type : {DType::int32, DType::uint32, DType::int64, DType::uint64}) {
        for (Reduction reduction : {Reduction::sum, Reduction::product, Reduction::maximum, Reduction::minimum}) {
            for (std::int64_t columns : {17, 130, 257, 500, 990}) {
                Random random(++seed);
                Case c = columns_of(type, reduction, 1 + random() % 50, columns, columns + seed % 2, random);
                c.at_end = seed % 2;
                if (seed % 3 == 0) let_pass(c.loop);
                expect_block_bits(c, text(name_of(reduction), " of rows of ", columns, ' ', type));
                if (HasFatalFailure()) return;
            }
        }
    }
}

/// What is computed of two arrays, one of which may be the same for all rows or for all columns of a row.
Case computed_columns(DType type, Reduction reduction, std::int64_t rows, std::int64_t columns, Random& random) {
    ProgramBuilder builder;
    Scalar x = builder.input(type), y = builder.input(type);
    builder.output(x * y + x);
    Case c;
    c.loop.program = builder.take();
    c.loop.dims = {3, columns, rows};
    c.loop.reduced = 1;
    c.loop.reductions = {reduction};
    const std::int64_t apart = columns + random() % 3, box = rows * apart + 5;
    const Dims others[] = {{box, 1, apart}, {0, 1, 0}, {rows, 0, 1}, {box, 1, -apart}};
    c.loop.loads = {{type, {box, 1, apart}}, {type, others[random() % 4]}};
    c.loop.stores = {{type, {columns, 1}}};
    for (const Access& access : c.loop.loads) c.loads.push_back(memory_for(random, access, c.loop.dims, false));
    c.stores.push_back(memory_for(random, c.loop.stores[0], {3, columns}, false));
    return c;
}

TEST(EmittedColumns, of_what_is_computed_wait_too) {
    unsigned seed = 0;
    for (DType type : {DType::float32, DType::float64, DType::int32})
        for (Reduction reduction : {Reduction::sum, Reduction::product, Reduction::maximum})
            for (std::int64_t columns = 9; columns < 600; columns += columns < 150 ? 7 : 90) {
                Random random(++seed);
                Case c = computed_columns(type, reduction, 1 + random() % 40, columns, random);
                c.at_end = seed % 2;
                if (seed % 3 == 0) let_pass(c.loop);
                expect_block_bits(c, text(name_of(reduction), " of rows of ", columns, ' ', type, ", seed ", seed));
                if (HasFatalFailure()) return;
            }
}

/// Each place, of rows of two vectors and a half.
TEST(EmittedColumns, a_nan_is_met_wherever_it_is) {
    constexpr std::int64_t rows = 3, columns = 40;
    for (Reduction reduction : {Reduction::maximum, Reduction::minimum}) {
        for (std::int64_t nan = 0; nan < rows * columns; ++nan) {
            Random random(static_cast<unsigned>(nan));
            Case c = columns_of(DType::float32, reduction, rows, columns, columns, random);
            fill<float>(c, nan, random);
            expect_block_bits(c, text(name_of(reduction), ", NaN at ", nan));
            if (HasFatalFailure()) return;
        }
    }
}

}  // namespace
}  // namespace weft
