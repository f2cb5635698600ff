"""Linear algebra over the last two axes; axes before are batches. Matrices are floating (integers are taken as float32) or complex.

A matrix that is singular, or not positive definite, is a ValueError when the numbers are computed.
"""
from collections import namedtuple as _named
from numbers import Integral as _Integral

from . import _core
from ._functions import matmul, matrix_transpose, outer, tensordot, vecdot

__all__ = ["LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "expm", "inv", "kron", "lstsq", "matmul", "matrix_norm",
           "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd",
           "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm"]

LinAlgError = ValueError      # NumPy's name for what a singular matrix raises

EighResult = _named("EighResult", ["eigenvalues", "eigenvectors"])
EigResult = _named("EigResult", ["eigenvalues", "eigenvectors"])
QRResult = _named("QRResult", ["Q", "R"])
SlogdetResult = _named("SlogdetResult", ["sign", "logabsdet"])
SVDResult = _named("SVDResult", ["U", "S", "Vh"])
LstsqResult = _named("LstsqResult", ["x", "residuals", "rank", "s"])


def cholesky(x, /, *, upper=False):
    """The triangular L with L L^H = x, of a positive definite x; with upper: U with U^H U = x.

    >>> wf.linalg.cholesky(wf.asarray([[4., 2.], [2., 5.]]))
    array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    return _core.cholesky(x, upper)


def cross(x1, x2, /, axis=-1):
    """The cross product of vectors of three elements along an axis.

    >>> wf.linalg.cross(wf.asarray([1., 0., 0.]), wf.asarray([0., 1., 0.]))
    array([0., 0., 1.], dtype=float32)
    """
    return _core.cross(x1, x2, axis)


def det(x, /):
    """The determinant.

    >>> wf.linalg.det(wf.asarray([[2., 1.], [1., 3.]]))
    array(5., dtype=float32)
    """
    return _core.det(x)


def diagonal(x, /, *, offset=0):
    """The diagonal of the last two axes, as the last axis.

    >>> wf.linalg.diagonal(wf.asarray([[1, 2], [3, 4]]))
    array([1, 4])
    """
    return _core.matrix_diagonal(x, offset)


def eig(x, /):
    """Eigenvalues and eigenvectors (columns) of a square matrix, complex.

    >>> values, vectors = wf.linalg.eig(wf.asarray([[0., 1.], [-1., 0.]]))
    >>> wf.sort(wf.imag(values))
    array([-1.,  1.], dtype=float32)
    """
    return EigResult(*_core.eig(x))


def _of_triangle(name, x, UPLO):
    """The matrix whose lower triangle is x's lower one, or the mirror image of its upper one."""
    if UPLO not in ("L", "U", "l", "u"):
        raise ValueError(f"{name}: UPLO is 'L' or 'U', not {UPLO!r}")
    return x if UPLO in "Ll" else _core.conj(_core.matrix_transpose(x))


def _mirrored(x):
    """The Hermitian matrix that has x's lower triangle: what `hermitian` says that x is."""
    below = _core.tril(x, -1)
    return _core.add(_core.tril(x, 0), _core.conj(_core.matrix_transpose(below)))


def eigh(x, /, UPLO="L"):
    """Eigenvalues, ascending, and eigenvectors (columns) of a Hermitian matrix, of which one triangle is read: UPLO, 'L' or 'U'.

    >>> values, vectors = wf.linalg.eigh(wf.asarray([[2., 1.], [1., 2.]]))
    >>> values
    array([1., 3.], dtype=float32)
    """
    return EighResult(*_core.eigh(_of_triangle("eigh", x, UPLO)))


def eigvals(x, /):
    """The eigenvalues of a square matrix, complex.

    >>> wf.sort(wf.imag(wf.linalg.eigvals(wf.asarray([[0., 1.], [-1., 0.]]))))
    array([-1.,  1.], dtype=float32)
    """
    return _core.eigvals(x)


def eigvalsh(x, /, UPLO="L"):
    """The eigenvalues of a Hermitian matrix, ascending; UPLO: which of its triangles is read, 'L' or 'U'.

    >>> wf.linalg.eigvalsh(wf.asarray([[2., 1.], [1., 2.]]))
    array([1., 3.], dtype=float32)
    """
    return _core.eigvalsh(_of_triangle("eigvalsh", x, UPLO))


