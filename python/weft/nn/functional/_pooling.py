"""Pooling over 1 to 3 spatial axes. Inputs are (N, C, spatial...) or (C, spatial...)."""
from ... import _core

_nn = _core.nn

__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
           "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d",
           "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d"]


def _max_pool(axes, return_indices, *arguments):
    pool = _nn.max_pool_with_indices if return_indices else _nn.max_pool
    return pool(arguments[0], axes, *arguments[1:])


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest of each window; with return_indices also its place in its plane.

    >>> wf.nn.functional.max_pool1d(wf.asarray([[1., 3., 2., 5., 4., 0.]]), 2)
    array([[3., 5., 4.]], dtype=float32)
    >>> wf.nn.functional.max_pool1d(wf.asarray([[1., 3., 2., 5., 4., 0.]]), 2, return_indices=True)
    (array([[3., 5., 4.]], dtype=float32), array([[1, 3, 4]]))
    """
    return _max_pool(1, return_indices, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest of each window; with return_indices also its place in its plane.

    >>> wf.nn.functional.max_pool2d(wf.asarray([[[1., 2., 3., 4.], [8., 7., 6., 5.]]]), 2)
    array([[[8., 6.]]], dtype=float32)
    """
    return _max_pool(2, return_indices, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest of each window; with return_indices also its place in its volume.

    >>> wf.nn.functional.max_pool3d(wf.reshape(wf.arange(16.), (1, 2, 2, 4)), 2)
    array([[[[13., 15.]]]], dtype=float32)
    """
    return _max_pool(3, return_indices, input, kernel_size, stride, padding, dilation, ceil_mode)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """The mean of each window.

    >>> wf.nn.functional.avg_pool1d(wf.asarray([[1., 3., 2., 6.]]), 2)
    array([[2., 4.]], dtype=float32)
    >>> wf.nn.functional.avg_pool1d(wf.asarray([[1., 3., 2., 6.]]), 2, stride=1)
    array([[2. , 2.5, 4. ]], dtype=float32)
    """
    return _nn.avg_pool(input, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """The mean of each window, or its sum over divisor_override.

    >>> wf.nn.functional.avg_pool2d(wf.asarray([[[1., 2., 3., 4.], [8., 7., 6., 5.]]]), (2, 1))
    array([[[4.5, 4.5, 4.5, 4.5]]], dtype=float32)
    >>> wf.nn.functional.avg_pool2d(wf.asarray([[[1., 2., 3., 4.], [8., 7., 6., 5.]]]), 2, divisor_override=1)
    array([[[18., 18.]]], dtype=float32)
    """
    return _nn.avg_pool(input, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """The mean of each window, or its sum over divisor_override.

    >>> wf.nn.functional.avg_pool3d(wf.reshape(wf.arange(16.), (1, 2, 2, 4)), 2)
    array([[[[6.5, 8.5]]]], dtype=float32)
    """
    return _nn.avg_pool(input, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x**norm_type over each window)**(1 / norm_type).

    >>> wf.nn.functional.lp_pool1d(wf.asarray([[3., 4., 5., 12.]]), 2, 2)
    array([[ 5., 13.]], dtype=float32)
    """
    return _nn.lp_pool(input, 1, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x**norm_type over each window)**(1 / norm_type).

    >>> wf.nn.functional.lp_pool2d(wf.asarray([[[3., 4.], [5., 12.]]]), 2, (1, 2))
    array([[[ 5.],
            [13.]]], dtype=float32)
    """
    return _nn.lp_pool(input, 2, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x**norm_type over each window)**(1 / norm_type).

    >>> wf.nn.functional.lp_pool3d(wf.asarray([[[[3., 4.], [5., 12.]]]]), 2, (1, 1, 2))
    array([[[[ 5.],
             [13.]]]], dtype=float32)
    """
    return _nn.lp_pool(input, 3, norm_type, kernel_size, stride, ceil_mode)


def _sizes(output_size):
    """None, of an axis: as it is, which C++ spells -1."""
    sizes = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size]
    if any(size is not None and size < 0 for size in sizes):
        raise ValueError(f"adaptive pool: output_size is {output_size}; no size may be below 0 (None keeps an axis)")
    return [-1 if size is None else size for size in sizes]


