// Losses: PyTorch's functional names, arguments and defaults. What a model predicts comes first, what it should predict second; the
// two must have the same shape (or class numbers where that is said): nothing is broadcast, ShapeError names both.
// Targets are held constant only where they are integers. Callers: the loss functions that train_step is given.
#pragma once

#include <cstdint>
#include <optional>

#include "weft/graph/tensor.h"

namespace weft::nn {

/// What becomes of the losses of single elements (of single examples, where classes are counted).
enum class LossReduction : std::uint8_t { mean, sum, none };

struct LossOptions {
    LossReduction reduction = LossReduction::mean;
};

struct CrossEntropyOptions {
    LossReduction reduction = LossReduction::mean;
    double label_smoothing = 0;                     ///< this part of the target is spread over all classes
    Tensor weight = {};                             ///< (classes): the weight of each class; means are weighted too
    std::optional<std::int64_t> ignore_index = {};  ///< examples with this label count for nothing
};
/// -log softmax(logits)[label]. Logits are (N, C), (N, C, d1, ...) or (C); labels are class numbers (N), (N, d1, ...) or (), or
/// probabilities of the logits' shape. Labels outside [0, C) are an IndexError where they are known when the loss is written; in a
/// compiled function they make the loss NaN.
Tensor cross_entropy(const Operand& logits, const Operand& target, const CrossEntropyOptions& options = {});

struct NllOptions {
    LossReduction reduction = LossReduction::mean;
    Tensor weight = {};
    std::optional<std::int64_t> ignore_index = {};
};
/// -log_probabilities[label], shapes and labels as for cross_entropy.
Tensor nll_loss(const Operand& log_probabilities, const Operand& labels, const NllOptions& options = {});

/// (prediction - target)**2
Tensor mse_loss(const Operand& prediction, const Operand& target, const LossOptions& options = {});
/// |prediction - target|
Tensor l1_loss(const Operand& prediction, const Operand& target, const LossOptions& options = {});

struct SmoothL1Options {
    LossReduction reduction = LossReduction::mean;
    double beta = 1;
};
/// With d = |prediction - target|: d*d / (2 beta) below beta, d - beta/2 from there on.
Tensor smooth_l1_loss(const Operand& prediction, const Operand& target, const SmoothL1Options& options = {});

struct HuberOptions {
    LossReduction reduction = LossReduction::mean;
    double delta = 1;
};
/// With d = |prediction - target|: d*d / 2 up to delta, delta * (d - delta/2) beyond (Huber, 1964).
Tensor huber_loss(const Operand& prediction, const Operand& target, const HuberOptions& options = {});

struct BinaryOptions {
    LossReduction reduction = LossReduction::mean;
    Tensor weight = {};  ///< of each element; broadcasts
};
/// -(t log p + (1 - t) log(1 - p)), logarithms held above -100 as in PyTorch.
Tensor binary_cross_entropy(const Operand& probabilities, const Operand& target, const BinaryOptions& options = {});

struct BinaryLogitsOptions {
    LossReduction reduction = LossReduction::mean;
    Tensor weight = {};
    Tensor pos_weight = {};  ///< multiplies the part of targets that are 1
};
/// The same from logits, without overflow.
Tensor binary_cross_entropy_with_logits(const Operand& logits, const Operand& target,
                                        const BinaryLogitsOptions& options = {});

struct KlDivOptions {
    enum class Reduction : std::uint8_t { mean, batchmean, sum, none } reduction = Reduction::mean;
    bool log_target = false;
};
/// t (log t - input) where input holds log-probabilities; 0 where t is 0.
Tensor kl_div(const Operand& input, const Operand& target, const KlDivOptions& options = {});

struct MarginOptions {
    LossReduction reduction = LossReduction::mean;
    double margin = 1;
};
/// max(0, margin - target * prediction), targets -1 or 1: the support vector machine's.
Tensor hinge_loss(const Operand& prediction, const Operand& target, const MarginOptions& options = {});
/// x where the target is 1, max(0, margin - x) where it is -1.
Tensor hinge_embedding_loss(const Operand& x, const Operand& target, const MarginOptions& options = {});
/// log(1 + exp(-target * prediction)), targets -1 or 1.
Tensor soft_margin_loss(const Operand& prediction, const Operand& target, const LossOptions& options = {});
/// (N, C) scores, N class numbers: the sum over other classes of max(0, margin - score[label] + score[other]), divided by C.
Tensor multi_margin_loss(const Operand& scores, const Operand& labels, const MarginOptions& options = {});

struct PairOptions {
    LossReduction reduction = LossReduction::mean;
    double margin = 0;
};
/// 1 - cos(a, b) where the target is 1, max(0, cos(a, b) - margin) where it is -1; a, b: (N, D) or (D).
Tensor cosine_embedding_loss(const Operand& a, const Operand& b, const Operand& target,
                             const PairOptions& options = {});
/// max(0, -target * (a - b) + margin), targets -1 or 1.
Tensor margin_ranking_loss(const Operand& a, const Operand& b, const Operand& target, const PairOptions& options = {});
/// max(0, |anchor - positive| - |anchor - negative| + margin), Euclidean over the last axis.
Tensor triplet_margin_loss(const Operand& anchor, const Operand& positive, const Operand& negative,
                           const MarginOptions& options = {});
/// exp(input) - target * input, input the logarithm of the rate.
Tensor poisson_nll_loss(const Operand& input, const Operand& target, const LossOptions& options = {});
/// The cosine of the angle between a and b along an axis.
Tensor cosine_similarity(const Operand& a, const Operand& b, std::int64_t axis = 1, double eps = 1e-8);

/// The part of rows whose largest score is not at the label, 0-d float32. Scores (N, C) and labels (N), or one score a row (N) or
/// (N, 1), which stands for class 1 where it is above 0.
Tensor error_rate(const Operand& scores, const Operand& labels);
/// 1 - error_rate.
Tensor accuracy(const Operand& scores, const Operand& labels);

}  // namespace weft::nn
