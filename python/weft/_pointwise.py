"""Functions at each point that are made of others, and questions about whole arrays."""
import numbers

from . import _core, _statistics
from ._elementwise import (bitwise_invert as bitwise_not, deg2rad as radians, divide as true_divide, rad2deg as degrees, remainder as mod,
                           round as rint)
from ._functions import conj as conjugate

__all__ = ["absolute", "allclose", "amax", "amin", "angle", "around", "array_equal", "array_equiv", "bitwise_count", "bitwise_not",
           "conjugate", "degrees", "divmod", "fabs", "fix", "float_power", "frexp", "gcd", "heaviside", "isclose", "iscomplex",
           "iscomplexobj", "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "lcm", "ldexp", "logaddexp2", "mod", "modf", "ndim",
           "piecewise", "radians", "real_if_close", "rint", "round", "shape", "size", "true_divide"]


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """|a - b| <= atol + rtol |b|, at every place; infinities are close to themselves.

    >>> wf.isclose(1.0, wf.asarray([1.000001, 2.]))
    array([ True, False])
    """
    return _core.isclose(a, b, rtol, atol, equal_nan)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether isclose holds everywhere: a bool. Computes it.

    >>> wf.allclose(wf.asarray([1., 2.]), [1., 2.000001])
    True
    """
    return bool(_core.all(_core.isclose(a, b, rtol, atol, equal_nan), None, False))


def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have one shape and equal elements: a bool. Computes it.

    >>> wf.array_equal(wf.asarray([1, 2]), [1, 2])
    True
    >>> wf.array_equal(wf.asarray([1, 2]), [1, 2, 3])
    False
    """
    a1, a2 = _core.asarray(a1, None, None), _core.asarray(a2, None, None)
    if a1.shape != a2.shape:
        return False
    same = _core.equal(a1, a2)
    if equal_nan:
        same = _core.logical_or(same, _core.logical_and(_core.isnan(a1), _core.isnan(a2)))
    return bool(_core.all(same, None, False))


def array_equiv(a1, a2):
    """Whether two arrays broadcast to one shape and have equal elements there: a bool. Computes it.

    >>> wf.array_equiv(wf.asarray([1, 2]), [[1, 2], [1, 2]])
    True
    """
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
    """round, by NumPy's other name.

    >>> wf.around(wf.asarray([1.25, 1.75]), 1)
    array([1.2, 1.8], dtype=float32)
    """
    return round(a, decimals)


def fix(x):
    """x without its fraction.

    >>> wf.fix(wf.asarray([-1.7, 1.7]))
    array([-1.,  1.], dtype=float32)
    """
    return _core.trunc(x)


def absolute(x, /):
    """abs, by NumPy's other name.

    >>> wf.absolute(wf.asarray([-2., 3.]))
    array([2., 3.], dtype=float32)
    """
    return _core.abs(x)


def fabs(x, /):
    """The absolute value as a floating number.

    >>> wf.fabs(wf.asarray([-1, 2]))
    array([1., 2.], dtype=float32)
    """
    found = _core.abs(x)
    return found if _core.as_dtype(found.dtype).kind in "fc" else _core.astype(found, "float32")


def heaviside(x1, x2, /):
    """0 where x1 < 0, x2 where it is 0, 1 above.

    >>> wf.heaviside(wf.asarray([-1., 0., 2.]), 0.5)
    array([0. , 0.5, 1. ], dtype=float32)
    """
    return _core.heaviside(x1, x2)


def float_power(x1, x2, /):
    """x1**x2 in floating numbers.

    >>> wf.float_power(wf.asarray([2, 3]), -1)
    array([0.5       , 0.33333334], dtype=float32)
    """
    return _core.float_power(x1, x2)


def divmod(x1, x2, /):
    """(x1 // x2, x1 % x2).

    >>> wf.divmod(wf.asarray([7, -7]), 3)
    (array([ 2, -3]), array([1, 2]))
    """
    return _core.divmod(x1, x2)


def modf(x, /):
    """(the fraction, the whole part), both with the sign of x.

    >>> wf.modf(wf.asarray([1.5, -2.25]))
    (array([ 0.5 , -0.25], dtype=float32), array([ 1., -2.], dtype=float32))
    """
    return _core.modf(x)


def ldexp(x1, x2, /):
    """x1 * 2**x2.

    >>> wf.ldexp(wf.asarray([1., 3.]), wf.asarray([2, -1]))
    array([4. , 1.5], dtype=float32)
    """
    return _core.ldexp(x1, x2)


def angle(z, deg=False):
    """The angle of complex numbers, in radians (deg: in degrees).

    >>> wf.angle(wf.asarray([1., 1j, -1.]), deg=True)
    array([  0.,  90., 180.], dtype=float32)
    """
    found = _core.angle(z)
    return _core.rad2deg(found) if deg else found


def isposinf(x, /):
    """Whether x is +infinity.

    >>> wf.isposinf(wf.asarray([-wf.inf, 0., wf.inf]))
    array([False, False,  True])
    """
    return _core.isposinf(x)


