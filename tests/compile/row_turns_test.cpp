// Parts of a block of rows in turns of a few rows: whose rows come when, and that the bits are those of one part after the other.
#include "weft/compile/row_turns.h"

#include <gtest/gtest.h>

#include "compile/programs.h"
#include "weft/autodiff/derivative.h"
#include "weft/backend/cpu/isa.h"
#include "weft/base/thread_pool.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

/// Writes down which rows it was asked for, from its operand on.
class Recorder final : public Kernel {
  public:
    Recorder(char name, std::string& said, std::size_t bytes = sizeof(Cursor))
        : name_(name), said_(said), bytes_(bytes) {}
    void run(void* const*, std::byte*) const override { said_ += "run"; }
    std::string_view by() const override { return "a test"; }
    std::size_t cursor_bytes(std::int64_t, std::int64_t step) const override { return step == 8 ? bytes_ : 0; }
    void start_rows(std::int64_t, std::int64_t first, void* const* operands, std::byte* cursor) const override {
        new (cursor) Cursor{{next_rows}, this, reinterpret_cast<std::intptr_t>(operands[0]) + first};
    }

  private:
    struct Cursor : RowCursor {
        const Recorder* of;
        std::intptr_t row;
    };
    static void next_rows(RowCursor& cursor, std::int64_t count) {
        auto& at = static_cast<Cursor&>(cursor);
        at.of->said_ += text(at.of->name_, at.row, '+', count, ' ');
        at.row += count;
    }

    char name_;
    std::string& said_;
    std::size_t bytes_;
};

/// Parts over one array, of rows of so many bytes.
std::vector<RowPart> parts_of(std::size_t count, double points, std::size_t bytes) {
    std::vector<RowPart> parts(count);
    for (RowPart& part : parts)
        part.points = points, part.bytes = static_cast<double>(bytes), part.operands = {{0, {8}, 0, bytes}};
    return parts;
}

RowTurns turns_of(const std::vector<RowPart>& parts, const std::vector<const Kernel*>& kernels, std::int64_t rows) {
    return RowTurns(parts, kernels, rows, turn_of(parts, rows, rows, false).rows);
}

/// Turns of ten rows of such parts.
RowTurns turns_of(const std::vector<const Kernel*>& kernels, double points, std::size_t bytes, std::int64_t rows = 10) {
    return turns_of(parts_of(kernels.size(), points, bytes), kernels, rows);
}

/// What the parts write down, of which each has its operand at a hundred times its number, from one on.
std::string said_by(const RowTurns& turns, std::string& said) {
    std::vector<std::byte> cursors(turns.bytes());
    void* operand = nullptr;
    turns.run(cursors.data(), [&](std::size_t part) {
        operand = reinterpret_cast<void*>(100 * (part + 1));
        return &operand;
    });
    return said;
}

TEST(RowTurns, each_part_makes_a_few_rows_before_the_next_does) {
    std::string said;
    Recorder a('a', said), b('b', said);
    RowTurns turns = turns_of({&a, &b}, 1000, 6 << 10);
    ASSERT_TRUE(turns);
    EXPECT_EQ(said_by(turns, said), "a100+4 b200+4 a104+4 b204+4 a108+2 b208+2 ");
}

TEST(RowTurns, of_several_arrays_have_fewer_rows) {
    std::string said;
    Recorder a('a', said), b('b', said);
    std::vector<RowPart> parts = parts_of(2, 1000, 3 << 10);
    parts[1].operands.insert(parts[1].operands.begin(), {1, {8}, 0, 3 << 10});
    EXPECT_EQ(said_by(turns_of(parts, {&a, &b}, 8), said), "a100+4 b200+4 a104+4 b204+4 ");
}

TEST(RowTurns, what_all_rows_read_is_made_before_them) {
    std::string said;
    Recorder a('a', said), size('s', said, 0), b('b', said);
    std::vector<RowPart> parts = parts_of(3, 1000, 12 << 10);
    parts[1].once = true, parts[1].points = parts[1].bytes = 0;
    RowTurns turns = turns_of(parts, {&a, &size, &b}, 4);
    EXPECT_EQ(turns.before(), std::vector<std::size_t>{1});
    EXPECT_EQ(said_by(turns, said), "a100+2 b300+2 a102+2 b302+2 ");
    EXPECT_FALSE(turns_of({parts[0], parts[1]}, {&a, &size}, 4));
}

