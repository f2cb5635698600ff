// Products of few rows with a large matrix that lies turned: computed the other way round, and turned back.
#include "backend/gemm_cases.h"
#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/ops/contraction.h"
#include "weft/ops/view.h"

namespace weft::cpu {
namespace {

Array numbers(const char* seed, const Dims& dims, DType dtype) {
    static const Domain domain{-1, 1};
    return Draw(seed).array(dtype, dims, &domain);
}

TEST(TurnedProducts, are_of_few_rows_and_a_large_matrix_whose_columns_lie_side_by_side) {
    auto turned = [](DType dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
        return gemm_better_turned(dtype, m, n, k, {nullptr, k, 1}, {nullptr, 1, k});
    };
    for (DType dtype : {DType::float32, DType::float64}) {
        EXPECT_TRUE(turned(dtype, 16, 1000, 700));
        EXPECT_TRUE(turned(dtype, 64, 2000, 2000));
        EXPECT_FALSE(turned(dtype, 16, 100, 100));    // stays near as it is copied
        EXPECT_FALSE(turned(dtype, 300, 800, 1000));  // a copy serves many rows
        EXPECT_FALSE(turned(dtype, 1, 1000, 700));    // an inner product
        EXPECT_FALSE(gemm_better_turned(dtype, 16, 1000, 700, {nullptr, 700, 1}, {nullptr, 1000, 1}));
    }
    EXPECT_FALSE(turned(DType::int32, 16, 1000, 700));
    EXPECT_FALSE(gemm_better_turned({DType::float32, true}, 16, 1000, 700, {nullptr, 700, 1}, {nullptr, 1, 700}));
}

// Each element is one chain of fused multiply-adds either way.
TEST(TurnedProducts, give_the_bits_of_the_plain_ones) {
    for (DType dtype : {DType::float32, DType::float64})
        for (std::int64_t m : {8, 13, 16, 31, 32, 64})
            for (Dims nk : {Dims{1000, 130}, Dims{517, 1100}, Dims{2050, 64}}) {
                Array a = numbers("a", {m, nk[1]}, dtype), w = numbers("w", {nk[0], nk[1]}, dtype);
                Tensor lies = matmul(Tensor(a), Tensor(contiguous(Tensor(w).T().array())));
                Tensor turned = matmul(Tensor(a), Tensor(w).T());
                Tensor both = matmul(Tensor(contiguous(Tensor(a).T().array())).T(), Tensor(w).T());
                EXPECT_EQ(difference(lies.array(), turned.array()), "") << m << " x " << nk;
                EXPECT_EQ(difference(lies.array(), both.array()), "") << m << " x " << nk;
                Tensor rows = slice(matmul(Tensor(a), Tensor(w).T()), {0, 0}, {m, nk[0] - 3});
                EXPECT_EQ(difference(slice(lies, {0, 0}, {m, nk[0] - 3}).array(), rows.array()), "");
            }
}

TEST(TurnedProducts, are_of_two_turned_matrices_of_few_columns_where_that_takes_fewer_vectors) {
    auto turned = [](DType dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
        return gemm_better_turned(dtype, m, n, k, {nullptr, 1, m}, {nullptr, n, 1});
    };
    for (DType dtype : {DType::float32, DType::float64}) {
        EXPECT_TRUE(turned(dtype, 20, 3, 1000));
        EXPECT_TRUE(turned(dtype, 100, 5, 100));
        EXPECT_FALSE(turned(dtype, 3, 20, 1000));
        EXPECT_FALSE(turned(dtype, 64, 64, 1000));
        EXPECT_FALSE(turned(dtype, 20, 1, 1000));
        EXPECT_FALSE(turned(dtype, 20, 3, 20));  // turning the result takes as long
    }
    for (DType dtype : {DType::float32, DType::float64})
        for (std::int64_t m : {13, 20, 33, 100})
            for (std::int64_t n : {5, 7, 10})
                for (std::int64_t k : {64, 500, 3000}) {
                    Array a = numbers("a", {k, m}, dtype), b = numbers("b", {k, n}, dtype);
                    Tensor lies = matmul(Tensor(contiguous(Tensor(a).T().array())), Tensor(b));
                    EXPECT_EQ(difference(lies.array(), matmul(Tensor(a).T(), Tensor(b)).array()), "")
                        << m << " x " << n << " x " << k;
                }
}

TEST(TurnedProducts, give_the_same_bits_for_any_number_of_threads_and_every_instruction_set) {
    Array a = numbers("a", {24, 900}, DType::float64), w = numbers("w", {1201, 900}, DType::float64);
    Tensor expected = matmul(Tensor(a), Tensor(w).T());
    expected.eval();
    for (Isa isa : usable_isas()) {
        InstructionSet use(isa);
        for (int threads : {1, 2, 3}) {
            Threads pool(threads);
            EXPECT_EQ(difference(expected.array(), matmul(Tensor(a), Tensor(w).T()).array()), "");
        }
    }
}

}  // namespace
}  // namespace weft::cpu