def isneginf(x, /):
    """Whether x is -infinity.

    >>> wf.isneginf(wf.asarray([-wf.inf, 0., wf.inf]))
    array([ True, False, False])
    """
    return _core.isneginf(x)


def isreal(x):
    """Whether the imaginary part is 0.

    >>> wf.isreal(wf.asarray([1 + 1j, 2 + 0j]))
    array([False,  True])
    """
    return _core.isreal(x)


def iscomplex(x):
    """Whether the imaginary part is not 0.

    >>> wf.iscomplex(wf.asarray([1 + 1j, 2 + 0j]))
    array([ True, False])
    """
    return _core.iscomplex(x)


def bitwise_count(x, /):
    """How many bits of |x| are set.

    >>> wf.bitwise_count(wf.asarray([0, 1, 7, 255]))
    array([0, 1, 3, 8], dtype=uint8)
    """
    return _core.bitwise_count(x)


def iscomplexobj(x):
    """Whether the type is complex.

    >>> wf.iscomplexobj(wf.asarray([2 + 0j]))
    True
    """
    return _core.as_dtype(_core.asarray(x, None, None).dtype).kind == "c"


def isrealobj(x):
    """Whether the type is not complex.

    >>> wf.isrealobj(wf.asarray([1., 2.]))
    True
    """
    return not iscomplexobj(x)


def isscalar(element):
    """Whether it is a plain number.

    >>> wf.isscalar(3.5)
    True
    >>> wf.isscalar(wf.asarray(3.5))
    False
    """
    return isinstance(element, numbers.Number)  # NumPy's numbers are, too


def ndim(a):
    """How many axes it has.

    >>> wf.ndim(wf.zeros((2, 3)))
    2
    """
    return _core.asarray(a, None, None).ndim


def shape(a):
    """Its sizes: a tuple.

    >>> wf.shape(wf.zeros((2, 3)))
    (2, 3)
    """
    return _core.asarray(a, None, None).shape


def size(a, axis=None):
    """How many elements it has, or along an axis.

    >>> wf.size(wf.zeros((2, 3)))
    6
    >>> wf.size(wf.zeros((2, 3)), axis=1)
    3
    """
    a = _core.asarray(a, None, None)
    return a.size if axis is None else a.shape[axis]


def piecewise(x, condlist, funclist, *args, **kw):
    """funclist[i](x) where condlist[i] holds (of several the last), else the last function if there is one more, else 0. All are computed
    everywhere. A number may stand for a function.

    >>> x = wf.asarray([-2., 0., 3.])
    >>> wf.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * v])
    array([2., 0., 9.], dtype=float32)
    """
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


def gcd(x1, x2, /):
    """The greatest common divisor of whole numbers.

    >>> wf.gcd(wf.asarray([12, 0, -9]), 6)
    array([6, 6, 3])
    """
    return _core.gcd(x1, x2)


def lcm(x1, x2, /):
    """The least common multiple of whole numbers.

    >>> wf.lcm(wf.asarray([4, 6]), 10)
    array([20, 30])
    """
    return _core.lcm(x1, x2)


def logaddexp2(x1, x2, /):
    """log2(2**x1 + 2**x2), without overflow.

    >>> wf.logaddexp2(wf.asarray([1., 3.]), 1.)
    array([2.      , 3.321928], dtype=float32)
    """
    return _core.logaddexp2(x1, x2)


def frexp(x, /):
    """(m, e) with x = m * 2**e and |m| in [0.5, 1).

    >>> wf.frexp(wf.asarray([8., 0.3]))
    (array([0.5, 0.6], dtype=float32), array([ 4, -1], dtype=int32))
    """
    return _core.frexp(x)


def real_if_close(a, tol=100):
    """The real part, where all imaginary parts are below tol units in the last place of 1; else a. Computes a.

    >>> wf.real_if_close(wf.asarray([2 + 0j]))
    array([2.], dtype=float32)
    """
    a = _core.asarray(a, None, None)
    if not iscomplexobj(a):
        return a
    unit = {"complex64": 2.0**-23, "complex128": 2.0**-52}[_core.as_dtype(a.dtype).name]
    return _core.real(a) if bool(_core.all(_core.less(_core.abs(_core.imag(a)), tol * unit if tol > 1 else tol), None, False)) else a


def amax(a, axis=None, *, keepdims=False, initial=None, where=None):
    """max, by NumPy's other name.

    >>> wf.amax(wf.asarray([3, 7]))
    array(7)
    """
    return _statistics.max(a, axis, keepdims=keepdims, initial=initial, where=where)


def amin(a, axis=None, *, keepdims=False, initial=None, where=None):
    """min, by NumPy's other name.

    >>> wf.amin(wf.asarray([3, 7]))
    array(3)
    """
    return _statistics.min(a, axis, keepdims=keepdims, initial=initial, where=where)
