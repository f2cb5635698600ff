"""Shapes and places: the same elements in another form."""
from . import _core

__all__ = ["broadcast_to", "concat", "concatenate", "expand_dims", "flip", "moveaxis", "pad", "permute_dims", "ravel", "repeat", "reshape", "roll",
           "squeeze", "stack", "swapaxes", "tile", "transpose", "unstack"]


def converted(x, dtype):
    return x if dtype is None else _core.astype(x, dtype)


def columns_first(name, order):
    """Whether elements are counted column after column. How they lie in memory is weft's affair, so A and K are C."""
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"{name}: order is 'C', 'F', 'A' or 'K', not {order!r}")
    return order == "F"


def by_columns(x):
    """The axes reversed."""
    return _core.permute_dims(x, None)


def broadcast_to(x, /, shape):
    """x repeated along axes of size 1 and new axes in front, to a shape.

    >>> wf.broadcast_to(wf.asarray([1, 2]), (2, 2))
    array([[1, 2],
           [1, 2]])
    """
    return _core.broadcast_to(x, shape)


def concat(arrays, /, axis=0, *, dtype=None):
    """Arrays laid one behind the other along an axis; axis=None: flattened first.

    >>> wf.concat([wf.asarray([[1, 2]]), wf.asarray([[3, 4]])], axis=0)
    array([[1, 2],
           [3, 4]])
    """
    return converted(_core.concat(arrays, axis), dtype)


def concatenate(arrays, axis=0, *, dtype=None):
    """concat, by NumPy's name.

    >>> wf.concatenate([wf.asarray([1, 2]), wf.asarray([3])])
    array([1, 2, 3])
    """
    return converted(_core.concat(arrays, axis), dtype)


def expand_dims(x, /, axis=0):
    """A new axis of size 1 (or several, a tuple).

    >>> wf.expand_dims(wf.asarray([1, 2]), axis=1)
    array([[1],
           [2]])
    """
    return _core.expand_dims(x, axis)


def flip(x, /, axis=None):
    """Elements in reverse order along the axes (all of them, if none is said).

    >>> wf.flip(wf.asarray([[1, 2], [3, 4]]), axis=1)
    array([[2, 1],
           [4, 3]])
    """
    return _core.flip(x, axis)


