"""Fourier transforms, as the array API's extension has them. norm: 'backward' or None (the inverse is divided by n), 'ortho' or 'forward'."""
from . import _core
from ._inspection import check_device as _check_device

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2",
           "rfftfreq", "rfftn"]


def fft(x, /, n=None, axis=-1, norm="backward"):
    """The discrete Fourier transform along an axis, of n points.

    >>> wf.fft.fft(wf.asarray([1., 0., -1., 0.]))
    array([0.+0.j, 2.+0.j, 0.+0.j, 2.+0.j], dtype=complex64)
    """
    return _core.fft(x, n, axis, norm or "backward")


def ifft(x, /, n=None, axis=-1, norm="backward"):
    """The inverse of fft.

    >>> wf.fft.ifft(wf.fft.fft(wf.asarray([1., 2., 3., 4.])))
    array([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j], dtype=complex64)
    """
    return _core.ifft(x, n, axis, norm or "backward")


def fftn(x, /, s=None, axes=None, norm="backward"):
    """fft along several axes (all, if none are said).

    >>> wf.fft.fftn(wf.asarray([[1., 2.], [3., 4.]]))
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return _core.fftn(x, s, axes, norm or "backward")


def ifftn(x, /, s=None, axes=None, norm="backward"):
    """The inverse of fftn.

    >>> wf.fft.ifftn(wf.asarray([[4. + 0j, 0.], [0., 0.]]))
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]], dtype=complex64)
    """
    return _core.ifftn(x, s, axes, norm or "backward")


def rfft(x, /, n=None, axis=-1, norm="backward"):
    """fft of real numbers: the first n/2 + 1 points, of which the others are conjugates.

    >>> wf.fft.rfft(wf.asarray([1., 2., 1., 2.]))
    array([ 6.+0.j,  0.+0.j, -2.+0.j], dtype=complex64)
    """
    return _core.rfft(x, n, axis, norm or "backward")


def irfft(x, /, n=None, axis=-1, norm="backward"):
    """The inverse of rfft: n real numbers.

    >>> wf.fft.irfft(wf.fft.rfft(wf.asarray([1., 2., 3.])), n=3)
    array([1., 2., 3.], dtype=float32)
    """
    return _core.irfft(x, n, axis, norm or "backward")


def rfftn(x, /, s=None, axes=None, norm="backward"):
    """rfft along the last of the axes, fft along the others.

    >>> wf.fft.rfftn(wf.asarray([[1., 2.], [3., 4.]]))
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return _core.rfftn(x, s, axes, norm or "backward")


def irfftn(x, /, s=None, axes=None, norm="backward"):
    """The inverse of rfftn.

    >>> wf.fft.irfftn(wf.fft.rfftn(wf.asarray([[1., 2.], [3., 4.]])))
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _core.irfftn(x, s, axes, norm or "backward")


def fft2(x, /, s=None, axes=(-2, -1), norm="backward"):
    """fftn along two axes.

    >>> wf.fft.fft2(wf.asarray([[1., 2.], [3., 4.]]))
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return _core.fftn(x, s, axes, norm or "backward")


def ifft2(x, /, s=None, axes=(-2, -1), norm="backward"):
    """The inverse of fft2.

    >>> wf.fft.ifft2(wf.asarray([[4., 0.], [0., 0.]]))
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]], dtype=complex64)
    """
    return _core.ifftn(x, s, axes, norm or "backward")


def rfft2(x, /, s=None, axes=(-2, -1), norm="backward"):
    """rfft along the last of two axes, fft along the other.

    >>> wf.fft.rfft2(wf.asarray([[1., 2.], [3., 4.]]))
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return _core.rfftn(x, s, axes, norm or "backward")


def irfft2(x, /, s=None, axes=(-2, -1), norm="backward"):
    """The inverse of rfft2.

    >>> wf.fft.irfft2(wf.fft.rfft2(wf.asarray([[1., 2.], [3., 4.]])))
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _core.irfftn(x, s, axes, norm or "backward")


def hfft(x, /, n=None, axis=-1, norm="backward"):
    """fft of a Hermitian signal, given by its first half: n real points.

    >>> wf.fft.hfft(wf.asarray([1. + 0j, 2., 3.]))
    array([ 8., -2.,  0., -2.], dtype=float32)
    """
    return _core.hfft(x, n, axis, norm or "backward")


def ihfft(x, /, n=None, axis=-1, norm="backward"):
    """The inverse of hfft.

    >>> wf.fft.ihfft(wf.asarray([4., 8., 0., 0.]))
    array([ 3.+0.j,  1.+2.j, -1.+0.j], dtype=complex64)
    """
    return _core.ihfft(x, n, axis, norm or "backward")


def fftfreq(n, /, d=1.0, *, dtype=None, device=None):
    """The frequencies of fft's n points, of samples d apart.

    >>> wf.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    _check_device(device)
    return _core.fftfreq(n, d, dtype)


def rfftfreq(n, /, d=1.0, *, dtype=None, device=None):
    """The frequencies of rfft's points, of n samples d apart.

    >>> wf.fft.rfftfreq(4, d=0.5)
    array([0. , 0.5, 1. ], dtype=float32)
    """
    _check_device(device)
    return _core.rfftfreq(n, d, dtype)


def fftshift(x, /, axes=None):
    """Frequency 0 moved into the middle.

    >>> wf.fft.fftshift(wf.fft.fftfreq(4))
    array([-0.5 , -0.25,  0.  ,  0.25], dtype=float32)
    """
    return _core.fftshift(x, axes)


def ifftshift(x, /, axes=None):
    """The inverse of fftshift.

    >>> wf.fft.ifftshift(wf.asarray([-2., -1., 0., 1.]))
    array([ 0.,  1., -2., -1.], dtype=float32)
    """
    return _core.ifftshift(x, axes)
