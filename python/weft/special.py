"""Special functions under scipy.special's names, with derivatives. Inputs are arrays or numbers and are broadcast; integers are taken as float32.

Elementwise ones are generated from weft's registry. A derivative in a parameter for which no closed form is known (the order of a Bessel
function, the a of gammainc) is a NotDifferentiable error when it is asked for.
"""
from . import _core
from ._elementwise import cbrt, exp2, expm1, log1p, logaddexp, sinc, trigamma
from ._special import *
from ._special import __all__ as _generated

__all__ = [*_generated, "cbrt", "chi2sf", "exp2", "expm1", "hyp2f1", "log1p", "log_softmax", "logaddexp", "logsumexp", "multigammaln", "psi", "sinc", "softmax",
           "trigamma"]

psi = digamma  # noqa: F405  (generated)
chi2sf = chdtrc  # noqa: F405


def hyp2f1(a, b, c, x, /):
    """Gauss's hypergeometric function 2F1(a, b; c; x), x up to 1, NaN beyond. Its derivative is known in x alone."""
    return _core.hyp2f1(a, b, c, x)


def multigammaln(a, d, /):
    """The logarithm of the multivariate gamma function of dimension d, of a's shape."""
    return _core.multigammaln(a, d)


def logsumexp(a, axis=None, *, keepdims=False):
    """log(sum(exp(a))) along axes (all, if None), without overflow."""
    return _core.logsumexp(a, axis, keepdims)


def softmax(x, axis=None):
    """exp(x) over its sum along an axis; of all elements, if it is None."""
    return _core.softmax(x, axis) if axis is not None else _of_all(_core.softmax, x)


def log_softmax(x, axis=None):
    """log(softmax(x)), without overflow."""
    return _core.log_softmax(x, axis) if axis is not None else _of_all(_core.log_softmax, x)


def _of_all(function, x):
    x = _core.same(x)
    return _core.reshape(function(_core.reshape(x, (-1,)), 0), x.shape)
