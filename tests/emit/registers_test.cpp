// Register allocation, replayed: random code in few registers passes its verifier, and the verifier finds what is planted.
#include "weft/backend/cpu/emit/registers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "weft/backend/cpu/emit/kernel_plan.h"
#include "weft/backend/cpu/emit/lowering.h"
#include "weft/base/error.h"
#include "weft/kernel/builder.h"
#include "weft/kernel/function.h"

namespace weft {
namespace {

using namespace cpu::emit;

struct Code {
    std::vector<Demand> demands;
    std::vector<ValueInfo> values;
    std::array<int, bank_count> registers{6, 3};
};

/// Random demands on vectors and masks, with invariants, one of them pinned.
Code random_code(unsigned seed, bool calls) {
    std::mt19937 random(seed);
    auto pick = [&](std::size_t below) { return static_cast<std::size_t>(random()) % below; };
    Code code;
    for (int i = 0; i < 4; ++i) code.values.push_back({.bank = Bank::vectors, .invariant = true});
    if (!calls) code.values[0].pinned = 5;
    for (int i = 0; i < 60; ++i) {
        Demand demand;
        if (calls && pick(12) == 0) {
            demand.clobbers = true;
        } else {
            for (std::size_t k = 0; k < pick(4); ++k)
                demand.takes[k] = static_cast<std::int32_t>(pick(code.values.size()));
            if (pick(5)) {
                demand.gives = static_cast<std::int32_t>(code.values.size());
                code.values.push_back({.bank = pick(4) ? Bank::vectors : Bank::masks});
            }
        }
        code.demands.push_back(demand);
    }
    return code;
}

/// Lines that computing the outputs takes.
std::size_t lines_of(std::initializer_list<int> signs) {
    ProgramBuilder builder;
    Scalar x = builder.input(DType::float32);
    for (int sign : signs) builder.output(sigmoid(sign < 0 ? -x : x));
    StreamKind contiguous{.memory = DType::float32, .mode = Mode::contiguous};
    std::vector<StreamKind> stores(signs.size(), contiguous);
    return lower(builder.take(), {&contiguous, 1}, stores, cpu::best_isa())->order.size();
}

/// The sum of a row of exponentials, its plan.
KernelPlan summed_exponentials(DType type) {
    ProgramBuilder builder;
    Scalar x = builder.input(type), top = builder.input(type);
    builder.output(exp(x - top));
    StreamKind loads[] = {{.memory = type, .mode = Mode::contiguous}, {.memory = type, .mode = Mode::uniform}};
    StreamKind sum{.memory = type, .mode = Mode::folded, .reduction = Reduction::sum};
    auto code = lower(builder.take(), loads, {&sum, 1}, cpu::best_isa());
    PlanOptions avx512{.vector_bytes = 64, .registers = {31, 6}, .masks_are_vectors = false, .joining = {0, 1}};
    return *plan_kernel(std::move(*code), avx512);
}

TEST(KernelPlan, vectors_that_are_joined_are_not_all_computed_side_by_side) {
    for (DType type : {DType::float32, DType::float64}) {
        KernelPlan plan = summed_exponentials(type);
        EXPECT_EQ(plan.unroll, joined_lanes / plan.lanes) << type;
        EXPECT_LE(plan.spill_slots, 2)
            << type;  // eight exponentials of doubles at once need twice the registers there are
        EXPECT_GE(plan.pinned.size(), 4u) << type;
        for (std::size_t i = 0; i < plan.body.tasks.size(); ++i)  // two at most, then the next two
            EXPECT_LE(i == 0 ? 0 : plan.body.tasks[i].copy / 2 - plan.body.tasks[i - 1].copy / 2, 1) << type;
        EXPECT_EQ(plan.body.tasks.back().copy, plan.unroll - 1) << type;
    }
}

/// With 16 registers, 15 of them for values.
PlanOptions few_registers(bool reads_memory) {
    return {.vector_bytes = 32,
            .registers = {15, 0},
            .masks_are_vectors = true,
            .joining = {1, 0},
            .reads_memory = reads_memory};
}

std::ptrdiff_t fills(const cpu::emit::Part& part) {
    return std::count_if(part.allocation.movements.begin(), part.allocation.movements.end(),
                         [](const Movement& movement) { return movement.kind == Movement::Kind::fill; });
}

TEST(KernelPlan, constants_are_operands_in_memory_where_registers_are_few) {
    auto plan = [](bool reads_memory) {
        ProgramBuilder builder;
        builder.output(sigmoid(builder.input(DType::float32)));
        StreamKind contiguous{.memory = DType::float32, .mode = Mode::contiguous};
        auto code = lower(builder.take(), {&contiguous, 1}, {&contiguous, 1}, cpu::Isa::avx2);
        return *plan_kernel(std::move(*code), few_registers(reads_memory));
    };
    KernelPlan brought = plan(false), read = plan(true);
    EXPECT_EQ(read.unroll, 2);  // whose values take the registers that constants would
    EXPECT_GT(fills(brought.body), 5);
    EXPECT_LE(fills(read.body), 2);  // the bound is a first operand, which is no address
    for (const cpu::emit::Part::Task& task : read.body.tasks) {
        for (std::int32_t operand : {task.second, task.third}) {
            if (operand < 0) continue;
            EXPECT_EQ(read.code.line(operand).op, VectorOp::constant);
            for (auto [line, place] : read.pinned) EXPECT_NE(line, operand) << "it has register " << place;
        }
    }
}

// Of rows that are long: where all lanes are summed in registers, six are left for values, and none for constants.
TEST(KernelPlan, sums_of_long_functions_lie_in_the_frame) {
    auto plan = [](DType dtype, Reduction reduction, bool long_rows, bool much) {
        ProgramBuilder builder;
        Scalar x = builder.input(dtype), made = much ? exp_raised(x) : x * 2;
        builder.output(made);
        builder.output(made);
        StreamKind read{.memory = dtype, .mode = Mode::contiguous};
        StreamKind stores[] = {read, {.memory = dtype, .mode = Mode::folded, .reduction = reduction}};
        auto code = lower(builder.take(), {&read, 1}, stores, cpu::Isa::avx2);
        PlanOptions options = few_registers(true);
        options.long_rows = long_rows;
        return plan_kernel(std::move(*code), options);
    };
    KernelPlan kept = *plan(DType::float32, Reduction::sum, false, true),
               waiting = *plan(DType::float32, Reduction::sum, true, true);
    EXPECT_FALSE(kept.sums_in_frame);
    EXPECT_TRUE(waiting.sums_in_frame);
    EXPECT_EQ(waiting.unroll, kept.unroll);  // lanes are summed in the same order
    EXPECT_GT(waiting.pinned.size(), kept.pinned.size());
    EXPECT_FALSE(plan(DType::float32, Reduction::maximum, true, true)->sums_in_frame);
    EXPECT_FALSE(plan(DType::float32, Reduction::sum, true, false)->sums_in_frame);
    // Of doubles there are 16 sums.
    EXPECT_FALSE(plan(DType::float64, Reduction::sum, false, true));
    EXPECT_TRUE(plan(DType::float64, Reduction::sum, true, true));
}

// Without an instruction for it e^x ends by 2^n in six lines, of an x that is not above 0 by three, or two where
// what is computed may be larger; a double's in eight.
TEST(KernelPlan, powers_of_two_are_made_of_the_bits_that_rounding_leaves) {
    auto lines = [](DType dtype, auto function) {
        ProgramBuilder builder;
        builder.output(function(builder.input(dtype)));
        StreamKind contiguous{.memory = dtype, .mode = Mode::contiguous};
        auto code = lower(builder.take(), {&contiguous, 1}, {&contiguous, 1}, cpu::Isa::avx2);
        return std::count_if(code->order.begin(), code->order.end(),
                             [&](std::int32_t number) { return code->line(number).op != VectorOp::constant; });
    };
    auto plain = [](Scalar x) { return exp(x); };
    auto falling = [](Scalar x) { return exp_of_negative(x); };
    auto raised = [](Scalar x) { return exp_raised(x); };
    // A load and a store, two bounds, n and r by four, e^r - 1 by six.
    EXPECT_EQ(lines(DType::float32, plain), 2 + 2 + 4 + 6 + 6);
    EXPECT_EQ(lines(DType::float32, falling), 2 + 1 + 4 + 6 + 3);
    EXPECT_EQ(lines(DType::float32, raised), 2 + 1 + 4 + 6 + 2);
    EXPECT_EQ(lines(DType::float64, plain) - lines(DType::float64, falling), 1 + 8 - 3);
}

TEST(KernelPlan, so_are_numbers_of_a_row_but_where_they_are_made) {
    ProgramBuilder builder;
    Scalar x = builder.input(DType::float32), top = builder.input(DType::float32);
    builder.output(exp(x - top) * (top + top * top));
    StreamKind loads[] = {{.memory = DType::float32, .mode = Mode::contiguous},
                          {.memory = DType::float32, .mode = Mode::uniform}};
    StreamKind sum{.memory = DType::float32, .mode = Mode::folded, .reduction = Reduction::sum};
    auto code = lower(builder.take(), loads, {&sum, 1}, cpu::Isa::avx2);
    KernelPlan plan = *plan_kernel(std::move(*code), few_registers(true));
    auto of_row = [&](const cpu::emit::Part& part) {
        return std::count_if(part.tasks.begin(), part.tasks.end(), [&](const cpu::emit::Part::Task& task) {
            return task.second >= 0 && plan.code.line(task.second).op != VectorOp::constant;
        });
    };
    EXPECT_EQ(of_row(plan.body), 2 * plan.unroll);  // a difference and a product of each vector
    EXPECT_EQ(of_row(plan.row), 0);                 // where `top` has a register
}

TEST(Lowering, the_magnitude_of_a_negative_is_one_line_and_so_is_its_negative) {
    auto lines = [](auto expression) {
        ProgramBuilder builder;
        builder.output(expression(builder.input(DType::float32)));
        StreamKind contiguous{.memory = DType::float32, .mode = Mode::contiguous};
        return lower(builder.take(), {&contiguous, 1}, {&contiguous, 1}, cpu::best_isa())->order.size();
    };
    std::size_t one = lines([](Scalar x) { return -x; });
    EXPECT_EQ(lines([](Scalar x) { return -abs(x); }), one);
    EXPECT_EQ(lines([](Scalar x) { return abs(-abs(x)); }), one);
}

TEST(Lowering, a_sigmoid_beside_that_of_the_negative_shares_its_exponential) {
    EXPECT_LT(lines_of({1, -1}), lines_of({1}) + 8);  // a negation, a choice, a quotient, what is stored
    EXPECT_GT(lines_of({1}), 16u);
}

TEST(Registers, random_code_in_few_registers_is_allocated_soundly) {
    int spills = 0;
    for (unsigned seed = 0; seed < 500; ++seed) {
        Code code = random_code(seed, seed % 2);
        Allocation allocation = allocate(code.demands, code.values, code.registers);
        spills += allocation.spills;
        EXPECT_NO_THROW(verify(allocation, code.demands, code.values, code.registers)) << "seed " << seed;
    }
    EXPECT_GT(spills, 1000);
}

TEST(Registers, the_verifier_finds_a_result_that_overwrites_a_live_value) {
    int found = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        Code code = random_code(seed, false);
        Allocation allocation = allocate(code.demands, code.values, code.registers);
        for (Movement& movement : allocation.movements) {
            bool vector =
                movement.kind == Movement::Kind::perform && movement.to >= 0 &&
                code.values[static_cast<std::size_t>(code.demands[static_cast<std::size_t>(movement.what)].gives)]
                        .bank == Bank::vectors;
            if (vector) movement.to = 5;  // the pinned one
        }
        try {
            verify(allocation, code.demands, code.values, code.registers);
        } catch (const InternalError&) {
            ++found;
        }
    }
    EXPECT_EQ(found, 100);
}

TEST(Registers, the_verifier_finds_a_place_in_memory_used_too_early) {
    int planted = 0, found = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        Code code = random_code(seed, true);
        Allocation allocation = allocate(code.demands, code.values, code.registers);
        if (allocation.slots < 2) continue;
        for (Movement& movement : allocation.movements)
            if (movement.slot >= 0) movement.slot = 0;
        ++planted;
        try {
            verify(allocation, code.demands, code.values, code.registers);
        } catch (const InternalError&) {
            ++found;
        }
    }
    EXPECT_GT(planted, 100);
    EXPECT_GT(found, planted * 9 / 10);  // where no value is needed after another took its place, nothing is wrong
}

}  // namespace
}  // namespace weft
