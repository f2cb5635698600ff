// Attention (Vaswani et al., 2017) with PyTorch's names, arguments and defaults. Callers: users, nn/, the Python package.
#pragma once

#include <optional>
#include <utility>

#include "weft/graph/tensor.h"

namespace weft::nn::functional {

struct AttentionOptions {
    Tensor attn_mask =
        {};  ///< bool: True takes part; numbers are added to the scores. Broadcasts to (..., queries, keys)
    double dropout_p = 0;              ///< of the weights, always
    bool is_causal = false;            ///< query i sees keys 0 .. i
    std::optional<double> scale = {};  ///< of the scores; 1 / sqrt(features) if it is not said
    bool enable_gqa = false;           ///< fewer heads of keys and values, each for several of queries
    Tensor key = {};                   ///< for dropout
};
/// softmax(scale * query key^T + mask) value, over (..., length, features). A query that sees no key gives 0.
Tensor scaled_dot_product_attention(const Operand& query, const Operand& key, const Operand& value,
                                    const AttentionOptions& options = {});

struct MultiHeadOptions {
    std::int64_t num_heads = 1;
    Tensor in_proj_weight = {};  ///< (3 E, E), or the three below
    Tensor q_proj_weight = {}, k_proj_weight = {}, v_proj_weight = {};
    Tensor in_proj_bias = {}, bias_k = {}, bias_v = {}, out_proj_weight = {}, out_proj_bias = {};
    bool add_zero_attn = false;
    double dropout_p = 0;
    bool training = true;
    Tensor key_padding_mask = {};  ///< (batch, keys): True (or -inf) is left out
    Tensor attn_mask = {};  ///< (queries, keys) or (batch * heads, queries, keys): True is left out, numbers are added
    bool need_weights = true, average_attn_weights = true;
    bool is_causal = false;
    Tensor key = {};
};
/// Inputs (length, batch, features), or (length, features). The result and, if they are needed, the weights of attention: averaged over
/// heads (batch, queries, keys), or (batch, heads, queries, keys).
std::pair<Tensor, Tensor> multi_head_attention(const Operand& query, const Operand& key, const Operand& value,
                                               const MultiHeadOptions& options);

}  // namespace weft::nn::functional
