// torch.nn.functional's functions in C++: known answers, identities of mathematics, brute force; and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "message.h"
#include "weft/autodiff/derivative.h"
#include "weft/autodiff/transform.h"
#include "weft/nn/functional/activation.h"
#include "weft/nn/functional/attention.h"
#include "weft/nn/functional/convolution.h"
#include "weft/nn/functional/dropout.h"
#include "weft/nn/functional/image.h"
#include "weft/nn/functional/linear.h"
#include "weft/nn/functional/normalization.h"
#include "weft/nn/functional/pooling.h"
#include "weft/nn/functional/recurrent.h"
#include "weft/nn/loss.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/join.h"
#include "weft/ops/random.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"
#include "weft/ops/view.h"

namespace weft::nn::functional {
namespace {

using Values = std::vector<double>;

Tensor draw(const Shape& shape, std::uint64_t seed = 1) {
    return random::normal(shape, 0, 1, random::key(seed), DType::float64);
}
void expect_close(const Tensor& mine, const Tensor& theirs, double error = 1e-12) {
    ASSERT_EQ(mine.dims(), theirs.dims());
    Values a = mine.to_vector<double>(), b = theirs.to_vector<double>();
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], error) << "element " << i;
}

TEST(Functional, softplus_is_the_identity_above_its_threshold) {
    Values y = softplus(Tensor::of(Values{-1, 0, 2, 3}, {4}), 2, 5).to_vector<double>();
    EXPECT_THAT(y, testing::Pointwise(testing::DoubleNear(1e-14), Values{std::log1p(std::exp(-2)) / 2, std::log(2) / 2,
                                                                         std::log1p(std::exp(4)) / 2, 3}));
}

TEST(Functional, a_softmax_of_a_number_is_one) {
    EXPECT_EQ(functional::softmax(Tensor(3.0, DType::float64), 0).item<double>(), 1);
    EXPECT_EQ(functional::softmax(zeros({2, 0, 3}), 1).dims(), (Dims{2, 0, 3}));
}

TEST(Functional, celu_has_no_alpha_of_zero) {
    EXPECT_THAT(message<ValueError>([] { (void)celu(ones({2}), 0); }), testing::HasSubstr("alpha is 0"));
}

TEST(Functional, gumbel_softmax_has_the_derivative_of_the_soft_one) {
    Tensor x = draw({3, 4}), key = random::key(2), factors = draw({3, 4}, 5);
    auto slope = [&](bool hard) {
        return grad([&](const Tensor& t) { return sum(gumbel_softmax(t, 0.7, hard, -1, key) * factors); })(x);
    };
    expect_close(slope(true), slope(false));
}

TEST(Functional, adaptive_pools_cut_an_axis_into_equal_parts_as_well_and_into_none) {
    Tensor x = reshape(arange(0, 24, 1, DType::float64), {1, 2, 3, 4});
    EXPECT_EQ(adaptive_avg_pool(x, 2, {1}).to_vector<double>(), (Values{5.5, 17.5}));
    EXPECT_EQ(adaptive_avg_pool(x, 2, {3, 2}).to_vector<double>(),
              (Values{0.5, 2.5, 4.5, 6.5, 8.5, 10.5, 12.5, 14.5, 16.5, 18.5, 20.5, 22.5}));
    EXPECT_EQ(adaptive_avg_pool(x, 2, {2, 1}).to_vector<double>(), (Values{3.5, 7.5, 15.5, 19.5}));  // rows overlap
    EXPECT_EQ(adaptive_avg_pool(x, 2, {0, 1}).shape(), (Shape{1, 2, 0, 1}));
    EXPECT_EQ(adaptive_avg_pool(zeros({1, 2, 0, 4}, DType::float64), 2, {0, 2}).shape(), (Shape{1, 2, 0, 2}));
}

TEST(Functional, adaptive_pools_cut_an_axis_into_overlapping_parts) {
    Tensor x = Tensor::of(Values{1, 5, 2, 8, 3}, {1, 1, 5});  // parts [0, 2), [1, 4), [3, 5)
    EXPECT_EQ(adaptive_avg_pool(x, 1, {3}).to_vector<double>(), (Values{3, 5, 5.5}));
    auto [values, places] = adaptive_max_pool(x, 1, {3});
    EXPECT_EQ(values.to_vector<double>(), (Values{5, 8, 8}));
    EXPECT_EQ(places.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 3, 3}));
}

