"""Products, choices, and what computes; functions of points that have options or other names than the registry's."""
from . import _core

__all__ = ["broadcast_arrays", "broadcast_shapes", "clip", "conj", "einsum", "eval", "matmul", "matrix_transpose", "outer", "tensordot",
           "vecdot", "where"]


def clip(x, /, min=None, max=None):
    """x held between min and max, each of which may be left out. The result has x's dtype.

    >>> wf.clip(wf.asarray([-2., 0.5, 7.]), 0, 1)
    array([0. , 0.5, 1. ], dtype=float32)
    """
    return _core.clip_between(x, min, max)


def conj(x, /):
    """The complex conjugate; of real numbers themselves.

    >>> wf.conj(wf.asarray([1 + 2j, 3 - 1j]))
    array([1.-2.j, 3.+1.j], dtype=complex64)
    """
    return _core.conj(x)


def where(condition, x1, x2, /):
    """x1 where the condition holds, else x2.

    >>> x = wf.asarray([-1., 2.])
    >>> wf.where(x > 0, x, 0)
    array([0., 2.], dtype=float32)
    """
    return _core.where(condition, x1, x2)


def matmul(x1, x2, /):
    """The product of matrices; axes before the last two are batches.

    >>> wf.matmul(wf.asarray([[1., 2.], [3., 4.]]), wf.asarray([1., 10.]))
    array([21., 43.], dtype=float32)
    """
    return _core.matmul(x1, x2)


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


def tensordot(x1, x2, /, *, axes=2):
    """Sums of products over pairs of axes: the last and first `axes`, or those of two sequences.

    >>> wf.tensordot(wf.asarray([[1., 2.], [3., 4.]]), wf.asarray([[1., 0.], [0., 1.]]), axes=2)
    array(5., dtype=float32)
    """
    if isinstance(axes, int):
        return _core.tensordot(x1, x2, axes)
    first, second = axes
    return _core.tensordot(x1, x2, first, second)


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of conj(x1) * x2 along an axis.

    >>> wf.vecdot(wf.asarray([[1., 2.], [3., 4.]]), wf.asarray([1., 10.]))
    array([21., 43.], dtype=float32)
    """
    return _core.vecdot(x1, x2, axis)


def einsum(subscripts, *operands):
    """Sums of products in Einstein's notation: einsum("ij,jk->ik", a, b).

    >>> wf.einsum("ij,j->i", wf.asarray([[1., 2.], [3., 4.]]), wf.asarray([1., 10.]))
    array([21., 43.], dtype=float32)
    """
    return _core.einsum(subscripts, list(operands))


def broadcast_arrays(*arrays):
    """The arrays in the shape that they share: a list.

    >>> wf.broadcast_arrays(wf.asarray([[1], [2]]), wf.asarray([3, 4]))
    [array([[1, 1],
           [2, 2]]), array([[3, 4],
           [3, 4]])]
    """
    shape = broadcast_shapes(*(x.shape for x in arrays)) if arrays else ()
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
    """Computes several arrays at once, sharing what they share; gives back the only one, or all as a tuple.

    >>> x = wf.ones(2)
    >>> total, mean = wf.eval(wf.sum(x), wf.mean(x))
    >>> total.computed
    True
    """
    _core.eval(arrays)
    return arrays[0] if len(arrays) == 1 else arrays
