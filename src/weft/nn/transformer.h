// Attention in several heads and the transformer's encoder and decoder (Vaswani et al., 2017), with PyTorch's names, defaults, weights and first
// values. Callers: users' models, train/.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/graph/parameter.h"
#include "weft/nn/dropout.h"
#include "weft/nn/linear.h"
#include "weft/nn/normalization.h"

namespace weft::nn {

struct MultiheadAttentionOptions {
    double dropout = 0;  ///< of the weights of attention, while training
    bool bias = true, add_bias_kv = false, add_zero_attn = false;
    std::optional<std::int64_t> kdim = {}, vdim = {};  ///< features of keys and values; embed_dim if they are not said
    bool batch_first = false;                          ///< (batch, length, features), else (length, batch, features)
    Tensor key = {};                                   ///< of the first values; empty: the global generator's next
    DType dtype = DType::float32;
};

/// What may be said of one call; masks are those of functional/attention.h.
struct AttentionCall {
    Tensor key_padding_mask = {};  ///< (batch, keys): True is left out
    bool need_weights = true;
    Tensor attn_mask = {};  ///< (queries, keys) or (batch * heads, queries, keys): True is left out, numbers are added
    bool average_attn_weights = true;
};

/// Attention of queries (batch, queries, embed_dim) to keys and values (batch, keys, kdim or vdim), or without a batch: the result, of the
/// queries' shape, and, if they are needed, the weights. embed_dim must be a multiple of num_heads. First values are Glorot's, biases 0.
class MultiheadAttention {
  public:
    MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, MultiheadAttentionOptions options = {});
    std::pair<Tensor, Tensor> operator()(const Operand& query, const Operand& key, const Operand& value,
                                         const AttentionCall& call = {}) const;
    /// Of a sequence to itself.
    Tensor operator()(const Operand& x, const AttentionCall& call = {}) const { return (*this)(x, x, x, call).first; }

    std::optional<Parameter> q_proj_weight, k_proj_weight, v_proj_weight;  ///< where kdim or vdim differ
    std::optional<Parameter> in_proj_weight, in_proj_bias;  ///< else: the three, (3 * embed_dim, embed_dim)
    Linear out_proj;
    std::optional<Parameter> bias_k, bias_v;

    template <class V>
    void members(V& visit) {
        visit("embed_dim", embed_dim_), visit("num_heads", num_heads_);
        visit("q_proj_weight", q_proj_weight), visit("k_proj_weight", k_proj_weight);
        visit("v_proj_weight", v_proj_weight);
        visit("in_proj_weight", in_proj_weight), visit("in_proj_bias", in_proj_bias), visit("out_proj", out_proj);
        visit("bias_k", bias_k), visit("bias_v", bias_v);
    }

  private:
    MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, const MultiheadAttentionOptions& options,
                       const std::vector<Tensor>& keys);
    std::int64_t embed_dim_, num_heads_;
    MultiheadAttentionOptions options_;
};

struct TransformerLayerOptions {
    std::int64_t dim_feedforward = 2048;
    double dropout = 0.1;
    std::string_view activation = "relu";  ///< or another of nn::activation_names()
    double layer_norm_eps = 1e-5;
    bool batch_first = false;
    bool norm_first = false;  ///< normalise in front of each part, not behind the sum
    bool bias = true;
    Tensor key = {};
    DType dtype = DType::float32;
};

/// What the layers of encoder and decoder share: attention of a sequence to itself, and a network of two linear layers.
class TransformerLayer {
  public:
    MultiheadAttention self_attn;
    Linear linear1, linear2;

  protected:
    TransformerLayer(std::int64_t d_model, std::int64_t nhead, const TransformerLayerOptions& options,
                     const std::vector<Tensor>& keys);
    Tensor feed(const Tensor& x) const;
    /// x and a part of it, normalised in front or behind.
    Tensor add(const Tensor& x, const LayerNorm& norm, const std::function<Tensor(const Tensor&)>& part) const;

  private:
    bool norm_first_;
    std::string activation_;
    Dropout dropout_;
};

/// Attention of a sequence to itself, then the network, each with dropout, a residual and a normalisation.
class TransformerEncoderLayer : public TransformerLayer {
  public:
    TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, TransformerLayerOptions options = {});
    Tensor operator()(const Operand& src, const AttentionCall& call = {}) const;

    LayerNorm norm1, norm2;

    template <class V>
    void members(V& visit) {
        visit("self_attn", self_attn), visit("linear1", linear1), visit("linear2", linear2);
        visit("norm1", norm1), visit("norm2", norm2);
    }
};

/// Attention of a sequence to itself, then to a memory, then the network.
class TransformerDecoderLayer : public TransformerLayer {
  public:
    TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead, TransformerLayerOptions options = {});
    Tensor operator()(const Operand& tgt, const Operand& memory, const AttentionCall& to_itself = {},
                      const AttentionCall& to_memory = {}) const;

    MultiheadAttention multihead_attn;
    LayerNorm norm1, norm2, norm3;

    template <class V>
    void members(V& visit) {
        visit("self_attn", self_attn), visit("multihead_attn", multihead_attn);
        visit("linear1", linear1), visit("linear2", linear2);
        visit("norm1", norm1), visit("norm2", norm2), visit("norm3", norm3);
    }

  private:
    TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead, const TransformerLayerOptions& options,
                            const std::vector<Tensor>& keys);
};

/// Layers one after another, each with first values of its own, and a normalisation behind them if one is given.
class TransformerEncoder {
  public:
    explicit TransformerEncoder(std::vector<TransformerEncoderLayer> layers, std::optional<LayerNorm> norm = {});
    Tensor operator()(const Operand& src, const AttentionCall& call = {}) const;

    std::vector<TransformerEncoderLayer> layers;
    std::optional<LayerNorm> norm;

    template <class V>
    void members(V& visit) {
        visit("layers", layers), visit("norm", norm);
    }
};
class TransformerDecoder {
  public:
    explicit TransformerDecoder(std::vector<TransformerDecoderLayer> layers, std::optional<LayerNorm> norm = {});
    Tensor operator()(const Operand& tgt, const Operand& memory, const AttentionCall& to_itself = {},
                      const AttentionCall& to_memory = {}) const;

    std::vector<TransformerDecoderLayer> layers;
    std::optional<LayerNorm> norm;

    template <class V>
    void members(V& visit) {
        visit("layers", layers), visit("norm", norm);
    }
};

}  // namespace weft::nn
