"""Arrays from numbers, lists and other arrays. Without a dtype: float32 for floating numbers, int64 for integers."""
import math

from . import _core
from ._inspection import check_device

__all__ = ["asarray", "asanyarray", "ascontiguousarray", "array", "arange", "copy", "empty", "empty_like", "eye", "from_dlpack", "fromfunction", "full",
           "full_like", "identity", "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like"]


def asarray(obj, /, dtype=None, order=None, *, device=None, copy=None):
    """An array of numbers, (nested) lists, or anything that shows its memory (NumPy's arrays, DLPack).

    What comes from elsewhere is copied, so that later writes there change nothing here; copy=False shares the memory instead. How an array
    lies in memory is weft's affair: `order` is taken, here and elsewhere, and means nothing.

    >>> wf.asarray([[1., 2.], [3., 4.]])
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    >>> wf.asarray([1, 2], dtype=wf.uint8)
    array([1, 2], dtype=uint8)
    """
    check_device(device)
    return _core.asarray(obj, dtype, copy)


def array(object, dtype=None, *, copy=None, order=None, ndmin=0):
    """asarray, by NumPy's name; with new axes in front, if there are less than ndmin.

    >>> wf.array([[1, 2], [3, 4]], wf.float32)
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    x = _core.asarray(object, dtype, copy)
    return _core.reshape(x, (1,) * (ndmin - x.ndim) + x.shape) if x.ndim < ndmin else x


def copy(a, order=None):
    """a as an array of weft's own. (A copy that nobody can tell: values never change.)

    >>> wf.copy(np.arange(3))
    array([0, 1, 2])
    """
    return _core.asarray(a, None, True)


def asanyarray(a, dtype=None, order=None):
    """asarray, by NumPy's name.

    >>> wf.asanyarray([1, 2])
    array([1, 2])
    """
    return _core.asarray(a, dtype, None)


def ascontiguousarray(a, dtype=None):
    """asarray, by NumPy's name: how an array lies in memory is weft's affair. At least one axis.

    >>> wf.ascontiguousarray(2.5)
    array([2.5], dtype=float32)
    """
    x = _core.asarray(a, dtype, None)
    return x if x.ndim else _core.reshape(x, (1,))


def fromfunction(function, shape, *, dtype=None, **kwargs):
    """function(i, j, ...) of the places of an array, each an array of this shape (of float32, unless a dtype is said).

    >>> wf.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype=int)
    array([[ 0,  1,  2],
           [10, 11, 12]])
    """
    places = [_core.broadcast_to(_core.reshape(_core.arange(0, size, 1, dtype or _core.float32), (-1,) + (1,) * (len(shape) - i - 1)), shape)
              for i, size in enumerate(shape)]
    return function(*places, **kwargs)


def from_dlpack(x, /, *, device=None, copy=None):
    """The array behind a DLPack exporter, sharing its memory unless copy=True.

    >>> wf.from_dlpack(np.arange(3.0))
    array([0., 1., 2.], dtype=float64)
    """
    if device is not None:
        check_device(device)
    return _core.from_dlpack(x, copy)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """start, start + step, ... up to stop, without it. One argument is the stop.

    >>> wf.arange(4)
    array([0, 1, 2, 3])
    >>> wf.arange(1, 2, 0.25)
    array([1.  , 1.25, 1.5 , 1.75], dtype=float32)
    """
    check_device(device)
    if stop is None:
        start, stop = 0, start
    return _core.arange(start, stop, step, dtype)


def empty(shape, dtype=None, order=None, *, device=None):
    """An array whose numbers do not matter (zeros).

    >>> wf.empty((2, 3)).shape
    (2, 3)
    """
    return zeros(shape, dtype, device=device)


def empty_like(x, /, dtype=None, order=None, *, shape=None, device=None):
    """An array like x whose numbers do not matter (zeros).

    >>> wf.empty_like(wf.asarray([1, 2, 3])).dtype
    weft.int64
    """
    return full_like(x, 0, dtype, shape=shape, device=device)


def eye(N, M=None, /, k=0, dtype=None, order=None, *, device=None):
    """Ones on the k-th diagonal, zeros elsewhere.

    >>> wf.eye(2)
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    >>> wf.eye(2, 3, k=1)
    array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    check_device(device)
    return _core.eye(N, N if M is None else M, k, dtype)