TEST(Functional, unpooling_puts_maxima_back) {
    Tensor x = draw({2, 3, 4, 6});
    auto [values, places] = max_pool_with_indices(x, 2, {2});
    Tensor back = max_unpool(values, places, 2, {2});
    EXPECT_EQ(back.dims(), x.dims());
    expect_close(max_pool2d(where(back == 0.0, -1e9, back), {2}), values);
    expect_close(sum(back), sum(values), 1e-9);
}

TEST(Functional, a_divisor_replaces_the_size_of_windows_also_where_they_hang_over) {
    Tensor x = ones({1, 1, 5});
    Values y = avg_pool(astype(x, DType::float64), 1, {2}, {.ceil_mode = true}, 4).to_vector<double>();
    EXPECT_EQ(y, (Values{0.5, 0.5, 0.25}));
}

TEST(Functional, folding_counts_how_often_a_pixel_was_unfolded) {
    Tensor columns = unfold(ones({1, 1, 3, 3}), {2});
    EXPECT_EQ(columns.dims(), (Dims{1, 4, 4}));
    EXPECT_EQ(fold(columns, {3, 3}, {2}).to_vector<float>(), (std::vector<float>{1, 2, 1, 2, 4, 2, 1, 2, 1}));
}

TEST(Functional, padding_same_keeps_sizes_of_even_kernels_too) {
    Tensor x = draw({1, 2, 7}), w = draw({3, 2, 4}, 2);
    Tensor y = conv(x, 1, w, {}, {1}, std::string("same"));
    expect_close(y, conv(weft::pad(x, {0, 0, 1}, {0, 0, 2}), 1, w));
    EXPECT_THAT(message<ValueError>([&] { (void)conv(x, 1, w, {}, {2}, std::string("same")); }),
                testing::HasSubstr("needs stride 1"));
}

TEST(Functional, circular_padding_goes_round_what_is_left) {
    Tensor x = Tensor::of(Values{1, 2, 3, 4}, {1, 1, 4});
    EXPECT_EQ(pad(x, {2, 1}, "circular").to_vector<double>(), (Values{3, 4, 1, 2, 3, 4, 1}));
    EXPECT_EQ(pad(x, {-1, 1}, "circular").to_vector<double>(), (Values{2, 3, 4, 2}));
    EXPECT_EQ(pad(x, {2, 0}, "reflect").to_vector<double>(), (Values{3, 2, 1, 2, 3, 4}));
}

TEST(Functional, resampling_reproduces_lines) {
    Tensor x = reshape(astype(iota(6), DType::float64), {1, 1, 6});
    expect_close(interpolate(x, {.size = {11}, .mode = "linear", .align_corners = true}),
                 reshape(linspace(0, 5, 11, DType::float64), {1, 1, 11}));
    Tensor plane = broadcast_to(reshape(x, {1, 1, 1, 6}), {1, 1, 4, 6});
    Tensor y = interpolate(plane, {.size = {4, 3}, .mode = "bilinear", .antialias = true});
    Values row = slice(y, {0, 0, 0, 1}, {1, 1, 1, 1}).to_vector<double>();
    EXPECT_NEAR(row[0], 2.5, 1e-12);  // the middle of the line stays in the middle
}

TEST(Functional, the_identity_samples_an_image_as_it_is) {
    Tensor x = draw({2, 3, 4, 5});
    Tensor theta = broadcast_to(Tensor::of(Values{1, 0, 0, 0, 1, 0}, {1, 2, 3}), {2, 2, 3});
    for (std::string_view mode : {"bilinear", "bicubic", "nearest"})
        for (bool corners : {false, true})
            expect_close(grid_sample(x, affine_grid(theta, {2, 3, 4, 5}, corners), mode, "border", corners), x, 1e-10);
}

TEST(Functional, shuffled_pixels_come_back) {
    Tensor x = draw({2, 8, 3, 2});
    expect_close(pixel_unshuffle(pixel_shuffle(x, 2), 2), x);
    expect_close(channel_shuffle(channel_shuffle(x, 2), 4), x);
}

TEST(Functional, an_embedding_bag_of_one_entry_is_an_embedding) {
    Tensor table = draw({5, 3}), indices = Tensor::of<std::int64_t>({4, 0, 4}),
           starts = Tensor::of<std::int64_t>({0, 1, 2});
    for (std::string_view mode : {"sum", "mean", "max"})
        expect_close(embedding_bag(indices, table, starts, {.mode = mode}), embedding(indices, table));
    EXPECT_THAT(message<IndexError>([&] { (void)embedding(Tensor::of<std::int64_t>({5}), table); }),
                testing::HasSubstr("the index 5 is not one of a table of 5 rows"));
}

