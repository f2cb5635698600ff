"""Indices of places, and what is chosen by them."""
import math
from numbers import Integral

from . import _core
from ._creation import linspace
from ._functions import broadcast_arrays

__all__ = ["argpartition", "argwhere", "choose", "compress", "diag_indices", "diag_indices_from", "extract", "flatnonzero", "geomspace", "indices", "ix_", "lexsort", "logspace",
           "mgrid", "ogrid", "partition", "put_along_axis", "ravel_multi_index", "select", "tri", "tril_indices", "tril_indices_from",
           "triu_indices", "triu_indices_from", "unravel_index"]


def tri(N, M=None, k=0, dtype=None):
    """Ones at and below the k-th diagonal of a matrix, zeros above.

    >>> wf.tri(3)
    array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 1., 1.]], dtype=float32)
    """
    return _core.tri(N, N if M is None else M, k, dtype)


def indices(dimensions, dtype=None, sparse=False):
    """The index of every place along each axis: (number of axes, *dimensions); sparse: a tuple of arrays that broadcast to that.

    >>> wf.indices((2, 2))
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]])
    """
    if sparse:
        return ix_(*[_core.iota(n) for n in dimensions])
    return _core.indices(dimensions, "int64" if dtype is None else dtype)


def ix_(*args):
    """Vectors, each along an axis of its own: x[ix_(rows, columns)] is the table of them. A mask stands for its places.

    >>> x = wf.reshape(wf.arange(9), (3, 3))
    >>> x[wf.ix_([0, 2], [1, 2])]
    array([[1, 2],
           [7, 8]])
    """
    formed = []
    for i, x in enumerate(args):
        x = _core.asarray(x, None, None)
        if x.ndim != 1:
            raise ValueError(f"ix_: takes vectors, not the shape {x.shape}")
        if str(x.dtype) == "weft.bool":
            x = _core.nonzero(x)[0]
        formed.append(_core.reshape(x, (1,) * i + (-1,) + (1,) * (len(args) - i - 1)))
    return tuple(formed)


def tril_indices(n, k=0, m=None):
    """Rows and columns of the places at and below the k-th diagonal of an n x m matrix.

    >>> rows, columns = wf.tril_indices(2)
    >>> rows
    array([0, 1, 1])
    >>> columns
    array([0, 0, 1])
    """
    return tuple(_core.tril_indices(n, k, m))


def triu_indices(n, k=0, m=None):
    """Rows and columns of the places at and above the k-th diagonal of an n x m matrix.

    >>> rows, columns = wf.triu_indices(2)
    >>> rows
    array([0, 0, 1])
    >>> columns
    array([0, 1, 1])
    """
    return tuple(_core.triu_indices(n, k, m))


def counted_by_columns(order):
    if order not in ("C", "F"):
        raise ValueError(f"order is 'C' or 'F', not {order!r}")
    return order == "F"


def unravel_index(indices, shape, order="C"):
    """Places in an array of this shape, counted in row-major (F: column-major) order, as a tuple of indices along each axis.

    >>> wf.unravel_index(5, (2, 3))
    (array(1), array(2))
    """
    return tuple(_core.unravel_index(indices, [shape] if isinstance(shape, Integral) else shape, counted_by_columns(order)))


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """The inverse of unravel_index. mode: what is outside is an IndexError, wraps, or is clipped.

    >>> wf.ravel_multi_index((1, 2), (2, 3))
    array(5)
    """
    return _core.ravel_multi_index(multi_index, dims, mode, counted_by_columns(order))


def argwhere(a):
    """Where the elements that are not 0 stand: a row each. Computes a.

    >>> wf.argwhere(wf.asarray([[0, 1], [2, 0]]))
    array([[0, 1],
           [1, 0]])
    """
    a = _core.asarray(a, None, None)
    places = _core.nonzero(_core.atleast_1d(a))
    found = _core.stack(places, 1)
    return found[:, :0] if a.ndim == 0 else found


def flatnonzero(a):
    """Where the elements that are not 0 stand in a flattened. Computes a.

    >>> wf.flatnonzero(wf.asarray([[0, 1], [2, 0]]))
    array([1, 2])
    """
    return _core.nonzero(_core.reshape(a, -1))[0]


def extract(condition, arr):
    """The elements of arr where a condition holds, as a vector. Computes the condition.

    >>> x = wf.asarray([1., -2., 3.])
    >>> wf.extract(x > 0, x)
    array([1., 3.], dtype=float32)
    """
    return _core.take(_core.reshape(arr, -1), flatnonzero(condition), 0)


def compress(condition, a, axis=None):
    """The parts along an axis where a vector of conditions holds; axis=None: of a flattened. Computes the condition.

    >>> wf.compress([True, False, True], wf.asarray([1., 2., 3.]))
    array([1., 3.], dtype=float32)
    """
    if axis is None:
        a, axis = _core.reshape(a, -1), 0
    return _core.take(a, flatnonzero(condition), axis)


def choose(a, choices, mode="raise"):
    """choices[a[...]][...]: of several arrays one at every place.

    >>> wf.choose(wf.asarray([0, 1, 0]), [wf.asarray([1., 2., 3.]), wf.asarray([10., 20., 30.])])
    array([ 1., 20.,  3.], dtype=float32)
    """
    return _core.choose(a, choices, mode)


def select(condlist, choicelist, default=0):
    """At every place the first of several arrays whose condition holds there, else the default.

    >>> x = wf.arange(5)
    >>> wf.select([x < 2, x > 3], [x, 10 * x], -1)
    array([ 0,  1, -1, -1, 40])
    """
    return _core.select(condlist, choicelist, default)


