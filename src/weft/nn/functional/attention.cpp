#include "weft/nn/functional/attention.h"

#include <cmath>

#include "weft/autodiff/custom.h"
#include "weft/base/integers.h"
#include "weft/nn/functional/common.h"
#include "weft/nn/functional/dropout.h"
#include "weft/nn/functional/linear.h"
#include "weft/ops/arrange.h"
#include "weft/ops/contraction.h"
#include "weft/ops/creation.h"
#include "weft/ops/join.h"
#include "weft/ops/reduce.h"
#include "weft/ops/statistics.h"

namespace weft::nn::functional {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// (queries, keys): True on and below the diagonal; of queries from number `first` on.
Tensor causal(Size queries, Size keys, std::int64_t first = 0) {
    Tensor rows = iota(queries);
    return reshape(first > 0 ? rows + first : rows, {queries, 1}) >= reshape(iota(keys), {1, keys});
}

// A softmax along the last axis, 0 in rows of which nothing takes part: their exponentials are 0, and so is their sum.
Tensor softmax_of(const Tensor& scores, bool masked) {
    if (!masked) return weft::softmax(scores, -1);
    Tensor most = stop_gradient(max(scores, -1, true));
    Tensor raised = exp(scores - where(most == minus_infinity, 0, most)), total = sum(raised, -1, true);
    return raised / where(total == 0, 1, total);
}

// Its derivative from the weights alone: dS = W * (dW - sum(W * dW)). They are what the values are multiplied by, so the backward pass keeps one
// array of (queries, keys), where the chain rule through exponentials, sum and quotient kept three.
Tensor weights_of(const Tensor& scores, bool masked) {
    static const std::shared_ptr<const CustomRule> rule = [] {
        CustomRule made{.name = "scaled_dot_product_attention", .pull = {}, .forward = true};
        made.pull = [](std::span<const Tensor> scores_and_weights, std::span<const Tensor> cotangents) {
            Tensor product = scores_and_weights[1] * cotangents[0];
            return std::vector<Tensor>{product - scores_and_weights[1] * sum(product, {-1}, true), {}};
        };
        return std::make_shared<const CustomRule>(std::move(made));
    }();
    KeepPending keep;
    Tensor weights = softmax_of(scores, masked);
    return with_rule({&weights, 1}, {&scores, 1}, rule, {&weights, 1})[0];
}

Tensor scale_of(const Tensor& query) { return rsqrt(size_as_tensor(query.shape().back(), query.dtype())); }

// The heads of keys and values, each repeated for its group of queries.
Tensor grouped(const Operand& x, const Tensor& heads, const Tensor& query) {
    std::size_t axis = heads.ndim() - 3;
    if (heads.ndim() < 3 || query.ndim() < 3)
        refuse_shape(x,
                     "scaled_dot_product_attention: enable_gqa needs an axis of heads, (..., heads, length, features)");
    std::int64_t have = known_size("scaled_dot_product_attention", heads, axis);
    std::int64_t want = known_size("scaled_dot_product_attention", query, query.ndim() - 3);
    if (have < 1 || want % have != 0)
        refuse_shape(x, text("scaled_dot_product_attention: ", want, " heads of queries are no multiple of ", have));
    return have == want ? heads : repeat(heads, want / have, static_cast<std::int64_t>(axis));
}

void check(const Operand& x, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
    bool fits = q.ndim() >= 2 && k.ndim() >= 2 && v.ndim() >= 2 && may_equal(q.shape().back(), k.shape().back()) &&
                may_equal(k.shape()[k.ndim() - 2], v.shape()[v.ndim() - 2]);
    if (!fits)
        refuse_shape(x, text("scaled_dot_product_attention: query, key and value have shapes ", q.shape(), ", ",
                             k.shape(), " and ", v.shape(),
                             "; they must be (..., queries, features), (..., keys, features), (..., keys, values)"));
    if (options.attn_mask && options.is_causal)
        refuse(x, "scaled_dot_product_attention: attn_mask and is_causal are both given; say one");
}

// softmax(scores under the mask) v, of scores = scaled k^T.
Tensor attend(const Operand& query, const Tensor& scaled, const Tensor& k, const Tensor& v, const Tensor& mask,
              const AttentionOptions& options) {
    Tensor scores = matmul(scaled, matrix_transpose(k));
    if (mask) {
        std::optional<Shape> both = broadcast(mask.shape(), scores.shape());
        if (!both || *both != scores.shape())
            refuse_shape(query, text("scaled_dot_product_attention: a mask of shape ", mask.shape(),
                                     " does not broadcast to the scores' shape ", scores.shape()));
        scores = mask.dtype() == DType::bool_ ? where(mask, scores, minus_infinity) : scores + mask;
    }
    Tensor weights = weights_of(scores, static_cast<bool>(mask));
    if (options.dropout_p > 0) weights = dropout(weights, options.dropout_p, true, options.key);
    return matmul(weights, v);
}

// Rows first .. first + count along the last axis but one.
Tensor rows_of(const Tensor& x, std::int64_t first, std::int64_t count) {
    std::size_t axis = x.ndim() - 2;
    if (first == 0 && x.shape()[axis] == Size(count)) return x;
    Shape from(x.ndim(), Size(0)), length = x.shape();
    from[axis] = Size(first), length[axis] = Size(count);
    return slice(x, from, length);
}

// Queries at a time of a causal attention, each part of them with the keys that its last one sees: with 2, 4, 8 parts 3/4, 5/8, 9/16 of the
// scores are left. 0: all at once.
std::int64_t queries_at_a_time(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
    constexpr std::int64_t least = 64, most_parts = 8, lanes = 16;
    Size queries = q.shape()[q.ndim() - 2], keys = k.shape()[k.ndim() - 2];
    if (!options.is_causal || options.dropout_p > 0 || !queries.known() || !keys.known()) return 0;
    if (queries.value() < 2 * least || keys.value() < 2 * least) return 0;
    std::int64_t parts = std::min(most_parts, queries.value() / least);
    return divide_up(divide_up(queries.value(), parts), lanes) * lanes;
}

}  // namespace

