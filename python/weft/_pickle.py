"""What pickles name: functions that give back what was written."""
from . import _core


def restored(numbers, dtype, shape):
    """The array of these bytes, row-major."""
    return _core.restored(numbers, dtype, shape)


def dtype_named(name):
    """The dtype of NumPy's name."""
    return _core.dtype_named(name)
