// Recurrent layers and attention beside their formulas written out in loops, their names, first values, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "message.h"
#include "weft/nn/module.h"
#include "weft/nn/recurrent.h"
#include "weft/nn/training.h"
#include "weft/nn/transformer.h"
#include "weft/ops/creation.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/random.h"
#include "weft/ops/view.h"

namespace weft::nn {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

Tensor normal_draw(const Shape& shape, std::uint64_t seed) {
    return random::normal(shape, 0, 1, random::key(seed), DType::float64);
}
Rows rows_of(const Tensor& matrix) {
    Row all = matrix.to_vector<double>();
    auto rows = static_cast<std::ptrdiff_t>(matrix.dims()[0]), width = static_cast<std::ptrdiff_t>(all.size()) / rows;
    Rows result;
    for (std::ptrdiff_t i = 0; i < rows; ++i)
        result.emplace_back(all.begin() + i * width, all.begin() + (i + 1) * width);
    return result;
}
double dot(const Row& a, const Row& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

struct Weights {
    Rows ih, hh;
    Row b_ih, b_hh;
};
template <class Layer>
Weights weights_of(const Layer& layer, const std::string& end) {
    Weights w;
    for (const NamedParameter& one : named(layer)) {
        if (one.name == "weight_ih" + end) w.ih = rows_of(one.parameter.value());
        if (one.name == "weight_hh" + end) w.hh = rows_of(one.parameter.value());
        if (one.name == "bias_ih" + end) w.b_ih = one.parameter.value().template to_vector<double>();
        if (one.name == "bias_hh" + end) w.b_hh = one.parameter.value().template to_vector<double>();
    }
    return w;
}

// The formulas of PyTorch's manual, for one sequence; `gates` says which.
Rows stepped(std::size_t gates, const Weights& w, const Rows& x, Row h, Row c, bool backward) {
    std::size_t n = h.size();
    Rows outputs(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::size_t t = backward ? x.size() - 1 - i : i;
        Row next(n);
        for (std::size_t j = 0; j < n; ++j) {
            auto of_x = [&](std::size_t gate) { return dot(w.ih[gate * n + j], x[t]) + w.b_ih[gate * n + j]; };
            auto of_h = [&](std::size_t gate) { return dot(w.hh[gate * n + j], h) + w.b_hh[gate * n + j]; };
            if (gates == 4) {
                c[j] = logistic(of_x(1) + of_h(1)) * c[j] + logistic(of_x(0) + of_h(0)) * std::tanh(of_x(2) + of_h(2));
                next[j] = logistic(of_x(3) + of_h(3)) * std::tanh(c[j]);
            } else if (gates == 3) {
                double r = logistic(of_x(0) + of_h(0)), z = logistic(of_x(1) + of_h(1));
                next[j] = (1 - z) * std::tanh(of_x(2) + r * of_h(2)) + z * h[j];
            } else {
                next[j] = std::max(0.0, of_x(0) + of_h(0));
            }
        }
        outputs[t] = h = next;
    }
    return outputs;
}

// Two layers, both directions, from a state that is given.
template <class Layer>
void expect_formula(std::size_t gates, RecurrentLayerOptions options) {
    options.num_layers = 2, options.bidirectional = true, options.batch_first = true;
    options.dtype = DType::float64, options.key = random::key(3);
    Layer layer(3, 2, options);
    Tensor x = normal_draw({1, 5, 3}, 1), h = normal_draw({4, 1, 2}, 5), c = normal_draw({4, 1, 2}, 6);
    functional::RecurrentResult result = layer(x, {h, gates == 4 ? c : Tensor()});
    Rows inputs = rows_of(reshape(x, {5, 3})), hs = rows_of(reshape(h, {4, 2})), cs = rows_of(reshape(c, {4, 2}));
    Rows last;
    for (std::size_t k = 0; k < 4; k += 2) {
        std::string end = k ? "_l1" : "_l0";
        Rows forward = stepped(gates, weights_of(layer, end), inputs, hs[k], cs[k], false);
        Rows backward = stepped(gates, weights_of(layer, end + "_reverse"), inputs, hs[k + 1], cs[k + 1], true);
        last.push_back(forward.back()), last.push_back(backward.front());
        for (std::size_t t = 0; t < 5; ++t) {
            inputs[t] = forward[t];
            inputs[t].insert(inputs[t].end(), backward[t].begin(), backward[t].end());
        }
    }
    Rows mine = rows_of(reshape(result.output, {5, 4})), mine_last = rows_of(reshape(result.last.h, {4, 2}));
    for (std::size_t t = 0; t < 5; ++t) EXPECT_THAT(mine[t], testing::Pointwise(testing::DoubleNear(1e-13), inputs[t]));
    for (std::size_t k = 0; k < 4; ++k)
        EXPECT_THAT(mine_last[k], testing::Pointwise(testing::DoubleNear(1e-13), last[k]));
}

TEST(Recurrent, layers_and_directions_are_the_formulas_step_after_step) {
    expect_formula<LSTM>(4, {});
    expect_formula<GRU>(3, {});
    expect_formula<RNN>(1, {.nonlinearity = "relu"});
}

TEST(Recurrent, parameters_have_the_names_and_shapes_of_PyTorch) {
    std::string all;
    for (const NamedParameter& one :
         named(LSTM(5, 3, {.num_layers = 2, .bidirectional = true, .proj_size = 2, .key = random::key(1)})))
        all += one.name + " " + str(one.parameter.shape()) + "\n";
    EXPECT_THAT(all,
                testing::StartsWith("weight_ih_l0 (12, 5)\nweight_hh_l0 (12, 2)\nbias_ih_l0 (12,)\nbias_hh_l0 (12,)\n"
                                    "weight_hr_l0 (2, 3)\nweight_ih_l0_reverse (12, 5)\n"));
    EXPECT_THAT(all, testing::HasSubstr("weight_ih_l1 (12, 4)\n"));
    EXPECT_EQ(parameter_count(LSTM(128, 128, {.num_layers = 2})), 2 * (4 * 128 * 256 + 2 * 512));
}

TEST(Recurrent, a_cell_is_a_step_of_its_layer) {
    GRUCell cell(3, 2, {.key = random::key(4), .dtype = DType::float64});
    GRU layer(3, 2, {.dtype = DType::float64});
    std::vector<NamedParameter> from = named(cell), to = named(layer);
    for (std::size_t i = 0; i < 4; ++i) to[i].parameter.set(from[i].parameter.value());
    Tensor x = normal_draw({1, 4, 3}, 1), h = normal_draw({1, 4, 2}, 2);
    Rows step = rows_of(cell(squeeze(x, {0}), {squeeze(h, {0}), {}}).h),
         whole = rows_of(squeeze(layer(x, {h, {}}).output, {0}));
    for (std::size_t i = 0; i < 4; ++i) EXPECT_THAT(step[i], testing::Pointwise(testing::DoubleNear(1e-14), whole[i]));
    EXPECT_EQ(LSTMCell(3, 2)(ones({3})).c.shape(), (Shape{2}));
    EXPECT_EQ(message<ValueError>([] { RNNCell(3, 0); }), "RNNCell: hidden_size is 0; it must be at least 1");
}

TEST(Recurrent, dropout_is_between_layers_and_while_training_alone) {
    LSTM layer(3, 4, {.num_layers = 2, .dropout = 1, .key = random::key(1)});
    Tensor x = astype(normal_draw({2, 1, 3}, 2), DType::float32);
    Tensor calm = layer(x).last.h.eval();
    Training learning;
    Tensor spoiled = layer(x).last.h.eval();  // the second layer sees nothing, the first is as it was
    std::vector<float> a = calm.to_vector<float>(), b = spoiled.to_vector<float>();
    EXPECT_TRUE(std::equal(a.begin(), a.begin() + 4, b.begin()));
    EXPECT_FALSE(std::equal(a.begin() + 4, a.end(), b.begin() + 4));
}

TEST(Recurrent, refuses_sizes_options_and_inputs_that_do_not_fit) {
    EXPECT_EQ(message<ValueError>([] { LSTM(0, 2); }), "LSTM: input_size is 0; it must be at least 1");
    EXPECT_EQ(message<ValueError>([] { GRU(3, 2, {.dropout = 2}); }),
              "GRU: dropout is 2; it is a probability, between 0 and 1");
    EXPECT_EQ(message<ValueError>([] { GRU(3, 2, {.proj_size = 1}); }),
              "GRU: proj_size is 1; it is for an LSTM, and below hidden_size, 2");
    EXPECT_EQ(message<ValueError>([] { RNN(3, 2, {.nonlinearity = "sin"}); }),
              "RNN: the nonlinearity is 'sin'; it is for an RNN, and 'tanh' or 'relu'");
    EXPECT_EQ(first_line<ShapeError>([] {
                  (void)LSTM(3, 2)(ones({5, 1, 4}));
              }),
              "recurrent: the input has 4 features, the weight of shape (8, 3) takes 3");
    EXPECT_EQ(first_line<ShapeError>([] {
                  (void)LSTM(3, 2)(ones({5, 1, 3}), {ones({1, 4, 2}), {}});
              }),
              "recurrent: the state has shape (1, 4, 2), but must be (1, 1, 2)");
}

// Softmax(q k / sqrt(2)) v of head after head, written out.
TEST(MultiheadAttention, is_a_weighted_mean_of_values_head_by_head) {
    MultiheadAttention layer(4, 2, {.batch_first = true, .key = random::key(1), .dtype = DType::float64});
    layer.in_proj_bias->set(normal_draw({12}, 2)), layer.out_proj.bias->set(normal_draw({4}, 3));
    Tensor x = normal_draw({1, 3, 4}, 4);
    Tensor later = reshape(iota(3), {3, 1}) < reshape(iota(3), {1, 3});
    auto [result, weights] = layer(x, x, x, {.attn_mask = later});
    Rows inputs = rows_of(reshape(x, {3, 4})), w = rows_of(*layer.in_proj_weight), out = rows_of(layer.out_proj.weight);
    Row b = layer.in_proj_bias->value().to_vector<double>(), of_out = layer.out_proj.bias->value().to_vector<double>();
    auto projected = [&](std::size_t which, std::size_t t, std::size_t j) {
        return dot(w[which * 4 + j], inputs[t]) + b[which * 4 + j];
    };
    Rows mine = rows_of(reshape(result, {3, 4})), seen = rows_of(reshape(weights, {3, 3}));
    for (std::size_t t = 0; t < 3; ++t) {
        Row joined(4), means(3);
        for (std::size_t head = 0; head < 2; ++head) {
            Row share(3);
            double total = 0;
            for (std::size_t s = 0; s <= t; ++s) {
                double score = 0;
                for (std::size_t j = head * 2; j < head * 2 + 2; ++j) score += projected(0, t, j) * projected(1, s, j);
                total += share[s] = std::exp(score / std::sqrt(2.0));
            }
            for (std::size_t s = 0; s <= t; ++s) {
                means[s] += share[s] / total / 2;
                for (std::size_t j = head * 2; j < head * 2 + 2; ++j)
                    joined[j] += share[s] / total * projected(2, s, j);
            }
        }
        Row expected(4);
        for (std::size_t j = 0; j < 4; ++j) expected[j] = dot(out[j], joined) + of_out[j];
        EXPECT_THAT(mine[t], testing::Pointwise(testing::DoubleNear(1e-13), expected));
        EXPECT_THAT(seen[t], testing::Pointwise(testing::DoubleNear(1e-13), means));
    }
}

TEST(MultiheadAttention, begins_as_PyTorchs_and_refuses_heads_that_do_not_share_the_features) {
    MultiheadAttention layer(6, 3, {.add_bias_kv = true, .kdim = 4, .key = random::key(1)});
    std::string all;
    for (const NamedParameter& one : named(layer)) all += one.name + " " + str(one.parameter.shape()) + "\n";
    EXPECT_EQ(all,
              "q_proj_weight (6, 6)\nk_proj_weight (6, 4)\nv_proj_weight (6, 6)\nin_proj_bias (18,)\n"
              "out_proj.weight (6, 6)\nout_proj.bias (6,)\nbias_k (1, 1, 6)\nbias_v (1, 1, 6)\n");
    EXPECT_EQ(layer(ones({5, 2, 6}), ones({4, 2, 4}), ones({4, 2, 6})).first.shape(), (Shape{5, 2, 6}));
    EXPECT_EQ(message<ValueError>([] { MultiheadAttention(6, 4); }),
              "MultiheadAttention: embed_dim, 6, must be a multiple of num_heads, 4");
}

TEST(TransformerEncoderLayer, normalises_in_front_of_each_part_or_behind_the_sum) {
    Tensor x = astype(normal_draw({2, 3, 4}, 7), DType::float32);
    for (bool first : {true, false}) {
        TransformerEncoderLayer layer(4, 2,
                                      {.dim_feedforward = 6,
                                       .activation = "gelu",
                                       .batch_first = true,
                                       .norm_first = first,
                                       .key = random::key(9)});
        auto feed = [&](const Tensor& y) { return layer.linear2(gelu(layer.linear1(y))); };
        Tensor y = first ? x + layer.self_attn(layer.norm1(x)) : layer.norm1(x + layer.self_attn(x));
        Tensor expected = first ? y + feed(layer.norm2(y)) : layer.norm2(y + feed(y));
        TransformerEncoder encoder({layer});
        EXPECT_EQ(encoder(x).to_vector<float>(), expected.to_vector<float>());
    }
    Tensor memory = astype(normal_draw({2, 5, 4}, 8), DType::float32);
    TransformerDecoderLayer layer(4, 2, {.dim_feedforward = 6, .batch_first = true, .key = random::key(9)});
    Tensor y = layer.norm1(x + layer.self_attn(x));
    y = layer.norm2(y + layer.multihead_attn(y, memory, memory).first);
    y = layer.norm3(y + layer.linear2(relu(layer.linear1(y))));
    TransformerDecoder decoder({layer}, LayerNorm(4));
    EXPECT_EQ(decoder(x, memory).to_vector<float>(), LayerNorm(4)(y).to_vector<float>());
    EXPECT_THAT(message<ValueError>([] { TransformerEncoderLayer(4, 2, {.activation = "glu"}); }),
                testing::HasSubstr("gelu"));
}

}  // namespace
}  // namespace weft::nn
