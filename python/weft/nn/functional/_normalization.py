"""Normalisations."""
from ... import _core

_nn = _core.nn

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]


def _write(statistic, value):
    """A running statistic takes its new value: a cell, or the name of a tensor."""
    if isinstance(statistic, _core.Parameter):
        statistic.value = value
    elif isinstance(statistic, _core.Tensor):
        statistic[...] = value


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """(N, C, ...): each channel less its mean over its deviation, of this batch while training, else the running ones. While training the
    running ones are moved by `momentum`.

    >>> x, mean, var = wf.asarray([[1., 10.], [3., 30.]]), wf.zeros((2,)), wf.ones((2,))
    >>> wf.nn.functional.batch_norm(x, mean, var, training=True)
    array([[-0.999995, -1.      ],
           [ 0.999995,  1.      ]], dtype=float32)
    >>> mean
    array([0.2, 2. ], dtype=float32)
    """
    value, mean, var = _nn.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if training:
        _write(running_mean, mean)
        _write(running_var, var)
    return value


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    """(N, C, spatial...): each channel of each example less its mean over its deviation.

    >>> wf.nn.functional.instance_norm(wf.asarray([[[1., 3.], [10., 30.]]]))
    array([[[-0.999995,  0.999995],
            [-1.      ,  1.      ]]], dtype=float32)
    """
    value, mean, var = _nn.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
    if use_input_stats:
        _write(running_mean, mean)
        _write(running_var, var)
    return value


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """x less its mean over its deviation, both of the last axes, of sizes normalized_shape.

    >>> wf.nn.functional.layer_norm(wf.asarray([[1., 3.], [10., 30.]]), (2,))
    array([[-0.999995,  0.999995],
           [-1.      ,  1.      ]], dtype=float32)
    """
    return _nn.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """x / sqrt(mean(x**2) + eps) over the last axes.

    >>> wf.nn.functional.rms_norm(wf.asarray([[3., 4.]]), (2,))
    array([[0.84852815, 1.1313709 ]], dtype=float32)
    """
    return _nn.rms_norm(input, normalized_shape, weight, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """(N, C, ...): groups of channels less their mean over their deviation.

    >>> wf.nn.functional.group_norm(wf.asarray([[1., 3., 10., 30.]]), 2)
    array([[-0.999995,  0.999995, -1.      ,  1.      ]], dtype=float32)
    """
    return _nn.group_norm(input, num_groups, weight, bias, eps)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """x / (k + alpha * mean of squares over `size` neighbouring channels)**beta.

    >>> wf.nn.functional.local_response_norm(wf.asarray([[[1.], [2.], [3.]]]), 2, alpha=2., beta=1., k=0.)
    array([[[1.        ],
            [0.4       ],
            [0.23076923]]], dtype=float32)
    """
    return _nn.local_response_norm(input, size, alpha, beta, k)
