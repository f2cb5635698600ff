// Blocks of rows that end beside the next, where results are so large that they are stored past the caches.
#include <gtest/gtest.h>

#include "compile/programs.h"
#include "weft/backend/cpu/isa.h"
#include "weft/base/thread_pool.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"

namespace weft {
namespace {

constexpr std::int64_t rows_of_1024 = 4096;  // 16 MB of floats

std::shared_ptr<const Binding> bound_beside(const Graph& graph) {
    return weft::bind(std::make_shared<const Plan>(make_plan(graph)), graph, cpu_compiler());
}

TEST(RowBeside, bits_are_those_of_one_step_after_another) {
    expect_bits_in_blocks({softmax(numbers("rows", {rows_of_1024, 1024}))});
    expect_bits_in_blocks({softmax(numbers("prime", {4099, 1024}))});  // whose last block is shorter
    expect_bits_in_blocks({softmax(numbers("batches", {3, 1399, 1024}))});
    expect_bits_in_blocks({softmax(numbers("short", {33000, 144}))});
    expect_bits_in_blocks({softmax(numbers("long", {260, 16384}))});
    expect_bits_in_blocks({softmax(numbers("doubles", {2050, 1024}, DType::float64))});
}

TEST(RowBeside, what_is_joined_alone_is_no_other) {
    auto log_softmax = [](const Tensor& x) {
        Tensor moved = x - max(x, 1, true);
        return moved - log(sum(exp(moved), 1, true));
    };
    expect_bits_in_blocks({log_softmax(numbers("logarithms", {rows_of_1024, 1024}))});
    expect_bits_in_blocks({log_softmax(numbers("prime", {4099, 1024}))});
    Tensor x = numbers("normed", {4100, 1024}), centred = x - mean(x, 1, true);
    expect_bits_in_blocks({centred * rsqrt(mean(square(centred), 1, true) + 1e-5f)});
}

TEST(RowBeside, what_the_rows_come_to_is_stored_as_well) {
    Tensor x = numbers("more", {4100, 1024}), weights = exp(x - max(x, 1, true));
    expect_bits_in_blocks({weights / sum(weights, 1, true), sum(weights, 1), max(x, 1)});
}

TEST(RowBeside, numbers_that_are_none) {
    Array values = Draw("none").array(DType::float32, {rows_of_1024, 1024});
    values.data<float>()[5] = std::numeric_limits<float>::quiet_NaN();
    values.data<float>()[5 * 1024] = std::numeric_limits<float>::infinity();
    expect_bits_in_blocks({softmax(Tensor(values))});
}

TEST(RowBeside, rows_that_are_no_whole_vectors_are_stored_as_ever) {
    expect_bits_in_blocks({softmax(numbers("uneven", {4096, 1030}))});
    expect_bits_in_blocks({softmax(numbers("uneven", {rows_of_1024, 1024})) * numbers("column", {rows_of_1024, 1})});
}

TEST(RowBeside, blocks_are_small_where_that_is_faster) {
    bool faster = cpu::is_no_zen() && cpu::best_isa() != cpu::Isa::baseline;
    if (!faster) GTEST_SKIP() << "on this processor blocks end one by one";
    auto scratch = [](std::int64_t rows) {
        auto binding = bound_beside(rewritten_graph({softmax(numbers("rows", {rows, 1024}))}));
        return binding->arena_bytes - binding->scratch_offset;
    };
    // Of each thread: the exponentials of two blocks of four rows.
    auto threads = static_cast<std::size_t>(ThreadPool::instance().threads());
    EXPECT_LT(scratch(rows_of_1024), threads << 16);
}

}  // namespace
}  // namespace weft
