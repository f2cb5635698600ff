// Products by blocks and by slabs of b: each element is one chain, however blocks, pairs of panels and rows end; and which products are made so.
#include "weft/backend/cpu/block_gemm.h"

#include "backend/gemm_cases.h"
#include "weft/backend/cpu/gemm_choices.h"
#include "weft/backend/cpu/slab_gemm.h"

namespace weft::cpu {
namespace {

template <class T>
struct BlockCase {
    BlockCase(const Sizes& s, OperandLayout of_a, OperandLayout of_b)
        : sizes(s), a(s.m, s.k, of_a, 3), b(s.k, s.n, of_b, 4) {
        for (std::int64_t j = 0; j < s.n; ++j) bias.push_back(static_cast<T>(j % 7) - T(3));
    }
    GemmProblem<T> problem(std::vector<T>& c, bool more) const {
        GemmProblem<T> p{.m = sizes.m, .n = sizes.n, .k = sizes.k};
        p.a = static_cast<const T*>(a.matrix.data), p.a_row = a.matrix.row_stride, p.a_column = a.matrix.column_stride;
        p.b = static_cast<const T*>(b.matrix.data), p.b_row = b.matrix.row_stride, p.b_column = b.matrix.column_stride;
        p.c = c.data(), p.c_row = sizes.n + 3;
        p.accumulate = more, p.relu = more, p.bias = more ? bias.data() : nullptr;
        return p;
    }
    /// Rows end with three numbers that are nobody's.
    std::vector<T> nothing() const {
        return std::vector<T>(static_cast<std::size_t>(sizes.m * (sizes.n + 3)), T(0.25));
    }
    std::vector<T> expected(bool more) const {
        std::vector<T> c = nothing();
        GemmProblem<T> p = problem(c, more);
        for (std::int64_t i = 0; i < p.m; ++i)
            for (std::int64_t j = 0; j < p.n; ++j) {
                T& to = p.c[i * p.c_row + j];
                to = chain_of(p.a + i * p.a_row, p.a_column, p.b + j * p.b_column, p.b_row, p.k, more ? to : T(0));
                if (more) to = std::max(T(0), to + p.bias[j]);
            }
        return c;
    }
    Sizes sizes;
    Sample<T> a, b;
    std::vector<T> bias;
};

template <class T>
void check(void (&multiply)(const GemmProblem<T>&), const Sizes& s, OperandLayout of_a, OperandLayout of_b) {
    BlockCase<T> sample(s, of_a, of_b);
    for (bool more : {false, true}) {
        std::vector<T> expected = sample.expected(more);
        for (int threads : {1, 2}) {
            Threads several(threads);
            for (Isa isa : usable_isas()) {
                InstructionSet guard(isa);
                std::vector<T> c = sample.nothing();
                multiply(sample.problem(c, more));
                ASSERT_TRUE(same_bits(c, expected)) << name_of(isa) << ", " << s.m << "x" << s.n << "x" << s.k;
            }
        }
    }
}

// One block and several, of whole pairs of panels, one more panel, one more column; tiles too low for pairs; one piece of k and three.
TEST(BlockGemm, products_are_chains) {
    for (Sizes s : {Sizes{13, 64, 40}, Sizes{7, 257, 30}, Sizes{25, 300, 530}, Sizes{18, 97, 1100}, Sizes{1, 70, 9},
                    Sizes{2, 33, 600}, Sizes{530, 290, 12}})
        for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::reversed})
            for (OperandLayout of_b : {OperandLayout::rows, OperandLayout::columns, OperandLayout::reversed}) {
                check<float>(block_gemm, s, of_a, of_b);
                check<double>(block_gemm, s, of_a, of_b);
            }
}

// One slab and several, in either direction; the last panel of few columns; blocks of rows of which the next is asked for, and one row.
TEST(SlabGemm, products_are_chains) {
    for (Sizes s : {Sizes{13, 64, 40}, Sizes{60, 1100, 20}, Sizes{100, 33, 1100}, Sizes{1, 70, 9}, Sizes{530, 40, 12},
                    Sizes{7, 2100, 30}, Sizes{51, 20, 2100}, Sizes{70, 48, 1024}})
        for (OperandLayout of_a : {OperandLayout::rows, OperandLayout::columns, OperandLayout::reversed})
            for (OperandLayout of_b : {OperandLayout::rows, OperandLayout::columns, OperandLayout::reversed})
                check(slab_gemm, s, of_a, of_b);
}