// In bfloat16 256 + 1 is 256 again; in float16 2048 + 1 is 2048.
TEST(Functional, embedding_bags_of_half_types_add_up_in_float32) {
    Tensor indices = zeros({6000}, DType::int64), starts = Tensor::of<std::int64_t>({0, 3000});
    for (DType dtype : {DType::bfloat16, DType::float16}) {
        Tensor table = ones({1, 2}, dtype);
        for (bool offsets : {true, false}) {
            auto bags = [&](std::string_view mode) {
                return offsets ? embedding_bag(indices, table, starts, {.mode = mode})
                               : embedding_bag(reshape(indices, {2, 3000}), table, {}, {.mode = mode});
            };
            EXPECT_EQ(bags("sum").dtype(), dtype);
            expect_close(bags("sum").astype(DType::float64), full({2, 2}, 3000.0, dtype).astype(DType::float64));
            expect_close(bags("mean").astype(DType::float64), ones({2, 2}, DType::float64));
        }
    }
}

TEST(Functional, embedding_bags_that_are_rows_of_a_table_are_those_with_offsets) {
    Tensor table = draw({5, 3}), indices = Tensor::of<std::int64_t>({4, 0, 4, 2, 2, 2}, {2, 3}),
           starts = Tensor::of<std::int64_t>({0, 3});
    for (std::string_view mode : {"sum", "mean", "max"})
        for (std::int64_t padding : {0, 1, 2}) {  // the last leaves a bag empty
            EmbeddingBagOptions options{.mode = mode};
            options.rows.padding_idx = padding;
            expect_close(embedding_bag(indices, table, {}, options),
                         embedding_bag(ravel(indices), table, starts, options));
        }
}

TEST(Functional, distances_of_all_pairs_are_those_of_each) {
    Tensor x = draw({4, 3}), all = pdist(x, 3);
    auto row = [&](std::int64_t i) { return slice(x, {i, 0}, {1, 3}); };
    std::int64_t k = 0;
    for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = i + 1; j < 4; ++j)
            expect_close(slice(all, {k++}, {1}), pairwise_distance(row(i), row(j), 3, 0));
    // A row's distance to itself, which nobody asked for, is no number where the row has an infinity.
    double infinity = std::numeric_limits<double>::infinity();
    Tensor far = Tensor::of<double>({infinity, 1, 2, 3}, {2, 2});
    for (double p : {1.5, 3.0, infinity})
        for (double value : grad([&](const Tensor& t) { return sum(pdist(t, p)); })(far).to_vector<double>())
            EXPECT_FALSE(std::isnan(value)) << p;
}

TEST(Functional, attention_with_equal_scores_is_the_mean_of_what_is_seen) {
    Tensor v = draw({4, 2}), zero = zeros({4, 3}, DType::float64);
    Tensor y = scaled_dot_product_attention(zero, zero, v, {.is_causal = true});
    for (std::int64_t i = 0; i < 4; ++i)
        expect_close(slice(y, {i, 0}, {1, 2}), mean(slice(v, {0, 0}, {i + 1, 2}), 0, true));
}

// The rule of its own against the chain rule through exponentials, sum and quotient, of first and second order; nothing takes part in a row.
TEST(Functional, attention_has_the_derivatives_of_its_formula) {
    Tensor q = draw({3, 2}, 1), k = draw({4, 2}, 2), v = draw({4, 2}, 3);
    Tensor mask = reshape(iota(12), {3, 4}) >= 4, some = astype(mask, DType::float64);
    auto written = [&](const Tensor& q) {
        Tensor raised = exp(matmul(q, matrix_transpose(k))) * some, total = sum(raised, -1, true);
        return matmul(raised / where(total == 0, 1, total), v);
    };
    auto called = [&](const Tensor& q) {
        return scaled_dot_product_attention(q, k, v, {.attn_mask = mask, .scale = 1.0});
    };
    auto slopes = [&](auto f) {
        Tensor first = gradient(sum(square(f(q))), {q})[0];
        return std::vector<Tensor>{first, gradient(sum(square(first)), {q})[0]};
    };
    std::vector<Tensor> mine = slopes(called), wanted = slopes(written);
    for (std::size_t i : {0, 1}) expect_close(mine[i], wanted[i]);
}

