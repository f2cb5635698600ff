"""Arrays put together and taken apart, by NumPy's names."""
from numbers import Integral

from . import _core
from ._manipulation import converted

__all__ = ["append", "apply_along_axis", "apply_over_axes", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "block", "column_stack",
           "delete", "diag", "diagflat", "dsplit", "dstack", "fill_diagonal", "fliplr", "flipud", "hsplit", "hstack", "insert", "resize",
           "rollaxis", "rot90", "row_stack", "split", "trim_zeros", "vsplit", "vstack"]


def each(form, arrays):
    return form(arrays[0]) if len(arrays) == 1 else [form(x) for x in arrays]


def atleast_1d(*arys):
    """Each with at least one axis: an array of one argument, a list of several.

    >>> wf.atleast_1d(wf.asarray(3.))
    array([3.], dtype=float32)
    """
    return each(_core.atleast_1d, arys)


def atleast_2d(*arys):
    """Each with at least two axes, new ones in front.

    >>> wf.atleast_2d(wf.asarray([1., 2.]))
    array([[1., 2.]], dtype=float32)
    """
    return each(_core.atleast_2d, arys)


def atleast_3d(*arys):
    """Each with at least three axes: a vector stands in the middle, a matrix in front.

    >>> wf.atleast_3d(wf.asarray([1., 2.])).shape
    (1, 2, 1)
    """
    return each(_core.atleast_3d, arys)


def hstack(tup, *, dtype=None):
    """Joined along the second axis; vectors along the first.

    >>> wf.hstack([wf.asarray([1, 2]), wf.asarray([3])])
    array([1, 2, 3])
    """
    return converted(_core.hstack(tup), dtype)


def vstack(tup, *, dtype=None):
    """Joined along the first axis, vectors as rows.

    >>> wf.vstack([wf.asarray([1, 2]), wf.asarray([3, 4])])
    array([[1, 2],
           [3, 4]])
    """
    return converted(_core.vstack(tup), dtype)


row_stack = vstack


def dstack(tup):
    """Joined along the third axis.

    >>> wf.dstack([wf.asarray([1, 2]), wf.asarray([3, 4])])
    array([[[1, 3],
            [2, 4]]])
    """
    return _core.dstack(tup)


def column_stack(tup):
    """Vectors as columns beside matrices.

    >>> wf.column_stack([wf.asarray([1, 2]), wf.asarray([3, 4])])
    array([[1, 3],
           [2, 4]])
    """
    return _core.column_stack(tup)


def block(arrays):
    """Nested lists of arrays as one: the innermost lists are joined along the last axis, those around them along the one before.

    >>> wf.block([[wf.ones((1, 1)), wf.zeros((1, 2))], [wf.zeros((1, 3))]])
    array([[1., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    def depth(x):
        if isinstance(x, list):
            if not x:
                raise ValueError("block: an empty list")
            depths = {depth(part) for part in x}
            if len(depths) > 1:
                raise ValueError("block: lists of different depth side by side")
            return depths.pop() + 1
        return 0
    levels = depth(arrays)

    def ranks(x):
        return max(ranks(part) for part in x) if isinstance(x, list) else _core.asarray(x, None, None).ndim
    rank = max(levels, ranks(arrays))

    def joined(x, level):
        if not isinstance(x, list):
            x = _core.asarray(x, None, None)
            return _core.reshape(x, (1,) * (rank - x.ndim) + x.shape)
        return _core.concat([joined(part, level - 1) for part in x], -level)
    return joined(arrays, levels)


def plain(x):
    """Places as Python's numbers, also of arrays."""
    return x.tolist() if hasattr(x, "tolist") else x


def array_split(ary, indices_or_sections, axis=0):
    """A list of parts along an axis: so many, as even as can be, or cut before these places.

    >>> wf.array_split(wf.arange(5), 2)
    [array([0, 1, 2]), array([3, 4])]
    """
    indices_or_sections = plain(indices_or_sections)
    if isinstance(indices_or_sections, Integral):
        return _core.array_split(ary, indices_or_sections, axis)
    return _core.split_at(ary, indices_or_sections, axis)


