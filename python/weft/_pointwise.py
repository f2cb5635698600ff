"""Functions at each point that are made of others, and questions about whole arrays."""
from . import _core

__all__ = ["absolute", "allclose", "angle", "around", "array_equal", "array_equiv", "bitwise_count", "divmod", "fabs", "fix", "float_power",
           "heaviside", "isclose", "iscomplex", "iscomplexobj", "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "ldexp", "modf", "ndim",
           "piecewise", "round", "shape", "size"]


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """|a - b| <= atol + rtol |b|, at every place; infinities are close to themselves.

    >>> wf.isclose(1.0, wf.asarray([1.000001, 2.]))
    array([ True, False])
    """
    return _core.isclose(a, b, rtol, atol, equal_nan)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether isclose holds everywhere: a bool. Computes it."""
    return bool(_core.all(_core.isclose(a, b, rtol, atol, equal_nan), None, False))


def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have one shape and equal elements: a bool. Computes it."""
    a1, a2 = _core.asarray(a1, None, None), _core.asarray(a2, None, None)
    if a1.shape != a2.shape:
        return False
    same = _core.equal(a1, a2)
    if equal_nan:
        same = _core.logical_or(same, _core.logical_and(_core.isnan(a1), _core.isnan(a2)))
    return bool(_core.all(same, None, False))


def array_equiv(a1, a2):
    """Whether two arrays broadcast to one shape and have equal elements there: a bool. Computes it."""
    try:
        return bool(_core.all(_core.equal(a1, a2), None, False))
    except _core.ShapeError:
        return False


def round(x, /, decimals=0):
    """To the nearest number of so many decimals, halves to the even digit.

    >>> wf.round(wf.asarray([0.5, 1.27]), 1)
    array([0.5, 1.3], dtype=float32)
    """
    return _core.round(x) if decimals == 0 else _core.round_to(x, decimals)


def around(a, decimals=0):
    """round, by NumPy's other name."""
    return round(a, decimals)


def fix(x):
    """x without its fraction."""
    return _core.trunc(x)


def absolute(x, /):
    """abs, by NumPy's other name."""
    return _core.abs(x)


def fabs(x, /):
    """The absolute value as a floating number."""
    found = _core.abs(x)
    return found if _core.as_dtype(found.dtype).kind in "fc" else _core.astype(found, "float32")


def heaviside(x1, x2, /):
    """0 where x1 < 0, x2 where it is 0, 1 above."""
    return _core.heaviside(x1, x2)


def float_power(x1, x2, /):
    """x1**x2 in floating numbers."""
    return _core.float_power(x1, x2)


def divmod(x1, x2, /):
    """(x1 // x2, x1 % x2)."""
    return _core.divmod(x1, x2)


def modf(x, /):
    """(the fraction, the whole part), both with the sign of x."""
    return _core.modf(x)


def ldexp(x1, x2, /):
    """x1 * 2**x2."""
    return _core.ldexp(x1, x2)


def angle(z, deg=False):
    """The angle of complex numbers, in radians (deg: in degrees)."""
    found = _core.angle(z)
    return _core.rad2deg(found) if deg else found


def isposinf(x, /):
    """Whether x is +infinity."""
    return _core.isposinf(x)


def isneginf(x, /):
    """Whether x is -infinity."""
    return _core.isneginf(x)


def isreal(x):
    """Whether the imaginary part is 0."""
    return _core.isreal(x)


def iscomplex(x):
    """Whether the imaginary part is not 0."""
    return _core.iscomplex(x)


def bitwise_count(x, /):
    """How many bits of |x| are set."""
    return _core.bitwise_count(x)


def iscomplexobj(x):
    """Whether the type is complex."""
    return _core.as_dtype(_core.asarray(x, None, None).dtype).kind == "c"


def isrealobj(x):
    """Whether the type is not complex."""
    return not iscomplexobj(x)


def isscalar(element):
    """Whether it is a plain number."""
    return isinstance(element, (int, float, complex))


def ndim(a):
    """How many axes it has."""
    return _core.asarray(a, None, None).ndim


def shape(a):
    """Its sizes: a tuple."""
    return _core.asarray(a, None, None).shape


def size(a, axis=None):
    """How many elements it has, or along an axis."""
    a = _core.asarray(a, None, None)
    return a.size if axis is None else a.shape[axis]


def piecewise(x, condlist, funclist, *args, **kw):
    """funclist[i](x) where condlist[i] holds (of several the last), else the last function if there is one more, else 0. All are computed
    everywhere. A number may stand for a function."""
    x = _core.asarray(x, None, None)
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"piecewise: {len(funclist)} functions for {len(conditions)} conditions")

    def value(function):
        return _core.astype(function(x, *args, **kw) if callable(function) else function, x.dtype)
    found = value(funclist[-1]) if len(funclist) > len(conditions) else value(0)
    for condition, function in zip(conditions, funclist):
        found = _core.where(condition, value(function), found)
    return _core.broadcast_to(found, x.shape)
