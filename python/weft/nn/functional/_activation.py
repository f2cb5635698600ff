"""Activations. Shapes stay; integers become float32."""
from ... import _core

_nn = _core.nn

__all__ = ["celu", "elu", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
           "log_softmax", "logsigmoid", "mish", "normalize", "prelu", "relu", "relu6", "rrelu", "selu", "sigmoid", "silu", "softmax",
           "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold"]


def relu(input, inplace=False):
    """max(x, 0); its derivative at 0 is 0."""
    return _core.relu(input)


def relu6(input, inplace=False):
    """min(max(x, 0), 6)."""
    return _core.relu6(input)


def elu(input, alpha=1.0, inplace=False):
    """x where x > 0, else alpha * (exp(x) - 1)."""
    return _nn.elu(input, alpha)


def selu(input, inplace=False):
    """The self-normalising exponential linear unit: 1.0507 * elu(x, 1.6733)."""
    return _core.selu(input)


def celu(input, alpha=1.0, inplace=False):
    """x where x > 0, else alpha * (exp(x / alpha) - 1). ValueError for alpha = 0."""
    return _nn.celu(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where x > 0, else negative_slope * x."""
    return _nn.leaky_relu(input, negative_slope)


def prelu(input, weight):
    """x where x > 0, else weight * x: one weight, or one a channel (axis 1)."""
    return _nn.prelu(input, weight)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False, *, key=None):
    """leaky_relu with slopes drawn from [lower, upper) while training, else with their mean."""
    return _nn.rrelu(input, lower, upper, training, key)


def glu(input, dim=-1):
    """The first half along the axis, times the sigmoid of the second."""
    return _nn.glu(input, dim)


def gelu(input, approximate="none"):
    """x times the normal distribution function of x; approximate="tanh": by a tanh."""
    return _nn.gelu(input, approximate)


def logsigmoid(input):
    """log(sigmoid(x)), without overflow."""
    return _core.log_sigmoid(input)


def hardshrink(input, lambd=0.5):
    """0 within +-lambd, else x."""
    return _nn.hardshrink(input, lambd)


def tanhshrink(input):
    """x - tanh(x)."""
    return _core.tanhshrink(input)


def softsign(input):
    """x / (1 + |x|)."""
    return _core.softsign(input)


def softplus(input, beta=1, threshold=20):
    """log(1 + exp(beta * x)) / beta; x where beta * x > threshold."""
    return _nn.softplus(input, beta, threshold)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-x) along an axis."""
    return _nn.softmin(input, dim, dtype)


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) over its sum along an axis. Without one: 0 of values with 0, 1 or 3 axes, else 1."""
    return _nn.softmax(input, dim, dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(x)), without overflow."""
    return _nn.log_softmax(input, dim, dtype)


def softshrink(input, lambd=0.5):
    """x moved towards 0 by lambd, 0 where that is further than 0."""
    return _nn.softshrink(input, lambd)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1, *, key=None):
    """softmax((logits + Gumbel noise) / tau); hard: 1 at the largest, with the soft one's derivative. `eps` means nothing, as in PyTorch."""
    return _nn.gumbel_softmax(logits, tau, hard, dim, key)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x held between min_val and max_val."""
    return _nn.hardtanh(input, min_val, max_val)


def hardsigmoid(input, inplace=False):
    """min(max(x + 3, 0), 6) / 6."""
    return _core.hardsigmoid(input)


def silu(input, inplace=False):
    """x * sigmoid(x)."""
    return _core.silu(input)


def mish(input, inplace=False):
    """x * tanh(softplus(x))."""
    return _core.mish(input)


def hardswish(input, inplace=False):
    """x * hardsigmoid(x)."""
    return _core.hardswish(input)


def threshold(input, threshold, value, inplace=False):
    """x where x > threshold, else value."""
    return _nn.threshold(input, threshold, value)


def sigmoid(input):
    """1 / (1 + exp(-x))."""
    return _core.sigmoid(input)


def tanh(input):
    """The hyperbolic tangent."""
    return _core.tanh(input)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """x over the larger of its p-norm along an axis (or several) and eps."""
    if out is not None:
        raise TypeError("normalize: values never change, so there is no out=; take what the function gives")
    return _nn.normalize(input, p, dim, eps)