Tensor scaled_dot_product_attention(const Operand& query, const Operand& key, const Operand& value,
                                    const AttentionOptions& options) {
    LineScope line(query.where);
    Tensor q = floating(query), k = floating(key), v = floating(value);
    check(query, q, k, v, options);
    if (options.enable_gqa) k = grouped(query, k, q), v = grouped(query, v, q);
    Tensor scaled = options.scale ? q * *options.scale : q * scale_of(q);
    Size queries = q.shape()[q.ndim() - 2], keys = k.shape()[k.ndim() - 2];
    std::int64_t at_a_time = queries_at_a_time(q, k, options);
    if (at_a_time == 0)
        return attend(query, scaled, k, v, options.is_causal ? causal(queries, keys) : options.attn_mask, options);
    std::vector<Tensor> parts;
    for (std::int64_t first = 0; first < queries.value(); first += at_a_time) {
        std::int64_t count = std::min(at_a_time, queries.value() - first), seen = std::min(first + count, keys.value());
        parts.push_back(attend(query, rows_of(scaled, first, count), rows_of(k, 0, seen), rows_of(v, 0, seen),
                               causal(Size(count), Size(seen), first), options));
    }
    return concatenate(parts, -2);
}

namespace {

struct Projected {
    Tensor q, k, v;
};

// Rows start .. start + count of a weight or a bias.
Tensor rows(const Tensor& x, Size start, Size count) {
    if (!x) return {};
    Shape from(x.ndim(), Size(0)), length = x.shape();
    from[0] = start, length[0] = count;
    return slice(x, from, length);
}

Projected projected(const Operand& x, const Tensor& q, const Tensor& k, const Tensor& v,
                    const MultiHeadOptions& options) {
    Size features = q.shape().back();
    Tensor bias[3];
    for (int i = 0; i < 3; ++i) bias[i] = rows(options.in_proj_bias, features * i, features);
    if (!options.in_proj_weight) {
        if (!options.q_proj_weight || !options.k_proj_weight || !options.v_proj_weight)
            refuse(x, "multi_head_attention_forward: in_proj_weight is needed, or q_, k_ and v_proj_weight");
        return {linear(q, options.q_proj_weight, bias[0]), linear(k, options.k_proj_weight, bias[1]),
                linear(v, options.v_proj_weight, bias[2])};
    }
    auto part = [&](int i) { return rows(options.in_proj_weight, features * i, features); };
    return {linear(q, part(0), bias[0]), linear(k, part(1), bias[1]), linear(v, part(2), bias[2])};
}

// A mask as numbers that are added: True is minus infinity.
Tensor additive(const Tensor& mask, DType dtype) {
    if (!mask) return {};
    if (mask.dtype() != DType::bool_) return astype(mask, dtype);
    return where(mask, constant(minus_infinity, dtype), 0);
}

// One key more, that masks leave in.
Tensor lengthened(const Tensor& mask) {
    if (!mask) return {};
    Dims before(mask.ndim(), 0), after(mask.ndim(), 0);
    after[mask.ndim() - 1] = 1;
    return weft::pad(mask, before, after, 0.0);
}

// (length, batch, E) as (batch, heads, length, E / heads)
Tensor heads_of(const Tensor& x, std::int64_t heads) {
    const Shape& shape = x.shape();
    return permute_dims(reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {1, 2, 0, 3});
}

}  // namespace

