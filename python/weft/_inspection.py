"""What weft offers, as the array API standard asks for it, and devices."""
from . import _core

FLOATS = {"float32": _core.float32, "float64": _core.float64}
COMPLEXES = {"complex64": _core.complex64, "complex128": _core.complex128}
SIGNED = {"int8": _core.int8, "int16": _core.int16, "int32": _core.int32, "int64": _core.int64}
UNSIGNED = {"uint8": _core.uint8, "uint16": _core.uint16, "uint32": _core.uint32, "uint64": _core.uint64}
KINDS = {"bool": {"bool": _core.bool_}, "signed integer": SIGNED, "unsigned integer": UNSIGNED, "integral": {**SIGNED, **UNSIGNED},
         "real floating": FLOATS, "complex floating": COMPLEXES, "numeric": {**SIGNED, **UNSIGNED, **FLOATS, **COMPLEXES}}


def devices():
    """The devices of this machine, by name.

    >>> wf.devices()
    ['cpu']
    """
    return ["cpu"]


def check_device(device):
    """DeviceError for a device that is not there."""
    if device not in (None, "cpu"):
        raise _core.DeviceError(f"the device {device!r} is not there; this machine has: cpu (programs run on the processor alone, as yet)")


def default_device(device=None):
    """Where arrays are made; with a device, that from now on. DeviceError for one that is not there.

    >>> wf.default_device()
    'cpu'
    """
    check_device(device)
    return "cpu"


def device(device):
    """A block in which this is the default device. DeviceError for one that is not there.

    >>> with wf.device("cpu"):
    ...     wf.ones(2).device
    'cpu'
    """
    check_device(device)
    return Block(device)


class Block:
    """What `with wf.device(name):` enters; it gives the name."""

    def __init__(self, device):
        self._device = device

    def __enter__(self):
        return self._device

    def __exit__(self, *error):
        return None


class Info:
    """The answers of __array_namespace_info__()."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        return "cpu"

    def default_dtypes(self, *, device=None):
        check_device(device)
        return {"real floating": _core.float32, "complex floating": _core.complex64, "integral": _core.int64, "indexing": _core.int64}

    def devices(self):
        return devices()

    def dtypes(self, *, device=None, kind=None):
        check_device(device)
        every = {**KINDS["bool"], **KINDS["numeric"]}
        if kind is None:
            return every
        kinds = kind if isinstance(kind, tuple) else (kind,)
        for one in kinds:
            if one not in KINDS:
                raise ValueError(f"dtypes: {one!r} is not a kind of dtype; kinds are {', '.join(KINDS)}")
        return {name: dtype for one in kinds for name, dtype in KINDS[one].items()}


def __array_namespace_info__():
    """What this namespace of the array API standard can do: dtypes, devices, capabilities."""
    return Info()
