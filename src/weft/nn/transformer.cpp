#include "weft/nn/transformer.h"

#include "weft/graph/node.h"
#include "weft/nn/activation.h"
#include "weft/nn/functional/attention.h"
#include "weft/nn/initialize.h"
#include "weft/nn/keys.h"
#include "weft/nn/module.h"
#include "weft/nn/training.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/view.h"

namespace weft::nn {
namespace {

Tensor value_or_none(const std::optional<Parameter>& parameter) { return parameter ? parameter->value() : Tensor(); }

std::int64_t checked_heads(std::int64_t embed_dim, std::int64_t num_heads) {
    check_positive("MultiheadAttention", "embed_dim", embed_dim);
    check_positive("MultiheadAttention", "num_heads", num_heads);
    if (embed_dim % num_heads != 0)
        throw ValueError(
            text("MultiheadAttention: embed_dim, ", embed_dim, ", must be a multiple of num_heads, ", num_heads));
    return embed_dim;
}

MultiheadAttention attention_of(std::int64_t d_model, std::int64_t nhead, const TransformerLayerOptions& options,
                                const Tensor& key) {
    return {d_model,
            nhead,
            {.dropout = options.dropout,
             .bias = options.bias,
             .batch_first = options.batch_first,
             .key = key,
             .dtype = options.dtype}};
}
LayerNorm norm_of(std::int64_t d_model, const TransformerLayerOptions& options) {
    return LayerNorm(d_model, {.eps = options.layer_norm_eps, .bias = options.bias, .dtype = options.dtype});
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                                       MultiheadAttentionOptions options)
    : MultiheadAttention(embed_dim, num_heads, options, keys_of(options.key, 6)) {}

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                                       const MultiheadAttentionOptions& options, const std::vector<Tensor>& keys)
    : out_proj(checked_heads(embed_dim, num_heads), embed_dim,
               {.bias = options.bias, .key = keys[3], .dtype = options.dtype}),
      embed_dim_(embed_dim),
      num_heads_(num_heads),
      options_(options) {
    std::int64_t kdim = options.kdim.value_or(embed_dim), vdim = options.vdim.value_or(embed_dim);
    check_positive("MultiheadAttention", "kdim", kdim);
    check_positive("MultiheadAttention", "vdim", vdim);
    auto drawn = [&](std::int64_t rows, std::int64_t columns, const Tensor& key) {
        return Parameter(init::xavier_uniform({rows, columns}, 1, key, options.dtype));
    };
    if (kdim == embed_dim && vdim == embed_dim) {
        in_proj_weight = drawn(3 * embed_dim, embed_dim, keys[0]);
    } else {
        q_proj_weight = drawn(embed_dim, embed_dim, keys[0]);
        k_proj_weight = drawn(embed_dim, kdim, keys[1]), v_proj_weight = drawn(embed_dim, vdim, keys[2]);
    }
    if (options.bias) {
        in_proj_bias = Parameter(init::zeros({3 * embed_dim}, options.dtype));
        out_proj.bias = Parameter(init::zeros({embed_dim}, options.dtype));
    }
    if (options.add_bias_kv) {
        bias_k = Parameter(init::xavier_normal({1, 1, embed_dim}, 1, keys[4], options.dtype));
        bias_v = Parameter(init::xavier_normal({1, 1, embed_dim}, 1, keys[5], options.dtype));
    }
    options_.key = {};
}

std::pair<Tensor, Tensor> MultiheadAttention::operator()(const Operand& query, const Operand& key, const Operand& value,
                                                         const AttentionCall& call) const {
    LineScope line(query.where);
    ModuleScope scope(layer_name(out_proj.weight, "MultiheadAttention"));
    Tensor q = query.as_tensor(), k = key.as_tensor(), v = value.as_tensor();
    bool turned = options_.batch_first && q.ndim() == 3;
    auto lengths_first = [&](const Tensor& x) { return turned && x.ndim() == 3 ? swapaxes(x, 0, 1) : x; };
    bool same = k.node() == q.node() && v.node() == q.node();
    q = lengths_first(q), k = same ? q : lengths_first(k), v = same ? q : lengths_first(v);
    auto [result, weights] =
        functional::multi_head_attention(Operand(q, query.where), Operand(k, key.where), Operand(v, value.where),
                                         {.num_heads = num_heads_,
                                          .in_proj_weight = value_or_none(in_proj_weight),
                                          .q_proj_weight = value_or_none(q_proj_weight),
                                          .k_proj_weight = value_or_none(k_proj_weight),
                                          .v_proj_weight = value_or_none(v_proj_weight),
                                          .in_proj_bias = value_or_none(in_proj_bias),
                                          .bias_k = value_or_none(bias_k),
                                          .bias_v = value_or_none(bias_v),
                                          .out_proj_weight = out_proj.weight.value(),
                                          .out_proj_bias = value_or_none(out_proj.bias),
                                          .add_zero_attn = options_.add_zero_attn,
                                          .dropout_p = options_.dropout,
                                          .training = training(),
                                          .key_padding_mask = call.key_padding_mask,
                                          .attn_mask = call.attn_mask,
                                          .need_weights = call.need_weights,
                                          .average_attn_weights = call.average_attn_weights});
    return {turned ? swapaxes(result, 0, 1) : result, weights};
}

TransformerLayer::TransformerLayer(std::int64_t d_model, std::int64_t nhead, const TransformerLayerOptions& options,
                                   const std::vector<Tensor>& keys)
    : self_attn(attention_of(d_model, nhead, options, keys[0])),
      linear1(d_model, options.dim_feedforward, {.bias = options.bias, .key = keys[1], .dtype = options.dtype}),
      linear2(options.dim_feedforward, d_model, {.bias = options.bias, .key = keys[2], .dtype = options.dtype}),
      norm_first_(options.norm_first),
      activation_(options.activation),
      dropout_(options.dropout) {
    (void)activation(activation_);  // refuses a name that is none
}

Tensor TransformerLayer::feed(const Tensor& x) const { return linear2(dropout_(activation(activation_)(linear1(x)))); }

Tensor TransformerLayer::add(const Tensor& x, const LayerNorm& norm,
                             const std::function<Tensor(const Tensor&)>& part) const {
    return norm_first_ ? x + dropout_(part(norm(x))) : norm(x + dropout_(part(x)));
}

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 TransformerLayerOptions options)
    : TransformerLayer(d_model, nhead, options, keys_of(options.key, 4)),
      norm1(norm_of(d_model, options)),
      norm2(norm_of(d_model, options)) {}

