"""Order and places: sorting, searching, sets, elements by index."""
from collections import namedtuple

from . import _core
from ._statistics import flat_where_none

__all__ = ["argmax", "argmin", "argsort", "count_nonzero", "nonzero", "searchsorted", "sort", "take", "take_along_axis", "topk", "unique_all",
           "unique_counts", "unique_inverse", "unique_values"]

unique_all_result = namedtuple("unique_all_result", ["values", "indices", "inverse_indices", "counts"])
unique_counts_result = namedtuple("unique_counts_result", ["values", "counts"])
unique_inverse_result = namedtuple("unique_inverse_result", ["values", "inverse_indices"])


def argmax(x, /, axis=None, *, keepdims=False):
    """Where the largest element stands (the first of equal ones, or the first NaN); axis=None: in x flattened.

    >>> wf.argmax(wf.asarray([[1., 9.], [7., 3.]]), axis=1)
    array([1, 0])
    """
    return _core.argmax(x, axis, keepdims)


def argmin(x, /, axis=None, *, keepdims=False):
    """Where the smallest element stands (the first of equal ones, or the first NaN); axis=None: in x flattened.

    >>> wf.argmin(wf.asarray([[1., 9.], [7., 3.]]), axis=1)
    array([0, 1])
    """
    return _core.argmin(x, axis, keepdims)


def to_sort(name, x, axis, kind):
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
        raise ValueError(f"{name}: kind is 'quicksort', 'mergesort', 'heapsort' or 'stable' (all are stable), not {kind!r}")
    return flat_where_none(x, axis)


def argsort(x, /, axis=-1, kind=None, *, descending=False, stable=True):
    """The positions that put x in order along an axis (None: x flattened); stable, whatever kind and `stable` say.

    >>> wf.argsort(wf.asarray([3., 1., 2.]))
    array([1, 2, 0])
    """
    return _core.argsort(*to_sort("argsort", x, axis, kind), descending)


def sort(x, /, axis=-1, kind=None, *, descending=False, stable=True):
    """x in order along an axis (None: flattened), NaN last; stable, whatever kind and `stable` say.

    >>> wf.sort(wf.asarray([3., 1., 2.]))
    array([1., 2., 3.], dtype=float32)
    >>> wf.sort(wf.asarray([3., 1., 2.]), descending=True)
    array([3., 2., 1.], dtype=float32)
    """
    return _core.sort(*to_sort("sort", x, axis, kind), descending)


def topk(x, /, k, axis=-1, largest=True):
    """The k largest (smallest) elements along an axis, best first, and where they stand.

    >>> values, places = wf.topk(wf.asarray([3., 9., 4.]), 2)
    >>> values
    array([9., 4.], dtype=float32)
    >>> places
    array([1, 2])
    """
    return _core.topk(x, k, axis, largest)


def count_nonzero(x, /, axis=None, *, keepdims=False):
    """How many elements are not 0, along the axes.

    >>> wf.count_nonzero(wf.asarray([[0, 1], [2, 3]]), axis=1)
    array([1, 2])
    """
    return _core.sum(_core.not_equal(x, 0), axis, keepdims)


def nonzero(x, /):
    """Where the elements that are not 0 stand: a tuple of arrays, one an axis. Computes x.

    >>> wf.nonzero(wf.asarray([[0, 1], [2, 0]]))
    (array([0, 1]), array([1, 0]))
    """
    return _core.nonzero(x)


def searchsorted(x1, x2, /, side="left", sorter=None):
    """Where each of x2 would be put into x1, which is sorted (or is, taken in the order `sorter`), so that it stays sorted.

    >>> wf.searchsorted(wf.asarray([1., 2., 4.]), wf.asarray([0., 2., 3.]))
    array([0, 1, 2])
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    return _core.searchsorted(x1 if sorter is None else _core.take(x1, sorter, 0), x2, side == "right")


def take(x, /, indices, axis=None, *, mode="raise"):
    """Elements (or whole slices along an axis) by their indices; axis=None: of x flattened. mode: an index outside is an IndexError, wraps
    round, or is clipped.

    >>> wf.take(wf.asarray([10., 20., 30.]), wf.asarray([2, 0]))
    array([30., 10.], dtype=float32)
    >>> wf.take(wf.asarray([[1, 2], [3, 4]]), wf.asarray([1]), axis=1)
    array([[2],
           [4]])
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"take: mode is 'raise', 'wrap' or 'clip', not {mode!r}")
    x, axis = flat_where_none(x, axis)
    if mode != "raise":
        x = _core.asarray(x, None, None)
        last = x.shape[axis] - 1
        indices = _core.clip_between(indices, 0, last) if mode == "clip" else _core.remainder(indices, last + 1)
    return _core.take(x, indices, axis)


def take_along_axis(x, /, indices, axis=-1):
    """Elements by indices along one axis, each at its own place along the others.

    >>> x = wf.asarray([[3., 1.], [2., 9.]])
    >>> wf.take_along_axis(x, wf.argsort(x, axis=1), axis=1)
    array([[1., 3.],
           [2., 9.]], dtype=float32)
    """
    if axis is None:
        return _core.take_along_axis(_core.reshape(x, -1), _core.reshape(indices, -1), 0)
    return _core.take_along_axis(x, indices, axis)


def unique_all(x, /):
    """The distinct elements in order, where each stands first, which of them each element is, and how often each comes. Computes x.

    >>> wf.unique_all(wf.asarray([3, 1, 3])).inverse_indices
    array([1, 0, 1])
    """
    return unique_all_result(*_core.unique(x, False))


def unique_counts(x, /):
    """The distinct elements in order and how often each comes. Computes x.

    >>> values, counts = wf.unique_counts(wf.asarray([3, 1, 3]))
    >>> values
    array([1, 3])
    >>> counts
    array([1, 2])
    """
    values, _, _, counts = _core.unique(x, False)
    return unique_counts_result(values, counts)


def unique_inverse(x, /):
    """The distinct elements in order and which of them each element is. Computes x.

    >>> values, places = wf.unique_inverse(wf.asarray([3, 1, 3]))
    >>> values[places]
    array([3, 1, 3])
    """
    values, _, inverse, _ = _core.unique(x, False)
    return unique_inverse_result(values, inverse)


def unique_values(x, /):
    """The distinct elements in order; each NaN is one of its own. Computes x.

    >>> wf.unique_values(wf.asarray([3, 1, 3]))
    array([1, 3])
    """
    return _core.unique_values(x, False)