def expm(x, /):
    """The matrix exponential.

    >>> wf.linalg.expm(wf.asarray([[0., 1.], [0., 0.]]))
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    return _core.expm(x)


def inv(x, /):
    """The inverse.

    >>> wf.linalg.inv(wf.asarray([[2., 0.], [1., 4.]]))
    array([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]], dtype=float32)
    """
    return _core.inv(x)


def kron(x1, x2, /):
    """The Kronecker product.

    >>> wf.linalg.kron(wf.asarray([1, 10]), wf.asarray([1, 2, 3]))
    array([ 1,  2,  3, 10, 20, 30])
    """
    return _core.kron(x1, x2)


def lstsq(a, b, rcond=None):
    """The x of least norm among those that make |a x - b| least; with residuals, rank and singular values.

    >>> found = wf.linalg.lstsq(wf.asarray([[1., 0.], [1., 1.], [1., 2.]]), wf.asarray([1., 3., 5.]))
    >>> wf.round(found.x, 3)
    array([1., 2.], dtype=float32)
    """
    return LstsqResult(*_core.lstsq(a, b, rcond))


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """A norm of matrices: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf.

    >>> wf.linalg.matrix_norm(wf.asarray([[3., 0.], [0., 4.]])), wf.linalg.matrix_norm(wf.asarray([[3., 0.], [0., 4.]]), ord=2)
    (array(5., dtype=float32), array(4., dtype=float32))
    """
    return _core.matrix_norm(x, keepdims, ord)


def matrix_power(x, /, n):
    """The n-th power of a square matrix; a negative one of the inverse.

    >>> wf.linalg.matrix_power(wf.asarray([[1., 1.], [0., 1.]]), 5)
    array([[1., 5.],
           [0., 1.]], dtype=float32)
    """
    return _core.matrix_power(x, n)


def matrix_rank(x, /, tol=None, hermitian=False, *, rtol=None):
    """How many singular values (hermitian: magnitudes of eigenvalues, of which the lower triangle is read) are larger than rtol times the largest, or than tol.

    >>> wf.linalg.matrix_rank(wf.asarray([[1., 2.], [2., 4.]]))
    array(1)
    """
    x = _mirrored(x) if hermitian else x
    if tol is None or _core.asarray(x, None, None).ndim < 2:
        return _core.matrix_rank(x, rtol)
    return _core.sum(_core.greater(_core.svdvals(x), _core.expand_dims(tol, -1)), (-1,), False)


def multi_dot(arrays):
    """The product of several matrices, in the cheapest order.

    >>> wf.linalg.multi_dot([wf.ones((2, 3)), wf.ones((3, 4)), wf.ones((4, 1))])
    array([[12.],
           [12.]], dtype=float32)
    """
    return _core.multi_dot(list(arrays))


def pinv(x, /, rcond=None, hermitian=False, *, rtol=None):
    """The pseudo-inverse; singular values up to rtol (or rcond, its older name) times the largest count as 0. hermitian: the lower triangle alone is
    read.

    >>> wf.linalg.pinv(wf.asarray([[2., 0.], [0., 0.]]))
    array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    return _core.pinv(_mirrored(x) if hermitian else x, rcond if rtol is None else rtol)


def qr(x, /, mode="reduced"):
    """x = Q R with orthonormal columns of Q and an upper triangle R. mode: 'reduced', 'complete', or 'r' (R alone).

    >>> q, r = wf.linalg.qr(wf.asarray([[1., 2.], [3., 4.]]))
    >>> wf.allclose(q @ r, [[1., 2.], [3., 4.]])
    True
    """
    return _core.qr(x, "reduced")[1] if mode == "r" else QRResult(*_core.qr(x, mode))


def slogdet(x, /):
    """The sign of the determinant and the logarithm of its magnitude.

    >>> sign, logabsdet = wf.linalg.slogdet(wf.asarray([[0., 2.], [1., 0.]]))
    >>> sign, logabsdet
    (array(-1., dtype=float32), array(0.6931472, dtype=float32))
    """
    return SlogdetResult(*_core.slogdet(x))


def solve(x1, x2, /):
    """The x with x1 x = x2.

    >>> wf.linalg.solve(wf.asarray([[2., 0.], [1., 4.]]), wf.asarray([2., 9.]))
    array([1., 2.], dtype=float32)
    """
    return _core.solve(x1, x2)


def solve_triangular(a, b, /, *, lower=False, transposed=False, unit_diagonal=False):
    """The x with a x = b of a triangular a (a^T x = b if transposed).

    >>> wf.linalg.solve_triangular(wf.asarray([[2., 0.], [1., 4.]]), wf.asarray([2., 9.]), lower=True)
    array([1., 2.], dtype=float32)
    """
    return _core.solve_triangular(a, b, lower, transposed, unit_diagonal)