// The last part of a turn is done with the first of the next; what is left at the end is no whole turn.
TEST(RowTurns, may_end_beside_the_next) {
    auto said = [](std::size_t parts, std::int64_t rows) {
        std::string said;
        Recorder a('a', said), b('b', said), c('c', said), beside('&', said), none('n', said, 0);
        std::vector<const Kernel*> kernels{&a, &b, &c};
        kernels.erase(kernels.begin() + 1, kernels.end() - static_cast<std::ptrdiff_t>(parts) + 1);
        RowTurns turns(parts_of(parts, 1000, 6 << 10), kernels, rows, 4, &beside);
        EXPECT_EQ(said_by(RowTurns(parts_of(parts, 1000, 6 << 10), kernels, 8, 4, &none), said).find('n'), said.npos);
        said.clear();
        return said_by(turns, said);
    };
    // The first part's operand lies at 100, beside's at 0 (the number before the first).
    EXPECT_EQ(said(3, 8), "a100+4 b200+4 &4+4 b204+4 c304+4 ");
    EXPECT_EQ(said(2, 12), "a100+4 &4+4 &8+4 c208+4 ");
    EXPECT_EQ(said(2, 10), "a100+4 &4+4 c204+4 a108+2 c208+2 ");
    EXPECT_EQ(said(3, 5), "a100+4 b200+4 c300+4 a104+1 b204+1 c304+1 ");
}

TEST(RowTurns, are_not_for_what_cannot_or_what_does_not_gain) {
    std::string said;
    Recorder a('a', said), b('b', said), whole('c', said, 0);
    EXPECT_FALSE(turns_of({&a, &whole}, 1000, 6 << 10));
    EXPECT_FALSE(turns_of({&a}, 1000, 6 << 10));
    EXPECT_FALSE(turns_of({&a, &b}, 1000, 6 << 10, 4));  // one turn
    EXPECT_FALSE(turns_of({&a, &b}, 200, 6 << 10));      // of few points
    EXPECT_FALSE(turns_of({&a, &b}, 1000, 150 << 10));   // of long rows
    std::vector<RowPart> parts = parts_of(2, 1000, 6 << 10);
    ASSERT_TRUE(turns_of(parts, {&a, &b}, 10));
    parts[1].points = 1;
    EXPECT_FALSE(turns_of(parts, {&a, &b}, 10));  // which come to numbers
    parts[0].points = 0, parts[1].points = 1000;
    EXPECT_FALSE(turns_of(parts, {&a, &b}, 10));  // of no elements
    parts[0].points = 1000, parts[0].least_rows = 1;
    EXPECT_EQ(turn_of(parts, 10, 10, true).rows, 0);  // a product
}

