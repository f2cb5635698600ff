// Fourier transforms beyond what their records show (matrix_test.cpp): identities, types, failures.
#include "weft/ops/fft.h"

#include <gtest/gtest.h>

#include <cmath>

#include "must_fail.h"
#include "ops/expected.h"
#include "weft/autodiff/derivative.h"
#include "weft/base/thread_pool.h"
#include "weft/check/compare.h"
#include "weft/check/draw.h"
#include "weft/graph/node.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/reduce.h"
#include "weft/ops/view.h"

namespace weft {
namespace {

using fft::Norm;

Tensor drawn_signal(const Dims& dims, DType dtype) { return Tensor(Draw("fft").array(dtype, dims)); }
Tensor no_signal(const Dims& dims, DType dtype = DType::float32) { return Tensor(Array::zeros(dtype, dims)); }

TEST(Fft, inverses_give_back_what_was_transformed_whatever_the_norm) {
    for (DType dtype : {DType::complex64, DType::complex128}) {
        double allowed = 40 * epsilon_of(dtype);
        Tensor x = drawn_signal({3, 12, 35}, dtype), y = real(x);
        for (Norm norm : {Norm::backward, Norm::ortho, Norm::forward}) {
            expect_near(fft::ifft(fft::fft(x, {}, 1, norm), {}, 1, norm), x, allowed);
            expect_near(fft::ifftn(fft::fftn(x, {}, {}, norm), {}, {}, norm), x, allowed);
            expect_near(fft::irfft(fft::rfft(y, {}, -1, norm), 35, -1, norm), y, allowed);
            expect_near(fft::irfftn(fft::rfftn(y, {}, {}, norm), Dims{3, 12, 35}, {}, norm), y, allowed);
            expect_near(fft::hfft(fft::ihfft(y, {}, -1, norm), 35, -1, norm), y, allowed);
            expect_near(fft::irfft2(fft::rfft2(y, {}, {0, 1}, norm), Dims{3, 12}, {0, 1}, norm), y, allowed);
        }
        expect_near(fft::ifftshift(fft::fftshift(x)), x, 0);
    }
}

TEST(Fft, an_orthogonal_transform_keeps_lengths) {
    Tensor x = drawn_signal({5, 997}, DType::complex128);
    expect_near(sum(square(abs(fft::fft(x, {}, -1, Norm::ortho))), -1), sum(square(abs(x)), -1), 1e-9);
}

TEST(Fft, keeps_the_width_of_its_numbers) {
    EXPECT_EQ(fft::fft(no_signal({4})).dtype(), DType::complex64);
    EXPECT_EQ(fft::fft(no_signal({4}, DType::float64)).dtype(), DType::complex128);
    EXPECT_EQ(fft::fft(no_signal({4}, DType::int64)).dtype(), DType::complex64);
    EXPECT_EQ(fft::irfft(no_signal({4}, DType::complex128)).dtype(), DType::float64);
    EXPECT_EQ(fft::rfftfreq(5, 1, DType::float64).dtype(), DType::float64);
    EXPECT_EQ(fft::fft(no_signal({0, 4})).array().dims, (Dims{0, 4}));
    EXPECT_EQ(fft::fft(no_signal({0}), 3).array().dims, (Dims{3}));
}

TEST(Fft, gives_the_same_bits_for_any_number_of_threads) {
    int before = ThreadPool::instance().threads();
    auto same = [&](auto f) {
        ThreadPool::instance().set_threads(1);
        Array one = f().array();
        ThreadPool::instance().set_threads(3);
        EXPECT_EQ(difference(one, f().array()), "");
    };
    same([] { return fft::fft(drawn_signal({300, 60}, DType::complex64)); });
    same([] { return fft::fft(drawn_signal({300, 60}, DType::complex64), {}, 0); });
    same([] { return fft::fft(drawn_signal({2, 1 << 16}, DType::complex64)); });
    same([] { return fft::rfft(drawn_signal({70, 1000}, DType::float64)); });
    same([] { return fft::irfft(drawn_signal({70, 501}, DType::complex128), 1001); });
    ThreadPool::instance().set_threads(before);
}

TEST(Fft, real_transforms_are_halves_of_complex_ones_along_any_axis) {
    for (const Dims& dims : {Dims{1, 70, 3}, Dims{2, 37, 40}, Dims{40, 30, 20}, Dims{3, 998, 2}, Dims{20, 41, 3}}) {
        Tensor x = drawn_signal(dims, DType::float64);
        for (std::int64_t axis = 0; axis < 3; ++axis) {
            std::int64_t n = dims[static_cast<std::size_t>(axis)];
            Tensor whole = fft::fft(x, {}, axis), half = fft::rfft(x, {}, axis);
            Shape length = whole.shape();
            length[static_cast<std::size_t>(axis)] = n / 2 + 1;
            expect_near(half, slice(whole, Shape(3, 0), length), 1e-12 * std::sqrt(static_cast<double>(n)));
            expect_near(fft::irfft(half, n, axis), x, 1e-13);
        }
    }
}

// clang-format off
TEST(Fft, refuses_by_name) {
    EXPECT_MESSAGE(DTypeError, "fft: takes float32, float64, complex64 and complex128 (bool and integers as float32), not float16; convert with astype first", fft::fft(no_signal({4}, DType::float16)));
    EXPECT_MESSAGE(DTypeError, "rfft: takes real numbers, not complex64; take fft, or real(x)", fft::rfft(no_signal({4}, DType::complex64)));
    EXPECT_MESSAGE(ValueError, "fft: 0 points; there must be at least 1", fft::fft(no_signal({4}), 0));
    EXPECT_MESSAGE(ValueError, "irfft: 0 points; there must be at least 1", fft::irfft(no_signal({1})));
    EXPECT_MESSAGE(AxisError, "ifft: axis 1 is out of bounds for a value with 1 dimension (axes go from -1 to 0)", fft::ifft(no_signal({4}), {}, 1));
    EXPECT_MESSAGE(AxisError, "fft2: axis -2 is out of bounds for a value with 1 dimension (axes go from -1 to 0)", fft::fft2(no_signal({4})));
    EXPECT_MESSAGE(ValueError, "fftn: s = (4,) and axes = (0, 1) differ in number", fft::fftn(no_signal({4, 4}), Dims{4}, Axes{0, 1}));
    EXPECT_MESSAGE(ValueError, "fftn: s = (4, 4) names more axes than the 1 of the value", fft::fftn(no_signal({4}), Dims{4, 4}));
    EXPECT_MESSAGE(ValueError, "rfftn: there must be at least one axis", fft::rfftn(no_signal({})));
    EXPECT_MESSAGE(ShapeError, "fft: the size n of the axis is not known yet; give n", fft::fft(input("x", {"n"})));
    EXPECT_PLAIN_MESSAGE(ValueError, "fft: there is no norm 'both'; take backward, ortho or forward", fft::norm_named("both"));
    EXPECT_PLAIN_MESSAGE(ValueError, "fftfreq: 0 points; there must be at least 1", fft::fftfreq(0));
}
// clang-format on

TEST(Fft, the_derivative_of_a_real_argument_is_real) {
    // The real parts of a transform add up to n x_0.
    Tensor x = zeros({4}, DType::float64);
    EXPECT_EQ(gradient(sum(real(fft::fft(x))), x).to_vector<double>(), (std::vector<double>{4, 0, 0, 0}));
}

}  // namespace
}  // namespace weft