def svd(x, /, full_matrices=True, compute_uv=True, hermitian=False):
    """x = U diag(S) Vh with singular values S, descending; S alone without compute_uv. hermitian: the lower triangle
    alone is read.

    >>> u, s, vh = wf.linalg.svd(wf.asarray([[3., 0.], [0., 4.]]))
    >>> s
    array([4., 3.], dtype=float32)
    """
    x = _mirrored(x) if hermitian else x
    return SVDResult(*_core.svd(x, bool(full_matrices))) if compute_uv else _core.svdvals(x)


def svdvals(x, /):
    """The singular values, descending.

    >>> wf.linalg.svdvals(wf.asarray([[3., 0.], [0., 4.]]))
    array([4., 3.], dtype=float32)
    """
    return _core.svdvals(x)


def trace(x, /, *, offset=0, dtype=None):
    """The sum of the diagonal of the last two axes.

    >>> wf.linalg.trace(wf.asarray([[1., 2.], [3., 4.]]))
    array(5., dtype=float32)
    """
    return _core.matrix_trace(x, offset, dtype)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """A norm of vectors along axes: any number, inf, -inf; 0 counts what is not 0.

    >>> wf.linalg.vector_norm(wf.asarray([3., 4.])), wf.linalg.vector_norm(wf.asarray([3., 4.]), ord=1)
    (array(5., dtype=float32), array(7., dtype=float32))
    """
    return _core.vector_norm(x, axis, keepdims, ord)


def norm(x, ord=None, axis=None, keepdims=False):
    """NumPy's norm: of all elements where neither ord nor axis is said, of vectors along one axis, of matrices in two.

    >>> wf.linalg.norm(wf.asarray([[3., 0.], [0., 4.]])), wf.linalg.norm(wf.asarray([[3., 0.], [0., 4.]]), ord=1, axis=0)
    (array(5., dtype=float32), array([3., 4.], dtype=float32))
    """
    x = _core.asarray(x, None, None)
    if axis is None and (ord is None or x.ndim == 1):
        return _core.vector_norm(x, None, keepdims, 2 if ord is None else ord)
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, _Integral) else tuple(axis)
    if len(axes) == 1:
        return _core.vector_norm(x, axes, keepdims, 2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError(f"norm: of vectors along one axis or of matrices in two, not {len(axes)} axes")
    found = _core.matrix_norm(_core.moveaxis(x, axes, (-2, -1)), False, "fro" if ord is None else ord)
    return _core.expand_dims(found, tuple(a % x.ndim for a in axes)) if keepdims else found


def cond(x, p=None):
    """The condition number of matrices: the norm of x times the norm of its inverse; p=None: the largest singular value over the smallest.

    >>> wf.linalg.cond(wf.asarray([[2., 0.], [0., 8.]]))
    array(4., dtype=float32)
    """
    if p in (None, 2, -2):
        values = _core.svdvals(x)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    return _core.matrix_norm(x, False, p) * _core.matrix_norm(_core.inv(x), False, p)


def tensorsolve(a, b, axes=None):
    """x with tensordot(a, x, x.ndim) = b: a has b's axes in front; axes: those of a that are put behind all others before.

    >>> wf.linalg.tensorsolve(wf.reshape(2 * wf.eye(4), (2, 2, 4)), wf.ones((2, 2)))
    array([0.5, 0.5, 0.5, 0.5], dtype=float32)
    """
    a, b = _core.asarray(a, None, None), _core.asarray(b, None, None)
    if axes is not None:
        a = _core.moveaxis(a, tuple(axes), tuple(range(a.ndim - len(axes), a.ndim)))
    behind = a.shape[b.ndim:]
    if a.shape[:b.ndim] != b.shape or a.size != b.size * b.size:
        raise ValueError(f"tensorsolve: {a.shape} and {b.shape}: the first axes of a must be b's, and the others have as many elements")
    return _core.reshape(_core.solve(_core.reshape(a, (b.size, b.size)), _core.reshape(b, -1)), behind)


def tensorinv(a, ind=2):
    """The inverse of tensordot by a: its first ind axes have as many elements as the others.

    >>> wf.linalg.tensorinv(wf.reshape(2 * wf.eye(4), (2, 2, 4)), ind=2).shape
    (4, 2, 2)
    """
    a = _core.asarray(a, None, None)
    if not 0 < ind < a.ndim:
        raise ValueError(f"tensorinv: ind is {ind}; a has {a.ndim} axes")
    front, behind = a.shape[:ind], a.shape[ind:]
    size = 1
    for n in front:
        size *= n
    if size * size != a.size:
        raise ValueError(f"tensorinv: {front} and {behind} have not as many elements")
    return _core.reshape(_core.inv(_core.reshape(a, (size, size))), behind + front)