// Long ones are computed part by part, each with the keys that it sees: as with the mask written out, values and derivatives. More keys than
// queries, fewer, and a last part that is shorter.
TEST(Functional, a_causal_attention_in_parts_is_that_of_the_whole_mask) {
    for (auto [queries, keys] : {std::pair{128, 128}, {130, 129}, {200, 300}, {512, 512}, {600, 1000}, {1100, 520}}) {
        Tensor q = draw({2, queries, 3}, 1), k = draw({2, keys, 3}, 2), v = draw({2, keys, 2}, 3);
        Tensor mask = reshape(iota(queries), {queries, 1}) >= iota(keys);
        Tensor mine = scaled_dot_product_attention(q, k, v, {.is_causal = true});
        Tensor wanted = scaled_dot_product_attention(q, k, v, {.attn_mask = mask});
        expect_close(mine, wanted);
        std::vector<Tensor> slopes = gradient(sum(square(mine)), {q, k, v});
        std::vector<Tensor> others = gradient(sum(square(wanted)), {q, k, v});
        for (std::size_t i : {0, 1, 2}) expect_close(slopes[i], others[i]);
    }
}

TEST(Functional, a_recurrent_layer_is_its_cell_step_after_step) {
    for (Recurrence kind : {Recurrence::rnn_tanh, Recurrence::rnn_relu, Recurrence::lstm, Recurrence::gru}) {
        std::int64_t gates = kind == Recurrence::lstm ? 4 : kind == Recurrence::gru ? 3 : 1;
        RecurrentWeights w{draw({gates * 2, 3}, 1), draw({gates * 2, 2}, 2), draw({gates * 2}, 3),
                           draw({gates * 2}, 4)};
        Tensor x = draw({5, 2, 3}, 6);
        RecurrentResult all = recurrent(x, {}, {w}, {.kind = kind});
        RecurrentState state;
        for (std::int64_t t = 0; t < 5; ++t) {
            state = recurrent_cell(kind, reshape(slice(x, {t, 0, 0}, {1, 2, 3}), {2, 3}), state, w);
            expect_close(reshape(slice(all.output, {t, 0, 0}, {1, 2, 2}), {2, 2}), state.h);
        }
        expect_close(reshape(all.last.h, {2, 2}), state.h);
    }
}

TEST(Functional, running_statistics_move_towards_the_batchs) {
    Tensor x = Tensor::of(Values{1, 2, 3, 6}, {4, 1});
    Normalized n = batch_norm(x, zeros({1}, DType::float64), ones({1}, DType::float64), {}, {}, true, 0.5);
    EXPECT_DOUBLE_EQ(n.running_mean.to_vector<double>()[0], 1.5);
    EXPECT_DOUBLE_EQ(n.running_var.to_vector<double>()[0], 0.5 + 0.5 * 14 / 3);
}

TEST(CtcLoss, is_the_sum_over_all_paths_and_its_derivative_their_posterior) {
    constexpr std::int64_t steps = 4, classes = 3;
    Tensor logs = weft::log_softmax(draw({steps, classes}), 1);
    Values p = logs.to_vector<double>(), posterior(p.size(), 0.0);
    double total = 0;
    for (int path = 0; path < 81; ++path) {
        int digits[steps] = {path % 3, path / 3 % 3, path / 9 % 3, path / 27};
        std::vector<int> kept;
        double log = 0;
        for (std::size_t t = 0; t < steps; ++t) {
            log += p[t * classes + static_cast<std::size_t>(digits[t])];
            if (digits[t] != 0 && (t == 0 || digits[t - 1] != digits[t])) kept.push_back(digits[t]);
        }
        if (kept != std::vector<int>{2, 1}) continue;
        total += std::exp(log);
        for (std::size_t t = 0; t < steps; ++t)
            posterior[t * classes + static_cast<std::size_t>(digits[t])] -= std::exp(log);
    }
    auto loss = [&](const Tensor& x) {
        return ctc_loss(x, Tensor::of<std::int64_t>({2, 1}), Tensor::of<std::int64_t>({steps}),
                        Tensor::of<std::int64_t>({2}), {.reduction = LossReduction::sum});
    };
    EXPECT_NEAR(loss(logs).item<double>(), -std::log(total), 1e-12);
    for (double& value : posterior) value /= total;
    expect_close(grad(loss)(logs), Tensor::of(posterior, {steps, classes}));
}

}  // namespace
}  // namespace weft::nn::functional
