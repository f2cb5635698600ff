"""Element types: conversion, promotion, limits."""
from collections import namedtuple

from . import _core
from ._inspection import KINDS, check_device

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "promote_types", "result_type"]


def astype(x, dtype, /, *, copy=True, device=None, casting="unsafe"):
    """The same numbers as another dtype: floating to integer truncates, anything to bool is != 0. A value never changes, so `copy`
    makes no difference. TypeError for a conversion that is not as safe as `casting` says (see can_cast).

    >>> wf.astype(wf.asarray([1.7, -1.7, 0.]), wf.int32)
    array([ 1, -1,  0], dtype=int32)
    >>> wf.astype(wf.asarray([1.7, -1.7, 0.]), wf.bool)
    array([ True,  True, False])
    """
    check_device(device)
    if not isinstance(x, _core.Tensor):
        raise TypeError(f"astype: an array is wanted, not {type(x).__name__!r}")
    if casting != "unsafe" and not can_cast(x, dtype, casting):
        raise TypeError(f"astype: from {x.dtype.name} to {_core.as_dtype(dtype).name} is not {casting!r}; casting='unsafe' does it")
    return _core.astype(x, dtype)


def result_type(*arrays_and_dtypes):
    """The dtype that these arrays, dtypes and numbers meet in. Python's numbers are weak: they take the dtype of what stands beside.

    >>> wf.result_type(wf.float16, 2.5)
    weft.float16
    >>> wf.result_type(wf.int8, wf.int32, wf.ones(2, dtype=wf.float64))
    weft.float64
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: at least one array or dtype is wanted")
    strong, weak = [], []
    for value in arrays_and_dtypes:
        if isinstance(value, (bool, int, float, complex)):
            weak.append(value)
        else:
            strong.append(value.dtype if isinstance(value, _core.Tensor) else _core.as_dtype(getattr(value, "dtype", value)))
    if not strong:   # what asarray makes of them
        strong = [_core.asarray(weak[0], None, None).dtype]
    dtype = strong[0]
    for other in strong[1:]:
        dtype = _core.promote(dtype, other)
    for number in weak:
        dtype = _core.promote_weak(dtype, number)
    return dtype


def promote_types(type1, type2):
    """The dtype that two dtypes meet in.

    >>> wf.promote_types(wf.int8, wf.uint8)
    weft.int16
    """
    return _core.promote(type1, type2)


def can_cast(from_, to, casting="safe"):
    """Whether a conversion is allowed: 'safe' loses nothing (promotion of both gives `to`), 'same_kind' stays among floating numbers, or
    integers, or leads to a richer kind, 'no' and 'equiv' change nothing, 'unsafe' is any.

    >>> wf.can_cast(wf.int8, wf.int16), wf.can_cast(wf.float64, wf.float32)
    (True, False)
    """
    source = from_.dtype if isinstance(from_, _core.Tensor) else _core.as_dtype(from_)
    target = _core.as_dtype(to)
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(f"can_cast: casting is 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', not {casting!r}")
    if casting != "safe" and (casting != "same_kind" or "buifc".index(source.kind) <= "buifc".index(target.kind)):
        return casting in ("unsafe", "same_kind") or source == target
    if source.kind == "f" and target.kind in "iub" or source.kind == "c" and target.kind != "c":
        return False
    if source.kind in "iu" and target.kind in "fc":
        return True
    return _core.promote(source, target) == target


def isdtype(dtype, kind):
    """Whether a dtype is of a kind ('bool', 'integral', 'real floating', ...), is another dtype, or any of a tuple of these.

    >>> wf.isdtype(wf.uint8, "integral"), wf.isdtype(wf.uint8, ("bool", "real floating"))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    dtype = _core.as_dtype(dtype)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"isdtype: {kind!r} is not a kind of dtype; kinds are {', '.join(KINDS)}")
        half = dtype.name in ("float16", "bfloat16") and kind in ("real floating", "numeric")
        return half or dtype in KINDS[kind].values()
    return dtype == _core.as_dtype(kind)


finfo_object = namedtuple("finfo_object", "bits eps max min smallest_normal dtype resolution tiny")
iinfo_object = namedtuple("iinfo_object", "bits max min dtype")

# name: bits, digits of the mantissa, least exponent of a normal number
FORMATS = {"float16": (16, 10, -14), "bfloat16": (16, 7, -126), "float32": (32, 23, -126), "float64": (64, 52, -1022)}


def finfo(type, /):
    """Limits of a floating dtype (of a complex one: of its parts).

    >>> wf.finfo(wf.float32).eps
    1.1920928955078125e-07
    """
    dtype = type.dtype if isinstance(type, _core.Tensor) else _core.as_dtype(type)
    dtype = {"complex64": _core.float32, "complex128": _core.float64}.get(dtype.name, dtype)
    if dtype.name not in FORMATS:
        raise TypeError(f"finfo: {dtype} is not a floating dtype")
    bits, digits, low = FORMATS[dtype.name]
    eps, tiny = 2.0 ** -digits, 2.0 ** low
    largest = (2.0 - eps) * 2.0 ** (1 - low)
    resolution = 10.0 ** -int(digits * 0.30103)
    return finfo_object(bits, eps, largest, -largest, tiny, dtype, resolution, tiny)


def iinfo(type, /):
    """Limits of an integer dtype.

    >>> wf.iinfo(wf.int8).max
    127
    """
    dtype = type.dtype if isinstance(type, _core.Tensor) else _core.as_dtype(type)
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo: {dtype} is not an integer dtype")
    bits = 8 * dtype.itemsize
    if dtype.kind == "i":
        return iinfo_object(bits, 2 ** (bits - 1) - 1, -2 ** (bits - 1), dtype)
    return iinfo_object(bits, 2 ** bits - 1, 0, dtype)
