"""Functions of points that have options or other names than the registry's, products, and what computes."""
from . import _core

__all__ = ["broadcast_arrays", "broadcast_shapes", "clip", "conj", "einsum", "eval", "matmul", "matrix_transpose", "outer", "tensordot",
           "vecdot", "where"]


def clip(x, /, min=None, max=None):
    """x held between min and max, each of which may be left out. The result has x's dtype."""
    return _core.clip_between(x, min, max)


def conj(x, /):
    """The complex conjugate; of real numbers themselves."""
    return _core.conj(x)


def where(condition, x1, x2, /):
    """x1 where the condition holds, else x2."""
    return _core.where(condition, x1, x2)


def matmul(x1, x2, /):
    """The product of matrices; axes before the last two are batches."""
    return _core.matmul(x1, x2)


def matrix_transpose(x, /):
    """The last two axes swapped."""
    return _core.matrix_transpose(x)


def outer(x1, x2, /):
    """All products of an element of x1 and one of x2."""
    return _core.outer(x1, x2)


def tensordot(x1, x2, /, *, axes=2):
    """Sums of products over pairs of axes: the last and first `axes`, or those of two sequences."""
    if isinstance(axes, int):
        return _core.tensordot(x1, x2, axes)
    first, second = axes
    return _core.tensordot(x1, x2, first, second)


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of conj(x1) * x2 along an axis."""
    return _core.vecdot(x1, x2, axis)


def einsum(subscripts, *operands):
    """Sums of products in Einstein's notation: einsum("ij,jk->ik", a, b)."""
    return _core.einsum(subscripts, list(operands))


def broadcast_arrays(*arrays):
    """The arrays in the shape that they share: a list."""
    shape = broadcast_shapes(*(x.shape for x in arrays)) if arrays else ()
    return [_core.broadcast_to(x, shape) for x in arrays]


def broadcast_shapes(*shapes):
    """The shape that these shapes share; ShapeError if there is none."""
    result = ()
    for shape in shapes:
        result = _core.broadcast_shapes(result, shape)
    return result


def eval(*arrays):
    """Computes several arrays at once, sharing what they share; gives back the only one, or all as a tuple."""
    _core.eval(arrays)
    return arrays[0] if len(arrays) == 1 else arrays
