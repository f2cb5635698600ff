// weft's own factorizations, and LAPACK's where this build has it, by what defines them: Q^H Q = I, A = Q R, A = U diag(s) Vh, A V = V
// diag(w). Called as functions, one matrix at a time, so that the own ones are tested in a build with LAPACK, too.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

#include "weft/backend/cpu/matrix/basic.h"

namespace weft::cpu::matrix {
namespace {

template <class T>
using Values = std::vector<T>;

/// Scratch memory with a margin behind it that must stay as it was.
template <class T, class R = T>
Outcome run(bool own, Problem problem, std::vector<Values<T>> in, Values<R>& out) {
    std::size_t bytes = own ? own_scratch<T>(problem) : lapack_scratch<T>(problem);
    std::vector<std::byte> memory(bytes + 128, std::byte{0x5a});
    auto aligned = (reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64;
    auto* scratch = reinterpret_cast<std::byte*>(aligned);
    std::vector<T*> operands;
    for (Values<T>& values : in) operands.push_back(values.data());
    Outcome outcome = own ? own_factorization<T>(problem, operands.data(), out.data(), scratch)
                          : lapack_factorization<T>(problem, operands.data(), out.data(), scratch);
    for (std::byte* at = scratch + bytes; at < memory.data() + memory.size(); ++at) EXPECT_EQ(*at, std::byte{0x5a});
    return outcome;
}

template <class T>
Values<T> product(const Values<T>& a, const Values<T>& b, std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    Values<T> left = a, right = b, c(static_cast<std::size_t>(rows * columns));
    multiply(Matrix<T>{left.data(), rows, inner}, Matrix<T>{right.data(), inner, columns},
             Matrix<T>{c.data(), rows, columns});
    return c;
}
template <class T>
Values<T> adjoint(const Values<T>& a, std::int64_t rows, std::int64_t columns) {
    Values<T> b(a.size());
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
            b[static_cast<std::size_t>(j + i * columns)] = conjugate(a[static_cast<std::size_t>(i + j * rows)]);
    return b;
}
template <class T>
Values<T> identity(std::int64_t n) {
    Values<T> one(static_cast<std::size_t>(n * n));
    Matrix<T>{one.data(), n, n}.identity();
    return one;
}
template <class T>
Values<T> piece(const Values<T>& packed, std::int64_t from, std::int64_t count) {
    return Values<T>(packed.begin() + from, packed.begin() + from + count);
}
template <class T>
double distance(const Values<T>& a, const Values<T>& b) {
    double largest = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        double apart = static_cast<double>(std::abs(a[i] - b[i]));
        largest = apart <= largest ? largest : apart;  // NaN counts
    }
    return largest;
}

template <class T>
class Factorizations : public testing::Test {
  protected:
    static constexpr double epsilon = std::numeric_limits<Real<T>>::epsilon();
    std::mt19937 engine{7};

