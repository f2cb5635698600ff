"""Joining elements along axes: sums, means, extremes, running sums, differences. axis=None joins all; a tuple joins several axes."""
from . import _core

__all__ = ["all", "any", "cumulative_prod", "cumulative_sum", "cumsum", "cumprod", "diff", "logsumexp", "max", "mean", "min", "prod", "std", "sum", "var"]


def in_dtype(join, x, dtype, *arguments):
    """Joined in a dtype, where one is said: the elements are converted first."""
    if dtype is None:
        return join(x, *arguments)
    return _core.astype(join(_core.astype(x, dtype), *arguments), dtype)


def all(x, /, *, axis=None, keepdims=False):
    """Whether every element is true (not 0).

    >>> wf.all(wf.asarray([[True, False], [True, True]]), axis=1)
    array([False,  True])
    """
    return _core.all(x, axis, keepdims)


def any(x, /, *, axis=None, keepdims=False):
    """Whether an element is true (not 0).

    >>> wf.any(wf.asarray([[True, False], [False, False]]), axis=1)
    array([ True, False])
    """
    return _core.any(x, axis, keepdims)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """The sum. Of bool and integers int64 (uint64 of unsigned); floating numbers keep their width.

    >>> wf.sum(wf.asarray([[1., 2.], [3., 4.]]), axis=0)
    array([4., 6.], dtype=float32)
    >>> wf.sum(wf.asarray([1, 2, 3]), dtype=wf.float32)
    array(6., dtype=float32)
    """
    return in_dtype(_core.sum, x, dtype, axis, keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product. Of bool and integers int64 (uint64 of unsigned); floating numbers keep their width.

    >>> wf.prod(wf.asarray([[1., 2.], [3., 4.]]), axis=0)
    array([3., 8.], dtype=float32)
    """
    return in_dtype(_core.prod, x, dtype, axis, keepdims)


def max(x, /, *, axis=None, keepdims=False):
    """The largest; NaN if there is one.

    >>> wf.max(wf.asarray([[1., 5.], [4., 2.]]), axis=0)
    array([4., 5.], dtype=float32)
    """
    return _core.max(x, axis, keepdims)


def min(x, /, *, axis=None, keepdims=False):
    """The smallest; NaN if there is one.

    >>> wf.min(wf.asarray([[1., 5.], [4., 2.]]), axis=0)
    array([1., 2.], dtype=float32)
    """
    return _core.min(x, axis, keepdims)


def mean(x, /, *, axis=None, keepdims=False):
    """The arithmetic mean; NaN of nothing.

    >>> wf.mean(wf.asarray([[1., 2.], [3., 6.]]), axis=1)
    array([1.5, 4.5], dtype=float32)
    """
    return _core.mean(x, axis, keepdims)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The standard deviation: the root of the sum of squared deviations over n - correction.

    >>> wf.std(wf.asarray([1., 2., 3., 4.]))
    array(1.118034, dtype=float32)
    >>> wf.std(wf.asarray([1., 2., 3., 4.]), correction=1)
    array(1.2909944, dtype=float32)
    """
    return _core.std(x, axis, correction, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance: the sum of squared deviations over n - correction.

    >>> wf.var(wf.asarray([[1., 2.], [3., 7.]]), axis=1)
    array([0.25, 4.  ], dtype=float32)
    """
    return _core.var(x, axis, correction, keepdims)


def logsumexp(x, /, *, axis=None, keepdims=False):
    """log(sum(exp(x))), without overflow.

    >>> wf.logsumexp(wf.asarray([1000., 1000.]))
    array(1000.6932, dtype=float32)
    """
    return _core.logsumexp(x, axis, keepdims)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running sums along an axis (which may be left out of one-dimensional arrays); include_initial puts a 0 in front.

    >>> wf.cumulative_sum(wf.asarray([[1, 2], [3, 4]]), axis=1)
    array([[1, 3],
           [3, 7]])
    """
    return in_dtype(_core.running, x, dtype, axis, True, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running products along an axis (which may be left out of one-dimensional arrays); include_initial puts a 1 in front.

    >>> wf.cumulative_prod(wf.asarray([1., 2., 3.]), include_initial=True)
    array([1., 1., 2., 6.], dtype=float32)
    """
    return in_dtype(_core.running, x, dtype, axis, False, include_initial)


def cumsum(x, axis=None):
    """Running sums, by NumPy's name; axis=None: of x flattened.

    >>> wf.cumsum(wf.asarray([[1, 2], [3, 4]]), axis=0)
    array([[1, 2],
           [4, 6]])
    """
    return cumulative_sum(_core.reshape(x, -1), axis=0) if axis is None else cumulative_sum(x, axis=axis)


def cumprod(x, axis=None):
    """Running products, by NumPy's name; axis=None: of x flattened.

    >>> wf.cumprod(wf.asarray([1., 2., 3.]))
    array([1., 2., 6.], dtype=float32)
    """
    return cumulative_prod(_core.reshape(x, -1), axis=0) if axis is None else cumulative_prod(x, axis=axis)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of neighbours along an axis, n times over.

    >>> wf.diff(wf.asarray([1., 4., 9., 16.]))
    array([3., 5., 7.], dtype=float32)
    >>> wf.diff(wf.asarray([1., 4., 9., 16.]), n=2)
    array([2., 2.], dtype=float32)
    """
    return _core.diff(x, axis, n, prepend, append)
