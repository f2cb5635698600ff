"""Linear maps, tables of embeddings, distances."""
from ... import _core

_nn = _core.nn

__all__ = ["bilinear", "cosine_similarity", "embedding", "embedding_bag", "linear", "one_hot", "pairwise_distance", "pdist"]


def linear(input, weight, bias=None):
    """x (..., in) times the transpose of weight (out, in), plus bias."""
    return _nn.linear(input, weight, bias)


def bilinear(input1, input2, weight, bias=None):
    """y[..., o] = sum of input1[..., i] weight[o, i, j] input2[..., j], plus bias."""
    return _nn.bilinear(input1, input2, weight, bias)


def _renormalized(input, weight, max_norm, norm_type):
    """PyTorch writes scaled rows back into the table: a Parameter takes them here, another table stays as it is."""
    if max_norm is not None and isinstance(weight, _core.Parameter):
        weight.value = _nn.embedding_renorm(weight, input, max_norm, norm_type)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of a table that indices name. `padding_idx`: a row without a derivative; `max_norm`: longer rows are scaled (in the table, too,
    if that is a Parameter); `scale_grad_by_freq`: derivatives over how often a row was asked for. Derivatives are always dense."""
    _renormalized(input, weight, max_norm, norm_type)
    return _nn.embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
                  per_sample_weights=None, include_last_offset=False, padding_idx=None):
    """Sums, means or maxima of rows of a table: of each row of indices, or of stretches of a vector of them that begin at `offsets`."""
    _renormalized(input, weight, max_norm, norm_type)
    return _nn.embedding_bag(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, per_sample_weights,
                             include_last_offset, padding_idx)


def one_hot(tensor, num_classes=-1):
    """1 at each label, along a new last axis; int64."""
    return _nn.one_hot(tensor, num_classes)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between x1 and x2 along an axis; lengths are at least eps."""
    return _nn.cosine_similarity(x1, x2, dim, eps)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of x1 - x2 + eps along the last axis."""
    return _nn.pairwise_distance(x1, x2, p, eps, keepdim)


def pdist(input, p=2):
    """The p-norm distances of all pairs of rows."""
    return _nn.pdist(input, p)
