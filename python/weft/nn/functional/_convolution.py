"""Convolutions over 1 to 3 spatial axes, and windows as columns. Inputs are (N, C, spatial...) or (C, spatial...)."""
from ... import _core

_nn = _core.nn

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "fold", "unfold"]


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation with weight (O, C / groups, kernel). padding: a number of zeros, "valid" or "same"."""
    return _nn.conv(input, 1, weight, bias, stride, padding, dilation, groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation with weight (O, C / groups, kH, kW)."""
    return _nn.conv(input, 2, weight, bias, stride, padding, dilation, groups)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation with weight (O, C / groups, kD, kH, kW)."""
    return _nn.conv(input, 3, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv1d; weight (C, O / groups, kernel)."""
    return _nn.conv_transpose(input, 1, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv2d."""
    return _nn.conv_transpose(input, 2, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The transpose of conv3d."""
    return _nn.conv_transpose(input, 3, weight, bias, stride, padding, output_padding, groups, dilation)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Windows of (N, C, H, W) as columns (N, C * kernel's size, windows)."""
    return _nn.unfold(input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sum of such columns where they came from: (N, C, *output_size)."""
    return _nn.fold(input, output_size, kernel_size, dilation, padding, stride)
