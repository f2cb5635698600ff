"""Special functions under scipy.special's names, with derivatives. Inputs are arrays or numbers and are broadcast; integers are taken as float32.

Elementwise ones are generated from weft's registry. A derivative in a parameter for which no closed form is known (the order of a Bessel
function, the a of gammainc) is a NotDifferentiable error when it is asked for.
"""
import math as _math
from numbers import Integral as _Integral

from . import _core
from ._elementwise import cbrt, exp2, expm1, log1p, logaddexp, sinc, trigamma
from ._special import *
from ._special import __all__ as _generated

__all__ = [*_generated, "cbrt", "chi2sf", "exp2", "expm1", "hyp2f1", "lambertw", "log1p", "log_softmax", "logaddexp", "logsumexp", "multigammaln", "psi", "sinc", "softmax",
           "trigamma"]

psi = digamma  # noqa: F405  (generated)
chi2sf = chdtrc  # noqa: F405


def hyp2f1(a, b, c, x, /):
    """Gauss's hypergeometric function 2F1(a, b; c; x), x up to 1, NaN beyond. Its derivative is known in x alone.

    >>> wf.special.hyp2f1(1., 1., 2., wf.asarray([0., 0.5]))
    array([1.       , 1.3862944], dtype=float32)
    >>> -wf.log(0.5) / 0.5
    array(1.3862944, dtype=float32)
    """
    return _core.hyp2f1(a, b, c, x)


def lambertw(z, k=0):
    """Lambert's W of real numbers: the w >= -1 with w exp(w) = z; NaN below -1/e, where SciPy's complex values lie. k, the branch, is 0.

    >>> w = wf.special.lambertw(wf.asarray([0., 1., 10.]))
    >>> w
    array([0.       , 0.5671433, 1.7455281], dtype=float32)
    >>> wf.allclose(w * wf.exp(w), [0., 1., 10.])
    True
    """
    if k != 0:
        raise NotImplementedError(f"lambertw: the branch {k} is not there, only the principal one, k=0")
    return _core.lambertw(z)


def multigammaln(a, d, /):
    """The logarithm of the multivariate gamma function of dimension d, of a's shape.

    >>> wf.special.multigammaln(wf.asarray([2., 3.]), 1)
    array([0.       , 0.6931472], dtype=float32)
    >>> wf.special.multigammaln(wf.asarray([2., 3.]), 2)
    array([0.4515827, 1.550195 ], dtype=float32)
    """
    return _core.multigammaln(a, d)


def comb(N, k, *, exact=False, repetition=False):
    """The number of ways to choose k of N things; repetition: each as often as one likes; exact: of integers, as Python's integer.

    >>> wf.special.comb(5, wf.asarray([0., 2., 5.]))
    array([ 1., 10.,  1.], dtype=float32)
    >>> wf.special.comb(60, 30, exact=True)
    118264581564861424
    """
    if exact and isinstance(N, _Integral) and isinstance(k, _Integral):
        N, k = int(N), int(k)  # NumPy's wrap
    if repetition:
        N = _core.add(N, _core.subtract(k, 1)) if not exact else N + k - 1
    if exact:
        if not isinstance(N, _Integral) or not isinstance(k, _Integral):
            raise TypeError(f"comb: exact is for integers, not {type(N).__name__} and {type(k).__name__}")
        return _math.comb(N, k) if N >= 0 and k >= 0 else 0
    return _core.comb(N, k)


def factorial(n, exact=False):
    """n!, gamma(n + 1); exact: of an integer, as Python's integer.

    >>> wf.special.factorial(wf.asarray([0., 3., 5.]))
    array([  1.,   6., 120.], dtype=float32)
    """
    if exact:
        if not isinstance(n, _Integral):
            raise TypeError(f"factorial: exact is for an integer, not {type(n).__name__}")
        return _math.factorial(n) if n >= 0 else 0
    return _core.factorial(n)


def polygamma(n, x):
    """The n-th derivative of digamma, n a whole number.

    >>> wf.special.polygamma(1, wf.asarray([1., 2.]))
    array([1.644934 , 0.6449341], dtype=float32)
    """
    return _core.polygamma(n, x)


def zeta(x, q=1.0):
    """Hurwitz's zeta function, the sum of (k + q)**-x over k = 0, 1, ...; q = 1: Riemann's.

    >>> wf.special.zeta(wf.asarray([2., 4.]))
    array([1.644934 , 1.0823232], dtype=float32)
    """
    return _core.zeta(x, q)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    """log(sum(b exp(a))) along axes (all, if None), without overflow; NaN of a negative sum, but with return_sign: the logarithm of its
    magnitude, and its sign.

    >>> wf.special.logsumexp(wf.asarray([1000., 1000.]))
    array(1000.6932, dtype=float32)
    """
    if b is None and not return_sign:
        return _core.logsumexp(a, axis, keepdims)
    log, sign = _core.signed_logsumexp(a, axis, 1 if b is None else b, keepdims)
    return (log, sign) if return_sign else _core.where(_core.less(sign, 0), float("nan"), log)


def softmax(x, axis=None):
    """exp(x) over its sum along an axis; of all elements, if it is None.

    >>> wf.special.softmax(wf.asarray([[0., 0.], [0., 0.]]))
    array([[0.25, 0.25],
           [0.25, 0.25]], dtype=float32)
    >>> wf.special.softmax(wf.asarray([[0., 0.], [0., 1.]]), axis=1)
    array([[0.5       , 0.5       ],
           [0.26894143, 0.7310586 ]], dtype=float32)
    """
    return _core.softmax(x, axis) if axis is not None else _of_all(_core.softmax, x)


def log_softmax(x, axis=None):
    """log(softmax(x)), without overflow.

    >>> wf.special.log_softmax(wf.asarray([0., 1000.]))
    array([-1000.,     0.], dtype=float32)
    """
    return _core.log_softmax(x, axis) if axis is not None else _of_all(_core.log_softmax, x)


def _of_all(function, x):
    x = _core.same(x)
    return _core.reshape(function(_core.reshape(x, (-1,)), 0), x.shape)
