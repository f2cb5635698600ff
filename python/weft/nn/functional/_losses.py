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
    """|input - target|; weight: of each element, means are over the sum of the weights.

    >>> wf.nn.functional.l1_loss(wf.asarray([1., 2., 6.]), wf.asarray([1., 4., 2.]))
    array(2., dtype=float32)
    >>> wf.nn.functional.l1_loss(wf.asarray([1., 2., 6.]), wf.asarray([1., 4., 2.]), reduction="none")
    array([0., 2., 4.], dtype=float32)
    """
    return _nn.l1_loss(input, target, _reduction(size_average, reduce, reduction), weight)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """(input - target)**2; weight: of each element, means are over the sum of the weights.

    >>> wf.nn.functional.mse_loss(wf.asarray([1., 2., 3., 4.]), wf.asarray([1., 2., 3., 8.]))
    array(4., dtype=float32)
    """
    return _nn.mse_loss(input, target, _reduction(size_average, reduce, reduction), weight)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """With d = |input - target|: d * d / (2 * beta) below beta, else d - beta / 2.

    >>> wf.nn.functional.smooth_l1_loss(wf.asarray([0.5, 3.]), wf.asarray([0., 0.]), reduction="none")
    array([0.125, 2.5  ], dtype=float32)
    """
    return _nn.smooth_l1_loss(input, target, _reduction(size_average, reduce, reduction), beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """With d = |input - target|: d * d / 2 up to delta, else delta * (d - delta / 2).

    >>> wf.nn.functional.huber_loss(wf.asarray([1., 6.]), wf.asarray([0., 0.]), reduction="none", delta=2.)
    array([ 0.5, 10. ], dtype=float32)
    """
    return _nn.huber_loss(input, target, reduction, delta, weight)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    """-log softmax(input)[target]: input (N, C), (N, C, ...) or (C), target class numbers, or probabilities of input's shape.

    >>> logits = wf.asarray([[0., 0.], [0., 2.]])
    >>> wf.nn.functional.cross_entropy(logits, wf.asarray([0, 1]), reduction="none")
    array([0.6931472 , 0.12692805], dtype=float32)
    >>> wf.nn.functional.cross_entropy(logits, wf.asarray([[0.5, 0.5], [0.25, 0.75]]), reduction="none")
    array([0.6931472, 0.6269281], dtype=float32)
    """
    return _nn.cross_entropy(input, target, weight, ignore_index, _reduction(size_average, reduce, reduction), label_smoothing)


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None,
                         label_smoothing=0.0, options=None):
    """cross_entropy of linear(input, linear_weight, linear_bias): input (N, in), weight (C, in) or (C, d1, ..., in). `options`, how PyTorch
    cuts the work into pieces, is taken and means nothing: it is one program here.

    >>> x, weight = wf.asarray([[1., 2.]]), wf.asarray([[1., 0.], [0., 1.]])
    >>> wf.nn.functional.linear_cross_entropy(x, weight, wf.asarray([1]))
    array(0.31326166, dtype=float32)
    >>> wf.nn.functional.cross_entropy(wf.nn.functional.linear(x, weight), wf.asarray([1]))
    array(0.31326166, dtype=float32)
    """
    return _nn.linear_cross_entropy(input, linear_weight, target, linear_bias, weight, ignore_index, reduction, label_smoothing)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """-input[target], of log-probabilities and class numbers.

    >>> wf.nn.functional.nll_loss(wf.log(wf.asarray([[0.5, 0.5], [0.25, 0.75]])), wf.asarray([0, 1]), reduction="none")
    array([0.6931472 , 0.28768206], dtype=float32)
    """
    return _nn.nll_loss(input, target, weight, ignore_index, _reduction(size_average, reduce, reduction))


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (input - target)**2 / var) / 2, var at least eps; full: with log(2 * pi) / 2.

    >>> wf.nn.functional.gaussian_nll_loss(wf.asarray([1., 1.]), wf.asarray([1., 3.]), wf.asarray([1., 4.]), reduction="none")
    array([0.       , 1.1931472], dtype=float32)
    """
    return _nn.gaussian_nll_loss(input, target, var, full, eps, reduction)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    """exp(input) - target * input, or without log_input: input - target * log(input + eps); full: with Stirling's term.

    >>> wf.nn.functional.poisson_nll_loss(wf.asarray([0., 1.]), wf.asarray([1., 2.]), reduction="none")
    array([1.        , 0.71828175], dtype=float32)
    """
    return _nn.poisson_nll_loss(input, target, log_input, full, eps, _reduction(size_average, reduce, reduction))


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log(target) - input), of log-probabilities; reduction="batchmean": the sum over the first axis' size.

    >>> wf.nn.functional.kl_div(wf.log(wf.asarray([[0.5, 0.5]])), wf.asarray([[0.25, 0.75]]), reduction="batchmean")
    array(0.13081205, dtype=float32)
    """
    return _nn.kl_div(input, target, _reduction(size_average, reduce, reduction), log_target)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target * log(input) + (1 - target) * log(1 - input)), logarithms held above -100.

    >>> wf.nn.functional.binary_cross_entropy(wf.asarray([0.5, 0.75, 0.]), wf.asarray([1., 0., 1.]), reduction="none")
    array([  0.6931472,   1.3862944, 100.       ], dtype=float32)
    """
    return _nn.binary_cross_entropy(input, target, _reduction(size_average, reduce, reduction), weight)


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    """binary_cross_entropy of sigmoid(input), without overflow; pos_weight multiplies the part of targets that are 1.

    >>> wf.nn.functional.binary_cross_entropy_with_logits(wf.asarray([0., 100.]), wf.asarray([1., 0.]), reduction="none")
    array([  0.6931472, 100.       ], dtype=float32)
    """
    return _nn.binary_cross_entropy_with_logits(input, target, _reduction(size_average, reduce, reduction), weight, pos_weight)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """x where the target is 1, max(0, margin - x) where it is -1.

    >>> wf.nn.functional.hinge_embedding_loss(wf.asarray([0.5, 0.25, 2.]), wf.asarray([1., -1., -1.]), reduction="none")
    array([0.5 , 0.75, 0.  ], dtype=float32)
    """
    return _nn.hinge_embedding_loss(input, target, margin, _reduction(size_average, reduce, reduction))


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cos(input1, input2) where the target is 1, max(0, cos - margin) where it is -1.

    >>> x, y = wf.asarray([[1., 0.], [1., 0.]]), wf.asarray([[0., 1.], [0., 1.]])
    >>> wf.nn.functional.cosine_embedding_loss(x, y, wf.asarray([1, -1]), reduction="none")
    array([1., 0.], dtype=float32)
    """
    return _nn.cosine_embedding_loss(input1, input2, target, margin, _reduction(size_average, reduce, reduction))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, -target * (input1 - input2) + margin).

    >>> wf.nn.functional.margin_ranking_loss(wf.asarray([2., 2.]), wf.asarray([1., 3.]), wf.asarray([1., 1.]), reduction="none")
    array([0., 1.], dtype=float32)
    """
    return _nn.margin_ranking_loss(input1, input2, target, margin, _reduction(size_average, reduce, reduction))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The sum over other classes of max(0, margin - input[target] + input[other])**p, over the number of classes.

    >>> wf.nn.functional.multi_margin_loss(wf.asarray([[0., 1.5, 2.]]), wf.asarray([2]))
    array(0.16666667, dtype=float32)
    """
    return _nn.multi_margin_loss(input, target, p, margin, weight, _reduction(size_average, reduce, reduction))


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """max(0, 1 - input[label] + input[other]) over labels (lists that a -1 ends) and other classes, over the number of classes.

    >>> wf.nn.functional.multilabel_margin_loss(wf.asarray([[0., 0.5, 1.]]), wf.asarray([[2, -1, -1]]))
    array(0.16666667, dtype=float32)
    """
    return _nn.multilabel_margin_loss(input, target, _reduction(size_average, reduce, reduction))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over classes of the binary cross-entropy of logits.

    >>> wf.nn.functional.multilabel_soft_margin_loss(wf.asarray([[0., 2.]]), wf.asarray([[1., 0.]]))
    array(1.4100376, dtype=float32)
    """
    return _nn.multilabel_soft_margin_loss(input, target, weight, _reduction(size_average, reduce, reduction))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input)), targets -1 or 1.

    >>> wf.nn.functional.soft_margin_loss(wf.asarray([0., 2.]), wf.asarray([1., -1.]), reduction="none")
    array([0.6931472, 2.126928 ], dtype=float32)
    """
    return _nn.soft_margin_loss(input, target, _reduction(size_average, reduce, reduction))


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
                        reduction="mean"):
    """max(0, |anchor - positive| - |anchor - negative| + margin), p-norms over the last axis.

    >>> wf.nn.functional.triplet_margin_loss(wf.asarray([[0., 0.]]), wf.asarray([[3., 4.]]), wf.asarray([[0., 5.5]]), eps=0.)
    array(0.5, dtype=float32)
    """
    return _nn.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, _reduction(size_average, reduce, reduction))


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    """triplet_margin_loss with another distance: a function of two tensors.

    >>> steps = lambda x, y: wf.sum(wf.abs(x - y), axis=-1)
    >>> anchor, near, far = wf.asarray([[0., 0.]]), wf.asarray([[3., 4.]]), wf.asarray([[0., 5.5]])
    >>> wf.nn.functional.triplet_margin_with_distance_loss(anchor, near, far, distance_function=steps)
    array(2.5, dtype=float32)
    """
    distance = distance_function or (lambda x, y: _nn.pairwise_distance(x, y, 2.0, 1e-6, False))
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _core.minimum(far, distance(positive, negative))
    return _nn.triplet_loss(near, far, margin, reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """-log of the probability of all paths that spell the targets: log_probs (T, N, C) or (T, C), targets (N, S) or one behind the other.
    The derivative is that with respect to log_probs themselves (PyTorch's is already that of the softmax's input).

    >>> chances = wf.full((2, 2), 0.5)
    >>> loss = wf.nn.functional.ctc_loss(wf.log(chances), wf.asarray([1]), wf.asarray(2), wf.asarray(1))
    >>> wf.exp(-loss)
    array(0.75, dtype=float32)
    """
    return _nn.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