def put_along_axis(arr, indices, values, axis):
    """arr with values at indices along an axis. (A new array: values never change.)

    >>> wf.put_along_axis(wf.zeros((2, 2)), wf.asarray([[1], [0]]), 5., axis=1)
    array([[0., 5.],
           [5., 0.]], dtype=float32)
    """
    return _core.put_along_axis(arr, indices, values, axis)


def lexsort(keys, axis=-1):
    """The order by several keys, the last one first.

    >>> wf.lexsort([wf.asarray([1, 0, 2]), wf.asarray([1, 1, 0])])
    array([2, 1, 0])
    """
    return _core.lexsort(keys if hasattr(keys, "ndim") else _core.stack(list(keys), 0), axis)


def partition(a, kth, axis=-1, kind="introselect"):
    """An order in which what stands before place kth is not larger, what stands behind not smaller: a sorted array is one.

    >>> wf.partition(wf.asarray([3., 1., 2.]), 1)
    array([1., 2., 3.], dtype=float32)
    """
    return _core.sort(*flat_where_none(a, axis, kth), False)


def argpartition(a, kth, axis=-1, kind="introselect"):
    """The places of partition's elements in a.

    >>> wf.argpartition(wf.asarray([3., 1., 2.]), 1)
    array([1, 2, 0])
    """
    return _core.argsort(*flat_where_none(a, axis, kth), False)


def flat_where_none(a, axis, kth):
    a, axis = (_core.reshape(a, -1), 0) if axis is None else (_core.asarray(a, None, None), axis)
    if not -a.ndim <= axis < a.ndim:
        raise _core.AxisError(f"partition: axis {axis} of {a.ndim} axes")
    size = a.shape[axis]
    for place in [kth] if isinstance(kth, Integral) else kth:
        if not -size <= place < size:
            raise ValueError(f"partition: place {place} of an axis of size {size}")
    return a, axis


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Powers of the base, their exponents equally spaced.

    >>> wf.logspace(0, 2, 3)
    array([  1.,  10., 100.], dtype=float32)
    """
    exponents = _core.astype(linspace(start, stop, num, endpoint, axis=axis, dtype="float64"), "float64")
    return _core.astype(_core.pow(float(base), exponents), "float32" if dtype is None else dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers of one ratio, from start to stop; of arrays along a new axis.

    >>> wf.geomspace(1, 100, 3)
    array([  1.,  10., 100.], dtype=float32)
    """
    first, last = broadcast_arrays(_core.astype(start, "float64"), _core.astype(stop, "float64"))
    if not bool(_core.all(_core.greater(_core.multiply(first, last), 0), None, False)):
        raise ValueError(f"geomspace: from {start} to {stop}; both are positive or both negative")
    exponents = _core.linspace(_core.log(_core.abs(first)), _core.log(_core.abs(last)), num, endpoint, "float64")
    found = _core.multiply(_core.sign(first), _core.exp(exponents))
    # The ends are what was asked for, not what rounding made of them.
    count = _core.reshape(_core.iota(num), (-1,) + (1,) * first.ndim)
    found = _core.where(_core.equal(count, 0), first, found)
    if endpoint and num > 1:
        found = _core.where(_core.equal(count, num - 1), last, found)
    found = found if axis == 0 else _core.moveaxis(found, 0, axis)
    return _core.astype(found, "float32" if dtype is None else dtype)


class Grid:
    """mgrid[0:3, 0:1:5j]: the coordinates of a grid's places; an imaginary step is a number of points, the end with them."""

    def __init__(self, sparse):
        self.sparse = sparse

    @staticmethod
    def points(part):
        start = 0 if part.start is None else part.start
        if isinstance(part.step, complex):
            return _core.linspace(start, part.stop, int(abs(part.step)), True, None)
        return _core.arange(start, part.stop, 1 if part.step is None else part.step, None)

    def __getitem__(self, parts):
        if isinstance(parts, slice):
            return self.points(parts)
        vectors = [self.points(part) for part in parts]
        formed = [_core.reshape(x, (1,) * i + (-1,) + (1,) * (len(vectors) - i - 1)) for i, x in enumerate(vectors)]
        if self.sparse:
            return tuple(formed)
        shape = tuple(x.shape[0] for x in vectors)
        return _core.stack([_core.broadcast_to(x, shape) for x in formed], 0)


mgrid, ogrid = Grid(False), Grid(True)


def diag_indices(n, ndim=2):
    """The places of the main diagonal of an array of ndim axes of size n, as a tuple of indices.

    >>> wf.zeros((2, 2)).shape, wf.diag_indices(2)
    ((2, 2), (array([0, 1]), array([0, 1])))
    """
    return (_core.iota(n),) * ndim


def diag_indices_from(arr):
    """diag_indices of an array whose axes have one size.

    >>> wf.eye(3)[wf.diag_indices_from(wf.eye(3))]
    array([1., 1., 1.], dtype=float32)
    """
    arr = _core.asarray(arr, None, None)
    if arr.ndim < 2 or len(set(arr.shape)) != 1:
        raise ValueError(f"diag_indices_from: takes arrays of two axes or more of one size, not the shape {arr.shape}")
    return diag_indices(arr.shape[0], arr.ndim)


def tril_indices_from(arr, k=0):
    """tril_indices of a matrix.

    >>> wf.tril_indices_from(wf.ones((2, 2)))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    arr = _core.asarray(arr, None, None)
    if arr.ndim != 2:
        raise ValueError(f"tril_indices_from: takes a matrix, not the shape {arr.shape}")
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr, k=0):
    """triu_indices of a matrix.

    >>> wf.triu_indices_from(wf.ones((2, 2)))
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    arr = _core.asarray(arr, None, None)
    if arr.ndim != 2:
        raise ValueError(f"triu_indices_from: takes a matrix, not the shape {arr.shape}")
    return triu_indices(arr.shape[0], k, arr.shape[1])
