"""Joining elements along axes: sums, means, extremes, running sums, differences. axis=None joins all; a tuple joins several axes.

NumPy's arguments, in its order up to its out=, which no value of weft's has; what NumPy has behind that goes by name. where: a condition,
broadcast to x, for the elements that count; initial: what joins before all of them.
"""
from . import _core

__all__ = ["all", "any", "cumulative_prod", "cumulative_sum", "cumsum", "cumprod", "diff", "logsumexp", "max", "mean", "min", "prod", "std", "sum", "var"]


def in_dtype(join, x, dtype, *arguments):
    """Joined in a dtype, where one is said: the elements are converted first."""
    if dtype is None:
        return join(x, *arguments)
    return _core.astype(join(_core.astype(x, dtype), *arguments), dtype)


def left(x, where, otherwise):
    """What counts of x."""
    return x if where is None or where is True else _core.kept(x, where, otherwise)


def joined(join, pair, neutral, x, axis, dtype, keepdims, initial, where):
    """A sum or a product, from a first value on."""
    found = in_dtype(join, left(x, where, neutral), dtype, axis, keepdims)
    return found if initial is None else _core.astype(pair(found, initial), found.dtype)


def extreme(join, join_from, name, x, axis, keepdims, initial, where):
    if where is not None and where is not True:
        if initial is None:
            raise ValueError(f"{name}: where= may leave nothing out of which to choose; say with initial= what that is")
        x = _core.kept(x, where, initial)
    return join(x, axis, keepdims) if initial is None else join_from(x, axis, initial, keepdims)


def freedom(name, ddof, correction):
    """What is taken from n: ddof and correction are two names of it."""
    if ddof and correction:
        raise ValueError(f"{name}: ddof={ddof} and correction={correction} are two names of the same; give one")
    return correction or ddof or 0


def all(x, /, axis=None, *, keepdims=False, where=None):
    """Whether every element is true (not 0).

    >>> wf.all(wf.asarray([[True, False], [True, True]]), axis=1)
    array([False,  True])
    """
    return _core.all(left(x, where, True), axis, keepdims)


def any(x, /, axis=None, *, keepdims=False, where=None):
    """Whether an element is true (not 0).

    >>> wf.any(wf.asarray([[True, False], [False, False]]), axis=1)
    array([ True, False])
    """
    return _core.any(left(x, where, False), axis, keepdims)


