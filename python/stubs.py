"""Writes type stubs beside the package's modules: weft/__init__.pyi, weft/linalg.pyi, ..., from the functions themselves: their parameters'
names, kinds and defaults, and the annotations that some have. So a function that is added has its stub. Called by the build:
stubs.py FOLDER, where the built package weft lies.

A parameter without annotation takes the type of its default, or what its name says (PARAMETERS), or an array; a function without
annotation gives a Tensor, or the named tuple of its module that it makes.
"""
import enum
import inspect
import pkgutil
import re
import sys
from pathlib import Path

HEAD = '''"""Generated from the package's functions."""
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Optional, Union

from weft._typing import Array, Axis, DTypeLike, Shape
'''
# What names mean wherever they stand; of others the default's type counts.
PARAMETERS = {
    "axis": "Axis", "axes": "Axis", "source": "Axis", "destination": "Axis", "shape": "Shape", "new_shape": "Shape", "dims": "Shape",
    "dimensions": "Shape", "dtype": "DTypeLike", "type": "Any", "type1": "Any", "type2": "Any", "kind": "Any", "from_": "Any", "to": "Any",
    "device": "Any", "f": "Callable[..., Any]", "func": "Callable[..., Any]", "func1d": "Callable[..., Any]", "function": "Callable[..., Any]", "subscripts": "str", "mode": "str",
    "n": "Any", "k": "Any", "num": "int", "obj": "Any", "self": "", "cls": "", "repeats": "Any", "repetitions": "Any", "shift": "Any",
    "indices_or_sections": "Any", "arrays": "Sequence[Any]", "tup": "Sequence[Any]", "primals": "Any", "tangents": "Any", "argnums": "Any",
    "in_axes": "Any", "out_axes": "Any", "seed": "int", "n_rows": "int", "n_cols": "Optional[int]", "index": "Any", "wrt": "Any",
    "nondiff_argnums": "Any", "fwd": "Callable[..., Any]", "bwd": "Callable[..., Any]", "bins": "Any", "range": "Any", "memo": "Any",
    "name": "str", "tree": "Any", "model": "Any", "module": "Any", "optimizer": "Any", "loss_fn": "Callable[..., Any]",
    "params": "Any", "path": "Any", "folder": "Any", "channel": "str", "grads": "Any", "closure": "Callable[..., Any]",
    "cond": "Callable[..., Any]", "body": "Callable[..., Any]", "true_f": "Callable[..., Any]", "false_f": "Callable[..., Any]",
    "fn": "Callable[..., Any]", "ord": "Any", "encoder_layer": "Any", "decoder_layer": "Any",
    "in_proj_bias": "Optional[Array]", "out_proj_bias": "Optional[Array]", "bias_k": "Optional[Array]", "bias_v": "Optional[Array]",
}
BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"]
UNARY = ["__neg__", "__pos__", "__abs__", "__invert__"]
FORMS = {"__eq__": "other: Any", "__ne__": "other: Any", "__lt__": "other: Array", "__le__": "other: Array", "__gt__": "other: Array",
         "__ge__": "other: Array", "__getitem__": "key: Any", "__contains__": "value: Any"}
GIVES = {"__bool__": "bool", "__int__": "int", "__float__": "float", "__complex__": "complex", "__index__": "int", "__len__": "int",
         "__iter__": "Iterator[Tensor]", "__hash__": "int", "__contains__": "bool", "__repr__": "str", "__str__": "str"}
ATTRIBUTES = {"shape": "tuple[int, ...]", "dtype": "DType", "ndim": "int", "size": "int", "nbytes": "int", "itemsize": "int", "computed": "bool",
              "device": "Any"}
METHODS = {"item": "(self) -> Any", "tolist": "(self) -> Any", "eval": "(self) -> Tensor", "to_device": "(self, device: Any, /) -> Tensor"}

# Modules whose functions give functions, types, trees, and what they were given.
GIVE_ANYTHING = {"weft._custom", "weft._declared", "weft._transforms", "weft._loops", "weft._inspection", "weft._dtypes", "weft._training", "weft.optim._optimizer", "weft.optim.schedule", "weft.nn.init", "weft.nn.utils.rnn", "weft.experiment"}


def type_of(parameter):
    if parameter.annotation is not parameter.empty:
        return annotated(parameter.annotation)
    default = parameter.default
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return "Any"
    if parameter.name in PARAMETERS:
        return PARAMETERS[parameter.name]
    if isinstance(default, bool):
        return "bool"
    if isinstance(default, int):
        return "int" if parameter.name.endswith("order") else "Any"
    if isinstance(default, str):
        return "Any" if parameter.name == "reduction" else "str"
    if default is parameter.empty:
        return "Array"
    return "Any"


