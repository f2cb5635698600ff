"""Products, choices, and what computes; functions of points that have options or other names than the registry's."""
from numbers import Integral

from . import _core, _trees

__all__ = ["broadcast_arrays", "broadcast_shapes", "clip", "conj", "einsum", "eval", "matmul", "matrix_transpose", "outer", "tensordot",
           "vecdot", "where"]


def clip(x, /, min=None, max=None, *, a_min=None, a_max=None):
    """x held between min and max (or a_min and a_max, NumPy's older names), each of which may be left out. The result has the dtype in which
    they meet, x's own beside plain numbers.

    >>> wf.clip(wf.asarray([-2., 0.5, 7.]), 0, 1)
    array([0. , 0.5, 1. ], dtype=float32)
    """
    return _core.clip_between(x, a_min if min is None else min, a_max if max is None else max)


def conj(x, /):
    """The complex conjugate; of real numbers themselves.

    >>> wf.conj(wf.asarray([1 + 2j, 3 - 1j]))
    array([1.-2.j, 3.+1.j], dtype=complex64)
    """
    return _core.conj(x)


def where(condition, x1=None, x2=None, /):
    """x1 where the condition holds, else x2. Of a condition alone: nonzero(condition).

    >>> x = wf.asarray([-1., 2.])
    >>> wf.where(x > 0, x, 0)
    array([0., 2.], dtype=float32)
    """
    if x1 is None and x2 is None:
        return _core.nonzero(condition)
    return _core.where(condition, x1, x2)


def matmul(x1, x2, /, *, precision=None):
    """The product of matrices; axes before the last two are batches.

    precision="bfloat16": operands of float32 are rounded to bfloat16 (8 significant bits) and their products summed in float32, in the
    derivatives too; up to twice as fast where the processor multiplies pairs of bfloat16 (AVX512_BF16), three times and more where it has AMX
    (whose sums have another order, so other last bits), the same numbers elsewhere. An element is off by up to 2**-8 of the sum of abs(a) * abs(b) along it, and by some 2**-9 of the root of the sum of (a * b)**2 where roundings are as
    chance has them.
    "bfloat16x3", "bfloat16x6": where the processor has AMX, operands are taken for sums of two or three bfloat16 and the 3 or 6 largest products of
    such parts are summed in float32; elsewhere the product is float32's. By x6 elements are off, on the average, by less than in float32, by x3 by up to 2**-15
    of the sum of abs(a) * abs(b), some 2**-17 of the root of the sum of (a * b)**2. Numbers below some 2**-110 have fewer digits then, those
    below 2**-126 count as 0. "float32": this product is made in float32 whatever wf.compile was told. Other types take no notice. ValueError for
    another precision, DTypeError for what is neither a name nor a type.

    >>> wf.matmul(wf.asarray([[1., 2.], [3., 4.]]), wf.asarray([1., 10.]))
    array([21., 43.], dtype=float32)
    """
    return _core.matmul(x1, x2, precision)


def matrix_transpose(x, /):
    """The last two axes swapped.

    >>> wf.matrix_transpose(wf.asarray([[1, 2], [3, 4]]))
    array([[1, 3],
           [2, 4]])
    """
    return _core.matrix_transpose(x)


def outer(x1, x2, /):
    """All products of an element of x1 and one of x2.

    >>> wf.outer(wf.asarray([1, 2]), wf.asarray([1, 10, 100]))
    array([[  1,  10, 100],
           [  2,  20, 200]])
    """
    return _core.outer(x1, x2)


def tensordot(x1, x2, /, axes=2):
    """Sums of products over pairs of axes: the last and first `axes`, or those of two sequences.

    >>> wf.tensordot(wf.asarray([[1., 2.], [3., 4.]]), wf.asarray([[1., 0.], [0., 1.]]), axes=2)
    array(5., dtype=float32)
    """
    if isinstance(axes, Integral):
        return _core.tensordot(x1, x2, axes)
    if not hasattr(axes, "__len__") or len(axes) != 2:
        raise TypeError(f"tensordot: axes is a number, or two sequences of them, not {axes!r}")
    first, second = (each.tolist() if hasattr(each, "tolist") else each for each in axes)
    return _core.tensordot(x1, x2, first, second)


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of conj(x1) * x2 along an axis.

    >>> wf.vecdot(wf.asarray([[1., 2.], [3., 4.]]), wf.asarray([1., 10.]))
    array([21., 43.], dtype=float32)
    """
    return _core.vecdot(x1, x2, axis)


def einsum(subscripts, *operands, optimize=True):
    """Sums of products in Einstein's notation: einsum("ij,jk->ik", a, b), or with lists of axes, einsum(a, [0, 1], b, [1, 2], [0, 2]).
    Several operands are joined in a cheap order, whatever `optimize` says.

    >>> wf.einsum("ij,j->i", wf.asarray([[1., 2.], [3., 4.]]), wf.asarray([1., 10.]))
    array([21., 43.], dtype=float32)
    """
    if isinstance(subscripts, str):
        return _core.einsum(subscripts, list(operands))
    return _core.einsum(*lettered(subscripts, *operands))


def lettered(*operands):
    """The subscripts and the operands of NumPy's other form: operands and lists of axes by turns, the result's at the end."""
    def letters(axes):
        if not isinstance(axes, (list, tuple)):
            raise TypeError(f"einsum: subscripts are a string, or operands are followed by lists of axes, not {type(axes).__name__}")
        return "".join("..." if axis is Ellipsis else chr(axis + (65 if axis < 26 else 71)) for axis in axes)
    pairs, result = operands[:len(operands) // 2 * 2], operands[len(operands) // 2 * 2:]
    subscripts = ",".join(letters(axes) for axes in pairs[1::2]) + "".join("->" + letters(axes) for axes in result)
    return subscripts, list(pairs[::2])


def broadcast_arrays(*arrays):
    """The arrays in the shape that they share: a list.

    >>> wf.broadcast_arrays(wf.asarray([[1], [2]]), wf.asarray([3, 4]))
    [array([[1, 1],
           [2, 2]]), array([[3, 4],
           [3, 4]])]
    """
    arrays = [_core.asarray(x, None, None) for x in arrays]
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return [_core.broadcast_to(x, shape) for x in arrays]


def broadcast_shapes(*shapes):
    """The shape that these shapes share; ShapeError if there is none.

    >>> wf.broadcast_shapes((3, 1), (1, 4), (4,))
    (3, 4)
    """
    result = ()
    for shape in shapes:
        result = _core.broadcast_shapes(result, shape)
    return result


def eval(*arrays):
    """Computes several arrays, or trees of them, at once, sharing what they share; gives back the only one, or all as a tuple.

    >>> x = wf.ones(2)
    >>> total, mean = wf.eval(wf.sum(x), wf.mean(x))
    >>> total.computed
    True
    """
    _core.eval(_trees.flatten(arrays)[0])
    return arrays[0] if len(arrays) == 1 else arrays