def sum(x, /, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    """The sum. Of bool and integers int64 (uint64 of unsigned); floating numbers keep their width.

    >>> wf.sum(wf.asarray([[1., 2.], [3., 4.]]), axis=0)
    array([4., 6.], dtype=float32)
    >>> wf.sum(wf.asarray([1, 2, 3]), dtype=wf.float32)
    array(6., dtype=float32)
    >>> x = wf.asarray([1., -2., 3.])
    >>> wf.sum(x, where=x > 0)
    array(4., dtype=float32)
    """
    if dtype is None and initial is None and where is None:   # as most calls: each function between takes a tenth of a microsecond
        return _core.sum(x, axis, keepdims)
    return joined(_core.sum, _core.add, 0, x, axis, dtype, keepdims, initial, where)


def prod(x, /, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    """The product. Of bool and integers int64 (uint64 of unsigned); floating numbers keep their width.

    >>> wf.prod(wf.asarray([[1., 2.], [3., 4.]]), axis=0)
    array([3., 8.], dtype=float32)
    """
    if dtype is None and initial is None and where is None:
        return _core.prod(x, axis, keepdims)
    return joined(_core.prod, _core.multiply, 1, x, axis, dtype, keepdims, initial, where)


def max(x, /, axis=None, *, keepdims=False, initial=None, where=None):
    """The largest; NaN if there is one. ValueError of nothing, unless initial says what that is.

    >>> wf.max(wf.asarray([[1., 5.], [4., 2.]]), axis=0)
    array([4., 5.], dtype=float32)
    """
    if initial is None and where is None:
        return _core.max(x, axis, keepdims)
    return extreme(_core.max, _core.max_from, "max", x, axis, keepdims, initial, where)


def min(x, /, axis=None, *, keepdims=False, initial=None, where=None):
    """The smallest; NaN if there is one. ValueError of nothing, unless initial says what that is.

    >>> wf.min(wf.asarray([[1., 5.], [4., 2.]]), axis=0)
    array([1., 2.], dtype=float32)
    """
    if initial is None and where is None:
        return _core.min(x, axis, keepdims)
    return extreme(_core.min, _core.min_from, "min", x, axis, keepdims, initial, where)


def mean(x, /, axis=None, dtype=None, *, keepdims=False, where=None):
    """The arithmetic mean; NaN of nothing.

    >>> wf.mean(wf.asarray([[1., 2.], [3., 6.]]), axis=1)
    array([1.5, 4.5], dtype=float32)
    """
    if where is not None and where is not True:
        return in_dtype(_core.masked_mean, x, dtype, axis, where, keepdims)
    return _core.mean(x, axis, keepdims) if dtype is None else in_dtype(_core.mean, x, dtype, axis, keepdims)


def std(x, /, axis=None, dtype=None, *, ddof=0, correction=0.0, keepdims=False, where=None):
    """The standard deviation: the root of the sum of squared deviations over n - correction (or ddof, its other name).

    >>> wf.std(wf.asarray([1., 2., 3., 4.]))
    array(1.118034, dtype=float32)
    >>> wf.std(wf.asarray([1., 2., 3., 4.]), correction=1)
    array(1.2909944, dtype=float32)
    """
    taken = freedom("std", ddof, correction)
    if where is None or where is True:
        return in_dtype(_core.std, x, dtype, axis, taken, keepdims)
    return _core.sqrt(in_dtype(_core.masked_var, x, dtype, axis, where, taken, keepdims))


def var(x, /, axis=None, dtype=None, *, ddof=0, correction=0.0, keepdims=False, where=None):
    """The variance: the sum of squared deviations over n - correction (or ddof, its other name).

    >>> wf.var(wf.asarray([[1., 2.], [3., 7.]]), axis=1)
    array([0.25, 4.  ], dtype=float32)
    """
    taken = freedom("var", ddof, correction)
    if where is None or where is True:
        return in_dtype(_core.var, x, dtype, axis, taken, keepdims)
    return in_dtype(_core.masked_var, x, dtype, axis, where, taken, keepdims)


def logsumexp(x, /, axis=None, *, keepdims=False):
    """log(sum(exp(x))), without overflow.

    >>> wf.logsumexp(wf.asarray([1000., 1000.]))
    array(1000.6932, dtype=float32)
    """
    return _core.logsumexp(x, axis, keepdims)


def cumulative_sum(x, /, axis=None, *, dtype=None, include_initial=False):
    """Running sums along an axis (which may be left out of one-dimensional arrays); include_initial puts a 0 in front.

    >>> wf.cumulative_sum(wf.asarray([[1, 2], [3, 4]]), axis=1)
    array([[1, 3],
           [3, 7]])
    """
    return in_dtype(_core.running, x, dtype, axis, True, include_initial)


def cumulative_prod(x, /, axis=None, *, dtype=None, include_initial=False):
    """Running products along an axis (which may be left out of one-dimensional arrays); include_initial puts a 1 in front.

    >>> wf.cumulative_prod(wf.asarray([1., 2., 3.]), include_initial=True)
    array([1., 1., 2., 6.], dtype=float32)
    """
    return in_dtype(_core.running, x, dtype, axis, False, include_initial)


def flat_where_none(a, axis):
    """a and an axis to go along; without one, a flattened."""
    return (_core.reshape(a, -1), 0) if axis is None else (a, axis)


def cumsum(a, axis=None, dtype=None):
    """Running sums, by NumPy's name; axis=None: of a flattened.

    >>> wf.cumsum(wf.asarray([[1, 2], [3, 4]]), axis=0)
    array([[1, 2],
           [4, 6]])
    """
    return cumulative_sum(*flat_where_none(a, axis), dtype=dtype)


def cumprod(a, axis=None, dtype=None):
    """Running products, by NumPy's name; axis=None: of a flattened.

    >>> wf.cumprod(wf.asarray([1., 2., 3.]))
    array([1., 2., 6.], dtype=float32)
    """
    return cumulative_prod(*flat_where_none(a, axis), dtype=dtype)


def diff(x, /, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours along an axis, n times over.

    >>> wf.diff(wf.asarray([1., 4., 9., 16.]))
    array([3., 5., 7.], dtype=float32)
    >>> wf.diff(wf.asarray([1., 4., 9., 16.]), n=2)
    array([2., 2.], dtype=float32)
    """
    return _core.diff(x, axis, n, prepend, append) if n != 0 else _core.asarray(x, None, None)