def annotated(annotation):
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def spelled(text):
    """Python's own types by their full names: weft has a bool, and functions named like others."""
    return re.sub(r"(?<=[:>\[|,] )\b(bool|int|float|complex|str|list|tuple|dict)\b|(?<=\[)\b(bool|int|float|complex|str)\b",
                  lambda found: "builtins." + found.group(0), text)


def parameters(signature):
    """As source: markers for what is positional or named alone, and defaults as '...'."""
    parts, named = [], False
    every = list(signature.parameters.values())
    for i, parameter in enumerate(every):
        kind = parameter.kind
        if kind is parameter.VAR_POSITIONAL:
            named = True
        if kind is parameter.KEYWORD_ONLY and not named:
            parts.append("*")
            named = True
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(kind, "")
        hint = type_of(parameter)
        text = stars + parameter.name + (f": {hint}" if hint else "")
        parts.append(text if parameter.default is parameter.empty else text + " = ...")
        if kind is parameter.POSITIONAL_ONLY and (i + 1 == len(every) or every[i + 1].kind is not kind):
            parts.append("/")
    return ", ".join(parts)


def named_tuple(value):
    """The named tuple of its module that a function makes, if it makes one."""
    code = getattr(value, "__code__", None) if getattr(value, "__module__", None) not in GIVE_ANYTHING else None
    found = [value.__globals__.get(name) for name in code.co_names] if code else []
    return next((made for made in found if isinstance(made, type) and hasattr(made, "_fields")), None)


def function(name, value, indent="", gives="Tensor"):
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        own = "self, " if indent else ""
        return f"{indent}def {name}({own}*args: Any, **kwargs: Any) -> {'None' if name == '__init__' else 'Any'}: ...\n"
    if getattr(value, "__module__", None) in GIVE_ANYTHING:
        gives = "Any"
    elif not indent and (made := named_tuple(value)):
        gives = "_" + made.__name__
    if signature.return_annotation is not signature.empty:
        gives = annotated(signature.return_annotation)
    if name == "__init__":
        gives = "None"
    return f"{indent}def {name}({parameters(signature)}) -> {gives}: ...\n"


def operators(names):
    """Those among the names, as tensors have them."""
    lines = []
    for operator in BINARY:
        for name in (f"__{operator}__", f"__r{operator}__"):
            if name in names:
                lines.append(f"    def {name}(self, other: Array, /) -> Tensor: ...\n")
    lines += [f"    def {name}(self) -> Tensor: ...\n" for name in UNARY if name in names]
    for name, arguments in FORMS.items():
        if name in names:
            ignored = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
            lines.append(f"    def {name}(self, {arguments}, /) -> {GIVES.get(name, 'Tensor')}: ...{ignored}\n")
    return lines


def tensor(value):
    """The class Tensor: operators as its type has them, attributes, and methods by their signatures."""
    names = set(dir(value))
    lines = ["class Tensor:\n", *operators(names)]
    lines += [f"    def {name}(self) -> {gives}: ...\n" for name, gives in GIVES.items() if name not in FORMS]
    lines.append("    def __setitem__(self, key: Any, value: Array, /) -> None: ...\n")
    lines.append("    def __dlpack__(self, **kwargs: Any) -> Any: ...\n    def __dlpack_device__(self) -> tuple[int, int]: ...\n")
    lines.append("    def __array__(self, dtype: Any = ..., copy: Any = ...) -> Any: ...\n")
    lines.append("    def __array_namespace__(self, *, api_version: Any = ...) -> Any: ...\n")
    for name in sorted(names):
        if name.startswith("_"):
            continue
        member = inspect.getattr_static(value, name)
        if not callable(member) and not inspect.isroutine(member):
            lines.append(f"    @property\n    def {name}(self) -> {ATTRIBUTES.get(name, 'Tensor')}: ...\n")
        elif name in METHODS:
            lines.append(f"    def {name}{METHODS[name]}: ...\n")
        else:
            lines.append(function(name, member, "    ", "Any" if name == "numpy" else "Tensor"))
    return "".join(lines)


def members(value, shown):
    """What a class has of its own and from its bases that are not public: those down to the bases that the stub shows. Of a layer that is
    made from a function only its own, for the others are the same in each."""
    if "__signature__" in vars(value):
        return vars(value)
    found = {}
    for base in value.__mro__:
        if base is object or base in shown:
            break
        found = {**vars(base), **found}
    return found


def named(name, value):
    """A tuple with named places."""
    return f"class {name}(NamedTuple):\n" + "".join(f"    {field}: Any\n" for field in value._fields)


