// Linear maps, tables of embeddings and distances, with PyTorch's names, arguments and defaults. Callers: users, nn/, the Python package.
#pragma once

#include <optional>
#include <string_view>

#include "weft/graph/tensor.h"

namespace weft::nn::functional {

/// x (..., in) times the transpose of weight (out, in), or times a vector (in); plus bias (out).
Tensor linear(const Operand& x, const Operand& weight, const Tensor& bias = {});
/// y[..., o] = sum over i, j of a[..., i] weight[o, i, j] b[..., j] + bias[o].
Tensor bilinear(const Operand& a, const Operand& b, const Operand& weight, const Tensor& bias = {});

struct EmbeddingOptions {
    std::optional<std::int64_t> padding_idx = {};  ///< this row takes no derivative; negative: from the end
    std::optional<double> max_norm = {};           ///< longer rows are scaled to this norm, their derivative is not
    double norm_type = 2;
    bool scale_grad_by_freq = false;  ///< derivatives are divided by how often their row was asked for
};
/// Rows of a table (rows, features): shape of the indices, then features. IndexError for an index outside [0, rows).
Tensor embedding(const Operand& indices, const Operand& weight, const EmbeddingOptions& options = {});
/// The table with the rows that the indices name scaled to a norm of at most max_norm.
Tensor embedding_renorm(const Operand& weight, const Operand& indices, double max_norm, double norm_type = 2);

struct EmbeddingBagOptions {
    EmbeddingOptions rows = {};  ///< of padding_idx: such entries are left out of their bag
    std::string_view mode = "mean";
    Tensor per_sample_weights = {};  ///< a factor for each entry; with mode sum
    bool include_last_offset = false;
};
/// Sums, means or maxima of rows of a table: of each row of indices (bags, n), or of stretches of indices (n) that begin at `offsets`.
/// An empty bag gives 0.
Tensor embedding_bag(const Operand& indices, const Operand& weight, const Tensor& offsets = {},
                     const EmbeddingBagOptions& options = {});

/// 1 at each label, along a new last axis; int64. Without a count (-1): one more than the largest label, which computes the labels.
Tensor one_hot(const Operand& labels, std::int64_t num_classes = -1);

/// sum(a b) / (max(|a|, eps) max(|b|, eps)) along an axis; a and b broadcast.
Tensor cosine_similarity(const Operand& a, const Operand& b, std::int64_t axis = 1, double eps = 1e-8);
/// The p-norm of a - b + eps along the last axis; a and b broadcast.
Tensor pairwise_distance(const Operand& a, const Operand& b, double p = 2, double eps = 1e-6, bool keepdims = false);
/// The p-norm distances of all pairs of rows of x (n, features): (0, 1), (0, 2), ..., (n - 2, n - 1).
Tensor pdist(const Operand& x, double p = 2);

}  // namespace weft::nn::functional
