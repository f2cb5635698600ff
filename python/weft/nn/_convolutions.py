"""Convolutions over 1 to 3 spatial axes, and transposed ones. Weights are (out, in / groups, kernel...); transposed (in, out / groups, ...)."""
import math

from .. import _core
from . import functional as F
from ._layers import keys_of, per_axis, uniform, whole
from ._module import Module

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _Convolution(Module):
    axes, transposed = 1, False

    def _make(self, in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias, padding_mode, device,
              dtype, key):
        name = type(self).__name__
        in_channels, out_channels, groups = whole(in_channels, out_channels, groups)
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(f"{name}: in_channels {in_channels} and out_channels {out_channels} must be multiples of groups, {groups}")
        modes = ("zeros",) if self.transposed else ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in modes:
            raise ValueError(f"{name}: padding_mode is one of {', '.join(modes)}, not {padding_mode!r}")
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        self.kernel_size = per_axis(kernel_size, self.axes, "kernel_size")
        self.stride, self.dilation = per_axis(stride, self.axes, "stride"), per_axis(dilation, self.axes, "dilation")
        self.output_padding = per_axis(output_padding, self.axes, "output_padding")
        if isinstance(padding, str):
            if padding not in ("valid", "same"):
                raise ValueError(f"{name}: padding is a number, or 'valid' or 'same', not {padding!r}")
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError(f"{name}: padding='same' needs stride 1, not {stride}")
            self.padding = padding
        else:
            self.padding = per_axis(padding, self.axes, "padding")
        first, second = keys_of(key, 2)
        front = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        shape = (*front, *self.kernel_size)
        fan = math.prod(shape[1:])
        bound = 1 / math.sqrt(fan) if fan else 0.0
        self.weight = uniform(shape, bound, first, device, dtype)
        self.register_parameter("bias", uniform((out_channels,), bound, second, device, dtype) if bias else None)

    def _ends(self):
        """(before, after) of each spatial axis, the last first, as pad takes them."""
        if self.padding == "valid":
            return [0] * (2 * self.axes)
        if self.padding == "same":
            both = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            return [end for total in reversed(both) for end in (total // 2, total - total // 2)]
        return [end for p in reversed(self.padding) for end in (p, p)]

    def extra_repr(self):
        none = (0,) * self.axes
        shown = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        shown += [f"padding={self.padding}"] * (self.padding != none)
        shown += [f"dilation={self.dilation}"] * (self.dilation != (1,) * self.axes)
        shown += [f"output_padding={self.output_padding}"] * (self.output_padding != none)
        shown += [f"groups={self.groups}"] * (self.groups != 1) + ["bias=False"] * (self.bias is None)
        return ", ".join(shown + [f"padding_mode={self.padding_mode}"] * (self.padding_mode != "zeros"))


class _Forward(_Convolution):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros",
                 device=None, dtype=None, *, key=None):
        super().__init__()
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode, device, dtype, key)

    def forward(self, input):
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._ends(), self.padding_mode), 0
        return _core.nn.conv(input, self.axes, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class _Transposed(_Convolution):
    transposed = True

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1,
                 padding_mode="zeros", device=None, dtype=None, *, key=None):
        super().__init__()
        self._make(in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias, padding_mode, device,
                   dtype, key)

    def forward(self, input, output_size=None):
        more = self.output_padding if output_size is None else self._more(input, output_size)
        return _core.nn.conv_transpose(input, self.axes, self.weight, self.bias, self.stride, self.padding, more, self.groups,
                                       self.dilation)

    def _more(self, input, output_size):
        """The output_padding that gives this size."""
        wanted = list(output_size)[-self.axes:]
        sizes = input.shape[-self.axes:]
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in
                 zip(sizes, self.stride, self.padding, self.dilation, self.kernel_size)]
        if len(wanted) != self.axes or any(not low <= w < low + s for w, low, s in zip(wanted, least, self.stride)):
            most = [low + s - 1 for low, s in zip(least, self.stride)]
            raise ValueError(f"{type(self).__name__}: output_size is {tuple(output_size)}; the spatial sizes may be {least} to {most}")
        return [w - low for w, low in zip(wanted, least)]


class Conv1d(_Forward):
    """Cross-correlation over (N, C, L) or (C, L).

    >>> layer = wf.nn.Conv1d(3, 16, kernel_size=5, padding=2)
    >>> layer(wf.zeros((8, 3, 100))).shape
    (8, 16, 100)
    """


class Conv2d(_Forward):
    """Cross-correlation over (N, C, H, W) or (C, H, W).

    >>> layer = wf.nn.Conv2d(3, 16, kernel_size=3, stride=2, padding=1)
    >>> layer.weight.shape
    (16, 3, 3, 3)
    >>> layer(wf.zeros((8, 3, 32, 32))).shape
    (8, 16, 16, 16)
    """
    axes = 2


class Conv3d(_Forward):
    """Cross-correlation over (N, C, D, H, W) or (C, D, H, W)."""
    axes = 3


class ConvTranspose1d(_Transposed):
    """The transpose of Conv1d."""


class ConvTranspose2d(_Transposed):
    """The transpose of Conv2d.

    >>> layer = wf.nn.ConvTranspose2d(16, 3, kernel_size=2, stride=2)
    >>> layer(wf.zeros((8, 16, 10, 10))).shape
    (8, 3, 20, 20)
    """
    axes = 2


class ConvTranspose3d(_Transposed):
    """The transpose of Conv3d."""
    axes = 3
