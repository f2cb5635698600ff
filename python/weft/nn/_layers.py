"""Layers with weights. First values are drawn from `key` (weft.random.key(seed)), or from the global generator."""
import math
from numbers import Integral

from .. import _core
from .._inspection import check_device
from . import functional as F
from . import init
from ._module import Module, Parameter

__all__ = ["Bilinear", "Embedding", "EmbeddingBag", "Flatten", "Identity", "Linear", "PReLU", "Unflatten"]


def keys_of(key, count):
    """`count` keys of one; without one as many Nones."""
    return [None] * count if key is None else list(_core.random_split(key, count))


def empty(shape, device, dtype):
    """A Parameter that waits for its first values."""
    check_device("cpu" if device is None else device)
    dtype = _core.float32 if dtype is None else _core.as_dtype(dtype)
    if any(size < 0 for size in shape):
        raise ValueError(f"a weight's sizes must not be negative: {shape}")
    return Parameter(_core.full(shape, 0, dtype))


def uniform(shape, bound, key, device, dtype):
    return init.uniform_(empty(shape, device, dtype), -bound, bound, key)


def whole(*numbers):
    """NumPy's integers as Python's: those of 8 bits wrap where sizes are multiplied. Others as they are."""
    return [int(number) if isinstance(number, Integral) else number for number in numbers]


def per_axis(value, axes, name):
    if isinstance(value, Integral):
        return (int(value),) * axes
    if len(value) != axes:
        raise ValueError(f"{name} must be a number or {axes} of them, not {value!r}")
    return tuple(whole(*value))


class Identity(Module):
    """Hands its input on, whatever it is made with."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Flatten(Module):
    """Axes start_dim .. end_dim become one.

    >>> wf.nn.Flatten()(wf.ones((8, 3, 4, 4))).shape
    (8, 48)
    """

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        shape, count = input.shape, max(len(input.shape), 1)
        if not (-count <= self.start_dim < count and -count <= self.end_dim < count):
            raise _core.AxisError(f"Flatten: axes {self.start_dim} to {self.end_dim} of the shape {shape}")
        first, last = self.start_dim % count, self.end_dim % count
        if first > last:
            raise ValueError(f"Flatten: start_dim {self.start_dim} stands behind end_dim {self.end_dim}")
        return _core.reshape(input, (*shape[:first], math.prod(shape[first:last + 1]), *shape[last + 1:]))

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One axis becomes several, of the sizes unflattened_size.

    >>> wf.nn.Unflatten(1, (3, 4))(wf.ones((8, 12))).shape
    (8, 3, 4)
    """

    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim, *self.unflattened_size = whole(dim, *unflattened_size)
        self.unflattened_size = tuple(self.unflattened_size)

    def forward(self, input):
        shape = input.shape
        if not -len(shape) <= self.dim < len(shape):
            raise _core.AxisError(f"Unflatten: axis {self.dim} of the shape {shape}")
        axis = self.dim % len(shape)
        sizes = self.unflattened_size
        if -1 not in sizes and math.prod(sizes) != shape[axis]:
            raise _core.ShapeError(f"Unflatten: {shape[axis]} elements do not make {sizes}")
        return _core.reshape(input, (*shape[:axis], *sizes, *shape[axis + 1:]))

    def extra_repr(self):
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class Linear(Module):
    """x @ weight.T + bias; weight (out_features, in_features).

    >>> layer = wf.nn.Linear(2, 1)
    >>> layer.weight.value, layer.bias.value = wf.asarray([[3., 4.]]), wf.asarray([100.])
    >>> layer(wf.asarray([[1., 2.]]))
    array([[111.]], dtype=float32)
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None, *, key=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        first, second = keys_of(key, 2)
        bound = 1 / math.sqrt(in_features) if in_features > 0 else 0.0
        self.weight = uniform((out_features, in_features), bound, first, device, dtype)
        self.register_parameter("bias", uniform((out_features,), bound, second, device, dtype) if bias else None)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """x1 @ weight @ x2 + bias; weight (out_features, in1_features, in2_features)."""

    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None, *, key=None):
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"Bilinear: in1_features is {in1_features}; it must be above 0")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        first, second = keys_of(key, 2)
        bound = 1 / math.sqrt(in1_features)
        self.weight = uniform((out_features, in1_features, in2_features), bound, first, device, dtype)
        self.register_parameter("bias", uniform((out_features,), bound, second, device, dtype) if bias else None)

    def forward(self, input1, input2):
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self):
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
                f"bias={self.bias is not None}")


class PReLU(Module):
    """x where x > 0, else weight * x: one weight, or one a channel."""

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = empty((num_parameters,), device, dtype)
        self.weight.value = _core.full((num_parameters,), init, self.weight.dtype)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class _Table(Module):
    """What both kinds of embedding hold: a table of normal numbers, the padding's row 0."""

    def _fill(self, num_embeddings, embedding_dim, padding_idx, _weight, device, dtype, key):
        num_embeddings, embedding_dim, padding_idx = whole(num_embeddings, embedding_dim, padding_idx)
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError(f"{type(self).__name__}: padding_idx is {padding_idx}, but there are {num_embeddings} rows")
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        if _weight is not None:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise ValueError(f"{type(self).__name__}: the table has shape {_weight.shape}, not {(num_embeddings, embedding_dim)}")
            self.weight = Parameter(_weight)
            return
        self.weight = init.normal_(empty((num_embeddings, embedding_dim), device, dtype), 0.0, 1.0, key)
        if padding_idx is not None:
            value = self.weight.value
            value[padding_idx] = 0
            self.weight.value = value

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, **options):
        """A layer with this table."""
        made = cls(*embeddings.shape, padding_idx=padding_idx, _weight=embeddings, **options)
        made.weight.trainable = not freeze
        return made


class Embedding(_Table):
    """Rows of a table, which indices name.

    >>> table = wf.nn.Embedding(10, 3)
    >>> table(wf.asarray([[1, 2], [2, 4]])).shape
    (2, 2, 3)
    >>> words = wf.nn.Embedding.from_pretrained(wf.asarray([[0., 0.], [1., 10.]]))
    >>> words(wf.asarray([1, 0, 1]))
    array([[ 1., 10.],
           [ 0.,  0.],
           [ 1., 10.]], dtype=float32)
    """

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 sparse=False, _weight=None, _freeze=False, device=None, dtype=None, *, key=None):
        super().__init__()
        self._fill(num_embeddings, embedding_dim, padding_idx, _weight, device, dtype, key)
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse = max_norm, norm_type, scale_grad_by_freq, sparse
        self.weight.trainable = not _freeze

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse)

    def extra_repr(self):
        more = "".join(f", {name}={getattr(self, name)!r}" for name, usual in (
            ("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False), ("sparse", False))
            if getattr(self, name) != usual)
        return f"{self.num_embeddings}, {self.embedding_dim}{more}"


class EmbeddingBag(_Table):
    """Sums, means or maxima of rows of a table."""

    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False,
                 _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None, *, key=None):
        super().__init__()
        self._fill(num_embeddings, embedding_dim, padding_idx, _weight, device, dtype, key)
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
                               per_sample_weights, self.include_last_offset, self.padding_idx)

    def extra_repr(self):
        return f"{self.num_embeddings}, {self.embedding_dim}, mode={self.mode!r}"
