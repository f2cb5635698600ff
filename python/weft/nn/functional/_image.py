"""Padding, resampling, sampling at any point, channels as pixels."""
from ... import _core

_nn = _core.nn

__all__ = ["affine_grid", "channel_shuffle", "grid_sample", "interpolate", "pad", "pixel_shuffle", "pixel_unshuffle", "upsample",
           "upsample_bilinear", "upsample_nearest"]


def pad(input, pad, mode="constant", value=None):
    """`pad`: (before, after) of the last axis, then of the one in front of it, ...; negative ones cut off. mode: "constant" (with value),
    "reflect", "replicate", "circular".

    >>> wf.nn.functional.pad(wf.asarray([[1., 2., 3.]]), (1, 2))
    array([[0., 1., 2., 3., 0., 0.]], dtype=float32)
    >>> wf.nn.functional.pad(wf.asarray([[1., 2., 3.]]), (1, 2), mode="reflect")
    array([[2., 1., 2., 3., 2., 1.]], dtype=float32)
    >>> wf.nn.functional.pad(wf.asarray([[1., 2., 3.]]), (-1, 0, 0, 1), value=7.)
    array([[2., 3.],
           [7., 7.]], dtype=float32)
    """
    return _nn.pad(input, pad, mode, 0.0 if value is None else value)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    """(N, C, spatial...) on another grid. mode: nearest, nearest-exact, linear, bilinear, bicubic, trilinear, area.

    >>> wf.nn.functional.interpolate(wf.asarray([[[1., 3.]]]), scale_factor=2)
    array([[[1., 1., 3., 3.]]], dtype=float32)
    >>> wf.nn.functional.interpolate(wf.asarray([[[1., 3.]]]), size=5, mode="linear", align_corners=True)
    array([[[1. , 1.5, 2. , 2.5, 3. ]]], dtype=float32)
    """
    factors = [] if scale_factor is None else list(scale_factor) if isinstance(scale_factor, (list, tuple)) else [scale_factor]
    return _nn.interpolate(input, size, factors, mode, align_corners, bool(recompute_scale_factor), antialias)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """interpolate.

    >>> wf.nn.functional.upsample(wf.asarray([[[1., 3.]]]), size=3, mode="linear", align_corners=True)
    array([[[1., 2., 3.]]], dtype=float32)
    """
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """interpolate with mode="nearest".

    >>> wf.nn.functional.upsample_nearest(wf.asarray([[[[1., 2.]]]]), scale_factor=2)
    array([[[[1., 1., 2., 2.],
             [1., 1., 2., 2.]]]], dtype=float32)
    """
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """interpolate with mode="bilinear" and align_corners=True.

    >>> wf.nn.functional.upsample_bilinear(wf.asarray([[[[0., 2.], [4., 6.]]]]), size=(3, 3))
    array([[[[0., 1., 2.],
             [2., 3., 4.],
             [4., 5., 6.]]]], dtype=float32)
    """
    return interpolate(input, size, scale_factor, "bilinear", True)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """(N, C, spatial...) at the points of grid (N, points..., 2 or 3), from -1 to 1. mode: bilinear, nearest, bicubic; padding_mode: zeros,
    border, reflection.

    >>> image = wf.asarray([[[[1., 2.], [3., 4.]]]])
    >>> wf.nn.functional.grid_sample(image, wf.asarray([[[[-1., -1.], [0., 0.], [1., -1.]]]]), align_corners=True)
    array([[[[1. , 2.5, 2. ]]]], dtype=float32)
    """
    return _nn.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def affine_grid(theta, size, align_corners=None):
    """The grid of affine maps theta (N, 2, 3) or (N, 3, 4) for results of shape `size`.

    >>> mirrored = wf.nn.functional.affine_grid(wf.asarray([[[-1., 0., 0.], [0., 1., 0.]]]), (1, 1, 2, 2))
    >>> wf.nn.functional.grid_sample(wf.asarray([[[[1., 2.], [3., 4.]]]]), mirrored)
    array([[[[2., 1.],
             [4., 3.]]]], dtype=float32)
    """
    return _nn.affine_grid(theta, size, bool(align_corners))


def pixel_shuffle(input, upscale_factor):
    """(..., C * r**2, H, W) as (..., C, H * r, W * r).

    >>> wf.nn.functional.pixel_shuffle(wf.asarray([[[1.]], [[2.]], [[3.]], [[4.]]]), 2)
    array([[[1., 2.],
            [3., 4.]]], dtype=float32)
    """
    return _nn.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input, downscale_factor):
    """(..., C, H * r, W * r) as (..., C * r**2, H, W).

    >>> wf.nn.functional.pixel_unshuffle(wf.asarray([[[1., 2.], [3., 4.]]]), 2)[:, 0, 0]
    array([1., 2., 3., 4.], dtype=float32)
    """
    return _nn.pixel_unshuffle(input, downscale_factor)


def channel_shuffle(input, groups):
    """(N, C, ...): channel g * (C / groups) + i becomes i * groups + g.

    >>> wf.nn.functional.channel_shuffle(wf.asarray([[[1.], [2.], [3.], [4.]]]), 2)[0, :, 0]
    array([1., 3., 2., 4.], dtype=float32)
    """
    return _nn.channel_shuffle(input, groups)
