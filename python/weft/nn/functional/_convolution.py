"""Convolutions over 1 to 3 spatial axes, and windows as columns. Inputs are (N, C, spatial...) or (C, spatial...)."""
from ... import _core

_nn = _core.nn

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "fold", "unfold"]


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation with weight (O, C / groups, kernel). padding: a number of zeros, "valid" or "same".

    >>> wf.nn.functional.conv1d(wf.asarray([[1., 2., 4., 8.]]), wf.asarray([[[-1., 1.]]]))
    array([[1., 2., 4.]], dtype=float32)
    """
    return _nn.conv(input, 1, weight, bias, stride, padding, dilation, groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation with weight (O, C / groups, kH, kW).

    >>> image = wf.asarray([[[1., 2., 3.], [4., 5., 6.], [7., 8., 9.]]])
    >>> wf.nn.functional.conv2d(image, wf.asarray([[[[1., 0.], [0., 1.]]]]))
    array([[[ 6.,  8.],
            [12., 14.]]], dtype=float32)
    """
    return _nn.conv(input, 2, weight, bias, stride, padding, dilation, groups)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation with weight (O, C / groups, kD, kH, kW).

    >>> wf.nn.functional.conv3d(wf.reshape(wf.arange(8.), (1, 2, 2, 2)), wf.ones((1, 1, 2, 2, 1)))
    array([[[[12., 16.]]]], dtype=float32)
    """
    return _nn.conv(input, 3, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv1d; weight (C, O / groups, kernel).

    >>> wf.nn.functional.conv_transpose1d(wf.asarray([[1., 2.]]), wf.asarray([[[1., 10., 100.]]]), stride=2)
    array([[  1.,  10., 102.,  20., 200.]], dtype=float32)
    """
    return _nn.conv_transpose(input, 1, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv2d.

    >>> wf.nn.functional.conv_transpose2d(wf.asarray([[[1., 10.]]]), wf.asarray([[[[1., 2.], [3., 4.]]]]), stride=2)
    array([[[ 1.,  2., 10., 20.],
            [ 3.,  4., 30., 40.]]], dtype=float32)
    """
    return _nn.conv_transpose(input, 2, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv3d.

    >>> wf.nn.functional.conv_transpose3d(wf.asarray([[[[1., 10.]]]]), wf.asarray([[[[[1., 2.], [3., 4.]]]]]), stride=(1, 2, 2))
    array([[[[ 1.,  2., 10., 20.],
             [ 3.,  4., 30., 40.]]]], dtype=float32)
    """
    return _nn.conv_transpose(input, 3, weight, bias, stride, padding, output_padding, groups, dilation)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Windows of (N, C, H, W) as columns (N, C * kernel's size, windows).

    >>> wf.nn.functional.unfold(wf.asarray([[[[1., 2., 3.], [4., 5., 6.]]]]), (2, 2))
    array([[[1., 2.],
            [2., 3.],
            [4., 5.],
            [5., 6.]]], dtype=float32)
    """
    return _nn.unfold(input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sum of such columns where they came from: (N, C, *output_size).

    >>> wf.nn.functional.fold(wf.nn.functional.unfold(wf.ones((1, 1, 3, 3)), 2), (3, 3), 2)
    array([[[[1., 2., 1.],
             [2., 4., 2.],
             [1., 2., 1.]]]], dtype=float32)
    """
    return _nn.fold(input, output_size, kernel_size, dilation, padding, stride)
