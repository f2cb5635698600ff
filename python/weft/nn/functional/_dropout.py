"""Dropout. Each draw takes a key, or the next one of the global generator (weft.random.seed)."""
from ... import _core

_nn = _core.nn

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


def dropout(input, p=0.5, training=True, inplace=False, *, key=None):
    """Each element 0 with probability p, else divided by 1 - p."""
    return _nn.dropout(input, p, training, key)


def dropout1d(input, p=0.5, training=True, inplace=False, *, key=None):
    """Whole channels of (N, C, L) or (C, L) are 0 with probability p."""
    return _nn.dropout1d(input, p, training, key)


def dropout2d(input, p=0.5, training=True, inplace=False, *, key=None):
    """Whole channels of (N, C, H, W) are 0 with probability p; three axes are taken for (N, C, L)."""
    return _nn.dropout2d(input, p, training, key)


def dropout3d(input, p=0.5, training=True, inplace=False, *, key=None):
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) are 0 with probability p."""
    return _nn.dropout3d(input, p, training, key)


def alpha_dropout(input, p=0.5, training=False, inplace=False, *, key=None):
    """Elements take selu's lower limit with probability p; mean and variance stay."""
    return _nn.alpha_dropout(input, p, training, key)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False, *, key=None):
    """alpha_dropout of whole channels."""
    return _nn.feature_alpha_dropout(input, p, training, key)