def moveaxis(x, /, source, destination):
    """Axes moved to other places, the rest in their order.

    >>> wf.moveaxis(wf.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    return _core.moveaxis(x, source, destination)


def pad(array, pad_width, mode="constant", *, constant_values=0, end_values=0, stat_length=None, reflect_type="even"):
    """The array with elements before and behind each axis: a number, (before, behind), a pair an axis, or a dict of axes.

    mode: constant (constant_values), edge, reflect and symmetric (reflect_type even or odd), wrap, linear_ramp (end_values), maximum, mean,
    median and minimum (of the outermost stat_length elements); empty is constant.

    >>> wf.pad(wf.asarray([1, 2, 3]), 2, mode="reflect")
    array([3, 2, 1, 2, 3, 2, 1])
    """
    x = _core.asarray(array, None, None)
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type is 'even' or 'odd', not {reflect_type!r}")
    if isinstance(pad_width, dict):
        widths = [(0, 0)] * x.ndim
        for axis, width in pad_width.items():
            if not -x.ndim <= axis < x.ndim:
                raise _core.AxisError(f"pad: axis {axis} of {x.ndim} axes")
            widths[axis] = pair(width)
    else:
        widths = pairs(pad_width, x.ndim, "pad_width")
    before, after = [w[0] for w in widths], [w[1] for w in widths]
    single = isinstance(constant_values, (int, float, complex)) or hasattr(constant_values, "ndim") and constant_values.ndim == 0
    if mode in ("constant", "empty") and single:
        return _core.pad(x, before, after, constant_values if mode == "constant" else 0)
    values = pairs(end_values if mode == "linear_ramp" else constant_values, x.ndim, "values")
    lengths = [] if stat_length is None else pairs(stat_length, x.ndim, "stat_length")
    return _core.pad_mode(x, before, after, mode, values, lengths, reflect_type == "odd")


def pair(x):
    return (x, x) if not hasattr(x, "__len__") else (x[0], x[0]) if len(x) == 1 else tuple(x)


def pairs(x, ndim, name):
    """A pair an axis, of a number, a pair for all, or a pair an axis."""
    x = x.tolist() if hasattr(x, "tolist") else x
    if not hasattr(x, "__len__") or not len(x) or not hasattr(x[0], "__len__"):
        x = [pair(x)] * ndim
    elif len(x) == 1:
        x = [pair(x[0])] * ndim
    found = [pair(each) for each in x]
    if len(found) != ndim or any(len(each) != 2 for each in found):
        raise ValueError(f"pad: {name} {x!r} for {ndim} axes")
    return found


def permute_dims(x, /, axes=None):
    """The axes in another order; reversed unless it is said.

    >>> wf.permute_dims(wf.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return _core.permute_dims(x, axes)


def transpose(x, axes=None):
    """The axes reversed, or in the order that is said.

    >>> wf.transpose(wf.asarray([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    """
    return _core.permute_dims(x, axes)


def ravel(x, /, order="C"):
    """x as one axis: row after row, or, order="F", column after column.

    >>> wf.ravel(wf.asarray([[1, 2], [3, 4]]))
    array([1, 2, 3, 4])
    """
    return _core.reshape(by_columns(x) if columns_first("ravel", order) else x, -1)


def repeat(x, /, repeats, axis=None):
    """Each element so many times, one after another; a number, or an array of one an element. axis=None: of x flattened.

    >>> wf.repeat(wf.asarray([1, 2]), 2)
    array([1, 1, 2, 2])
    >>> wf.repeat(wf.asarray([1, 2]), wf.asarray([1, 3]))
    array([1, 2, 2, 2])
    """
    return _core.repeat(x, repeats, axis)


def reshape(x, /, shape, order="C", *, copy=None):
    """The same elements in row-major order (order="F": column-major) under another shape; one size may be -1. A value never changes, so
    `copy` makes no difference.

    >>> wf.reshape(wf.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    if order == "C" or not columns_first("reshape", order):
        return _core.reshape(x, shape)
    sizes = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    return by_columns(_core.reshape(by_columns(x), sizes[::-1]))


def roll(x, /, shift, axis=None):
    """Elements moved along axes; what falls off one end comes in at the other. axis=None: of x flattened.

    >>> wf.roll(wf.asarray([1, 2, 3, 4]), 1)
    array([4, 1, 2, 3])
    """
    return _core.roll(x, shift, axis)


def squeeze(x, /, axis=None):
    """Without the axes that are said, which have size 1 (without all of these, if none is said).

    >>> wf.squeeze(wf.asarray([[1, 2]]), 0)
    array([1, 2])
    """
    return _core.squeeze(x, axis)


def stack(arrays, /, axis=0, *, dtype=None):
    """Arrays of one shape along a new axis.

    >>> wf.stack([wf.asarray([1, 2]), wf.asarray([3, 4])], axis=1)
    array([[1, 3],
           [2, 4]])
    """
    return converted(_core.stack(arrays, axis), dtype)


def swapaxes(x, /, axis1, axis2):
    """Two axes exchanged.

    >>> wf.swapaxes(wf.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    return _core.swapaxes(x, axis1, axis2)


def tile(x, /, reps):
    """x laid side by side, so many times an axis.

    >>> wf.tile(wf.asarray([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    return _core.tile(x, reps)


def unstack(x, /, axis=0):
    """The arrays along an axis: a tuple.

    >>> first, second = wf.unstack(wf.asarray([[1, 2], [3, 4]]))
    >>> second
    array([3, 4])
    """
    return _core.unstack(x, axis)
