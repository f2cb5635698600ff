// Losses: PyTorch's functional names, arguments and defaults. What a model predicts comes first, what it should predict second; the
// two must have the same shape (or class numbers where that is said): nothing is broadcast, ShapeError names both.
// Targets are held constant only where they are integers. Callers: the loss functions that train_step is given.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "weft/graph/tensor.h"

namespace weft::nn {

/// What becomes of the losses of single elements (of single examples, where classes are counted).
enum class LossReduction : std::uint8_t { mean, sum, none };

/// "mean", "sum", "none"; ValueError for another name.
LossReduction reduction_named(std::string_view name);

struct LossOptions {
    LossReduction reduction = LossReduction::mean;
};
struct WeightedOptions {
    LossReduction reduction = LossReduction::mean;
    Tensor weight = {};  ///< of each element, of its shape; means are divided by the sum of the weights
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

/// cross_entropy of the logits that a linear map gives: x (N, in) or (in), weight (C, in) or (C, d1, ..., in), bias (C, d1, ...).
Tensor linear_cross_entropy(const Operand& x, const Operand& weight, const Operand& target, const Tensor& bias = {},
                            const CrossEntropyOptions& options = {});

/// log-probabilities (N, classes) of an adaptive softmax (Grave et al., 2017): `head` holds the logits of the commonest classes and then of
/// each cluster of others (N, common + clusters), tails[i] those of the classes of cluster i, in their order.
Tensor adaptive_log_softmax(const Operand& head, std::span<const Tensor> tails);

struct NllOptions {
    LossReduction reduction = LossReduction::mean;
    Tensor weight = {};
    std::optional<std::int64_t> ignore_index = {};
};
/// -log_probabilities[label], shapes and labels as for cross_entropy.
Tensor nll_loss(const Operand& log_probabilities, const Operand& labels, const NllOptions& options = {});

/// (prediction - target)**2
Tensor mse_loss(const Operand& prediction, const Operand& target, const WeightedOptions& options = {});
/// |prediction - target|
Tensor l1_loss(const Operand& prediction, const Operand& target, const WeightedOptions& options = {});

struct SmoothL1Options {
    LossReduction reduction = LossReduction::mean;
    double beta = 1;
};
/// With d = |prediction - target|: d*d / (2 beta) below beta, d - beta/2 from there on.
Tensor smooth_l1_loss(const Operand& prediction, const Operand& target, const SmoothL1Options& options = {});

struct HuberOptions {
    LossReduction reduction = LossReduction::mean;
    double delta = 1;
    Tensor weight = {};  ///< as of WeightedOptions
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
/// x where the target is 1, max(0, margin - x) where it is -1; their sum for other targets, as PyTorch has it.
Tensor hinge_embedding_loss(const Operand& x, const Operand& target, const MarginOptions& options = {});
/// log(1 + exp(-target * prediction)), targets -1 or 1.
Tensor soft_margin_loss(const Operand& prediction, const Operand& target, const LossOptions& options = {});
struct MultiMarginOptions {
    LossReduction reduction = LossReduction::mean;
    double margin = 1;
    std::int64_t p = 1;  ///< 1 or 2
    Tensor weight = {};  ///< (C): a factor for the examples of each class
};
/// (N, C) scores, N class numbers: the sum over other classes of max(0, margin - score[label] + score[other])^p, divided by C.
Tensor multi_margin_loss(const Operand& scores, const Operand& labels, const MultiMarginOptions& options = {});
/// (N, C) or (C) scores, and for each example a list of class numbers that a -1 ends: the sum over these labels and all other classes of
/// max(0, 1 - score[label] + score[other]), divided by C.
Tensor multilabel_margin_loss(const Operand& scores, const Operand& labels, const LossOptions& options = {});
/// (..., C) logits and targets from 0 to 1: the mean over classes of the binary cross-entropy; `weight` of each class.
Tensor multilabel_soft_margin_loss(const Operand& logits, const Operand& target, const BinaryOptions& options = {});

struct PairOptions {
    LossReduction reduction = LossReduction::mean;
    double margin = 0;
};
/// 1 - cos(a, b) where the target is 1, max(0, cos(a, b) - margin) where it is -1, else 0; a, b: (N, D) or (D). 1e-12 is added to the
/// squared lengths.
Tensor cosine_embedding_loss(const Operand& a, const Operand& b, const Operand& target,
                             const PairOptions& options = {});
/// max(0, -target * (a - b) + margin), targets -1 or 1.
Tensor margin_ranking_loss(const Operand& a, const Operand& b, const Operand& target, const PairOptions& options = {});
struct TripletOptions {
    LossReduction reduction = LossReduction::mean;
    double margin = 1, p = 2, eps = 1e-6;
    bool swap =
        false;  ///< the negative's distance is the smaller of those to anchor and positive (Balntas et al., 2016)
};
/// max(0, |anchor - positive| - |anchor - negative| + margin), p-norms over the last axis of differences plus eps.
Tensor triplet_margin_loss(const Operand& anchor, const Operand& positive, const Operand& negative,
                           const TripletOptions& options = {});
/// The same of distances that were found otherwise.
Tensor triplet_loss(const Operand& positive_distance, const Operand& negative_distance, double margin = 1,
                    LossReduction reduction = LossReduction::mean);

struct PoissonOptions {
    LossReduction reduction = LossReduction::mean;
    bool log_input = true;  ///< the input is the logarithm of the rate
    bool full = false;      ///< with Stirling's term of the target's factorial
    double eps = 1e-8;      ///< added to a rate whose logarithm is taken
};
/// exp(input) - target * input, input the logarithm of the rate; or input - target * log(input + eps).
Tensor poisson_nll_loss(const Operand& input, const Operand& target, const PoissonOptions& options = {});

struct GaussianOptions {
    LossReduction reduction = LossReduction::mean;
    bool full = false;  ///< with log(2 pi) / 2
    double eps = 1e-6;  ///< the least variance; the derivative is the variance's own
};
/// (log var + (input - target)^2 / var) / 2. `var`: a number, or of the input's shape, or without its last axis, or 1 along it.
Tensor gaussian_nll_loss(const Operand& input, const Operand& target, const Operand& var,
                         const GaussianOptions& options = {});

struct CtcOptions {
    LossReduction reduction = LossReduction::mean;  ///< mean: of each loss over its target's length
    std::int64_t blank = 0;
    bool zero_infinity = false;  ///< losses that are infinite, for no path is long enough, count 0
};
/// -log of the probability of all paths that spell the targets (Graves et al., 2006). log_probs: (T, N, C) or (T, C); targets: (N, S), or
/// one behind the other (sum of lengths); lengths: integers, one an example. Lengths are computed, for the result's program depends on them.
Tensor ctc_loss(const Operand& log_probs, const Operand& targets, const Operand& input_lengths,
                const Operand& target_lengths, const CtcOptions& options = {});

/// Of each row, whether its largest score is not at the label: truth values, of the labels' shape. Shapes as below.
Tensor wrong(const Operand& scores, const Operand& labels);
/// The part of rows whose largest score is not at the label, 0-d float32. Scores (N, C) and labels (N), or one score a row (N) or
/// (N, 1), which stands for class 1 where it is above 0.
Tensor error_rate(const Operand& scores, const Operand& labels);
/// 1 - error_rate.
Tensor accuracy(const Operand& scores, const Operand& labels);

}  // namespace weft::nn
