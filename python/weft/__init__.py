"""weft: expressions written as NumPy's, differentiated, compiled in microseconds.

    import weft as wf
    x = wf.asarray([[1., 2.], [3., 4.]])
    y = wf.tanh(x @ x.T) + 1      # noted: shapes and dtypes are checked here
    print(y)                      # computed now
"""
from ._core import (
    AxisError, CompileError, ConfigError, DeviceError, DType, DTypeError, FileError, IndexError, NotDifferentiable, OutOfMemory,
    ShapeError, Tensor, bfloat16, complex64, complex128, float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32,
    uint64,
)
from ._core import bool_ as bool  # noqa: A004  (the standard's name)
from ._core import bool_
from ._constants import e, euler_gamma, inf, nan, newaxis, pi
from ._elementwise import *
from ._arrange import *
from ._creation import *
from ._functions import *
from ._dtypes import *
from ._loops import *
from ._manipulation import *
from ._order import *
from ._places import *
from ._products import *
from ._pointwise import *
from ._searching import *
from ._sets import *
from ._signal import *
from ._statistics import *
from ._custom import *
from ._declared import *
from ._tools import *
from ._training import *
from ._transforms import *
from ._inspection import __array_namespace_info__, default_device, device, devices
from . import _methods

__array_api_version__ = "2024.12"
__version__ = "0.1.0"


# Loaded when they are first asked for: what computes with arrays alone does not wait for them.
_PARTS = ("experiment", "fft", "linalg", "nn", "optim", "random", "special")


# What other frameworks call the first things that a program asks for; the manual's tables (docs/manual/tables) have the rest.
_CALLED_HERE = {"tensor": "array", "as_tensor": "asarray", "from_numpy": "asarray", "jit": "compile"}


def __getattr__(name):
    if name in _PARTS:
        __import__(f"weft.{name}")
        return globals()[name]
    here = f": it is called weft.{_CALLED_HERE[name]} here" if name in _CALLED_HERE else _found_in_a_part(name)
    raise AttributeError(f"module 'weft' has no attribute '{name}'{here}")


def _found_in_a_part(name):
    """Where a name is that was asked for on top, for the message; parts are loaded for that."""
    from importlib import import_module
    parts = () if name.startswith("_") else ("special", "linalg", "nn.functional", "nn", "random")
    found = [f"weft.{part}.{name}" for part in parts if hasattr(import_module(f"weft.{part}"), name)]
    return f": it is {' and '.join(found)}" if found else ""


def __dir__():
    return sorted({*globals(), *_PARTS})
