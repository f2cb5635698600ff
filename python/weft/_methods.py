"""Methods of weft.Tensor that have options, as NumPy's arrays and PyTorch's tensors have them. Put into the class when weft is imported."""
import sys
import weakref

from . import _core, _dtypes, _functions, _manipulation, _pickle, _places, _pointwise, _products, _searching, _statistics
from ._inspection import check_device

Tensor = _core.Tensor


for home, names in [(_statistics, "all any sum prod max min mean std var cumsum cumprod"), (_searching, "argmax argmin argsort nonzero searchsorted take"),
                    (_manipulation, "squeeze ravel repeat swapaxes"), (_products, "dot diagonal trace"), (_places, "choose argpartition"),
                    (_pointwise, "round"), (_functions, "clip")]:
    for name in names.split():
        setattr(Tensor, name, getattr(home, name))
Tensor.compress = lambda self, condition, axis=None: _places.compress(condition, self, axis)
Tensor.copy = lambda self, order="C": _core.same(self)
Tensor.tobytes = lambda self: memoryview(_core.bits_of_bfloat16(self) if self.dtype == _core.bfloat16 else self).tobytes()
Tensor.conj = Tensor.conjugate = lambda self: _core.conj(self)
Tensor.astype = lambda self, dtype, order="K", casting="unsafe", subok=True, copy=True: _dtypes.astype(self, dtype, casting=casting)
for method, function in [(Tensor.conj, _functions.conj), (Tensor.astype, _dtypes.astype), (Tensor.compress, _places.compress)]:
    method.__doc__ = function.__doc__
Tensor.copy.__doc__ = "The tensor itself: values never change."
Tensor.tobytes.__doc__ = "The elements' bytes, row after row."


def reshape(self, *shape, order="C", copy=None):
    """The same elements under another shape: reshape(2, 3) or reshape((2, 3)). order="F": column after column."""
    if len(shape) == 1:
        shape = shape[0]
    return _core.reshape(self, shape) if order == "C" else _manipulation.reshape(self, shape, order)


def flatten(self, order="C", end_dim=-1, *, start_dim=None):
    """All axes made one, row after row or column after column (order="F"), as NumPy's method; flatten(start_dim, end_dim=-1), as PyTorch's, makes
    one of these axes and those between. ValueError for axes that are none, or in the other order."""
    if start_dim is None and isinstance(order, str) and end_dim == -1:
        return _manipulation.ravel(self, order)
    return _core.flatten(self, (0 if isinstance(order, str) else order) if start_dim is None else start_dim, end_dim)


def transpose(self, *axes):
    """The axes reversed, or in the order that is said."""
    if len(axes) == 1 and not isinstance(axes[0], int):
        axes = axes[0]
    return _core.permute_dims(self, axes or None)


def _repr_html_(self):
    """A notebook's view: a small matrix or vector as a table, others as text."""
    import html
    caption = f"<div>{self.dtype.name} {self.shape}</div>"
    if self.ndim not in (1, 2) or not 0 < self.size <= 400 or self.shape[-1] > 40:
        return f"<div>{caption}<pre>{html.escape(str(self))}</pre></div>"
    rows = self.tolist() if self.ndim == 2 else [self.tolist()]

    def cell(value):
        return html.escape(f"{value:.6g}" if isinstance(value, (float, complex)) else str(value))
    lines = "".join("<tr>" + "".join(f"<td style='text-align:right'>{cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<div>{caption}<table>{lines}</table></div>"


def numpy(self):
    """A NumPy array that shows the same memory, read-only (bfloat16 needs the package ml_dtypes)."""
    import numpy as np
    if self.dtype == _core.bfloat16:
        return self.__array__()
    return np.asarray(memoryview(self))


def __array_interface__(self):
    """Where the numbers lie, for who knows NumPy's array interface: read-only, there as long as this tensor is."""
    if self.dtype == _core.bfloat16:
        raise AttributeError("bfloat16 has no name in the array interface")
    shown = memoryview(self)
    # Whoever reads the address holds the tensor: `x[i] = v` may give it other numbers, so what was shown stays until it is gone.
    weakref.finalize(self, id, shown).atexit = False
    return _core.array_interface(self, shown)


def __array__(self, dtype=None, copy=None):
    import numpy as np
    if self.dtype == _core.bfloat16:
        import ml_dtypes
        shown = np.asarray(memoryview(_core.bits_of_bfloat16(self))).view(ml_dtypes.bfloat16)
    else:
        shown = np.asarray(memoryview(self))
    if dtype is not None and shown.dtype != dtype:
        if copy is False:
            raise ValueError("another dtype needs a copy, and copy=False forbids one")
        return shown.astype(dtype)
    return shown.copy() if copy else shown


def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    if stream is not None:
        raise BufferError("__dlpack__: the processor has no streams; stream is None")
    return _core.to_dlpack(self, max_version, dl_device, copy)


def __array_namespace__(self, /, *, api_version=None):
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(f"version {api_version!r} of the array API standard is not known; 2024.12 is")
    return sys.modules["weft"]


def to_device(self, device, /, *, stream=None):
    """The array on a device: there is one, 'cpu'."""
    check_device(device)
    if stream is not None:
        raise ValueError("to_device: the processor has no streams; stream is None")
    return self


def to(self, target):
    """The tensor on a device, or of a dtype. DeviceError for a device that is not there."""
    if isinstance(target, str) and target.partition(":")[0] in ("cpu", "cuda", "opencl", "mps", "xpu"):
        check_device(target)
        return self
    return _core.astype(self, target)


def __complex__(self):
    if self.ndim:
        raise TypeError(f"only a tensor without axes becomes a complex; this one has the shape {self.shape}")
    return complex(self.item())


def __reduce__(self):
    return _pickle.restored, (self.tobytes(), self.dtype.name, self.shape)


Tensor.reshape, Tensor.flatten, Tensor.transpose, Tensor.numpy, Tensor.to_device, Tensor.to = reshape, flatten, transpose, numpy, to_device, to
Tensor.__array__, Tensor.__dlpack__, Tensor.__complex__, Tensor.__reduce__ = __array__, __dlpack__, __complex__, __reduce__
Tensor.__array_namespace__ = __array_namespace__
Tensor.__dlpack_device__ = lambda self: (1, 0)
Tensor.__copy__ = lambda self: _core.same(self)
Tensor.__deepcopy__ = lambda self, memo: _core.same(self)
Tensor.__array_ufunc__ = None      # NumPy leaves `array + tensor` to the tensor
Tensor.__array_priority__ = 1000
Tensor.__array_interface__ = property(__array_interface__)
Tensor.device = property(lambda self: "cpu", doc="Where the numbers are: 'cpu'.")
Tensor._repr_html_ = _repr_html_
Tensor.__module__ = "weft"


def through_value(name):
    return lambda self, *others: getattr(self.value, name)(*(x.value if isinstance(x, _core.Parameter) else x for x in others))


for name in ("add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul neg pos abs eq ne lt le gt ge "
             "getitem len bool int float array array_namespace dlpack dlpack_device").split():
    setattr(_core.Parameter, f"__{name}__", through_value(f"__{name}__"))
_core.Parameter.__hash__ = object.__hash__
_core.Parameter.__repr__ = lambda self: f"Parameter({self.name!r}, {self.value!r})" if self.name else f"Parameter({self.value!r})"
_core.Parameter.__reduce__ = lambda self: (type(self), (self.value, self.name, self.trainable))
