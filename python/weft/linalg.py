"""Linear algebra over the last two axes; axes before are batches. Matrices are floating (integers are taken as float32) or complex.

A matrix that is singular, or not positive definite, is a ValueError when the numbers are computed.
"""
from collections import namedtuple

from . import _core
from ._functions import matmul, matrix_transpose, outer, tensordot, vecdot

__all__ = ["cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "expm", "inv", "kron", "lstsq", "matmul", "matrix_norm",
           "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "outer", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd",
           "svdvals", "tensordot", "trace", "vecdot", "vector_norm"]

EighResult = namedtuple("EighResult", ["eigenvalues", "eigenvectors"])
EigResult = namedtuple("EigResult", ["eigenvalues", "eigenvectors"])
QRResult = namedtuple("QRResult", ["Q", "R"])
SlogdetResult = namedtuple("SlogdetResult", ["sign", "logabsdet"])
SVDResult = namedtuple("SVDResult", ["U", "S", "Vh"])
LstsqResult = namedtuple("LstsqResult", ["x", "residuals", "rank", "s"])


def cholesky(x, /, *, upper=False):
    """The triangular L with L L^H = x, of a positive definite x; with upper: U with U^H U = x."""
    return _core.cholesky(x, upper)


def cross(x1, x2, /, *, axis=-1):
    """The cross product of vectors of three elements along an axis."""
    return _core.cross(x1, x2, axis)


def det(x, /):
    """The determinant."""
    return _core.det(x)


def diagonal(x, /, *, offset=0):
    """The diagonal of the last two axes, as the last axis."""
    return _core.matrix_diagonal(x, offset)


def eig(x, /):
    """Eigenvalues and eigenvectors (columns) of a square matrix, complex."""
    return EigResult(*_core.eig(x))


def eigh(x, /):
    """Eigenvalues, ascending, and eigenvectors (columns) of a Hermitian matrix."""
    return EighResult(*_core.eigh(x))


def eigvals(x, /):
    """The eigenvalues of a square matrix, complex."""
    return _core.eigvals(x)


def eigvalsh(x, /):
    """The eigenvalues of a Hermitian matrix, ascending."""
    return _core.eigvalsh(x)


def expm(x, /):
    """The matrix exponential."""
    return _core.expm(x)


def inv(x, /):
    """The inverse."""
    return _core.inv(x)


def kron(x1, x2, /):
    """The Kronecker product."""
    return _core.kron(x1, x2)


def lstsq(a, b, rcond=None):
    """The x of least norm among those that make |a x - b| least; with residuals, rank and singular values."""
    return LstsqResult(*_core.lstsq(a, b, rcond))


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """A norm of matrices: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf."""
    return _core.matrix_norm(x, keepdims, ord)


def matrix_power(x, n, /):
    """The n-th power of a square matrix; a negative one of the inverse."""
    return _core.matrix_power(x, n)


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are larger than rtol times the largest."""
    return _core.matrix_rank(x, rtol)


def multi_dot(arrays):
    """The product of several matrices, in the cheapest order."""
    return _core.multi_dot(list(arrays))


def pinv(x, /, *, rtol=None):
    """The pseudo-inverse; singular values up to rtol times the largest count as 0."""
    return _core.pinv(x, rtol)


def qr(x, /, *, mode="reduced"):
    """x = Q R with orthonormal columns of Q and an upper triangle R. mode: 'reduced' or 'complete'."""
    return QRResult(*_core.qr(x, mode))


def slogdet(x, /):
    """The sign of the determinant and the logarithm of its magnitude."""
    return SlogdetResult(*_core.slogdet(x))


def solve(x1, x2, /):
    """The x with x1 x = x2."""
    return _core.solve(x1, x2)


def solve_triangular(a, b, /, *, lower=False, transposed=False, unit_diagonal=False):
    """The x with a x = b of a triangular a (a^T x = b if transposed)."""
    return _core.solve_triangular(a, b, lower, transposed, unit_diagonal)


def svd(x, /, *, full_matrices=True):
    """x = U diag(S) Vh with singular values S, descending."""
    return SVDResult(*_core.svd(x, full_matrices))


def svdvals(x, /):
    """The singular values, descending."""
    return _core.svdvals(x)


def trace(x, /, *, offset=0, dtype=None):
    """The sum of the diagonal of the last two axes."""
    return _core.matrix_trace(x, offset, dtype)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """A norm of vectors along axes: any number, inf, -inf; 0 counts what is not 0."""
    return _core.vector_norm(x, axis, keepdims, ord)
