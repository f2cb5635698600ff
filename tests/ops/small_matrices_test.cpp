// Small matrices, of which each lane of a vector holds one: the same bits alone and in any batch.
#include <gtest/gtest.h>

#include "threads.h"
#include "weft/autodiff/derivative.h"
#include "weft/backend/cpu/isa.h"
#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/join.h"
#include "weft/ops/linalg.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"
#include "weft/runtime/function.h"

namespace weft {
namespace {

constexpr std::int64_t orders[] = {1, 2, 3, 5, 8, 13, 16, 17}, batches[] = {1, 2, 3, 5, 16, 37};

/// Matrices whose largest numbers do not stand on the diagonal.
Tensor drawn_small(const Dims& dims, DType dtype) {
    return sin(Tensor(Draw("small matrices").array(dtype, dims)) * 3.0f).eval();
}
Tensor definite(const Tensor& x) {
    std::int64_t n = x.shape()[1].known();
    return (matmul(x, matrix_transpose(x)) + eye(n, -1, 0, x.dtype()) * n).eval();
}

/// Matrices [first, first + count).
Tensor some(const Tensor& x, std::int64_t first, std::int64_t count) {
    Dims start(x.shape().size(), 0), length = dims_of(x.shape());
    start[0] = first, length[0] = count;
    return slice(x, shape_of(start), shape_of(length)).eval();
}

/// Compiled anew, for the instruction set in use.
std::vector<Tensor> taken_apart(const Tensor& a, const Tensor& spd, const Tensor& b) {
    CompiledFunction all([](std::span<const Tensor> x) {
        linalg::Slogdet s = linalg::slogdet(x[0]);
        Tensor at[] = {x[0]}, with_transpose = gradient(sum(linalg::solve(x[0], x[2]) * x[2]), at)[0];
        return std::vector{linalg::cholesky(x[1]),
                           linalg::inv(x[0]),
                           linalg::solve(x[0], x[2]),
                           linalg::det(x[0]),
                           s.sign,
                           s.logabsdet,
                           linalg::solve_triangular(x[0], x[2], true),
                           linalg::solve_triangular(x[0], x[2], false, true),
                           with_transpose};
    });
    Tensor arguments[] = {a, spd, b};
    return all(arguments);
}

TEST(SmallMatrices, are_the_same_bits_alone_in_any_batch_and_on_every_instruction_set) {
    cpu::Isa before = cpu::best_isa();
    for (DType dtype : {DType::float32, DType::float64})
        for (std::int64_t n : orders) {
            constexpr std::int64_t most = 37;
            Tensor a = drawn_small({most, n, n}, dtype), spd = definite(a), b = drawn_small({most, n, 3}, dtype);
            std::vector<Tensor> first;
            for (cpu::Isa isa : cpu::usable_isas()) {
                cpu::use_isa(isa);
                for (std::int64_t batch : batches) {
                    SCOPED_TRACE(text(dtype, ", ", n, " x ", n, ", ", batch, " of them, ", cpu::name_of(isa)));
                    auto part = [&](const Tensor& x) { return some(x, most - batch, batch); };
                    std::vector<Tensor> all = taken_apart(part(a), part(spd), part(b));
                    if (first.empty()) first = all;
                    for (std::size_t i = 0; i < all.size(); ++i)
                        EXPECT_EQ(difference(first[i].array(), some(all[i], batch - 1, 1).array()), "") << i;
                }
            }
        }
    cpu::use_isa(before);
}

TEST(SmallMatrices, come_apart_into_what_multiplies_to_them) {
    for (DType dtype : {DType::float32, DType::float64})
        for (std::int64_t n : orders) {
            SCOPED_TRACE(text(dtype, ", ", n, " x ", n));
            double allowed = 2000 * static_cast<double>(n) * epsilon_of(dtype);
            Tensor a = (drawn_small({37, n, n}, dtype) + eye(n, -1, 0, dtype) * 2.0f).eval(),
                   b = drawn_small({37, n, 3}, dtype);
            Tensor spd = definite(a), l = linalg::cholesky(spd);
            auto near = [&](std::string_view what, const Tensor& found, const Tensor& expected) {
                Tensor relative = max(abs(found - expected)) / (max(abs(expected)) + 1.0f);
                EXPECT_LE(astype(relative, DType::float64).item<double>(), allowed) << what;
            };
            near("cholesky", matmul(l, matrix_transpose(l)), spd);
            near("inv", matmul(spd, linalg::inv(spd)), broadcast_to(eye(n, -1, 0, dtype), {37, n, n}));
            near("solve", matmul(spd, linalg::solve(spd, b)), b);
            near("det", linalg::det(spd) / square(linalg::det(l)), ones({37}, dtype));
            near("slogdet", linalg::slogdet(spd).logabsdet, log(linalg::det(spd)));
            near("lower", matmul(l, linalg::solve_triangular(l, b, true)), b);
            near("transposed", matmul(matrix_transpose(l), linalg::solve_triangular(l, b, true, true)), b);
            near("sign", linalg::slogdet(matrix_transpose(a)).sign, linalg::slogdet(a).sign);
        }
}

TEST(SmallMatrices, that_have_no_result_are_named_in_their_batch) {
    auto with_zeros = [](std::int64_t at) {
        Tensor one = eye(4);
        std::vector<Tensor> all(50, one);
        all[static_cast<std::size_t>(at)] = zeros({4, 4});
        return reshape(stack(all), {5, 10, 4, 4}).eval();
    };
    for (int threads : {1, 3}) {
        Threads some(threads);
        for (std::int64_t at : {0, 17, 49}) {
            std::string where = text("(", at / 10, ", ", at % 10, ")");
            Tensor x = with_zeros(at);
            try {
                linalg::inv(x).eval();
                ADD_FAILURE() << "no error";
            } catch (const ValueError& error) {
                EXPECT_NE(std::string(error.what()).find("inv: matrix " + where + " of the batch is singular"),
                          std::string::npos)
                    << error.what();
            }
            try {
                linalg::cholesky(x).eval();
                ADD_FAILURE() << "no error";
            } catch (const ValueError& error) {
                EXPECT_NE(std::string(error.what())
                              .find("cholesky: matrix " + where + " of the batch is not positive definite"),
                          std::string::npos)
                    << error.what();
            }
        }
    }
}

TEST(SmallMatrices, of_infinite_determinants_have_their_sign) {
    double inf = std::numeric_limits<double>::infinity();
    for (std::int64_t n : {2, 17})
        for (double first : {inf, -inf}) {
            Tensor x = where(arange(n * n) == 0, first, reshape(eye(n, -1, 0, DType::float64), {n * n}));
            linalg::Slogdet found = linalg::slogdet(reshape(x, {n, n}));
            EXPECT_EQ(found.sign.item<double>(), first > 0 ? 1 : -1) << n;
            EXPECT_EQ(found.logabsdet.item<double>(), inf) << n;
        }
}

TEST(SmallMatrices, are_read_as_they_lie) {
    Tensor a = definite(drawn_small({6, 5, 5}, DType::float32)), b = drawn_small({6, 5, 2}, DType::float32);
    Tensor expected = linalg::solve(a, b).eval();
    for (Form form : {Form::transposed, Form::strided, Form::reversed, Form::shifted}) {
        Tensor x(laid_out(a.array(), form)), y(laid_out(b.array(), form));
        EXPECT_EQ(difference(expected.array(), linalg::solve(x, y).array()), "") << name_of(form);
    }
    Tensor one = some(a, 2, 1);  // one matrix, many right sides
    Tensor together = linalg::solve(broadcast_to(one, {6, 5, 5}), b), last = linalg::solve(one, some(b, 5, 1));
    EXPECT_EQ(difference(some(together, 5, 1).array(), last.array()), "");
}

}  // namespace
}  // namespace weft
