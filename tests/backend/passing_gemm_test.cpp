// Products whose first matrix passes once, tile after tile of its rows by all of b, as where vectors are computed as two halves: every element is
// one chain of multiply-adds in the order of k all the same, for rows of a that lie anyhow, for all b that is read in place or packed before.
#include "backend/gemm_cases.h"

namespace weft::cpu {
namespace {

struct Halves {
    Halves() { use_halves(true); }
    ~Halves() { use_halves(before); }
    bool before = computes_in_halves();
};

struct PassingSizes {
    std::int64_t m, n, k;
    bool turned;       // columns of a lie in one piece
    std::int64_t gap;  // from the end of one such piece to the next
};

template <class T>
std::vector<T> random_numbers(std::int64_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<T> numbers(static_cast<std::size_t>(count));
    for (T& number : numbers) number = static_cast<T>(uniform(generator));
    return numbers;
}

template <class T>
void check_passing(const PassingSizes& s, bool packs, bool turned_b = false) {
    ASSERT_EQ(own_gemm_pieces(s.m, s.n, s.k), 1);
    std::int64_t apart = (s.turned ? s.m : s.k) + s.gap;
    std::vector<T> a = random_numbers<T>(apart * (s.turned ? s.k : s.m), 1), b = random_numbers<T>(s.k * s.n, 2);
    Matrix left{a.data(), s.turned ? 1 : apart, s.turned ? apart : 1},
        right{b.data(), turned_b ? 1 : s.n, turned_b ? s.k : 1};
    std::vector<T> expected(static_cast<std::size_t>(s.m * s.n), T(0.5));
    for (std::int64_t i = 0; i < s.m; ++i)
        for (std::int64_t k = 0; k < s.k; ++k)
            for (std::int64_t j = 0; j < s.n; ++j) {
                T& sum = expected[static_cast<std::size_t>(i * s.n + j)];
                sum = std::fma(a[static_cast<std::size_t>(i * left.row_stride + k * left.column_stride)],
                               b[static_cast<std::size_t>(k * right.row_stride + j * right.column_stride)], sum);
            }
    std::vector<T> packed(static_cast<std::size_t>(own_gemm_packed<T>(s.n, s.k)));
    if (packs) gemm_pack(dtype_of<T>, s.n, s.k, right, packed.data()), right.packed = packed.data();
    for (int threads : {1, 2, 5}) {
        Threads guard(threads);
        std::vector<T> c(expected.size(), T(0.5));
        gemm(dtype_of<T>, s.m, s.n, s.k, left, right, c.data(), s.n, true);
        EXPECT_EQ(std::memcmp(c.data(), expected.data(), c.size() * sizeof(T)), 0)
            << s.m << "x" << s.n << "x" << s.k << (s.turned ? " turned, " : ", ") << s.gap << " between, " << threads
            << " threads, " << name_of(best_isa());
    }
}

TEST(PassingGemm, sums_each_element_in_the_order_of_k) {
    Halves guard;
    for (Isa isa : usable_isas()) {
        InstructionSet use(isa);
        for (const PassingSizes& s : {PassingSizes{50, 128, 512, false, 0}, PassingSizes{50, 128, 512, true, 0},
                                      PassingSizes{61, 70, 700, true, 3}, PassingSizes{61, 70, 700, false, 3},
                                      PassingSizes{61, 70, 100, false, 300}, PassingSizes{64, 65, 100, true, 960},
                                      PassingSizes{9, 600, 530, true, 0}, PassingSizes{9, 600, 530, false, 494},
                                      PassingSizes{5, 70, 800, true, 0}})
            for (bool packs : {false, true}) check_passing<float>(s, packs), check_passing<double>(s, packs);
    }
}

// Of few columns those of rows that come from beyond the second-level cache, on what is no Zen: in one piece of k, in two, and half a panel or two.
TEST(PassingGemm, few_columns_are_sums_in_the_order_of_k) {
    for (Isa isa : usable_isas()) {
        InstructionSet use(isa);
        for (const PassingSizes& s : {PassingSizes{300, 10, 600, false, 0}, PassingSizes{301, 16, 600, false, 3},
                                      PassingSizes{2100, 7, 64, false, 0}, PassingSizes{540, 5, 2060, false, 0},
                                      PassingSizes{130, 40, 1030, false, 2}, PassingSizes{300, 9, 1024, false, 0},
                                      PassingSizes{700, 12, 150, false, 150}}) {
            for (bool packs : {false, true}) check_passing<float>(s, packs), check_passing<double>(s, packs);
            check_passing<float>(s, false, true);
        }
    }
}

}  // namespace
}  // namespace weft::cpu
