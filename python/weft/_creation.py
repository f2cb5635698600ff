"""Arrays from numbers, lists and other arrays. Without a dtype: float32 for floating numbers, int64 for integers."""
from . import _core
from ._inspection import check_device

__all__ = ["asarray", "array", "arange", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "identity", "linspace",
           "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like"]


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of numbers, (nested) lists, or anything that shows its memory (NumPy's arrays, DLPack).

    What comes from elsewhere is copied, so that later writes there change nothing here; copy=False shares the memory instead.
    """
    check_device(device)
    return _core.asarray(obj, dtype, copy)


def array(obj, dtype=None, *, copy=None):
    """asarray, by NumPy's name."""
    return _core.asarray(obj, dtype, copy)


def from_dlpack(x, /, *, device=None, copy=None):
    """The array behind a DLPack exporter, sharing its memory unless copy=True."""
    if device is not None:
        check_device(device)
    return _core.from_dlpack(x, copy)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """start, start + step, ... up to stop, without it. One argument is the stop."""
    check_device(device)
    if stop is None:
        start, stop = 0, start
    return _core.arange(start, stop, step, dtype)


def empty(shape, *, dtype=None, device=None):
    """An array whose numbers do not matter (zeros)."""
    return zeros(shape, dtype=dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    """An array like x whose numbers do not matter (zeros)."""
    return zeros_like(x, dtype=dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on the k-th diagonal, zeros elsewhere."""
    check_device(device)
    return _core.eye(n_rows, n_rows if n_cols is None else n_cols, k, dtype)


def identity(n, dtype=None):
    """The n x n identity matrix."""
    return _core.eye(n, n, 0, dtype)


def full(shape, fill_value, *, dtype=None, device=None):
    """An array of one number."""
    check_device(device)
    return _core.full(shape, fill_value, dtype)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """An array of one number, of x's shape (and dtype, unless it is said)."""
    check_device(device)
    return _core.full(x.shape, fill_value, x.dtype if dtype is None else dtype)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """`num` numbers from start to stop, evenly spaced; stop itself is the last unless endpoint=False."""
    check_device(device)
    return _core.linspace(start, stop, num, endpoint, dtype)


def meshgrid(*arrays, indexing="xy"):
    """Coordinate matrices of coordinate vectors: a list, one an array. indexing: 'xy' (columns first) or 'ij'."""
    return _core.meshgrid(list(arrays), indexing)


def ones(shape, *, dtype=None, device=None):
    """An array of ones."""
    check_device(device)
    return _core.full(shape, 1.0, _core.float32 if dtype is None else dtype)


def ones_like(x, /, *, dtype=None, device=None):
    """Ones of x's shape (and dtype, unless it is said)."""
    return full_like(x, 1, dtype=dtype, device=device)


def zeros(shape, *, dtype=None, device=None):
    """An array of zeros."""
    check_device(device)
    return _core.full(shape, 0.0, _core.float32 if dtype is None else dtype)


def zeros_like(x, /, *, dtype=None, device=None):
    """Zeros of x's shape (and dtype, unless it is said)."""
    return full_like(x, 0, dtype=dtype, device=device)


def tril(x, /, *, k=0):
    """x on and below the k-th diagonal, 0 above."""
    return _core.tril(x, k)


def triu(x, /, *, k=0):
    """x on and above the k-th diagonal, 0 below."""
    return _core.triu(x, k)