    Values<T> random(std::int64_t count) {
        std::normal_distribution<double> draw;
        Values<T> values(static_cast<std::size_t>(count));
        for (T& value : values) {
            if constexpr (is_complex_v<T>)
                value = T(static_cast<Real<T>>(draw(engine)), static_cast<Real<T>>(draw(engine)));
            else
                value = static_cast<T>(draw(engine));
        }
        return values;
    }
    Values<T> hermitian(std::int64_t n) {
        Values<T> a = random(n * n), b = adjoint(a, n, n);
        for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
        return a;
    }
    /// f(own, tolerance) for weft's own code and for LAPACK's, where there is one.
    void each(const Problem& problem, const std::function<void(bool, double)>& f) {
        double size = static_cast<double>(problem.m + problem.n + problem.k + 1);
        for (bool own : {true, false}) {
            if (!own && !lapack_takes(problem)) continue;
            SCOPED_TRACE(std::string(own ? "own " : "LAPACK ") + std::to_string(problem.m) + "x" +
                         std::to_string(problem.n));
            f(own, 20 * epsilon * size * std::sqrt(size));
        }
    }
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Factorizations, Types);

constexpr std::pair<std::int64_t, std::int64_t> shapes[] = {{1, 1}, {2, 2},  {5, 5}, {17, 17}, {40, 40}, {7, 3},
                                                            {3, 7}, {30, 1}, {1, 9}, {0, 0},   {0, 3},   {4, 0}};
constexpr std::int64_t orders[] = {0, 1, 2, 3, 8, 33};

TYPED_TEST(Factorizations, lu_solves_and_has_the_determinant_of_the_product_of_its_diagonal) {
    using T = TypeParam;
    for (std::int64_t n : orders) {
        for (bool transposed : {false, true}) {
            Problem lu{.kind = Factorization::lu, .m = n, .n = n},
                solve{.kind = Factorization::lu_solve, .m = n, .n = n, .k = 3};
            solve.transposed = transposed;
            this->each(solve, [&](bool own, double tolerance) {
                Values<T> a = this->random(n * n), b = this->random(n * 3), packed(static_cast<std::size_t>(n * n + n)),
                          x(b.size());
                for (std::int64_t i = 0; i < n; ++i) a[static_cast<std::size_t>(i * n + i)] += T(5);
                ASSERT_EQ(run<T>(own, lu, {a}, packed), Outcome::done);
                ASSERT_EQ(run<T>(own, solve, {packed, b}, x), Outcome::done);
                Values<T> turned = adjoint(a, n, n);
                for (T& value : turned) value = conjugate(value);
                EXPECT_LE(distance(product(transposed ? turned : a, x, n, n, 3), b), 10 * tolerance);
            });
        }
    }
}

TYPED_TEST(Factorizations, a_matrix_without_an_inverse_is_said_to_be_singular) {
    using T = TypeParam;
    Problem lu{.kind = Factorization::lu, .m = 3, .n = 3},
        solve{.kind = Factorization::lu_solve, .m = 3, .n = 3, .k = 1};
    this->each(solve, [&](bool own, double) {
        Values<T> a(9, T(1)), packed(12), x(3), det(1);
        ASSERT_EQ(run<T>(own, lu, {a}, packed), Outcome::done);
        EXPECT_EQ(run<T>(own, solve, {packed, x}, x), Outcome::singular);
        ASSERT_EQ(run<T>(true, {.kind = Factorization::det, .m = 3, .n = 3}, {packed}, det), Outcome::done);
        EXPECT_EQ(det[0], T(0));
        Problem triangle{.kind = Factorization::triangular_solve, .m = 3, .n = 3, .k = 1};
        EXPECT_EQ(run<T>(own, triangle, {Values<T>(9), x}, x), Outcome::singular);
        EXPECT_EQ(run<T>(own, {.kind = Factorization::cholesky, .m = 3, .n = 3}, {Values<T>(9, T(-1))}, a),
                  Outcome::indefinite);
    });
}

// BLAS multiplies by reciprocals, which of a denormal number are infinite.
TYPED_TEST(Factorizations, denormal_pivots_divide) {
    using T = TypeParam;
    const T small = std::ldexp(std::numeric_limits<Real<T>>::min(), -7);
    const double rounded = 16 * static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
    for (std::int64_t n : {3, 17, 40}) {
        for (bool transposed : {false, true}) {
            Problem lu{.kind = Factorization::lu, .m = n, .n = n},
                solve{.kind = Factorization::lu_solve, .m = n, .n = n, .k = 2},
                triangle{.kind = Factorization::triangular_solve, .m = n, .n = n, .k = 2};
            solve.transposed = triangle.transposed = transposed;
            this->each(solve, [&](bool own, double) {
                Values<T> a = identity<T>(n), b(static_cast<std::size_t>(n * 2)), packed(a.size() + b.size() / 2),
                          x(b.size());
                for (T& value : a) value *= T(4) * small;
                for (std::size_t i = 1; i < a.size(); i += static_cast<std::size_t>(n + 1)) a[i] = small;
                for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<Real<T>>(i % 3) * small;
                ASSERT_EQ(run<T>(own, lu, {a, b}, packed), Outcome::done);
                ASSERT_EQ(run<T>(own, solve, {packed, b}, x), Outcome::done);
                Values<T> read = transposed ? adjoint(a, n, n) : a;
                EXPECT_LE(distance(product(read, x, n, n, 2), b), rounded);
                ASSERT_EQ(run<T>(own, triangle, {a, b}, x), Outcome::done);
                EXPECT_LE(distance(product(read, x, n, n, 2), b), rounded);
            });
        }
    }
}

TYPED_TEST(Factorizations, triangles_are_solved_whichever_one_is_read) {
    using T = TypeParam;
    for (int how = 0; how < 8; ++how) {
        Problem p{.kind = Factorization::triangular_solve, .m = 6, .n = 6, .k = 2};
        p.lower = how & 1, p.transposed = how & 2, p.unit_diagonal = how & 4;
        this->each(p, [&](bool own, double tolerance) {
            Values<T> a = this->random(36), b = this->random(12), x(12), read(36);
            for (std::int64_t i = 0; i < 6; ++i) {
                for (std::int64_t j = 0; j < 6; ++j) {
                    T value = a[static_cast<std::size_t>(i + 6 * j)];
                    if (i == j) value = p.unit_diagonal ? T(1) : a[static_cast<std::size_t>(i + 6 * j)] += T(4);
                    bool in = i == j || p.lower == (i > j);
                    read[static_cast<std::size_t>(p.transposed ? j + 6 * i : i + 6 * j)] = in ? value : T(0);
                }
            }
            ASSERT_EQ(run<T>(own, p, {a, b}, x), Outcome::done);
            double growth = 1;
            for (T value : x) growth = std::max(growth, static_cast<double>(std::abs(value)));
            EXPECT_LE(distance(product(read, x, 6, 6, 2), b), tolerance * growth);
        });
    }
}

TYPED_TEST(Factorizations, cholesky_times_its_adjoint_is_the_matrix) {
    using T = TypeParam;
    for (std::int64_t n : orders) {
        this->each({.kind = Factorization::cholesky, .m = n, .n = n}, [&](bool own, double tolerance) {
            Values<T> b = this->random(n * n), a = product(b, adjoint(b, n, n), n, n, n), l(a.size());
            for (std::int64_t i = 0; i < n; ++i) a[static_cast<std::size_t>(i * n + i)] += T(1);
            Values<T> given = a;
            for (std::int64_t j = 1; j < n; ++j)
                for (std::int64_t i = 0; i < j; ++i) given[static_cast<std::size_t>(i + j * n)] = T(77);  // is not read
            ASSERT_EQ(run<T>(own, {.kind = Factorization::cholesky, .m = n, .n = n}, {given}, l), Outcome::done);
            EXPECT_LE(distance(product(l, adjoint(l, n, n), n, n, n), a), tolerance * static_cast<double>(2 * n + 1));
        });
    }
}

TYPED_TEST(Factorizations, q_is_orthonormal_and_q_r_is_the_matrix) {
    using T = TypeParam;
    for (auto [m, n] : shapes) {
        for (bool complete : {false, true}) {
            Problem p{.kind = Factorization::qr, .m = m, .n = n, .complete = complete};
            std::int64_t inner = p.q_columns();
            this->each(p, [&, m = m, n = n](bool own, double tolerance) {
                Values<T> a = this->random(m * n), out(static_cast<std::size_t>(m * inner + inner * n));
                ASSERT_EQ(run<T>(own, p, {a}, out), Outcome::done);
                Values<T> q = piece(out, 0, m * inner), r = piece(out, m * inner, inner * n);
                EXPECT_LE(distance(product(adjoint(q, m, inner), q, inner, m, inner), identity<T>(inner)), tolerance);
                EXPECT_LE(distance(product(q, r, m, inner, n), a), tolerance);
                for (std::int64_t j = 0; j < n; ++j)
                    for (std::int64_t i = j + 1; i < inner; ++i)
                        EXPECT_EQ(r[static_cast<std::size_t>(i + j * inner)], T(0));
            });
        }
    }
}

TYPED_TEST(Factorizations, singular_vectors_are_orthonormal_and_u_s_vh_is_the_matrix) {
    using T = TypeParam;
    for (auto [m, n] : shapes) {
        for (bool complete : {false, true}) {
            Problem p{.kind = Factorization::svd, .m = m, .n = n, .complete = complete};
            std::int64_t k = p.least(), left = p.q_columns(), right = p.vh_rows();
            for (int rank : {0, 1, 2, 100}) {  // where it is less than full, columns of U are made up
                this->each(p, [&, m = m, n = n](bool own, double tolerance) {
                    Values<T> a = rank > k ? this->random(m * n)
                                           : product(this->random(m * rank), this->random(rank * n), m, rank, n);
                    if (rank == 1) a.assign(a.size(), T(3));
                    Values<T> out(static_cast<std::size_t>(m * left + k + right * n)),
                        values(static_cast<std::size_t>(k));
                    ASSERT_EQ(run<T>(own, p, {a}, out), Outcome::done);
                    Values<T> u = piece(out, 0, m * left), s = piece(out, m * left, k),
                              vh = piece(out, m * left + k, right * n);
                    EXPECT_LE(distance(product(adjoint(u, m, left), u, left, m, left), identity<T>(left)), tolerance);
                    EXPECT_LE(distance(product(vh, adjoint(vh, right, n), right, n, right), identity<T>(right)),
                              tolerance);
                    Values<T> scaled = piece(u, 0, m * k), front;
                    for (std::int64_t j = 0; j < k; ++j) {
                        for (std::int64_t i = 0; i < m; ++i)
                            scaled[static_cast<std::size_t>(i + j * m)] *= s[static_cast<std::size_t>(j)];
                        if (j > 0) {
                            EXPECT_GE(real_part(s[static_cast<std::size_t>(j - 1)]),
                                      real_part(s[static_cast<std::size_t>(j)]));
                        }
                    }
                    for (std::int64_t j = 0; j < n; ++j)
                        for (std::int64_t i = 0; i < k; ++i)
                            front.push_back(vh[static_cast<std::size_t>(i + j * right)]);
                    EXPECT_LE(distance(product(scaled, front, m, k, n), a), 2 * tolerance);
                    Problem alone = p;
                    alone.kind = Factorization::svdvals, alone.complete = false;
                    ASSERT_EQ(run<T>(own || !lapack_takes(alone), alone, {a}, values), Outcome::done);
                    EXPECT_LE(distance(values, s), 2 * tolerance);
                });
            }
        }
    }
}

TYPED_TEST(Factorizations, values_far_from_one_have_singular_values_too) {
    using T = TypeParam;
    for (Real<T> scale : {Real<T>(1e-30), Real<T>(1e30)}) {
        Problem p{.kind = Factorization::svdvals, .m = 4, .n = 3};
        Values<T> a = this->random(12), far = a, s(3), t(3);
        for (T& value : far) value *= scale;
        ASSERT_EQ(run<T>(true, p, {a}, s), Outcome::done);
        ASSERT_EQ(run<T>(true, p, {far}, t), Outcome::done);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(real_part(t[i] / scale), real_part(s[i]), 100 * this->epsilon);
    }
}

TYPED_TEST(Factorizations, hermitian_vectors_are_orthonormal_and_belong_to_their_ascending_values) {
    using T = TypeParam;
    for (std::int64_t n : orders) {
        this->each({.kind = Factorization::eigh, .m = n, .n = n}, [&](bool own, double tolerance) {
            Values<T> a = this->hermitian(n), given = a, out(static_cast<std::size_t>(n + n * n)),
                      values(static_cast<std::size_t>(n));
            for (std::int64_t j = 1; j < n; ++j)
                for (std::int64_t i = 0; i < j; ++i) given[static_cast<std::size_t>(i + j * n)] = T(77);  // is not read
            ASSERT_EQ(run<T>(own, {.kind = Factorization::eigh, .m = n, .n = n}, {given}, out), Outcome::done);
            Values<T> w = piece(out, 0, n), v = piece(out, n, n * n), scaled = v;
            for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= w[i / static_cast<std::size_t>(n)];
            EXPECT_LE(distance(product(adjoint(v, n, n), v, n, n, n), identity<T>(n)), tolerance);
            EXPECT_LE(distance(product(a, v, n, n, n), scaled), 4 * tolerance);
            for (std::size_t i = 1; i < w.size(); ++i) EXPECT_LE(real_part(w[i - 1]), real_part(w[i]));
            ASSERT_EQ(run<T>(own, {.kind = Factorization::eigvalsh, .m = n, .n = n}, {given}, values), Outcome::done);
            EXPECT_LE(distance(values, w), 4 * tolerance);
        });
    }
}

TYPED_TEST(Factorizations, vectors_of_any_matrix_belong_to_their_values) {
    using T = TypeParam;
    using C = std::complex<Real<T>>;
    for (std::int64_t n : orders) {
        this->each({.kind = Factorization::eig, .m = n, .n = n}, [&](bool own, double tolerance) {
            Values<T> a = this->random(n * n);
            if (n == 3)
                a = {T(0), T(0), T(1), T(1), T(0), T(0), T(0), T(1), T(0)};  // turns axes: shifts alone never settle it
            Values<C> wide(a.begin(), a.end()), out(static_cast<std::size_t>(n + n * n)),
                values(static_cast<std::size_t>(n));
            ASSERT_EQ((run<T, C>(own, {.kind = Factorization::eig, .m = n, .n = n}, {a}, out)), Outcome::done);
            Values<C> v = piece(out, n, n * n), scaled = v;
            for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= out[i / static_cast<std::size_t>(n)];
            EXPECT_LE(distance(product(wide, v, n, n, n), scaled), 20 * tolerance);
            for (std::int64_t j = 0; j < n; ++j) EXPECT_NEAR(norm(v.data() + j * n, n), 1, tolerance);
            ASSERT_EQ((run<T, C>(own, {.kind = Factorization::eigvals, .m = n, .n = n}, {a}, values)), Outcome::done);
            C trace(0), found = std::accumulate(values.begin(), values.end(), C(0));
            for (std::int64_t i = 0; i < n; ++i) trace += C(a[static_cast<std::size_t>(i * n + i)]);
            EXPECT_LE(std::abs(trace - found), 20 * tolerance);
        });
    }
}

TYPED_TEST(Factorizations, nan_and_infinities_are_refused_where_values_are_iterated_for) {
    using T = TypeParam;
    for (Factorization kind : {Factorization::svd, Factorization::svdvals, Factorization::eigh, Factorization::eigvalsh,
                               Factorization::eig, Factorization::eigvals}) {
        for (Real<T> bad : {std::numeric_limits<Real<T>>::quiet_NaN(), std::numeric_limits<Real<T>>::infinity()}) {
            for (bool all : {false, true})
                this->each({.kind = kind, .m = 3, .n = 3}, [&](bool own, double) {
                    Values<T> a = this->hermitian(3);
                    Values<std::complex<Real<T>>> out(21);
                    a[1] = T(bad);
                    if (all) a.assign(9, T(bad));
                    EXPECT_EQ((run<T, std::complex<Real<T>>>(own, {.kind = kind, .m = 3, .n = 3}, {a}, out)),
                              Outcome::unsettled);
                });
        }
    }
}

TYPED_TEST(Factorizations, the_pseudo_inverse_is_moores_and_penroses) {
    using T = TypeParam;
    for (auto [m, n] : shapes) {
        Problem p{.kind = Factorization::pinv, .m = m, .n = n};
        this->each(p, [&, m = m, n = n](bool own, double tolerance) {
            Values<T> a =
                m > 1 && n > 1 ? product(this->random(m * 2), this->random(2 * n), m, 2, n) : this->random(m * n);
            Values<T> inverse(static_cast<std::size_t>(m * n)), cut{T(static_cast<Real<T>>(1e-4))};
            ASSERT_EQ(run<T>(own, p, {a, cut}, inverse), Outcome::done);
            Values<T> left = product(a, inverse, m, n, m), right = product(inverse, a, n, m, n);
            EXPECT_LE(distance(product(left, a, m, m, n), a), 10 * tolerance);
            EXPECT_LE(distance(product(right, inverse, n, n, m), inverse), 10 * tolerance);
            EXPECT_LE(distance(left, adjoint(left, m, m)), 10 * tolerance);
            EXPECT_LE(distance(right, adjoint(right, n, n)), 10 * tolerance);
        });
    }
}

TYPED_TEST(Factorizations, the_exponential_of_a_turn_is_a_turn_however_far) {
    using T = TypeParam;
    for (double angle : {0.0, 0.3, 3.0, 100.0}) {
        auto turn = static_cast<Real<T>>(angle);
        Values<T> a{T(0), T(turn), T(-turn), T(0)}, out(4);
        ASSERT_EQ(run<T>(true, {.kind = Factorization::expm, .m = 2, .n = 2}, {a}, out), Outcome::done);
        double c = std::cos(static_cast<double>(turn)), s = std::sin(static_cast<double>(turn));
        Values<T> expected{T(static_cast<Real<T>>(c)), T(static_cast<Real<T>>(s)), T(static_cast<Real<T>>(-s)),
                           T(static_cast<Real<T>>(c))};
        EXPECT_LE(distance(out, expected), 10 * this->epsilon * (1 + angle));
    }
}

}  // namespace
}  // namespace weft::cpu::matrix