std::pair<Tensor, Tensor> multi_head_attention(const Operand& query, const Operand& key, const Operand& value,
                                               const MultiHeadOptions& options) {
    LineScope line(query.where);
    Tensor q = floating(query), k = floating(key), v = floating(value);
    constexpr const char* name = "multi_head_attention_forward";
    if ((q.ndim() != 2 && q.ndim() != 3) || k.ndim() != q.ndim() || v.ndim() != q.ndim())
        refuse_shape(query, text(name, ": query, key and value have shapes ", q.shape(), ", ", k.shape(), " and ",
                                 v.shape(), "; all must be (length, batch, features), or (length, features)"));
    bool single = q.ndim() == 2;
    if (single) q = expand_dims(q, 1), k = expand_dims(k, 1), v = expand_dims(v, 1);
    std::int64_t features = known_size(name, q, 2), heads = options.num_heads;
    if (heads < 1 || features % heads != 0)
        refuse(query, text(name, ": ", features, " features do not make ", heads, " heads"));
    Size length = q.shape()[0], batch = q.shape()[1];
    auto [pq, pk, pv] = projected(query, q, k, v, options);
    Tensor mask = additive(options.attn_mask, pq.dtype()), padding = additive(options.key_padding_mask, pq.dtype());
    if (padding && single) padding = expand_dims(padding, 0);
    if (options.is_causal && !mask) refuse(query, text(name, ": is_causal is a hint; attn_mask must be given with it"));
    auto longer = [&](const Tensor& more_k, const Tensor& more_v) {
        Shape shape = {1, batch, pk.shape()[2]};
        pk = concatenate({pk, broadcast_to(more_k, shape)}, 0), pv = concatenate({pv, broadcast_to(more_v, shape)}, 0);
        mask = lengthened(mask), padding = lengthened(padding);
    };
    if (options.bias_k && options.bias_v) longer(options.bias_k, options.bias_v);
    if (options.add_zero_attn) longer(zeros({1, 1, 1}, pk.dtype()), zeros({1, 1, 1}, pv.dtype()));
    Size keys = pk.shape()[0];
    Tensor hq = heads_of(pq, heads), hk = heads_of(pk, heads), hv = heads_of(pv, heads);
    Tensor scores = matmul(hq * scale_of(hq), matrix_transpose(hk));
    if (mask) scores = scores + (mask.ndim() == 3 ? reshape(mask, {batch, heads, length, keys}) : mask);
    if (padding) scores = scores + reshape(padding, {batch, 1, 1, keys});
    Tensor weights = weft::softmax(scores, -1);
    if (options.dropout_p > 0) weights = dropout(weights, options.dropout_p, options.training, options.key);
    Tensor joined = reshape(permute_dims(matmul(weights, hv), {2, 0, 1, 3}), {length, batch, features});
    Tensor result = linear(joined, options.out_proj_weight, options.out_proj_bias);
    if (single) result = squeeze(result, {1});
    if (!options.need_weights) return {result, {}};
    if (options.average_attn_weights) weights = mean(weights, 1);
    return {result, single ? squeeze(weights, {0}) : weights};
}

}  // namespace weft::nn::functional
