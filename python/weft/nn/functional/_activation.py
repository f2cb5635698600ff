"""Activations. Shapes stay; integers become float32."""
from ... import _core

_nn = _core.nn

__all__ = ["celu", "elu", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
           "log_softmax", "logsigmoid", "mish", "normalize", "prelu", "relu", "relu6", "rrelu", "selu", "sigmoid", "silu", "softmax",
           "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold"]


def relu(input, inplace=False):
    """max(x, 0); its derivative at 0 is 0.

    >>> wf.nn.functional.relu(wf.asarray([-1., 0., 2.]))
    array([0., 0., 2.], dtype=float32)
    """
    return _core.relu(input)


def relu6(input, inplace=False):
    """min(max(x, 0), 6).

    >>> wf.nn.functional.relu6(wf.asarray([-1., 3., 8.]))
    array([0., 3., 6.], dtype=float32)
    """
    return _core.relu6(input)


def elu(input, alpha=1.0, inplace=False):
    """x where x > 0, else alpha * (exp(x) - 1).

    >>> wf.nn.functional.elu(wf.asarray([-2., -1., 3.]), alpha=0.5)
    array([-0.43233237, -0.31606027,  3.        ], dtype=float32)
    """
    return _nn.elu(input, alpha)


def selu(input, inplace=False):
    """The self-normalising exponential linear unit: 1.0507 * elu(x, 1.6733).

    >>> wf.nn.functional.selu(wf.asarray([-1., 0., 1.]))
    array([-1.1113307,  0.       ,  1.050701 ], dtype=float32)
    """
    return _core.selu(input)


def celu(input, alpha=1.0, inplace=False):
    """x where x > 0, else alpha * (exp(x / alpha) - 1). ValueError for alpha = 0.

    >>> wf.nn.functional.celu(wf.asarray([-2., 0., 1.]), alpha=2.)
    array([-1.2642411,  0.       ,  1.       ], dtype=float32)
    """
    return _nn.celu(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where x > 0, else negative_slope * x.

    >>> wf.nn.functional.leaky_relu(wf.asarray([-2., 3.]), negative_slope=0.1)
    array([-0.2,  3. ], dtype=float32)
    """
    return _nn.leaky_relu(input, negative_slope)


def prelu(input, weight):
    """x where x > 0, else weight * x: one weight, or one a channel (axis 1).

    >>> wf.nn.functional.prelu(wf.asarray([[-1., -1.], [2., 2.]]), wf.asarray([0.25, 0.5]))
    array([[-0.25, -0.5 ],
           [ 2.  ,  2.  ]], dtype=float32)
    """
    return _nn.prelu(input, weight)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False, *, key=None):
    """leaky_relu with slopes drawn from [lower, upper) while training, else with their mean.

    >>> wf.nn.functional.rrelu(wf.asarray([-48., 12.]))
    array([-11.,  12.], dtype=float32)
    >>> wf.nn.functional.rrelu(wf.asarray([-48., -48., 12.]), training=True, key=wf.random.key(0))
    array([ -9.990464, -14.805202,  12.      ], dtype=float32)
    """
    return _nn.rrelu(input, lower, upper, training, key)


def glu(input, dim=-1):
    """The first half along the axis, times the sigmoid of the second.

    >>> wf.nn.functional.glu(wf.asarray([1., 2., 0., 100.]))
    array([0.5, 2. ], dtype=float32)
    """
    return _nn.glu(input, dim)


def gelu(input, approximate="none"):
    """x times the normal distribution function of x; approximate="tanh": by a tanh.

    >>> wf.nn.functional.gelu(wf.asarray([-1., 0., 1.]))
    array([-0.15865526,  0.        ,  0.8413447 ], dtype=float32)
    >>> wf.nn.functional.gelu(wf.asarray([-1., 0., 1.]), approximate="tanh")
    array([-0.158808,  0.      ,  0.841192], dtype=float32)
    """
    return _nn.gelu(input, approximate)


def logsigmoid(input):
    """log(sigmoid(x)), without overflow.

    >>> wf.nn.functional.logsigmoid(wf.asarray([-100., 0., 1.]))
    array([-100.       ,   -0.6931472,   -0.3132617], dtype=float32)
    """
    return _core.log_sigmoid(input)


def hardshrink(input, lambd=0.5):
    """0 within +-lambd, else x.

    >>> wf.nn.functional.hardshrink(wf.asarray([-1., -0.25, 0.5, 2.]))
    array([-1.,  0.,  0.,  2.], dtype=float32)
    """
    return _nn.hardshrink(input, lambd)


def tanhshrink(input):
    """x - tanh(x).

    >>> wf.nn.functional.tanhshrink(wf.asarray([-1., 0., 1.]))
    array([-0.23840582,  0.        ,  0.23840582], dtype=float32)
    """
    return _core.tanhshrink(input)


def softsign(input):
    """x / (1 + |x|).

    >>> wf.nn.functional.softsign(wf.asarray([-1., 0., 3.]))
    array([-0.5 ,  0.  ,  0.75], dtype=float32)
    """
    return _core.softsign(input)


def softplus(input, beta=1, threshold=20):
    """log(1 + exp(beta * x)) / beta; x where beta * x > threshold.

    >>> wf.nn.functional.softplus(wf.asarray([-1., 0., 30.]))
    array([ 0.3132617,  0.6931472, 30.       ], dtype=float32)
    """
    return _nn.softplus(input, beta, threshold)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-x) along an axis.

    >>> wf.nn.functional.softmin(wf.asarray([0., 0., 1.]), dim=0)
    array([0.42231882, 0.42231882, 0.15536241], dtype=float32)
    """
    return _nn.softmin(input, dim, dtype)


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) over its sum along an axis. Without one: 0 of values with 0, 1 or 3 axes, else 1.

    >>> wf.nn.functional.softmax(wf.asarray([[0., 0.], [0., 1.]]), dim=1)
    array([[0.5       , 0.5       ],
           [0.26894143, 0.7310586 ]], dtype=float32)
    """
    return _nn.softmax(input, dim, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(x)), without overflow.

    >>> wf.nn.functional.log_softmax(wf.asarray([0., 1000.]), dim=0)
    array([-1000.,     0.], dtype=float32)
    """
    return _nn.log_softmax(input, dim, dtype)