template <class T>
GemmProblem<T> problem_of(std::int64_t m, std::int64_t n, std::int64_t k, bool a_turned, bool b_turned) {
    GemmProblem<T> p{.m = m, .n = n, .k = k};
    p.a_row = a_turned ? 1 : k, p.a_column = a_turned ? m : 1;
    p.b_row = b_turned ? 1 : n, p.b_column = b_turned ? k : 1;
    return p;
}
template <class T>
bool taken(std::int64_t m, std::int64_t n, std::int64_t k, bool a_turned = false, bool b_turned = false) {
    return takes_blocks(problem_of<T>(m, n, k, a_turned, b_turned));
}

TEST(BlockGemm, is_for_large_products_whose_rows_lie_in_one_piece) {
    for (Isa isa : usable_isas()) {
        InstructionSet one(isa);
        bool pairs = own::pairs_panels(own::kernels<float>(), 1024);
        EXPECT_EQ(taken<float>(1024, 1024, 1024), pairs);
        EXPECT_EQ(taken<float>(1024, 1024, 1024, false, true), pairs);
        EXPECT_EQ(taken<double>(1024, 1024, 512), pairs);
        EXPECT_EQ(taken<float>(1024, 4096, 200), pairs);
        EXPECT_FALSE(taken<float>(1024, 1024, 1024, true));
        EXPECT_FALSE(taken<float>(1024, 1024, 200));
        EXPECT_FALSE(taken<float>(1000, 1000, 1000));
        EXPECT_FALSE(taken<float>(512, 512, 512));
        EXPECT_FALSE(taken<float>(128, 4096, 4096));
        EXPECT_FALSE(taken<float>(4096, 128, 4096));
        EXPECT_EQ(taken<float>(256, 260, 8192, false, true), pairs);
        EXPECT_FALSE(taken<float>(200, 256, 8192, false, true));  // a sum in pieces
        // Kept copies serve few rows better, which are whole without one.
        const Matrix rows{nullptr, 2048, 1}, turned{nullptr, 1, 2048};
        bool whole = gemm_as_a_whole(DType::float32, 256, 2048, 2048, rows, turned);
        EXPECT_EQ(whole, taken<float>(256, 2048, 2048, false, true));
        EXPECT_EQ(gemm_packed_bytes(DType::float32, 256, 2048, 2048, rows, turned) == 0, whole);
        EXPECT_GT(gemm_packed_bytes(DType::float32, 256, 2048, 2048, rows, turned, true), 0u);
    }
    GemmProblem<float> packed{.m = 1024, .n = 1024, .k = 1024};
    float number = 0;
    packed.a_row = packed.b_row = 1024, packed.a_column = packed.b_column = 1, packed.packed_b = &number;
    EXPECT_FALSE(takes_blocks(packed));
    EXPECT_FALSE(takes_slabs(packed));
}

TEST(SlabGemm, is_for_large_products_where_vectors_have_16_registers) {
    for (Isa isa : usable_isas()) {
        InstructionSet one(isa);
        auto slabs = [](std::int64_t m, std::int64_t n, std::int64_t k, bool a_turned = false, bool b_turned = false) {
            return takes_slabs(problem_of<float>(m, n, k, a_turned, b_turned));
        };
        bool fours = isa == Isa::avx2;
        EXPECT_EQ(slabs(1024, 1024, 1024), fours);
        EXPECT_EQ(slabs(1024, 1024, 1024, true, false), fours);
        EXPECT_EQ(slabs(512, 2048, 320, false, true), fours);
        EXPECT_FALSE(slabs(512, 512, 512));
        EXPECT_FALSE(slabs(128, 4096, 4096));
        EXPECT_FALSE(slabs(4096, 4096, 128));  // sums so short take less as they are
        EXPECT_FALSE(slabs(512, 128, 4096));   // a sum in pieces
        const Matrix rows{nullptr, 1024, 1};
        EXPECT_TRUE(!fours || gemm_as_a_whole(DType::float32, 1024, 1024, 1024, rows, rows));
    }
}

}  // namespace
}  // namespace weft::cpu
