"""Sampled functions: convolution, interpolation, integrals, differences, windows; polynomials (the highest power first)."""
from numbers import Number

from . import _core

__all__ = ["bartlett", "blackman", "convolve", "correlate", "ediff1d", "hamming", "hanning", "interp", "kaiser", "poly", "polyadd", "polyder",
           "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots", "trapezoid", "unwrap", "vander"]


def convolve(a, v, mode="full"):
    """sum_m a[m] v[n - m] of two vectors. mode: full, same (as many as the longer has), valid (where they overlap wholly).

    >>> wf.convolve(wf.asarray([1, 2, 3]), wf.asarray([0, 1]))
    array([0, 1, 2, 3])
    """
    return _core.convolve(a, v, mode)


def correlate(a, v, mode="valid"):
    """sum_m a[m + n] conj(v[m]) of two vectors.

    >>> wf.correlate(wf.asarray([1., 2., 3.]), [0., 1., 0.5])
    array([3.5], dtype=float32)
    """
    return _core.correlate(a, v, mode)


def interp(x, xp, fp, left=None, right=None, period=None):
    """The broken line through the points (xp, fp) at x; xp rises. Outside: left and right, else the first and last of fp.

    >>> wf.interp(wf.asarray(2.5), wf.asarray([1., 2., 3.]), wf.asarray([3., 2., 0.]))
    array(1., dtype=float32)
    """
    return _core.interp(x, xp, fp, left, right, period)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral along an axis by the trapezoidal rule, of points dx apart or at x.

    >>> wf.trapezoid(wf.asarray([1., 2., 3.]))
    array(4., dtype=float32)
    """
    return _core.trapezoid(y, dx, axis) if x is None else _core.trapezoid_at(y, x, axis)


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours of an array flattened, with numbers before and behind them.

    >>> wf.ediff1d(wf.asarray([1, 2, 4, 7]), to_begin=0)
    array([0, 1, 2, 3])
    """
    flat = _core.reshape(ary, -1)
    ends = [None if end is None else _core.reshape(_core.astype(end, flat.dtype), -1) for end in (to_begin, to_end)]
    parts = [ends[0], _core.diff(flat, -1, 1, None, None), ends[1]]
    return _core.concat([part for part in parts if part is not None], 0)


def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    """p without jumps of more than half a period between neighbours.

    >>> wf.unwrap(wf.asarray([0., 3., 6., 1.]), period=4.0)
    array([ 0., -1., -2., -3.], dtype=float32)
    """
    return _core.unwrap(p, axis, period, discont)


def bartlett(M, dtype=None):
    """Bartlett's window, a triangle, of M points.

    >>> wf.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _core.bartlett(M, dtype)


def blackman(M, dtype=None):
    """Blackman's window of M points.

    >>> wf.round(wf.blackman(5), 2)
    array([-0.  ,  0.34,  1.  ,  0.34, -0.  ], dtype=float32)
    """
    return _core.blackman(M, dtype)


def hanning(M, dtype=None):
    """Hann's window of M points.

    >>> wf.hanning(5)
    array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _core.hanning(M, dtype)


def hamming(M, dtype=None):
    """Hamming's window of M points.

    >>> wf.hamming(4)
    array([0.08, 0.77, 0.77, 0.08], dtype=float32)
    """
    return _core.hamming(M, dtype)


def kaiser(M, beta, dtype=None):
    """Kaiser's window of M points.

    >>> wf.kaiser(3, 14.0)
    array([7.726867e-06, 1.000000e+00, 7.726867e-06], dtype=float32)
    """
    return _core.kaiser(M, beta, dtype)


def polyval(p, x):
    """The polynomial with coefficients p at x.

    >>> wf.polyval(wf.asarray([3, 0, 1]), 5)
    array(76)
    """
    return _core.polyval(p, x)


def polyadd(a1, a2):
    """The sum of two polynomials.

    >>> wf.polyadd(wf.asarray([1, 2]), wf.asarray([9, 5, 4]))
    array([9, 6, 6])
    """
    return _core.polyadd(a1, a2)


def polysub(a1, a2):
    """The difference of two polynomials.

    >>> wf.polysub(wf.asarray([2, 10]), wf.asarray([1, 4]))
    array([1, 6])
    """
    return _core.polysub(a1, a2)


def polymul(a1, a2):
    """The product of two polynomials.

    >>> wf.polymul(wf.asarray([1, 2]), wf.asarray([1, -2]))
    array([ 1,  0, -4])
    """
    return _core.polymul(a1, a2)


def polydiv(u, v):
    """(quotient, remainder) of two polynomials; the remainder has as many coefficients as v has less one.

    >>> wf.polydiv(wf.asarray([3., 5., 2.]), wf.asarray([2., 1.]))
    (array([1.5 , 1.75], dtype=float32), array([0.25], dtype=float32))
    """
    return _core.polydiv(u, v)


def polyder(p, m=1):
    """The m-th derivative of a polynomial.

    >>> wf.polyder(wf.asarray([1, 0, 3]))
    array([2, 0])
    """
    return _core.polyder(p, m)


def polyint(p, m=1, k=None):
    """The m-th integral of a polynomial, with constants k (one, or one an integral).

    >>> wf.polyint(wf.asarray([2., 2.]))
    array([1., 2., 0.], dtype=float32)
    """
    return _core.polyint(p, m, [] if k is None else [k] if isinstance(k, Number) else list(k))


def polyfit(x, y, deg, w=None):
    """The polynomial of degree deg closest to the points in the sum of squares (weighted by w, before they are squared).

    >>> wf.round(wf.polyfit(wf.asarray([0., 1., 2.]), wf.asarray([1., 3., 5.]), 1), 3)
    array([2., 1.], dtype=float32)
    """
    return _core.polyfit(x, y, deg, w)


def poly(seq_of_zeros):
    """The polynomial with these zeros; of a square matrix its characteristic polynomial.

    >>> wf.poly(wf.asarray([1., 2.]))
    array([ 1., -3.,  2.], dtype=float32)
    """
    seq_of_zeros = _core.asarray(seq_of_zeros, None, None)
    if seq_of_zeros.ndim == 2:
        seq_of_zeros = _core.eigvals(seq_of_zeros)
        found = _core.poly(seq_of_zeros)
        return found if _core.any(_core.greater(_core.abs(_core.imag(found)), 1e-5), None, False) else _core.real(found)
    return _core.poly(seq_of_zeros)


def roots(p):
    """The complex zeros of a polynomial. Computes p.

    >>> wf.roots(wf.asarray([1., -3., 2.]))
    array([2.+0.j, 1.+0.j], dtype=complex64)
    """
    return _core.roots(p)


def vander(x, N=None, increasing=False):
    """Powers of a vector as columns, the highest first.

    >>> wf.vander(wf.asarray([1, 2, 3]))
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])
    """
    return _core.vander(x, N, increasing)