def softshrink(input, lambd=0.5):
    """x moved towards 0 by lambd, 0 where that is further than 0.

    >>> wf.nn.functional.softshrink(wf.asarray([-1., -0.25, 0.5, 2.]))
    array([-0.5,  0. ,  0. ,  1.5], dtype=float32)
    """
    return _nn.softshrink(input, lambd)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1, *, key=None):
    """softmax((logits + Gumbel noise) / tau); hard: 1 at the largest, with the soft one's derivative. `eps` means nothing, as in PyTorch.

    >>> wf.nn.functional.gumbel_softmax(wf.asarray([0., 1., 2.]), key=wf.random.key(0))
    array([0.0233956 , 0.45915544, 0.51744896], dtype=float32)
    >>> wf.nn.functional.gumbel_softmax(wf.asarray([0., 1., 2.]), hard=True, key=wf.random.key(0))
    array([0., 0., 1.], dtype=float32)
    """
    return _nn.gumbel_softmax(logits, tau, hard, dim, key)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x held between min_val and max_val.

    >>> wf.nn.functional.hardtanh(wf.asarray([-3., 0.5, 2.]))
    array([-1. ,  0.5,  1. ], dtype=float32)
    """
    return _nn.hardtanh(input, min_val, max_val)


def hardsigmoid(input, inplace=False):
    """min(max(x + 3, 0), 6) / 6.

    >>> wf.nn.functional.hardsigmoid(wf.asarray([-4., 0., 1.5, 4.]))
    array([0.  , 0.5 , 0.75, 1.  ], dtype=float32)
    """
    return _core.hardsigmoid(input)


def silu(input, inplace=False):
    """x * sigmoid(x).

    >>> wf.nn.functional.silu(wf.asarray([-1., 0., 1.]))
    array([-0.26894143,  0.        ,  0.7310586 ], dtype=float32)
    """
    return _core.silu(input)


def mish(input, inplace=False):
    """x * tanh(softplus(x)).

    >>> wf.nn.functional.mish(wf.asarray([-1., 0., 1.]))
    array([-0.30340147,  0.        ,  0.8650984 ], dtype=float32)
    """
    return _core.mish(input)


def hardswish(input, inplace=False):
    """x * hardsigmoid(x).

    >>> wf.nn.functional.hardswish(wf.asarray([-4., -1.5, 1.5, 4.]))
    array([-0.   , -0.375,  1.125,  4.   ], dtype=float32)
    """
    return _core.hardswish(input)


def threshold(input, threshold, value, inplace=False):
    """x where x > threshold, else value.

    >>> wf.nn.functional.threshold(wf.asarray([0.5, 1., 2.]), 1., -7.)
    array([-7., -7.,  2.], dtype=float32)
    """
    return _nn.threshold(input, threshold, value)


def sigmoid(input):
    """1 / (1 + exp(-x)).

    >>> wf.nn.functional.sigmoid(wf.asarray([-1., 0., 1.]))
    array([0.26894143, 0.5       , 0.7310586 ], dtype=float32)
    """
    return _core.sigmoid(input)


def tanh(input):
    """The hyperbolic tangent.

    >>> wf.nn.functional.tanh(wf.asarray([-1., 0., 1.]))
    array([-0.7615942,  0.       ,  0.7615942], dtype=float32)
    """
    return _core.tanh(input)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """x over the larger of its p-norm along an axis (or several) and eps.

    >>> wf.nn.functional.normalize(wf.asarray([[3., 4.], [0., 2.]]))
    array([[0.6, 0.8],
           [0. , 1. ]], dtype=float32)
    """
    if out is not None:
        raise TypeError("normalize: values never change, so there is no out=; take what the function gives")
    return _nn.normalize(input, p, dim, eps)
