"""First values of weights, with torch.nn.init's names: each gives a Parameter (or the name of a tensor) new values and returns it. Draws take
a key of weft.random as `generator`, or the next of the global one."""
import math

from .. import _core

_nn = _core.nn


def _give(tensor, value):
    if isinstance(tensor, _core.Parameter):
        tensor.value = value
    else:
        tensor[...] = value
    return tensor


def calculate_gain(nonlinearity, param=None):
    """The factor that keeps the deviation through a nonlinearity.

    >>> wf.nn.init.calculate_gain("relu")
    1.4142135623730951
    """
    if nonlinearity.startswith("conv"):
        nonlinearity = "linear"
    return _nn.gain(nonlinearity, 0.01 if param is None else param)


def constant_(tensor, val):
    """Every element val.

    >>> wf.nn.init.constant_(wf.empty((3,)), 0.5)
    array([0.5, 0.5, 0.5], dtype=float32)
    """
    return _give(tensor, _core.full(tensor.shape, val, tensor.dtype))


def zeros_(tensor):
    """Every element 0.

    >>> layer = wf.nn.Linear(2, 3)
    >>> wf.nn.init.zeros_(layer.bias).value
    array([0., 0., 0.], dtype=float32)
    """
    return constant_(tensor, 0)


def ones_(tensor):
    """Every element 1.

    >>> wf.nn.init.ones_(wf.empty((2, 2)))
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return constant_(tensor, 1)


def eye_(tensor):
    """Ones on the diagonal of a matrix.

    >>> wf.nn.init.eye_(wf.empty((2, 3)))
    array([[1., 0., 0.],
           [0., 1., 0.]], dtype=float32)
    """
    if len(tensor.shape) != 2:
        raise ValueError(f"eye_: the tensor has shape {tensor.shape}, but must be a matrix")
    return _give(tensor, _core.eye(*tensor.shape, 0, tensor.dtype))


def dirac_(tensor, groups=1):
    """A convolution's weight that hands its input on, in as many channels as there are.

    >>> kernel = wf.nn.init.dirac_(wf.empty((2, 2, 3)))
    >>> kernel
    array([[[0., 1., 0.],
            [0., 0., 0.]],
    <BLANKLINE>
           [[0., 0., 0.],
            [0., 1., 0.]]], dtype=float32)
    >>> wf.nn.functional.conv1d(wf.asarray([[1., 2.], [3., 4.]]), kernel, padding=1)
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    shape = tensor.shape
    if not 3 <= len(shape) <= 5 or shape[0] % groups:
        raise ValueError(f"dirac_: the tensor has shape {shape}; it must be a convolution's weight whose outputs make {groups} groups")
    value, each = _core.full(shape, 0, tensor.dtype), shape[0] // groups
    centre = tuple(size // 2 for size in shape[2:])
    for group in range(groups):
        for i in range(min(each, shape[1])):
            value[(group * each + i, i, *centre)] = 1
    return _give(tensor, value)


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform in [a, b).

    >>> wf.nn.init.uniform_(wf.empty((4,)), -1., 1., generator=wf.random.key(0))
    array([-0.20190716,  0.76104033,  0.47142553,  0.2109636 ], dtype=float32)
    """
    return _give(tensor, _nn.uniform(tensor.shape, a, b, generator, tensor.dtype))


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal with this mean and deviation.

    >>> weight = wf.nn.init.normal_(wf.empty((100, 100)), mean=5., std=0.1, generator=wf.random.key(0))
    >>> round(float(wf.mean(weight)), 2), round(float(wf.std(weight)), 2)
    (5.0, 0.1)
    """
    return _give(tensor, _nn.normal(tensor.shape, mean, std, generator, tensor.dtype))


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal numbers, drawn between a and b.

    >>> weight = wf.nn.init.trunc_normal_(wf.empty((100, 100)), a=-1., b=0.5, generator=wf.random.key(0))
    >>> round(float(wf.min(weight)), 2), round(float(wf.max(weight)), 2)
    (-1.0, 0.5)
    """
    return _give(tensor, _nn.truncated_normal(tensor.shape, mean, std, a, b, generator, tensor.dtype))


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform within gain * sqrt(6 / (fan in + fan out)).

    >>> weight = wf.nn.init.xavier_uniform_(wf.empty((400, 200)), generator=wf.random.key(0))
    >>> round(float(wf.max(wf.abs(weight))), 3)
    0.1
    """
    return _give(tensor, _nn.xavier_uniform(tensor.shape, gain, generator, tensor.dtype))


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal with deviation gain * sqrt(2 / (fan in + fan out)).

    >>> weight = wf.nn.init.xavier_normal_(wf.empty((100, 100)), generator=wf.random.key(0))
    >>> round(float(wf.std(weight)), 2)
    0.1
    """
    return _give(tensor, _nn.xavier_normal(tensor.shape, gain, generator, tensor.dtype))


def _kaiming_deviation(tensor, a, mode, nonlinearity):
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"the mode is 'fan_in' or 'fan_out', not {mode!r}")
    fan = _nn.fan_of(tensor.shape)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform within gain * sqrt(3 / fan).

    >>> weight = wf.nn.init.kaiming_uniform_(wf.empty((100, 600)), nonlinearity="relu", generator=wf.random.key(0))
    >>> round(float(wf.max(wf.abs(weight))), 3)
    0.1
    """
    bound = math.sqrt(3) * _kaiming_deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal with deviation gain / sqrt(fan).

    >>> weight = wf.nn.init.kaiming_normal_(wf.empty((100, 200)), nonlinearity="relu", generator=wf.random.key(0))
    >>> round(float(wf.std(weight)), 2)
    0.1
    """
    return normal_(tensor, 0.0, _kaiming_deviation(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor, gain=1, generator=None):
    """A matrix with orthonormal rows or columns, times gain.

    >>> weight = wf.nn.init.orthogonal_(wf.empty((2, 3)), generator=wf.random.key(0))
    >>> wf.allclose(weight @ weight.T, wf.eye(2), atol=1e-6)
    True
    """
    return _give(tensor, _nn.orthogonal(tensor.shape, gain, generator, tensor.dtype))


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal numbers of a matrix; a part `sparsity` of each column is 0.

    >>> wf.nn.init.sparse_(wf.empty((4, 2)), 0.5, std=1., generator=wf.random.key(0))
    array([[ 1.4297941 , -0.952251  ],
           [ 0.22398184,  0.        ],
           [ 0.        ,  0.8451449 ],
           [ 0.        ,  0.        ]], dtype=float32)
    """
    if len(tensor.shape) != 2:
        raise ValueError(f"sparse_: the tensor has shape {tensor.shape}, but must be a matrix")
    rows, columns = tensor.shape
    kept = rows - math.ceil(sparsity * rows)
    return _give(tensor, _core.permute_dims(_nn.sparse((columns, rows), kept, std, generator, tensor.dtype), None))
