"""Arrays from numbers, lists and other arrays. Without a dtype: float32 for floating numbers, int64 for integers."""
from . import _core
from ._inspection import check_device

__all__ = ["asarray", "asanyarray", "ascontiguousarray", "array", "arange", "copy", "empty", "empty_like", "eye", "from_dlpack", "fromfunction", "full",
           "full_like", "identity", "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like"]


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of numbers, (nested) lists, or anything that shows its memory (NumPy's arrays, DLPack).

    What comes from elsewhere is copied, so that later writes there change nothing here; copy=False shares the memory instead.

    >>> wf.asarray([[1., 2.], [3., 4.]])
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    >>> wf.asarray([1, 2], dtype=wf.uint8)
    array([1, 2], dtype=uint8)
    """
    check_device(device)
    return _core.asarray(obj, dtype, copy)


def array(obj, dtype=None, *, copy=None):
    """asarray, by NumPy's name.

    >>> wf.array([[1, 2], [3, 4]], wf.float32)
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _core.asarray(obj, dtype, copy)


def copy(a):
    """a as an array of weft's own. (A copy that nobody can tell: values never change.)

    >>> wf.copy(np.arange(3))
    array([0, 1, 2])
    """
    return _core.asarray(a, None, True)


def asanyarray(a, dtype=None):
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


def empty(shape, *, dtype=None, device=None):
    """An array whose numbers do not matter (zeros).

    >>> wf.empty((2, 3)).shape
    (2, 3)
    """
    return zeros(shape, dtype=dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    """An array like x whose numbers do not matter (zeros).

    >>> wf.empty_like(wf.asarray([1, 2, 3])).dtype
    weft.int64
    """
    return zeros_like(x, dtype=dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on the k-th diagonal, zeros elsewhere.

    >>> wf.eye(2)
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    >>> wf.eye(2, 3, k=1)
    array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    check_device(device)
    return _core.eye(n_rows, n_rows if n_cols is None else n_cols, k, dtype)


def identity(n, dtype=None):
    """The n x n identity matrix.

    >>> wf.identity(2)
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return _core.eye(n, n, 0, dtype)


def full(shape, fill_value, *, dtype=None, device=None):
    """An array of one number.

    >>> wf.full((2, 2), 7.0)
    array([[7., 7.],
           [7., 7.]], dtype=float32)
    """
    check_device(device)
    return _core.full(shape, fill_value, dtype)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """An array of one number, of x's shape (and dtype, unless it is said).

    >>> wf.full_like(wf.asarray([1, 2, 3]), 9)
    array([9, 9, 9])
    """
    check_device(device)
    return _core.full(x.shape, fill_value, x.dtype if dtype is None else dtype)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """`num` numbers from start to stop, evenly spaced; stop itself is the last unless endpoint=False.

    >>> wf.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    check_device(device)
    return _core.linspace(start, stop, num, endpoint, dtype)


def meshgrid(*arrays, indexing="xy"):
    """Coordinate matrices of coordinate vectors: a list, one an array. indexing: 'xy' (columns first) or 'ij'.

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
    return _core.meshgrid(list(arrays), indexing)


def ones(shape, *, dtype=None, device=None):
    """An array of ones.

    >>> wf.ones((2, 2))
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    check_device(device)
    return _core.full(shape, 1.0, _core.float32 if dtype is None else dtype)


def ones_like(x, /, *, dtype=None, device=None):
    """Ones of x's shape (and dtype, unless it is said).

    >>> wf.ones_like(wf.asarray([1, 2, 3]))
    array([1, 1, 1])
    """
    return full_like(x, 1, dtype=dtype, device=device)


def zeros(shape, *, dtype=None, device=None):
    """An array of zeros.

    >>> wf.zeros(3)
    array([0., 0., 0.], dtype=float32)
    >>> wf.zeros((1, 2), dtype=wf.int64)
    array([[0, 0]])
    """
    check_device(device)
    return _core.full(shape, 0.0, _core.float32 if dtype is None else dtype)


def zeros_like(x, /, *, dtype=None, device=None):
    """Zeros of x's shape (and dtype, unless it is said).

    >>> wf.zeros_like(wf.asarray([1, 2, 3]))
    array([0, 0, 0])
    """
    return full_like(x, 0, dtype=dtype, device=device)


def tril(x, /, *, k=0):
    """x on and below the k-th diagonal, 0 above.

    >>> wf.tril(wf.asarray([[1, 2], [3, 4]]))
    array([[1, 0],
           [3, 4]])
    """
    return _core.tril(x, k)


def triu(x, /, *, k=0):
    """x on and above the k-th diagonal, 0 below.

    >>> wf.triu(wf.asarray([[1, 2], [3, 4]]), k=1)
    array([[0, 2],
           [0, 0]])
    """
    return _core.triu(x, k)