// Two turns fit a first-level cache of 48 KB, and have a thousand points at least; of what does not come from far, or is not asked for, one.
TEST(RowTurns, of_rows_from_far_are_short) {
    auto turn = [](double points, std::size_t bytes, std::int64_t rows, bool fetched = true) {
        return turn_of(parts_of(2, points, bytes), 100, rows, fetched);
    };
    EXPECT_EQ(turn(1000, 6 << 10, 10'000).rows, 2);
    EXPECT_TRUE(turn(1000, 6 << 10, 10'000).soon);
    EXPECT_EQ(turn(256, 1 << 10, 10'000).rows, 12);
    EXPECT_EQ(turn(50, 1 << 10, 10'000).rows, 21);  // of a thousand points
    EXPECT_EQ(turn(1000, 6 << 10, 100).rows, 4);
    EXPECT_FALSE(turn(1000, 6 << 10, 100).soon);
    EXPECT_EQ(turn(1000, 6 << 10, 10'000, false).rows, 4);
    EXPECT_FALSE(turn(1000, 6 << 10, 10'000, false).soon);
    EXPECT_EQ(turn(4000, 16 << 10, 10'000).rows, 2);  // long rows
    EXPECT_FALSE(turn(4000, 16 << 10, 10'000).soon);
    EXPECT_EQ(turn(4000, 60 << 10, 10'000).rows, 1);  // more than a first-level cache has room for
    EXPECT_EQ(turn(4000, 60 << 10, 10'000, false).rows, 0);
    EXPECT_EQ(turn(4000, 40 << 10, 10'000, false).rows, 1);
}

// Two turns fit a first-level cache of 32 KB.
TEST(RowTurns, that_end_beside_the_next_are_short) {
    auto turn = [](std::size_t parts, double points, std::size_t bytes, std::int64_t rows, bool past = false) {
        return turn_beside(parts_of(parts, points, bytes), 100, rows, past);
    };
    EXPECT_EQ(turn(3, 1000, 8 << 10, 500).rows, 2);
    EXPECT_TRUE(turn(3, 1000, 8 << 10, 500).beside);
    EXPECT_EQ(turn(2, 100, 1 << 10, 500).rows, 12);
    EXPECT_EQ(turn(2, 3000, 13 << 10, 500).rows, 1);
    EXPECT_EQ(turn(2, 3000, 15 << 10, 500).rows, 0);    // of long rows
    EXPECT_EQ(turn(4, 1000, 8 << 10, 500).rows, 0);     // of many parts
    EXPECT_EQ(turn(3, 60, 1 << 10, 500).rows, 0);       // of short rows
    EXPECT_EQ(turn(2, 50, 100, 500).rows, 0);           // no more than one turn
    EXPECT_EQ(turn(3, 1000, 8 << 10, 10'000).rows, 0);  // memory is waited for
    EXPECT_EQ(turn(3, 1000, 8 << 10, 10'000, true).rows, 2);
    std::vector<RowPart> parts = parts_of(3, 1000, 8 << 10);
    parts[1].stores_much = true;
    EXPECT_EQ(turn_beside(parts, 100, 10'000, false).rows, 2);
    EXPECT_EQ(turn_of(parts, 100, 100, false).rows, 0);
    EXPECT_EQ(turn_of(parts, 100, 100, true).rows, 3);
    parts[2].least_rows = 1;
    EXPECT_EQ(turn_beside(parts, 100, 500, false).rows, 0);  // a product
    parts[2].least_rows = 0, parts[0].once = true, parts[0].points = 0;
    EXPECT_EQ(turn_beside(parts, 100, 500, false).rows, 2);
}

Tensor log_softmax_of(const Tensor& x) {
    Tensor moved = x - max(x, -1, true);
    return moved - log(sum(exp(moved), -1, true));
}

TEST(RowTurns, bits_are_those_of_one_part_after_the_other) {
    for (const Dims& dims : {Dims{100, 1024}, Dims{517, 300}, Dims{2001, 130}, Dims{61, 4097}, Dims{3, 333, 257},
                             Dims{1300, 1000}, Dims{9, 50001}}) {
        expect_bits_in_blocks({softmax(numbers("rows", dims))});
        expect_bits_in_blocks({log_softmax_of(numbers("logarithms", dims))});
        expect_bits_in_blocks({softmax(numbers("doubles", dims, DType::float64))});
        if (HasFailure()) return;
    }
}

/// (x - mean) / deviation, as the parts of a layer norm are.
Tensor centred(const Tensor& x) {
    Tensor moved = x - mean(x, -1, true);
    return moved * rsqrt(mean(square(moved), -1, true) + 1e-5f);
}

// Of which the number of a row's elements is a part that is made once in a block.
TEST(RowTurns, numbers_that_all_rows_read) {
    for (const Dims& dims : {Dims{100, 1024}, Dims{517, 300}, Dims{2001, 130}, Dims{61, 4097}, Dims{3, 333, 257},
                             Dims{1300, 1000}, Dims{9, 50001}}) {
        Tensor x = numbers("centred", dims), weight = numbers("weight", {dims.back()});
        expect_bits_in_blocks({centred(x) * weight + weight});
        expect_bits_in_blocks({centred(x) * exp(weight), mean(x, -1)});
        expect_bits_in_blocks({softmax(centred(x) / mean(weight))});
        expect_bits_in_blocks({centred(softmax(x) + softmax(exp(x)))});  // whose number is made where others have died
        expect_bits_in_blocks({gradient(sum(centred(x) * exp(x)), x)});
        if (HasFailure()) return;
    }
}

// Blocks of as many rows as a row has elements: what is a row's step and what a column's is not told by sizes.
TEST(RowTurns, rows_that_lie_across_memory) {
    for (std::int64_t length : {128, 181, 182, 256}) {
        for (std::int64_t rows : {4 * length, 8 * length}) {
            Tensor turned = matrix_transpose(numbers("turned", {length, rows})),
                   plain = numbers("plain", {rows, length});
            expect_bits_in_blocks({softmax(turned)});
            expect_bits_in_blocks({softmax(turned + plain), softmax(plain)});
            expect_bits_in_blocks({matrix_transpose(softmax(turned))});
            Tensor e = exp(plain - max(plain, 1, true)), total = sum(e, 1, true);
            expect_bits_in_blocks({matrix_transpose(e / total + turned), turned * total - square(turned)});
            if (HasFailure()) return;
        }
    }
}

TEST(RowTurns, what_the_rows_come_to_is_stored_as_well) {
    Tensor x = numbers("more", {301, 700}), weights = exp(x - max(x, 1, true));
    expect_bits_in_blocks({weights / sum(weights, 1, true), sum(weights, 1), max(x, 1)});
    Tensor squares = square(x), norm = sqrt(sum(squares, 1, true) + 1.f);
    expect_bits_in_blocks({squares / norm, exp(x) * norm});
}

TEST(RowTurns, numbers_that_are_none) { expect_bits_in_blocks({softmax(rows_with_none(300, 500))}); }

}  // namespace
}  // namespace weft
