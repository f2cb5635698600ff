"""Linear maps, tables of embeddings, distances."""
from ... import _core

_nn = _core.nn

__all__ = ["bilinear", "cosine_similarity", "embedding", "embedding_bag", "linear", "one_hot", "pairwise_distance", "pdist"]


def linear(input, weight, bias=None):
    """x (..., in) times the transpose of weight (out, in), plus bias.

    >>> wf.nn.functional.linear(wf.asarray([[1., 2.]]), wf.asarray([[3., 4.], [5., 6.], [7., 8.]]), wf.asarray([0., 0., 100.]))
    array([[ 11.,  17., 123.]], dtype=float32)
    """
    return _nn.linear(input, weight, bias)


def bilinear(input1, input2, weight, bias=None):
    """y[..., o] = sum of input1[..., i] weight[o, i, j] input2[..., j], plus bias.

    >>> maps = wf.asarray([[[1., 0.], [0., 1.]], [[0., 1.], [0., 0.]]])
    >>> wf.nn.functional.bilinear(wf.asarray([[1., 2.]]), wf.asarray([[3., 4.]]), maps)
    array([[11.,  4.]], dtype=float32)
    """
    return _nn.bilinear(input1, input2, weight, bias)


def _renormalized(input, weight, max_norm, norm_type):
    """PyTorch writes scaled rows back into the table: a Parameter takes them here, another table stays as it is."""
    if max_norm is not None and isinstance(weight, _core.Parameter):
        weight.value = _nn.embedding_renorm(weight, input, max_norm, norm_type)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of a table that indices name. `padding_idx`: a row without a derivative; `max_norm`: longer rows are scaled (in the table, too,
    if that is a Parameter); `scale_grad_by_freq`: derivatives over how often a row was asked for. Derivatives are always dense.

    >>> table = wf.asarray([[0., 0.], [1., 10.], [2., 20.]])
    >>> wf.nn.functional.embedding(wf.asarray([2, 0, 2]), table)
    array([[ 2., 20.],
           [ 0.,  0.],
           [ 2., 20.]], dtype=float32)
    """
    _renormalized(input, weight, max_norm, norm_type)
    return _nn.embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Sums, means or maxima of rows of a table: of each row of indices, or of stretches of a vector of them that begin at `offsets`.

    >>> table = wf.asarray([[0., 0.], [1., 10.], [2., 20.]])
    >>> wf.nn.functional.embedding_bag(wf.asarray([1, 1, 2, 0]), table, wf.asarray([0, 3]), mode="sum")
    array([[ 4., 40.],
           [ 0.,  0.]], dtype=float32)
    """
    _renormalized(input, weight, max_norm, norm_type)
    return _nn.embedding_bag(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, per_sample_weights,
                             include_last_offset, padding_idx)


def one_hot(tensor, num_classes=-1):
    """1 at each label, along a new last axis; int64.

    >>> wf.nn.functional.one_hot(wf.asarray([0, 2, 1]))
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 1, 0]])
    """
    return _nn.one_hot(tensor, num_classes)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between x1 and x2 along an axis; lengths are at least eps.

    >>> wf.nn.functional.cosine_similarity(wf.asarray([[1., 0.], [1., 1.], [1., 2.]]), wf.asarray([[5., 0.], [-1., 1.], [-1., -2.]]))
    array([ 1.,  0., -1.], dtype=float32)
    """
    return _nn.cosine_similarity(x1, x2, dim, eps)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of x1 - x2 + eps along the last axis.

    >>> wf.nn.functional.pairwise_distance(wf.asarray([[0., 0.]]), wf.asarray([[3., 4.]]), eps=0.)
    array([5.], dtype=float32)
    >>> wf.nn.functional.pairwise_distance(wf.asarray([[0., 0.]]), wf.asarray([[3., 4.]]), p=1., eps=0.)
    array([7.], dtype=float32)
    """
    return _nn.pairwise_distance(x1, x2, p, eps, keepdim)


def pdist(input, p=2):
    """The p-norm distances of all pairs of rows.

    >>> wf.nn.functional.pdist(wf.asarray([[0., 0.], [3., 4.], [0., 4.]]))
    array([5., 4., 3.], dtype=float32)
    """
    return _nn.pdist(input, p)