def identity(n, dtype=None):
    """The n x n identity matrix.

    >>> wf.identity(2)
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return _core.eye(n, n, 0, dtype)


def full(shape, fill_value, dtype=None, order=None, *, device=None):
    """An array of one number.

    >>> wf.full((2, 2), 7.0)
    array([[7., 7.],
           [7., 7.]], dtype=float32)
    """
    check_device(device)
    return _core.full(shape, fill_value, dtype)


def full_like(x, /, fill_value, dtype=None, order=None, *, shape=None, device=None):
    """An array of one number, of x's shape and dtype, unless they are said.

    >>> wf.full_like(wf.asarray([1, 2, 3]), 9)
    array([9, 9, 9])
    """
    check_device(device)
    x = _core.asarray(x, None, None)
    return _core.full(x.shape if shape is None else shape, fill_value, x.dtype if dtype is None else dtype)


def linspace(start, stop, /, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """`num` numbers from start to stop, evenly spaced; stop itself is the last unless endpoint=False. Of arrays along a new axis.
    retstep: with the distance of neighbours.

    >>> wf.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    check_device(device)
    line = _core.linspace(start, stop, num, endpoint, dtype)
    found = line if axis == 0 else _core.moveaxis(line, 0, axis)
    if not retstep:
        return found
    steps = num - 1 if endpoint else num
    step = _core.divide(_core.subtract(stop, start), float(steps) if steps > 0 else math.nan)
    return found, _core.astype(step, line.dtype)


def meshgrid(*arrays, copy=True, sparse=False, indexing="xy"):
    """Coordinate matrices of coordinate vectors: a list, one an array. indexing: 'xy' (columns first) or 'ij'; sparse: each of size 1 along
    the axes of the others. A value never changes, so `copy` makes no difference.

    >>> x, y = wf.meshgrid(wf.asarray([1, 2]), wf.asarray([3, 4, 5]))
    >>> x
    array([[1, 2],
           [1, 2],
           [1, 2]])
    >>> y
    array([[3, 3],
           [4, 4],
           [5, 5]])
    """
    arrays = [_core.reshape(x, -1) for x in arrays]
    grids = _core.meshgrid(arrays, indexing)
    if not sparse:
        return grids
    # A vector's own axis is where its grid stands; one axis of each other is enough.
    places = [1, 0, *range(2, len(arrays))] if indexing == "xy" and len(arrays) > 1 else range(len(arrays))
    return [_core.reshape(x, tuple(-1 if axis == place else 1 for axis in range(len(arrays)))) for x, place in zip(arrays, places)]


def ones(shape, dtype=None, order=None, *, device=None):
    """An array of ones.

    >>> wf.ones((2, 2))
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    check_device(device)
    return _core.full(shape, 1.0, _core.float32 if dtype is None else dtype)


def ones_like(x, /, dtype=None, order=None, *, shape=None, device=None):
    """Ones of x's shape (and dtype, unless it is said).

    >>> wf.ones_like(wf.asarray([1, 2, 3]))
    array([1, 1, 1])
    """
    return full_like(x, 1, dtype, shape=shape, device=device)


def zeros(shape, dtype=None, order=None, *, device=None):
    """An array of zeros.

    >>> wf.zeros(3)
    array([0., 0., 0.], dtype=float32)
    >>> wf.zeros((1, 2), dtype=wf.int64)
    array([[0, 0]])
    """
    check_device(device)
    return _core.full(shape, 0.0, _core.float32 if dtype is None else dtype)


def zeros_like(x, /, dtype=None, order=None, *, shape=None, device=None):
    """Zeros of x's shape (and dtype, unless it is said).

    >>> wf.zeros_like(wf.asarray([1, 2, 3]))
    array([0, 0, 0])
    """
    return full_like(x, 0, dtype, shape=shape, device=device)


def tril(x, /, k=0):
    """x on and below the k-th diagonal, 0 above.

    >>> wf.tril(wf.asarray([[1, 2], [3, 4]]))
    array([[1, 0],
           [3, 4]])
    """
    return _core.tril(x, k)


def triu(x, /, k=0):
    """x on and above the k-th diagonal, 0 below.

    >>> wf.triu(wf.asarray([[1, 2], [3, 4]]), k=1)
    array([[0, 2],
           [0, 0]])
    """
    return _core.triu(x, k)