def class_(name, value, known):
    if name == "Tensor":
        return tensor(value)
    if hasattr(value, "_fields"):
        return named(name, value)
    shown = [next((b for b in base.__mro__ if b.__module__ == "builtins" or b.__name__ in known), object) for base in value.__bases__]
    # One of the same name is the package's own, such as Parameter under weft.nn's.
    bases = ["builtins.tuple[Any, ...]" if base is tuple else "builtins." + base.__name__ if base.__module__ == "builtins" else ("_" * (base.__name__ == name)) + base.__name__
             for base in shown if base is not object]
    lines = [f"class {name}({', '.join(dict.fromkeys(bases))}):\n" if bases else f"class {name}:\n"]
    if issubclass(value, enum.Enum):
        lines += [f"    {member} = ...\n" for member in value.__members__]
    if "__signature__" in vars(value) and "__init__" not in vars(value):
        lines.append("    def __init__(self, *args: Any, **kwargs: Any) -> None: ...\n")
    own = members(value, shown)
    if "__mul__" in own:
        lines += operators(set(own) - {"__getitem__"})
    for member, held in sorted(own.items()):
        if member.startswith("_") and member not in ("__init__", "__call__", "__getitem__", "__getattr__", "__iter__", "__len__"):
            continue
        if isinstance(held, property) or type(held).__name__ in ("getset_descriptor", "member_descriptor", "_tuplegetter"):
            lines.append(f"    @property\n    def {member}(self) -> Any: ...\n")
            if getattr(held, "fset", None):
                lines.append(f"    @{member}.setter\n    def {member}(self, value: Any) -> None: ...\n")
        elif isinstance(held, (staticmethod, classmethod)):
            lines.append(f"    @{type(held).__name__}\n" + function(member, held.__func__, "    ", "Any"))
        elif inspect.isfunction(held):
            lines.append(function(member, held, "    ", "Any"))
        elif callable(held) and not issubclass(value, BaseException):
            lines.append(f"    def {member}(self, *args: Any, **kwargs: Any) -> {'None' if member == '__init__' else 'Any'}: ...\n")
    if len(lines) == 1:
        if issubclass(value, BaseException):
            lines.append("    ...\n")
        else:
            lines.append("    def __init__(self, *args: Any, **kwargs: Any) -> None: ...\n    def __getattr__(self, name: str) -> Any: ...\n")
    return "".join(lines)


def stub(module, own):
    """The stub of one module; `own`: whether Tensor, DType and Parameter are defined here."""
    public = getattr(module, "__all__", None) if module.__name__ != "weft" else None
    names = [name for name in (public or dir(module)) if not name.startswith("_")]
    names += [name for name in ("__version__", "__array_namespace_info__", "__array_api_version__") if hasattr(module, name)]
    text, known = [HEAD], set(names)
    made = {named_tuple(getattr(module, name)) for name in names} - {None}
    if not own:
        text.append("from weft import DType, Parameter" + " as _Parameter" * ("Parameter" in names) + ", Tensor\n")
    for found in sorted(made, key=lambda found: found.__name__):
        text.append(named(f"_{found.__name__}", found))
    for name in sorted(names, key=lambda name: (not isinstance(getattr(module, name), type), name)):
        value = getattr(module, name)
        if inspect.ismodule(value):
            if value.__name__.startswith("weft."):
                text.append(f"from weft import {name} as {name}\n" if value.__name__.count(".") == 1
                            else f"from {value.__name__.rpartition('.')[0]} import {name} as {name}\n")
        elif isinstance(value, type):
            text.append(class_(name, value, known) if value.__module__.startswith(("weft", "builtins")) or name == "bool_" else f"{name}: Any\n")
        elif callable(value) and not hasattr(value, "itemsize"):
            text.append(function(name, value))
        else:
            kind = type(value).__name__
            text.append(f"{name}: {kind if kind in ('int', 'float', 'str', 'DType') else 'None' if value is None else 'Any'}\n")
    if module.__name__ != "weft" and inspect.isfunction(vars(module).get("__getattr__")):
        text.append("def __getattr__(name: str) -> Any: ...\n")    # what it makes when asked
    return "".join(text)


def main(folder):
    sys.path.insert(0, str(Path(folder).parent))
    import weft
    for found in [None, *pkgutil.walk_packages(weft.__path__, "weft.")]:
        name = found.name if found else "weft"
        if any(part.startswith("_") for part in name.split(".")):
            continue
        __import__(name)
        module = sys.modules[name]
        path = Path(folder, *name.split(".")[1:])
        path = path / "__init__.pyi" if hasattr(module, "__path__") else path.with_suffix(".pyi")
        path.write_text(spelled(stub(module, name == "weft")))


if __name__ == "__main__":
    main(sys.argv[1])