def split(ary, indices_or_sections, axis=0):
    """A list of parts along an axis: so many of one size (ValueError if they cannot be), or cut before these places.

    >>> wf.split(wf.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    """
    indices_or_sections = plain(indices_or_sections)
    if isinstance(indices_or_sections, Integral):
        return _core.split(ary, indices_or_sections, axis)
    return _core.split_at(ary, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    """split along the second axis; of a vector along the first.

    >>> wf.hsplit(wf.asarray([[1, 2], [3, 4]]), 2)
    [array([[1],
           [3]]), array([[2],
           [4]])]
    """
    ary = _core.asarray(ary, None, None)
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """split along the first of at least two axes.

    >>> wf.vsplit(wf.asarray([[1, 2], [3, 4]]), 2)
    [array([[1, 2]]), array([[3, 4]])]
    """
    ary = _core.asarray(ary, None, None)
    if ary.ndim < 2:
        raise ValueError(f"vsplit: takes arrays of two axes or more, not the shape {ary.shape}")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """split along the third axis.

    >>> [part.shape for part in wf.dsplit(wf.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    ary = _core.asarray(ary, None, None)
    if ary.ndim < 3:
        raise ValueError(f"dsplit: takes arrays of three axes or more, not the shape {ary.shape}")
    return split(ary, indices_or_sections, 2)


def rot90(m, k=1, axes=(0, 1)):
    """Turned k times by 90 degrees, from the first axis towards the second.

    >>> wf.rot90(wf.asarray([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])
    """
    if len(axes) != 2:
        raise ValueError(f"rot90: two axes, not {len(axes)}")
    return _core.rot90(m, k, *axes)


def flipud(m):
    """The first axis reversed.

    >>> wf.flipud(wf.asarray([[1, 2], [3, 4]]))
    array([[3, 4],
           [1, 2]])
    """
    return _core.flip(m, 0)


def fliplr(m):
    """The second axis reversed.

    >>> wf.fliplr(wf.asarray([[1, 2], [3, 4]]))
    array([[2, 1],
           [4, 3]])
    """
    return _core.flip(m, 1)


def rollaxis(a, axis, start=0):
    """An axis moved to stand before another.

    >>> wf.rollaxis(wf.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    a = _core.asarray(a, None, None)
    if not -a.ndim <= axis < a.ndim:
        raise _core.AxisError(f"rollaxis: axis {axis} of {a.ndim} axes")
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    if not 0 <= start <= a.ndim:
        raise _core.AxisError(f"rollaxis: start {start} of {a.ndim} axes")
    return _core.moveaxis(a, axis, start - 1 if axis < start else start)


def places(obj, size):
    """What NumPy takes as places along an axis of this size: a number, a slice, a list, a mask."""
    if isinstance(obj, slice):
        return list(range(*obj.indices(size)))
    x = _core.asarray(obj, None, None)
    if str(x.dtype) == "weft.bool":
        if x.shape != (size,):
            raise ValueError(f"a mask of shape {x.shape} for an axis of size {size}")
        return _core.nonzero(x)[0].tolist()
    found = x.tolist()
    return found if isinstance(found, list) else [found]


def delete(arr, obj, axis=None):
    """Without the elements at these places (a number, a slice, a list or a mask) of an axis; axis=None: of arr flattened. Computes a mask.

    >>> wf.delete(wf.asarray([1, 2, 3, 4]), [0, 2])
    array([2, 4])
    """
    arr = _core.asarray(arr, None, None)
    if axis is None:
        arr, axis = _core.reshape(arr, -1), 0
    return _core.remove(arr, places(obj, arr.shape[axis]), axis)


def insert(arr, obj, values, axis=None):
    """With values put before these places of an axis; axis=None: of arr flattened.

    >>> wf.insert(wf.asarray([1, 2, 3]), 1, 9)
    array([1, 9, 2, 3])
    """
    arr = _core.asarray(arr, None, None)
    if axis is None:
        arr, axis = _core.reshape(arr, -1), 0
    values = _core.asarray(values, None, None)
    if isinstance(obj, Integral) and values.ndim > 0:   # one place: values are laid along the other axes first, as in NumPy
        values = _core.moveaxis(_core.reshape(values, (1,) * (arr.ndim - values.ndim) + values.shape), 0, axis)
    return _core.insert(arr, places(obj, arr.shape[axis] + 1), values, axis)


def append(arr, values, axis=None):
    """Joined along an axis; axis=None: both flattened.

    >>> wf.append(wf.asarray([1, 2]), [[3], [4]])
    array([1, 2, 3, 4])
    """
    return _core.concat([arr, values], axis)


def diag(v, k=0):
    """A vector as a diagonal of a matrix of zeros; of a matrix its k-th diagonal.

    >>> wf.diag(wf.asarray([1, 2]))
    array([[1, 0],
           [0, 2]])
    >>> wf.diag(wf.asarray([[1, 2], [3, 4]]))
    array([1, 4])
    """
    return _core.diag(v, k)


def diagflat(v, k=0):
    """v flattened, as a diagonal.

    >>> wf.diagflat(wf.asarray([[1], [2]]))
    array([[1, 0],
           [0, 2]])
    """
    return _core.diagflat(v, k)


def fill_diagonal(a, val):
    """a with another main diagonal: a number or a vector. (A new array: values never change.)

    >>> wf.fill_diagonal(wf.zeros((2, 2)), 5)
    array([[5., 0.],
           [0., 5.]], dtype=float32)
    """
    return _core.fill_diagonal(a, val)


def resize(a, new_shape):
    """a's elements, again and again, in another shape.

    >>> wf.resize(wf.asarray([1, 2, 3]), (2, 2))
    array([[1, 2],
           [3, 1]])
    """
    return _core.resize(a, new_shape)


def trim_zeros(filt, trim="fb"):
    """A vector without the zeros in front (f) and behind (b). Computes it.

    >>> wf.trim_zeros(wf.asarray([0, 0, 1, 0, 2, 0]))
    array([1, 0, 2])
    """
    filt = _core.asarray(filt, None, None)
    if not isinstance(trim, str):
        raise TypeError(f"trim_zeros: trim is 'f', 'b' or 'fb', not {type(trim).__name__!r}")
    some = _core.nonzero(filt)[0].tolist()
    if not some:
        return filt[:0]
    first = some[0] if "f" in trim.lower() else 0
    last = some[-1] + 1 if "b" in trim.lower() else filt.shape[0]
    return filt[first:last]


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """func1d of every vector along an axis; the axes of its results take that axis' place. The function is written into the program once a
    vector; vmap does it once.

    >>> wf.apply_along_axis(lambda v: wf.max(v) - wf.min(v), 1, wf.asarray([[1., 4.], [2., 2.]]))
    array([3., 0.], dtype=float32)
    """
    arr = _core.asarray(arr, None, None)
    moved = _core.moveaxis(arr, axis, -1)
    rows = _core.reshape(moved, (-1, moved.shape[-1]))
    found = [_core.asarray(func1d(row, *args, **kwargs), None, None) for row in _core.unstack(rows, 0)]
    if not found:
        raise ValueError(f"apply_along_axis: no vector along axis {axis} of the shape {arr.shape}")
    inner = found[0].ndim
    joined = _core.reshape(_core.stack(found, 0), moved.shape[:-1] + found[0].shape)
    axis = axis % arr.ndim
    return _core.moveaxis(joined, tuple(range(-inner, 0)), tuple(range(axis, axis + inner))) if inner else joined


def apply_over_axes(func, a, axes):
    """func(a, axis) for one axis after another; an axis that it takes away is put back with size 1.

    >>> wf.apply_over_axes(lambda x, axis: wf.sum(x, axis=axis), wf.asarray([[1., 2.], [3., 4.]]), [0, 1])
    array([[10.]], dtype=float32)
    """
    a = _core.asarray(a, None, None)
    for axis in [axes] if isinstance(axes, Integral) else axes:
        found = _core.asarray(func(a, axis), None, None)
        a = _core.expand_dims(found, axis) if found.ndim == a.ndim - 1 else found
        if a.ndim != found.ndim and found.ndim != a.ndim - 1:
            raise ValueError(f"apply_over_axes: the function gave {found.ndim} axes of {a.ndim}")
    return a
