"""Losses: what is predicted, what it should be; nothing is broadcast. `size_average` and `reduce` are PyTorch's old names of reductions."""
from ... import _core

_nn = _core.nn

__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cross_entropy", "ctc_loss",
           "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "linear_cross_entropy",
           "margin_ranking_loss", "mse_loss",
           "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss", "poisson_nll_loss", "smooth_l1_loss",
           "soft_margin_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss"]


def _reduction(size_average, reduce, reduction):
    if size_average is None and reduce is None:
        return reduction
    if reduce is not None and not reduce:
        return "none"
    return "mean" if size_average is None or size_average else "sum"


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """|input - target|; weight: of each element, means are over the sum of the weights."""
    return _nn.l1_loss(input, target, _reduction(size_average, reduce, reduction), weight)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """(input - target)**2; weight: of each element, means are over the sum of the weights."""
    return _nn.mse_loss(input, target, _reduction(size_average, reduce, reduction), weight)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """With d = |input - target|: d * d / (2 * beta) below beta, else d - beta / 2."""
    return _nn.smooth_l1_loss(input, target, _reduction(size_average, reduce, reduction), beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """With d = |input - target|: d * d / 2 up to delta, else delta * (d - delta / 2)."""
    return _nn.huber_loss(input, target, reduction, delta, weight)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    """-log softmax(input)[target]: input (N, C), (N, C, ...) or (C), target class numbers, or probabilities of input's shape."""
    return _nn.cross_entropy(input, target, weight, ignore_index, _reduction(size_average, reduce, reduction), label_smoothing)


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None,
                         label_smoothing=0.0, options=None):
    """cross_entropy of linear(input, linear_weight, linear_bias): input (N, in), weight (C, in) or (C, d1, ..., in). `options`, how PyTorch
    cuts the work into pieces, is taken and means nothing: it is one program here."""
    return _nn.linear_cross_entropy(input, linear_weight, target, linear_bias, weight, ignore_index, reduction, label_smoothing)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """-input[target], of log-probabilities and class numbers."""
    return _nn.nll_loss(input, target, weight, ignore_index, _reduction(size_average, reduce, reduction))


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (input - target)**2 / var) / 2, var at least eps; full: with log(2 * pi) / 2."""
    return _nn.gaussian_nll_loss(input, target, var, full, eps, reduction)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    """exp(input) - target * input, or without log_input: input - target * log(input + eps); full: with Stirling's term."""
    return _nn.poisson_nll_loss(input, target, log_input, full, eps, _reduction(size_average, reduce, reduction))


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input), of log-probabilities; reduction="batchmean": the sum over the first axis' size."""
    return _nn.kl_div(input, target, _reduction(size_average, reduce, reduction), log_target)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target * log(input) + (1 - target) * log(1 - input)), logarithms held above -100."""
    return _nn.binary_cross_entropy(input, target, _reduction(size_average, reduce, reduction), weight)


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    """The same of logits, without overflow; pos_weight multiplies the part of targets that are 1."""
    return _nn.binary_cross_entropy_with_logits(input, target, _reduction(size_average, reduce, reduction), weight, pos_weight)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """x where the target is 1, max(0, margin - x) where it is -1."""
    return _nn.hinge_embedding_loss(input, target, margin, _reduction(size_average, reduce, reduction))


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1."""
    return _nn.cosine_embedding_loss(input1, input2, target, margin, _reduction(size_average, reduce, reduction))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, -target * (input1 - input2) + margin)."""
    return _nn.margin_ranking_loss(input1, input2, target, margin, _reduction(size_average, reduce, reduction))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The sum over other classes of max(0, margin - input[target] + input[other])**p, over the number of classes."""
    return _nn.multi_margin_loss(input, target, p, margin, weight, _reduction(size_average, reduce, reduction))


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """max(0, 1 - input[label] + input[other]) over labels (lists that a -1 ends) and other classes, over the number of classes."""
    return _nn.multilabel_margin_loss(input, target, _reduction(size_average, reduce, reduction))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over classes of the binary cross-entropy of logits."""
    return _nn.multilabel_soft_margin_loss(input, target, weight, _reduction(size_average, reduce, reduction))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input)), targets -1 or 1."""
    return _nn.soft_margin_loss(input, target, _reduction(size_average, reduce, reduction))


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
                        reduction="mean"):
    """max(0, |anchor - positive| - |anchor - negative| + margin), p-norms over the last axis."""
    return _nn.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, _reduction(size_average, reduce, reduction))


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    """The same with another distance: a function of two tensors."""
    distance = distance_function or (lambda x, y: _nn.pairwise_distance(x, y, 2.0, 1e-6, False))
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _core.minimum(far, distance(positive, negative))
    return _nn.triplet_loss(near, far, margin, reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """-log of the probability of all paths that spell the targets: log_probs (T, N, C) or (T, C), targets (N, S) or one behind the other.
    The derivative is that with respect to log_probs themselves (PyTorch's is already that of the softmax's input)."""
    return _nn.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
