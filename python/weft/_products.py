"""Products of vectors and matrices, by NumPy's names; diagonals."""
from . import _core
from ._statistics import in_dtype

__all__ = ["cross", "diagonal", "dot", "inner", "kron", "matvec", "trace", "vdot", "vecmat"]


def dot(a, b):
    """Of vectors their inner product, of matrices their product, of more axes the sum over a's last and b's last but one.

    >>> wf.dot(wf.asarray([[1, 2], [3, 4]]), wf.asarray([1, 1]))
    array([3, 7])
    """
    return _core.dot(a, b)


def inner(a, b, /):
    """The sum of products over the last axes of both.

    >>> wf.inner(wf.asarray([1, 2, 3]), wf.asarray([0, 1, 0]))
    array(2)
    """
    return _core.inner(a, b)


def vdot(a, b, /):
    """The sum of products of all elements, the first conjugated.

    >>> wf.vdot(wf.asarray([1j, 2]), wf.asarray([1j, 3]))
    array(7.+0.j, dtype=complex64)
    """
    return _core.vdot(a, b)


def matvec(x1, x2, /):
    """Matrices (..., m, n) times vectors (..., n).

    >>> wf.matvec(wf.asarray([[1, 2], [3, 4]]), wf.asarray([1, 1]))
    array([3, 7])
    """
    return _core.matvec(x1, x2)


def vecmat(x1, x2, /):
    """Vectors (..., n), conjugated, times matrices (..., n, m).

    >>> wf.vecmat(wf.asarray([1, 1]), wf.asarray([[1, 2], [3, 4]]))
    array([4, 6])
    """
    return _core.vecmat(x1, x2)


def kron(a, b):
    """The Kronecker product: b times each element of a, laid side by side.

    >>> wf.kron(wf.asarray([1, 10]), wf.asarray([1, 2]))
    array([ 1,  2, 10, 20])
    """
    return _core.kron(a, b)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors of three elements: along axisa of a, axisb of b and axisc of the result, or along axis of all.

    >>> wf.cross(wf.asarray([1, 0, 0]), wf.asarray([0, 1, 0]))
    array([0, 0, 1])
    """
    if axis is not None:
        return _core.cross(a, b, axis)
    return _core.moveaxis(_core.cross(_core.moveaxis(a, axisa, -1), _core.moveaxis(b, axisb, -1), -1), -1, axisc)


def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonal along two axes, as the last axis.

    >>> wf.diagonal(wf.asarray([[1, 2], [3, 4]]))
    array([1, 4])
    """
    return _core.diagonal(a, offset, axis1, axis2)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum of the diagonal along two axes.

    >>> wf.trace(wf.asarray([[1, 2], [3, 4]]))
    array(5)
    """
    return in_dtype(_core.trace, a, dtype, offset, axis1, axis2)