def adaptive_avg_pool1d(input, output_size):
    """Means of as many windows as output_size says.

    >>> wf.nn.functional.adaptive_avg_pool1d(wf.asarray([[1., 2., 3., 4., 5.]]), 2)
    array([[2., 4.]], dtype=float32)
    """
    return _nn.adaptive_avg_pool(input, 1, _sizes(output_size))


def adaptive_avg_pool2d(input, output_size):
    """Means of as many windows as output_size says along each axis; None: as many as elements.

    >>> wf.nn.functional.adaptive_avg_pool2d(wf.asarray([[[1., 2., 3., 4.], [8., 7., 6., 5.]]]), (None, 1))
    array([[[2.5],
            [6.5]]], dtype=float32)
    """
    return _nn.adaptive_avg_pool(input, 2, _sizes(output_size))


def adaptive_avg_pool3d(input, output_size):
    """Means of as many windows as output_size says along each axis; None: as many as elements.

    >>> wf.nn.functional.adaptive_avg_pool3d(wf.reshape(wf.arange(16.), (1, 2, 2, 4)), (1, 1, 2))
    array([[[[6.5, 8.5]]]], dtype=float32)
    """
    return _nn.adaptive_avg_pool(input, 3, _sizes(output_size))


def _adaptive_max_pool(axes, input, output_size, return_indices):
    values, places = _nn.adaptive_max_pool(input, axes, _sizes(output_size))
    return (values, places) if return_indices else values


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """The largest of as many windows as output_size says; with return_indices also their places.

    >>> wf.nn.functional.adaptive_max_pool1d(wf.asarray([[1., 2., 3., 4., 5.]]), 2)
    array([[3., 5.]], dtype=float32)
    """
    return _adaptive_max_pool(1, input, output_size, return_indices)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The largest of as many windows as output_size says; with return_indices also their places.

    >>> wf.nn.functional.adaptive_max_pool2d(wf.asarray([[[1., 2., 3., 4.], [8., 7., 6., 5.]]]), (None, 1))
    array([[[4.],
            [8.]]], dtype=float32)
    """
    return _adaptive_max_pool(2, input, output_size, return_indices)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """The largest of as many windows as output_size says; with return_indices also their places.

    >>> wf.nn.functional.adaptive_max_pool3d(wf.reshape(wf.arange(16.), (1, 2, 2, 4)), (1, 1, 2), return_indices=True)
    (array([[[[13., 15.]]]], dtype=float32), array([[[[13, 15]]]]))
    """
    return _adaptive_max_pool(3, input, output_size, return_indices)


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """What max_pool1d took, back at its places; zeros elsewhere.

    >>> values, places = wf.nn.functional.max_pool1d(wf.asarray([[1., 3., 5., 2.]]), 2, return_indices=True)
    >>> wf.nn.functional.max_unpool1d(values, places, 2)
    array([[0., 3., 5., 0.]], dtype=float32)
    """
    return _nn.max_unpool(input, indices, 1, kernel_size, stride, padding, output_size)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """What max_pool2d took, back at its places; zeros elsewhere.

    >>> values, places = wf.nn.functional.max_pool2d(wf.asarray([[[1., 2., 3., 4.], [8., 7., 6., 5.]]]), 2, return_indices=True)
    >>> wf.nn.functional.max_unpool2d(values, places, 2)
    array([[[0., 0., 0., 0.],
            [8., 0., 6., 0.]]], dtype=float32)
    """
    return _nn.max_unpool(input, indices, 2, kernel_size, stride, padding, output_size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """What max_pool3d took, back at its places; zeros elsewhere.

    >>> values, places = wf.nn.functional.max_pool3d(wf.asarray([[[[1., 2., 3., 4.], [8., 7., 6., 5.]]]]), (1, 2, 2), return_indices=True)
    >>> wf.nn.functional.max_unpool3d(values, places, (1, 2, 2))
    array([[[[0., 0., 0., 0.],
             [8., 0., 6., 0.]]]], dtype=float32)
    """
    return _nn.max_unpool(input, indices, 3, kernel_size, stride, padding, output_size)
