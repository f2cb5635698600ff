"""Fourier transforms, as the array API's extension has them. norm: 'backward' (the inverse is divided by n), 'ortho' or 'forward'."""
from . import _core
from ._inspection import check_device

__all__ = ["fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft", "rfftfreq", "rfftn"]


def fft(x, /, *, n=None, axis=-1, norm="backward"):
    """The discrete Fourier transform along an axis, of n points."""
    return _core.fft(x, n, axis, norm)


def ifft(x, /, *, n=None, axis=-1, norm="backward"):
    """The inverse of fft."""
    return _core.ifft(x, n, axis, norm)


def fftn(x, /, *, s=None, axes=None, norm="backward"):
    """fft along several axes (all, if none are said)."""
    return _core.fftn(x, s, axes, norm)


def ifftn(x, /, *, s=None, axes=None, norm="backward"):
    """The inverse of fftn."""
    return _core.ifftn(x, s, axes, norm)


def rfft(x, /, *, n=None, axis=-1, norm="backward"):
    """fft of real numbers: the first n/2 + 1 points, of which the others are conjugates."""
    return _core.rfft(x, n, axis, norm)


def irfft(x, /, *, n=None, axis=-1, norm="backward"):
    """The inverse of rfft: n real numbers."""
    return _core.irfft(x, n, axis, norm)


def rfftn(x, /, *, s=None, axes=None, norm="backward"):
    """rfft along the last of the axes, fft along the others."""
    return _core.rfftn(x, s, axes, norm)


def irfftn(x, /, *, s=None, axes=None, norm="backward"):
    """The inverse of rfftn."""
    return _core.irfftn(x, s, axes, norm)


def hfft(x, /, *, n=None, axis=-1, norm="backward"):
    """fft of a Hermitian signal, given by its first half: n real points."""
    return _core.hfft(x, n, axis, norm)


def ihfft(x, /, *, n=None, axis=-1, norm="backward"):
    """The inverse of hfft."""
    return _core.ihfft(x, n, axis, norm)


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of fft's n points, of samples d apart."""
    check_device(device)
    return _core.fftfreq(n, d, dtype)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of rfft's points, of n samples d apart."""
    check_device(device)
    return _core.rfftfreq(n, d, dtype)


def fftshift(x, /, *, axes=None):
    """Frequency 0 moved into the middle."""
    return _core.fftshift(x, axes)


def ifftshift(x, /, *, axes=None):
    """The inverse of fftshift."""
    return _core.ifftshift(x, axes)