Tensor TransformerEncoderLayer::operator()(const Operand& src, const AttentionCall& call) const {
    LineScope line(src.where);
    Tensor x = add(src.as_tensor(), norm1, [&](const Tensor& y) { return self_attn(y, call); });
    return add(x, norm2, [&](const Tensor& y) { return feed(y); });
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 TransformerLayerOptions options)
    : TransformerDecoderLayer(d_model, nhead, options, keys_of(options.key, 4)) {}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerLayerOptions& options,
                                                 const std::vector<Tensor>& keys)
    : TransformerLayer(d_model, nhead, options, keys),
      multihead_attn(attention_of(d_model, nhead, options, keys[3])),
      norm1(norm_of(d_model, options)),
      norm2(norm_of(d_model, options)),
      norm3(norm_of(d_model, options)) {}

Tensor TransformerDecoderLayer::operator()(const Operand& tgt, const Operand& memory, const AttentionCall& to_itself,
                                           const AttentionCall& to_memory) const {
    LineScope line(tgt.where);
    Tensor x = add(tgt.as_tensor(), norm1, [&](const Tensor& y) { return self_attn(y, to_itself); });
    x = add(x, norm2, [&](const Tensor& y) { return multihead_attn(y, memory, memory, to_memory).first; });
    return add(x, norm3, [&](const Tensor& y) { return feed(y); });
}

TransformerEncoder::TransformerEncoder(std::vector<TransformerEncoderLayer> layers, std::optional<LayerNorm> norm)
    : layers(std::move(layers)), norm(std::move(norm)) {}

Tensor TransformerEncoder::operator()(const Operand& src, const AttentionCall& call) const {
    LineScope line(src.where);
    Tensor x = src.as_tensor();
    for (const TransformerEncoderLayer& layer : layers) x = layer(x, call);
    return norm ? (*norm)(x) : x;
}

TransformerDecoder::TransformerDecoder(std::vector<TransformerDecoderLayer> layers, std::optional<LayerNorm> norm)
    : layers(std::move(layers)), norm(std::move(norm)) {}

Tensor TransformerDecoder::operator()(const Operand& tgt, const Operand& memory, const AttentionCall& to_itself,
                                      const AttentionCall& to_memory) const {
    LineScope line(tgt.where);
    Tensor x = tgt.as_tensor();
    for (const TransformerDecoderLayer& layer : layers) x = layer(x, memory, to_itself, to_memory);
    return norm ? (*norm)(x) : x;
}

}  // namespace weft::nn
