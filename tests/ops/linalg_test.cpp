// Linear algebra beyond what its records show (matrix_test.cpp): edges, failures, invariants of larger batches, what is computed once.
#include "weft/ops/linalg.h"

#include <gtest/gtest.h>

#include <cmath>

#include "must_fail.h"
#include "ops/expected.h"
#include "weft/autodiff/derivative.h"
#include "weft/base/thread_pool.h"
#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/compile/plan.h"
#include "weft/graph/graph.h"
#include "weft/graph/node.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/runtime/declared.h"

namespace weft {
namespace {

using namespace linalg;

Tensor drawn(const Dims& dims, DType dtype = DType::float64, std::string_view seed = "linalg") {
    return Tensor(Draw(seed).array(dtype, dims));
}
Tensor zero(const Dims& dims, DType dtype = DType::float64) { return Tensor(Array::zeros(dtype, dims)); }
Tensor adjoint(const Tensor& x) { return conj(matrix_transpose(x)); }
Tensor square_of(std::int64_t n, DType dtype = DType::float64) { return drawn({n, n}, dtype); }

constexpr DType inexact_types[] = {DType::float32, DType::float64, DType::complex64, DType::complex128};

// clang-format off
TEST(Norms, of_half_types_may_have_powers_beyond_their_range) {
    Tensor x = Tensor::of<float>({300, 400, 0}).astype(DType::float16);
    EXPECT_EQ(astype(linalg::vector_norm(x), DType::float32).item<float>(), 500);
    EXPECT_NEAR(astype(linalg::vector_norm(x, {}, false, 5), DType::float32).item<float>(), 418, 1);
    EXPECT_EQ(linalg::vector_norm(x, {}, false, 3).dtype(), DType::float16);
}

TEST(Linalg, refuses_what_is_no_matrix_by_name) {
    EXPECT_MESSAGE(ShapeError, "det: takes matrices, the last two axes, but shape (3,) has one axis", det(zero({3})));
    EXPECT_MESSAGE(ShapeError, "svd: takes matrices, the last two axes, but shape () has none", svd(zero({})));
    EXPECT_MESSAGE(ShapeError, "inv: takes square matrices, but those of shape (2, 3, 4) have 3 rows and 4 columns", inv(zero({2, 3, 4})));
    EXPECT_MESSAGE(ShapeError, "solve: shapes (3, 3) and (4, 2) do not fit: 3 equations against 4 rows of b", solve(zero({3, 3}), zero({4, 2})));
    EXPECT_MESSAGE(ShapeError, "solve: shapes (3, 3) and (4,) do not fit: 3 equations against 4 rows of b", solve(zero({3, 3}), zero({4})));
    EXPECT_MESSAGE(ShapeError, "solve: b is 0-d; it must be a vector (1-d) or matrices", solve(zero({3, 3}), 2.0));
    EXPECT_MESSAGE(ShapeError, "solve: the batches (2,) of (2, 3, 3) and (4,) of (4, 3, 1) do not broadcast", solve(zero({2, 3, 3}), zero({4, 3, 1})));
    EXPECT_MESSAGE(ShapeError, "solve_triangular: the batches (2,) of (2, 3, 3) and (4,) of (4, 3, 1) do not broadcast", solve_triangular(zero({2, 3, 3}), zero({4, 3, 1})));
    EXPECT_MESSAGE(ShapeError, "lstsq: shapes (4, 3) and (3, 1) do not fit: b must have 4 rows, as a", lstsq(zero({4, 3}), zero({3, 1})));
    EXPECT_MESSAGE(ShapeError, "eigh: the sizes of matrices must be known, but those of (n, n) are not; only batches may have named sizes", eigh(input("x", {"n", "n"})));
    EXPECT_MESSAGE(ShapeError, "cross: axis -1 of shapes (3, 2) and (3, 2) has size 2, but the product is one of 3 dimensions", cross(zero({3, 2}), zero({3, 2})));
    EXPECT_MESSAGE(ShapeError, "vecdot: axis -1 of shapes (2, 3) and (2,) has sizes 3 and 2, which must be equal", linalg::vecdot(zero({2, 3}), zero({2})));
    EXPECT_MESSAGE(AxisError, "cross: axis 0 counts from the front, but shapes (3, 2) and (3,) have different numbers of axes; count from the end", cross(zero({3, 2}), zero({3}), 0));
    EXPECT_MESSAGE(ShapeError, "trace: takes matrices, the last two axes, but shape (3,) has one axis", linalg::trace(zero({3})));
    EXPECT_MESSAGE(ShapeError, "multi_dot: matrix 1 has shape (3,); takes matrices (2-d), of which the first and the last may be vectors", multi_dot({zero({2, 3}), zero({3}), zero({3, 2})}));
    EXPECT_MESSAGE(ValueError, "multi_dot: takes at least two matrices, not 1", multi_dot({zero({2, 3})}));
}

TEST(Linalg, refuses_types_and_orders_by_name) {
    EXPECT_MESSAGE(DTypeError, "cholesky: takes float32, float64, complex64 and complex128 (bool and integers as float32), not float16; convert with astype first", cholesky(zero({2, 2}, DType::float16)));
    EXPECT_MESSAGE(DTypeError, "solve: takes float32, float64, complex64 and complex128 (bool and integers as float32), not bfloat16; convert with astype first", solve(zero({2, 2}, DType::bfloat16), zero({2}, DType::bfloat16)));
    EXPECT_MESSAGE(DTypeError, "pinv: rtol must be real, not complex128", pinv(zero({2, 2}), zero({}, DType::complex128)));
    EXPECT_MESSAGE(ValueError, "matrix_norm: there is no norm of order 3 of matrices; take fro, nuc, or 1, -1, 2, -2, inf, -inf", matrix_norm(zero({2, 2}), false, 3));
    EXPECT_MESSAGE(NotDifferentiable, "qr: the further columns of a complete Q of (3, 2) have no derivative; take the reduced one", [] { Tensor x = zero({3, 2}); return gradient(sum(qr(x, QrMode::complete).q), x); }());
    EXPECT_MESSAGE(NotDifferentiable, "svd: the further columns that full matrices of (3, 2) have are without a derivative; take full_matrices=false", [] { Tensor x = zero({3, 2}); return gradient(sum(svd(x).u), x); }());
}

TEST(Linalg, matrices_without_a_result_are_named_when_numbers_are_computed) {
    Tensor second = Tensor::of<double>({1, 0, 0, 1, 1, 2, 2, 4, 1, 1, 1, 1}, {3, 2, 2}), grid = second.reshape({3, 1, 2, 2});
    EXPECT_MESSAGE(ValueError, "solve: matrix (1,) of the batch is singular, so it has no inverse; pinv and lstsq take it", solve(second, zero({2})).eval());
    EXPECT_MESSAGE(ValueError, "inv: matrix (1, 0) of the batch is singular, so it has no inverse; pinv and lstsq take it", inv(grid).eval());
    EXPECT_MESSAGE(ValueError, "inv: the matrix is singular, so it has no inverse; pinv and lstsq take it", inv(zero({1, 1})).eval());
    EXPECT_MESSAGE(ValueError, "solve_triangular: the matrix is singular, so it has no inverse; pinv and lstsq take it", solve_triangular(zero({2, 2}), zero({2})).eval());
    EXPECT_MESSAGE(ValueError, "cholesky: matrix (1,) of the batch is not positive definite; add a multiple of the identity, or take eigh", cholesky(second).eval());
    EXPECT_MESSAGE(ValueError, "svd: the matrix gave no result within the iterations; look for NaN and infinities in it", svd(full({2, 2}, NAN)).u.eval());
    EXPECT_MESSAGE(ValueError, "eig: the matrix gave no result within the iterations; look for NaN and infinities in it", eig(full({2, 2}, INFINITY)).vectors.eval());
}
// clang-format on

TEST(Linalg, empty_matrices_and_empty_batches_have_results) {
    EXPECT_EQ(det(zero({0, 0})).item<double>(), 1);
    EXPECT_EQ(slogdet(zero({0, 0})).logabsdet.item<double>(), 0);
    EXPECT_EQ(slogdet(zero({0, 0})).sign.item<double>(), 1);
    EXPECT_EQ(inv(zero({0, 0})).array().dims, (Dims{0, 0}));
    EXPECT_EQ(solve(zero({3, 3}), zero({3, 0})).array().dims, (Dims{3, 0}));
    EXPECT_EQ(solve(zero({0, 2, 2}), zero({2, 5})).array().dims, (Dims{0, 2, 5}));
    EXPECT_EQ(eigh(zero({0, 3, 3})).vectors.array().dims, (Dims{0, 3, 3}));
    EXPECT_EQ(matrix_rank(zero({0, 3})).item<std::int64_t>(), 0);
    EXPECT_EQ(pinv(zero({0, 3})).array().dims, (Dims{3, 0}));
    EXPECT_EQ(matrix_norm(zero({0, 3})).item<double>(), 0);
    Svd whole = svd(zero({3, 0}));
    expect_near(whole.u, eye(3, -1, 0, DType::float64), 0);
    EXPECT_EQ(whole.s.array().dims, (Dims{0}));
    expect_near(qr(zero({2, 0}), QrMode::complete).q, eye(2, -1, 0, DType::float64), 0);
    expect_near(expm(zero({2, 2})), eye(2, -1, 0, DType::float64), 0);
}

TEST(Linalg, a_vector_is_one_only_if_it_is_one_dimensional) {
    Tensor a = drawn({2, 3, 3}) + 5 * eye(3, -1, 0, DType::float64);
    EXPECT_EQ(solve(a, zero({3})).shape(), (Shape{2, 3}));
    EXPECT_EQ(solve(a, zero({3, 3})).shape(), (Shape{2, 3, 3}));
    EXPECT_EQ(solve(a, zero({2, 3, 1})).shape(), (Shape{2, 3, 1}));
}

TEST(Linalg, integers_are_taken_as_float32) {
    Tensor x = Tensor::of<std::int64_t>({2, 1, 1, 2}, {2, 2});
    EXPECT_EQ(det(x).dtype(), DType::float32);
    EXPECT_EQ(eig(x).values.dtype(), DType::complex64);
    EXPECT_NEAR(det(x).item<float>(), 3, 1e-6);
    EXPECT_EQ(solve(x, drawn({2})).dtype(), DType::float64);
}

TEST(Linalg, factors_of_every_type_and_of_larger_batches_are_those_of_their_matrices) {
    for (DType dtype : inexact_types) {
        SCOPED_TRACE(name_of(dtype));
        double allowed = 3000 * epsilon_of(dtype);
        Tensor a = drawn({3, 2, 20, 20}, dtype), tall = drawn({4, 30, 7}, dtype), one = eye(20, -1, 0, real_of(dtype));
        Tensor spd = matmul(a, adjoint(a)) + one, hermitian = a + adjoint(a);
        expect_near(matmul(cholesky(spd), adjoint(cholesky(spd))), spd, 10 * allowed);
        expect_near(matmul(adjoint(cholesky(spd, true)), cholesky(spd, true)), spd, 10 * allowed);
        expect_near(matmul(spd, inv(spd)), broadcast_to(one.astype(dtype), spd.shape()), 100 * allowed);
        auto [q, r] = qr(tall);
        expect_near(matmul(q, r), tall, allowed);
        expect_near(r, triu(r), 0);
        auto [w, v] = eigh(hermitian);
        EXPECT_EQ(w.dtype(), real_of(dtype));
        expect_near(matmul(v * expand_dims(w, -2), adjoint(v)), hermitian, allowed);
        expect_near(eigvalsh(hermitian), w, allowed);
        Svd thin = svd(tall, false), whole = svd(tall);
        EXPECT_EQ(thin.s.dtype(), real_of(dtype));
        EXPECT_EQ(whole.u.shape(), (Shape{4, 30, 30}));
        expect_near(matmul(thin.u * expand_dims(thin.s, -2), thin.vh), tall, allowed);
        expect_near(matmul(adjoint(whole.u), whole.u), broadcast_to(eye(30, -1, 0, dtype), {4, 30, 30}), allowed);
        auto [values, vectors] = eig(a);
        expect_near(matmul(a, vectors) - vectors * expand_dims(values, -2), zeros(vectors.shape(), vectors.dtype()),
                    allowed);
        auto [sign, logarithm] = slogdet(spd);
        EXPECT_EQ(logarithm.dtype(), real_of(dtype));
        expect_near(logarithm, sum(log(svdvals(spd)), -1), allowed);
        Tensor quarter = 0.05 * a;
        expect_near(matmul(expm(quarter), expm(-quarter)), broadcast_to(one.astype(dtype), a.shape()), allowed);
    }
}

TEST(Linalg, cholesky_reads_one_triangle) {
    Tensor x = Tensor::of<double>({4, 100, 2, 5}, {2, 2}), y = matrix_transpose(x);
    expect_near(cholesky(x), Tensor::of<double>({2, 0, 1, 2}, {2, 2}), 1e-15);
    expect_near(cholesky(y, true), Tensor::of<double>({2, 1, 0, 2}, {2, 2}), 1e-15);
}

TEST(Linalg, a_program_computes_one_lu_for_all_that_needs_it) {
    Tensor x = square_of(4), b = drawn({4, 2});
    Tensor loss = sum(solve(x, b)) + slogdet(x).logabsdet + sum(inv(x));
    Tensor outputs[] = {loss + det(x), gradient(loss, x)};
    std::vector<Node*> nodes{outputs[0].node(), outputs[1].node()};
    std::size_t lus = 0;
    Graph graph = gather(nodes);
    for (std::size_t e = 0; e < graph.entries.size(); ++e) lus += graph.entries[e].node->operation == &lu_operation;
    EXPECT_EQ(lus, 1u);
}

TEST(Linalg, one_lu_serves_a_batch_of_right_sides) {
    Tensor x = square_of(4), solution = solve(x, drawn({5, 4, 2}));
    Node* lu = solution.node()->inputs[1];
    while (lu->operation != &lu_operation) lu = lu->inputs[0];
    EXPECT_EQ(lu->shape, (Shape{20}));
    expect_near(matmul(x, solution), drawn({5, 4, 2}), 1e-12);
}

TEST(Linalg, results_are_the_same_bits_for_any_number_of_threads) {
    int before = ThreadPool::instance().threads();
    auto results = [](int threads) {
        ThreadPool::instance().set_threads(threads);
        std::vector<Array> arrays;
        Tensor x = drawn({64, 24, 24});
        for (const Tensor& y : {inv(x), svd(x).u, eigh(x).vectors, eig(x).vectors, expm(0.1 * x), qr(x).q})
            arrays.push_back(y.array());
        return arrays;
    };
    std::vector<Array> one = results(1), three = results(3);
    ThreadPool::instance().set_threads(before);
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(difference(one[i], three[i]), "");
}

TEST(Linalg, a_batch_may_have_a_named_size) {
    Tensor x = input("x", {"batch", 2, 2}, DType::float64);
    EXPECT_EQ(det(x).shape(), (Shape{"batch"}));
    CompiledFunction f = function({x}, {det(x), gradient(sum(det(x)), x), svd(x, false).s});
    for (std::int64_t batch : {1, 3}) {
        Tensor given = drawn({batch, 2, 2});
        std::vector<Tensor> found = f(std::vector<Tensor>{given});
        expect_near(found[0], det(given), 1e-12);
        expect_near(matmul(found[1], matrix_transpose(given)),
                    expand_dims(expand_dims(det(given), -1), -1) * eye(2, -1, 0, DType::float64), 1e-11);
        expect_near(found[2], svdvals(given), 1e-12);
    }
}

TEST(Linalg, what_does_not_depend_on_the_choice_of_vectors_is_right_where_values_are_equal) {
    Tensor one = eye(3, -1, 0, DType::float64);
    auto slope = [&](auto f) {
        Tensor x = one + 0.0;
        return gradient(f(x), x);
    };
    expect_near(slope([](const Tensor& x) { return sum(eigvalsh(x)); }), one, 1e-14);
    expect_near(slope([](const Tensor& x) { return sum(square(eigh(x).values)); }), 2 * one, 1e-14);
    expect_near(slope([](const Tensor& x) { return matrix_norm(x, false, MatrixNorm::nuc); }), one, 1e-14);
    Tensor of_vectors = slope([](const Tensor& x) { return sum(eigh(x).vectors); });
    EXPECT_TRUE(all(of_vectors == of_vectors).item<bool>());
    expect_near(slope([](const Tensor& x) { return matrix_norm(x - x, false); }), zero({3, 3}), 0);
}

TEST(Linalg, rank_tolerance_and_least_squares_follow_the_singular_values) {
    Tensor x = Tensor::of<double>({1, 0, 0, 1e-3, 0, 0}, {3, 2});
    EXPECT_EQ(matrix_rank(x).item<std::int64_t>(), 2);
    EXPECT_EQ(matrix_rank(x, 1e-2).item<std::int64_t>(), 1);
    Tensor both = stack({x, x}), cuts = Tensor::of<double>({1e-2, 1e-4}, {2});
    EXPECT_EQ(matrix_rank(both, cuts).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2}));
    expect_near(pinv(both, cuts), Tensor::of<double>({1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1000, 0}, {2, 2, 3}), 1e-9);
    Lstsq found = lstsq(x, Tensor::of<double>({1, 2, 3}), 1e-2);
    expect_near(found.x, Tensor::of<double>({1, 0}), 1e-12);
    expect_near(found.residuals, Tensor::of<double>({13}), 1e-12);
    EXPECT_EQ(found.rank.item<std::int64_t>(), 1);
    expect_near(found.singular_values, Tensor::of<double>({1, 1e-3}), 1e-12);
}

TEST(Linalg, complex_products_conjugate_the_first_operand) {
    Tensor x = drawn({3, 4}, DType::complex128, "x"), y = drawn({4}, DType::complex128, "y");
    expect_near(linalg::vecdot(x, y), sum(conj(x) * y, -1), 1e-13);
    EXPECT_EQ(vector_norm(x).dtype(), DType::float64);
    EXPECT_NEAR(vector_norm(x, {}, false, 2).item<double>(), std::sqrt(sum(square(abs(x))).item<double>()), 1e-13);
}

TEST(Linalg, powers_are_products) {
    Tensor x = 0.2 * square_of(3);
    expect_near(matrix_power(x, 0), eye(3, -1, 0, DType::float64), 0);
    expect_near(matrix_power(x, 6), matmul(matmul(matmul(x, x), matmul(x, x)), matmul(x, x)), 1e-13);
    expect_near(matmul(matrix_power(x, -3), matrix_power(x, 3)), eye(3, -1, 0, DType::float64), 1e-10);
}

}  // namespace
}  // namespace weft
