"""Normalisations with weights and running statistics."""
from numbers import Integral

from .. import _core
from . import functional as F
from ._layers import empty
from ._module import Module

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm",
           "RMSNorm"]


def _ones(shape, device, dtype):
    weight = empty(shape, device, dtype)
    weight.value = _core.full(weight.shape, 1, weight.dtype)
    return weight


def _sizes(normalized_shape):
    return (normalized_shape,) if isinstance(normalized_shape, Integral) else tuple(normalized_shape)


class _Running(Module):
    """Batch and instance normalisation: a weight and a bias a channel, running means and variances."""

    def _make(self, num_features, eps, momentum, affine, track_running_stats, device, dtype, bias):
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.register_parameter("weight", _ones((num_features,), device, dtype) if affine else None)
        self.register_parameter("bias", empty((num_features,), device, dtype) if affine and bias else None)
        statistics = {"running_mean": None, "running_var": None, "num_batches_tracked": None}
        if track_running_stats:
            statistics = {"running_mean": empty((num_features,), device, dtype).value,
                          "running_var": _ones((num_features,), device, dtype).value,
                          "num_batches_tracked": _core.full((), 0, _core.int64)}
        for name, value in statistics.items():
            self.register_buffer(name, value)

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.value = _core.full((self.num_features,), 0, self.running_mean.dtype)
            self.running_var.value = _core.full((self.num_features,), 1, self.running_var.dtype)
            self.num_batches_tracked.value = _core.full((), 0, _core.int64)

    def _check(self, input):
        if len(input.shape) not in self.allowed:
            raise ValueError(f"{type(self).__name__}: the input has shape {input.shape}; it must have "
                             f"{' or '.join(map(str, self.allowed))} axes")

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, bias={self.bias is not None}, "
                f"track_running_stats={self.track_running_stats}")


class _BatchNorm(_Running):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        self._make(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input):
        self._check(input)
        tracked = self.training and self.track_running_stats and self.num_batches_tracked is not None
        if tracked:
            self.num_batches_tracked.value = self.num_batches_tracked.value + 1
        of_batch = self.training or self.running_mean is None
        means, variances = (self.running_mean, self.running_var) if not of_batch or tracked else (None, None)
        if not tracked or self.momentum is not None:
            return F.batch_norm(input, means, variances, self.weight, self.bias, of_batch, self.momentum or 0.0, self.eps)
        # The plain mean of all batches. How many there were is a value like others: a compiled step counts on.
        before = [cell.value for cell in (means, variances)]
        y = F.batch_norm(input, means, variances, self.weight, self.bias, True, 1.0, self.eps)
        for cell, old in zip((means, variances), before):
            cell.value = old + (cell.value - old) / _core.astype(self.num_batches_tracked.value, old.dtype)
        return y


class _InstanceNorm(_Running):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None, *,
                 bias=True):
        super().__init__()
        self._make(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input):
        self._check(input)
        single = len(input.shape) == self.allowed[0]
        x = _core.expand_dims(input, 0) if single else input
        y = F.instance_norm(x, self.running_mean, self.running_var, self.weight, self.bias,
                            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps)
        return _core.squeeze(y, 0) if single else y


class BatchNorm1d(_BatchNorm):
    """Each channel of (N, C) or (N, C, L) less its mean over its deviation, of the batch while training, else of what was seen then; times a
    weight, plus a bias.

    >>> wf.nn.BatchNorm1d(2)(wf.asarray([[1., 10.], [3., 30.]]))
    array([[-0.999995, -1.      ],
           [ 0.999995,  1.      ]], dtype=float32)
    """
    allowed = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of (N, C, H, W) less its mean over its deviation, of the batch while training, else of what was seen then; times a weight,
    plus a bias.

    >>> norm, x = wf.nn.BatchNorm2d(1), wf.asarray([[[[1., 3.]]]])
    >>> norm(x)
    array([[[[-0.999995,  0.999995]]]], dtype=float32)
    >>> norm.running_mean.value, norm.running_var.value
    (array([0.2], dtype=float32), array([1.1], dtype=float32))
    >>> norm.eval()(x)
    array([[[[0.76276666, 2.6696832 ]]]], dtype=float32)
    """
    allowed = (4,)


class BatchNorm3d(_BatchNorm):
    """What BatchNorm2d does, of (N, C, D, H, W)."""
    allowed = (5,)


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each example of (N, C, L) or (C, L) less its mean over its deviation."""
    allowed = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each example of (N, C, H, W) or (C, H, W) less its mean over its deviation."""
    allowed = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each example of (N, C, D, H, W) or (C, D, H, W) less its mean over its deviation."""
    allowed = (4, 5)


class LayerNorm(Module):
    """The last axes, of sizes normalized_shape, less their mean over their deviation; times a weight, plus a bias.

    >>> wf.nn.LayerNorm(2)(wf.asarray([[1., 3.], [10., 30.]]))
    array([[-0.999995,  0.999995],
           [-1.      ,  1.      ]], dtype=float32)
    """

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _sizes(normalized_shape), eps, elementwise_affine
        self.register_parameter("weight", _ones(self.normalized_shape, device, dtype) if elementwise_affine else None)
        self.register_parameter("bias", empty(self.normalized_shape, device, dtype) if elementwise_affine and bias else None)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"


class RMSNorm(Module):
    """x over its root mean square along the last axes, times a weight.

    >>> wf.nn.RMSNorm(2)(wf.asarray([[3., 4.]]))
    array([[0.84852815, 1.1313709 ]], dtype=float32)
    """

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _sizes(normalized_shape), eps, elementwise_affine
        self.register_parameter("weight", _ones(self.normalized_shape, device, dtype) if elementwise_affine else None)

    def forward(self, input):
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Groups of channels of (N, C, ...) less their mean over their deviation; times a weight, plus a bias, a channel each.

    >>> wf.nn.GroupNorm(2, 4)(wf.asarray([[1., 3., 10., 30.]]))
    array([[-0.999995,  0.999995, -1.      ,  1.      ]], dtype=float32)
    """

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"GroupNorm: num_channels, {num_channels}, must be a multiple of num_groups, {num_groups}")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self.register_parameter("weight", _ones((num_channels,), device, dtype) if affine else None)
        self.register_parameter("bias", empty((num_channels,), device, dtype) if affine and bias else None)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"
