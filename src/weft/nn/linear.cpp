#include "weft/nn/linear.h"

#include <cmath>

#include "weft/graph/node.h"
#include "weft/nn/check.h"
#include "weft/nn/initialize.h"
#include "weft/nn/keys.h"
#include "weft/nn/module.h"
#include "weft/ops/contraction.h"
#include "weft/ops/elementwise.h"
#include "weft/ops/gather.h"
#include "weft/ops/view.h"

namespace weft::nn {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, LinearOptions options)
    : in_features_(in_features), out_features_(out_features) {
    check_positive("Linear", "in_features", in_features);
    check_positive("Linear", "out_features", out_features);
    TwoKeys keys = two_keys(options.key);
    double bound = 1 / std::sqrt(static_cast<double>(in_features));
    weight = Parameter(init::uniform({out_features, in_features}, -bound, bound, keys.first, options.dtype));
    if (options.bias) bias = Parameter(init::uniform({out_features}, -bound, bound, keys.second, options.dtype));
}

Tensor Linear::operator()(const Operand& x) const {
    LineScope line(x.where);
    ModuleScope scope(layer_name(weight, "Linear"));
    check_axis("Linear", x, 1, -1, in_features_, "features");
    Tensor product = matmul(x, weight.value().T(x.where));
    return bias ? Operand(product, x.where) + *bias : product;
}

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, EmbeddingOptions options)
    : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim), padding_idx_(options.padding_idx) {
    check_positive("Embedding", "num_embeddings", num_embeddings);
    check_positive("Embedding", "embedding_dim", embedding_dim);
    Tensor values = init::normal({num_embeddings, embedding_dim}, 0, 1, options.key, options.dtype);
    if (padding_idx_) {
        if (*padding_idx_ < -num_embeddings || *padding_idx_ >= num_embeddings) {
            throw IndexError(
                text("Embedding: padding_idx ", *padding_idx_, " is not one of ", num_embeddings, " rows"));
        }
        if (*padding_idx_ < 0) *padding_idx_ += num_embeddings;
        Array padding = Array::zeros(DType::bool_, {num_embeddings, 1});
        padding.data<bool>()[*padding_idx_] = true;
        values = where(Tensor(padding), 0, values).eval();
    }
    weight = Parameter(values);
}

Tensor Embedding::operator()(const Operand& indices) const {
    LineScope line(indices.where);
    ModuleScope scope(layer_name(weight, "Embedding"));
    Tensor index = indices.as_tensor();
    if (!is_integer(index.dtype())) {
        throw DTypeError(text("Embedding: the indices are ", index.dtype(), "; rows are numbered by integers",
                              place(indices.where)));
    }
    Tensor rows = take(weight, indices, 0);
    if (!padding_idx_) return rows;
    return where(expand_dims(index == *padding_idx_, -1), stop_gradient(rows), rows);
}

}  // namespace weft::nn
