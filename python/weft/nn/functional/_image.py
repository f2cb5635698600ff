"""Padding, resampling, sampling at any point, channels as pixels."""
from ... import _core

_nn = _core.nn

__all__ = ["affine_grid", "channel_shuffle", "grid_sample", "interpolate", "pad", "pixel_shuffle", "pixel_unshuffle", "upsample",
           "upsample_bilinear", "upsample_nearest"]


def pad(input, pad, mode="constant", value=None):
    """`pad`: (before, after) of the last axis, then of the one in front of it, ...; negative ones cut off. mode: "constant" (with value),
    "reflect", "replicate", "circular"."""
    return _nn.pad(input, pad, mode, 0.0 if value is None else value)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    """(N, C, spatial...) on another grid. mode: nearest, nearest-exact, linear, bilinear, bicubic, trilinear, area."""
    factors = [] if scale_factor is None else list(scale_factor) if isinstance(scale_factor, (list, tuple)) else [scale_factor]
    return _nn.interpolate(input, size, factors, mode, align_corners, bool(recompute_scale_factor), antialias)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """interpolate."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate with mode="nearest"."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate with mode="bilinear" and align_corners=True."""
    return interpolate(input, size, scale_factor, "bilinear", True)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """(N, C, spatial...) at the points of grid (N, points..., 2 or 3), from -1 to 1. mode: bilinear, nearest, bicubic; padding_mode: zeros,
    border, reflection."""
    return _nn.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def affine_grid(theta, size, align_corners=None):
    """The grid of affine maps theta (N, 2, 3) or (N, 3, 4) for results of shape `size`."""
    return _nn.affine_grid(theta, size, bool(align_corners))


def pixel_shuffle(input, upscale_factor):
    """(..., C * r**2, H, W) as (..., C, H * r, W * r)."""
    return _nn.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input, downscale_factor):
    """(..., C, H * r, W * r) as (..., C * r**2, H, W)."""
    return _nn.pixel_unshuffle(input, downscale_factor)


def channel_shuffle(input, groups):
    """(N, C, ...): channel g * (C / groups) + i becomes i * groups + g."""
    return _nn.channel_shuffle(input, groups)
