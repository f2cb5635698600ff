"""Shapes and places: the same elements in another form."""
from . import _core

__all__ = ["broadcast_to", "concat", "concatenate", "expand_dims", "flip", "moveaxis", "pad", "permute_dims", "ravel", "repeat", "reshape", "roll",
           "squeeze", "stack", "swapaxes", "tile", "transpose", "unstack"]


def broadcast_to(x, /, shape):
    """x repeated along axes of size 1 and new axes in front, to a shape."""
    return _core.broadcast_to(x, shape)


def concat(arrays, /, *, axis=0):
    """Arrays laid one behind the other along an axis; axis=None: flattened first."""
    return _core.concat(arrays, axis)


def concatenate(arrays, axis=0):
    """concat, by NumPy's name."""
    return _core.concat(arrays, axis)


def expand_dims(x, /, axis=0):
    """A new axis of size 1 (or several, a tuple)."""
    return _core.expand_dims(x, axis)


def flip(x, /, *, axis=None):
    """Elements in reverse order along the axes (all of them, if none is said)."""
    return _core.flip(x, axis)


def moveaxis(x, source, destination, /):
    """Axes moved to other places, the rest in their order."""
    return _core.moveaxis(x, source, destination)


def pad(x, pad_width, mode="constant", *, constant_values=0):
    """x with elements before and behind each axis: a number, (before, behind), or a pair an axis."""
    if mode != "constant":
        raise ValueError(f"pad: mode {mode!r} is not there; only 'constant' is")
    widths = [[pad_width, pad_width]] * x.ndim if isinstance(pad_width, int) else [list(w) for w in
              ([pad_width] * x.ndim if isinstance(pad_width[0], int) else pad_width)]
    return _core.pad(x, [w[0] for w in widths], [w[1] for w in widths], constant_values)


def permute_dims(x, /, axes):
    """The axes in another order."""
    return _core.permute_dims(x, axes)


def transpose(x, axes=None):
    """The axes reversed, or in the order that is said."""
    return _core.permute_dims(x, axes)


def ravel(x, /):
    """x as one axis."""
    return _core.reshape(x, -1)


def repeat(x, repeats, /, *, axis=None):
    """Each element so many times, one after another; a number, or an array of one an element. axis=None: of x flattened."""
    return _core.repeat(x, repeats, axis)


def reshape(x, /, shape, *, copy=None):
    """The same elements in row-major order under another shape; one size may be -1. A value never changes, so `copy` makes no
    difference."""
    return _core.reshape(x, shape)


def roll(x, /, shift, *, axis=None):
    """Elements moved along axes; what falls off one end comes in at the other. axis=None: of x flattened."""
    return _core.roll(x, shift, axis)


def squeeze(x, /, axis=None):
    """Without the axes that are said, which have size 1 (without all of these, if none is said)."""
    return _core.squeeze(x, axis)


def stack(arrays, /, *, axis=0):
    """Arrays of one shape along a new axis."""
    return _core.stack(arrays, axis)


def swapaxes(x, axis1, axis2, /):
    """Two axes exchanged."""
    return _core.swapaxes(x, axis1, axis2)


def tile(x, repetitions, /):
    """x laid side by side, so many times an axis."""
    return _core.tile(x, repetitions)


def unstack(x, /, *, axis=0):
    """The arrays along an axis: a tuple."""
    return _core.unstack(x, axis)
