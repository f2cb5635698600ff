// Layers that multiply by a matrix, or pick rows of one. Names, defaults and first values are PyTorch's.
// Callers: users' models.
#pragma once

#include <optional>

#include "weft/graph/parameter.h"

namespace weft::nn {

struct LinearOptions {
    bool bias = true;
    Tensor key = {};  ///< of the first values; empty: the global generator's next
    DType dtype = DType::float32;
};

/// x @ weight.T + bias over the last axis; weight is (out_features, in_features). First values are uniform within
/// +-1/sqrt(in_features).
class Linear {
  public:
    Linear(std::int64_t in_features, std::int64_t out_features, LinearOptions options = {});
    Tensor operator()(const Operand& x) const;

    Parameter weight;
    std::optional<Parameter> bias;

    template <class V>
    void members(V& visit) {
        visit("in_features", in_features_), visit("out_features", out_features_);
        visit("weight", weight), visit("bias", bias);
    }

  private:
    std::int64_t in_features_, out_features_;
};

struct EmbeddingOptions {
    std::optional<std::int64_t> padding_idx = {};  ///< this row is 0 at first, and never learns
    Tensor key = {};
    DType dtype = DType::float32;
};

/// Row weight[i] for each integer i: the shape of the indices, and embedding_dim. First values are standard normal.
class Embedding {
  public:
    Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, EmbeddingOptions options = {});
    Tensor operator()(const Operand& indices) const;

    Parameter weight;

    template <class V>
    void members(V& visit) {
        visit("num_embeddings", num_embeddings_), visit("embedding_dim", embedding_dim_);
        visit("weight", weight);
    }

  private:
    std::int64_t num_embeddings_, embedding_dim_;
    std::optional<std::int64_t> padding_idx_;
};

}  // namespace weft::nn
