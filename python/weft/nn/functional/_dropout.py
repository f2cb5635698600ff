"""Dropout. Each draw takes a key, or the next one of the global generator (weft.random.seed)."""
from ... import _core

_nn = _core.nn

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


def dropout(input, p=0.5, training=True, inplace=False, *, key=None):
    """Each element 0 with probability p, else divided by 1 - p.

    >>> wf.nn.functional.dropout(wf.ones((6,)), p=0.5, key=wf.random.key(0))
    array([2., 0., 0., 0., 0., 2.], dtype=float32)
    >>> wf.nn.functional.dropout(wf.ones((6,)), training=False)
    array([1., 1., 1., 1., 1., 1.], dtype=float32)
    """
    return _nn.dropout(input, p, training, key)


def dropout1d(input, p=0.5, training=True, inplace=False, *, key=None):
    """Whole channels of (N, C, L) or (C, L) are 0 with probability p.

    >>> wf.nn.functional.dropout1d(wf.ones((4, 2)), key=wf.random.key(0))
    array([[2., 2.],
           [0., 0.],
           [0., 0.],
           [0., 0.]], dtype=float32)
    """
    return _nn.dropout1d(input, p, training, key)


def dropout2d(input, p=0.5, training=True, inplace=False, *, key=None):
    """Whole channels of (N, C, H, W) are 0 with probability p; three axes are taken for (N, C, L).

    >>> wf.nn.functional.dropout2d(wf.ones((1, 4, 1, 2)), key=wf.random.key(0))[0, :, 0]
    array([[2., 2.],
           [0., 0.],
           [0., 0.],
           [0., 0.]], dtype=float32)
    """
    return _nn.dropout2d(input, p, training, key)


def dropout3d(input, p=0.5, training=True, inplace=False, *, key=None):
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) are 0 with probability p.

    >>> wf.nn.functional.dropout3d(wf.ones((4, 1, 1, 2)), key=wf.random.key(0))[:, 0, 0]
    array([[2., 2.],
           [0., 0.],
           [0., 0.],
           [0., 0.]], dtype=float32)
    """
    return _nn.dropout3d(input, p, training, key)


def alpha_dropout(input, p=0.5, training=False, inplace=False, *, key=None):
    """Elements take selu's lower limit with probability p; a mean of 0 and a variance of 1 stay.

    >>> x = wf.random.normal((100, 100), key=wf.random.key(0))
    >>> dropped = wf.nn.functional.alpha_dropout(x, training=True, key=wf.random.key(1))
    >>> round(float(wf.std(x)), 1), round(float(wf.std(dropped)), 1)
    (1.0, 1.0)
    """
    return _nn.alpha_dropout(input, p, training, key)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False, *, key=None):
    """alpha_dropout of whole channels.

    >>> wf.nn.functional.feature_alpha_dropout(wf.zeros((1, 4, 2)), training=True, key=wf.random.key(0))
    array([[[ 0.77919394,  0.77919394],
            [-0.77919394, -0.77919394],
            [-0.77919394, -0.77919394],
            [-0.77919394, -0.77919394]]], dtype=float32)
    """
    return _nn.feature_alpha_dropout(input, p, training, key)
