"""Distinct elements, and sets of them. They compute their arguments, for how many there are depends on the numbers."""
from . import _core

__all__ = ["in1d", "intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique"]


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    """The distinct elements (or parts along an axis) in ascending order; with return_*: a tuple of them and, as asked for, where each stands
    first, which of them each element is, how often each comes. equal_nan: all NaN are one.

    >>> wf.unique(wf.asarray([3, 1, 3]), return_counts=True)
    (array([1, 3]), array([1, 2]))
    """
    if axis is None and not (return_index or return_inverse or return_counts):
        return _core.unique_values(ar, bool(equal_nan))
    values, *more = _core.unique(ar, bool(equal_nan)) if axis is None else _core.unique_along(ar, axis)
    wanted = [x for x, is_wanted in zip(more, (return_index, return_inverse, return_counts)) if is_wanted]
    return (values, *wanted) if wanted else values


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Whether each element is among others (invert: is not). A NaN is not. assume_unique and kind change nothing.

    >>> wf.isin(wf.asarray([1, 2, 3]), [2, 5])
    array([False,  True, False])
    """
    found = _core.isin(element, test_elements)
    return _core.logical_not(found) if invert else found


def in1d(ar1, ar2, assume_unique=False, invert=False, *, kind=None):
    """isin, of an array flattened.

    >>> wf.in1d(wf.asarray([[1, 2], [3, 4]]), [2, 4])
    array([False,  True, False,  True])
    """
    return isin(_core.reshape(ar1, -1), ar2, invert=invert)


def union1d(ar1, ar2):
    """The distinct elements of either, ascending.

    >>> wf.union1d(wf.asarray([3, 1]), [2, 1])
    array([1, 2, 3])
    """
    return _core.union1d(ar1, ar2)


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The distinct elements of both, ascending; with return_indices where they first stand in each. assume_unique changes nothing.

    >>> wf.intersect1d(wf.asarray([1, 3, 4, 3]), wf.asarray([3, 1, 2]))
    array([1, 3])
    """
    found = _core.intersect1d(ar1, ar2)
    if not return_indices:
        return found

    def places(x):
        values, first, *_ = _core.unique(x, True)
        return first[_core.isin(values, found)]
    return found, places(ar1), places(ar2)


def setdiff1d(ar1, ar2, assume_unique=False):
    """The distinct elements of the first alone, ascending. assume_unique changes nothing.

    >>> wf.setdiff1d(wf.asarray([3, 1, 2]), [2])
    array([1, 3])
    """
    return _core.setdiff1d(ar1, ar2)


def setxor1d(ar1, ar2, assume_unique=False):
    """The distinct elements of one alone, ascending. assume_unique changes nothing.

    >>> wf.setxor1d(wf.asarray([1, 2]), [2, 3])
    array([1, 3])
    """
    return _core.setxor1d(ar1, ar2)
