// What a product of a step of rows is told of the loops behind it: what they read of the block, from far and in one piece.
#include "weft/compile/row_ahead.h"

#include <gtest/gtest.h>

#include "weft/base/thread_pool.h"

namespace weft {
namespace {

constexpr std::int32_t outside = 10;

RowOperand read(std::int32_t number, std::size_t bytes) { return {number, {static_cast<std::int64_t>(bytes)}, bytes}; }

RowPart loop(std::vector<RowOperand> operands) {
    RowPart part;
    part.operands = std::move(operands);
    return part;
}
/// Of these operands.
RowPart product(const std::vector<std::int32_t>& numbers) {
    RowPart part;
    for (std::int32_t number : numbers) part.operands.push_back({number, {0}});
    part.least_rows = 1;
    return part;
}

std::vector<std::int32_t> numbers_ahead(std::vector<RowPart> parts, std::size_t part = 0, const Dims& block = {4}) {
    RowGroup group{std::move(parts), {100}, outside, {}};
    std::vector<std::int32_t> found;
    for (const RowOperand& operand : reads_ahead(group, part, block.size() - 1, block)) found.push_back(operand.number);
    return found;
}

using PartNumbers = std::vector<std::int32_t>;

TEST(RowAhead, names_what_the_loops_behind_a_product_read) {
    EXPECT_EQ(numbers_ahead({product({0, 1, outside}), loop({read(2, 64), read(3, 64)}), loop({read(4, 64)})}),
              (PartNumbers{2, 3, 4}));
}

TEST(RowAhead, names_nothing_for_a_loop_and_nothing_beyond_the_next_product) {
    std::vector<RowPart> parts{loop({read(1, 64)}), product({2}), loop({read(3, 64)}), product({4}),
                               loop({read(5, 64)})};
    EXPECT_EQ(numbers_ahead(parts, 0), PartNumbers{});
    EXPECT_EQ(numbers_ahead(parts, 1), PartNumbers{3});
    EXPECT_EQ(numbers_ahead(parts, 3), PartNumbers{5});
}

TEST(RowAhead, leaves_out_what_is_near_already) {
    EXPECT_EQ(numbers_ahead({loop({read(1, 64)}), product({0, 2}), loop({read(0, 64), read(1, 64), read(2, 64)})}, 1),
              PartNumbers{});
    EXPECT_EQ(numbers_ahead({product({0}), loop({read(outside + 1, 64)})}), PartNumbers{});           // lives inside
    EXPECT_EQ(numbers_ahead({product({0}), loop({{3, {64}}}), loop({read(3, 64)})}), PartNumbers{});  // stored before
    EXPECT_EQ(numbers_ahead({product({0}), loop({read(3, 64)}), loop({read(3, 64)})}), PartNumbers{3});  // once
}

TEST(RowAhead, leaves_out_what_does_not_lie_in_one_piece) {
    RowOperand gaps = read(1, 64), same = read(2, 64), scattered = read(3, 0);
    gaps.strides = {100}, same.strides = {0}, scattered.strides = {64};
    EXPECT_EQ(numbers_ahead({product({0}), loop({gaps, same, scattered, read(4, 64)})}), PartNumbers{4});
    RowOperand image{1, {1 << 12, 3 * 64, 64}, 64};
    auto of = [&](const Dims& block) { return numbers_ahead({product({0}), loop({image})}, 0, block); };
    EXPECT_EQ(of({1, 2, 3}), PartNumbers{1});
    image.strides[1] = 4 * 64;
    EXPECT_EQ(of({1, 1, 3}), PartNumbers{1});
}

TEST(RowAhead, takes_few_and_not_much) {
    EXPECT_EQ(numbers_ahead({product({0}), loop({read(1, 1 << 15), read(2, 1 << 16), read(3, 1)})}), PartNumbers{1});
    std::vector<RowOperand> many;
    for (std::int32_t number = 1; number < outside; ++number) many.push_back(read(number, 4));
    EXPECT_EQ(numbers_ahead({product({0}), loop(many)}).size(), 8u);
}

// A kernel that writes down what it is told.
struct Told {
    std::vector<std::size_t> ahead;
    std::vector<std::pair<const void*, std::size_t>> pieces;
};
class Listener final : public Kernel {
  public:
    Listener(Told& told, std::size_t operands, std::vector<std::size_t> ahead)
        : told_(told), operands_(operands), ahead_(std::move(ahead)) {}
    void run(void* const* operands, std::byte*) const override {
        for (std::size_t i = 0; i < ahead_.size(); ++i)
            told_.pieces.emplace_back(operands[operands_ + 1 + i], ahead_[i]);
    }
    std::string_view by() const override { return "listener"; }

  private:
    Told& told_;
    std::size_t operands_;
    std::vector<std::size_t> ahead_;
};

TEST(RowAhead, blocks_are_handed_each_piece_once_and_the_last_its_rest) {
    constexpr std::int64_t rows = 1000;
    constexpr std::size_t of_row = 40;
    Told told, other;
    auto part = [](Told& told, std::vector<RowOperand> operands, std::int64_t least) {
        RowPart part = loop(operands);
        part.points = 1 << 20, part.bytes = 1 << 10, part.least_rows = least;
        part.make = [&told, count = operands.size()](const Dims&, const KernelUse& use) {
            return std::make_unique<Listener>(told, count, use.ahead);
        };
        return part;
    };
    std::vector<std::byte> memory(rows * of_row);
    RowGroup group{{part(told, {{0, {0}}}, 96), part(other, {read(1, of_row)}, 0)}, {rows}, 2, {}};
    auto kernel = row_blocks(group);
    std::vector<std::byte> scratch(kernel->scratch_bytes() + 64);
    auto aligned = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
    void* operands[] = {nullptr, memory.data()};
    int threads = ThreadPool::instance().threads();
    ThreadPool::instance().set_threads(1);
    kernel->run(operands, aligned);
    ThreadPool::instance().set_threads(threads);
    ASSERT_GT(told.pieces.size(), 1u);
    EXPECT_TRUE(other.pieces.empty());
    const std::byte* at = memory.data();
    for (auto [from, bytes] : told.pieces) {
        EXPECT_EQ(from, at);
        at += bytes;
    }
    EXPECT_EQ(at, memory.data() + memory.size());
}

}  // namespace
}  // namespace weft
