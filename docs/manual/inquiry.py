"""What a function takes and gives, found by asking it: the first call of its own example is repeated with arguments of every dtype, and
differentiated. So pages cannot say what is not so. Callers: reference.py."""
import contextlib
import importlib
import inspect
import io
import warnings
from dataclasses import dataclass, field

import weft
from weft._trees import flatten

from . import examples

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64",
          "complex64", "complex128"]


@dataclass
class Answers:
    takes: dict[str, list[str]] = field(default_factory=dict)   # what comes out: of which dtypes
    makes: list[str] = field(default_factory=list)              # the dtypes that its argument `dtype` may say
    shapes: str = ""
    derivative: str = ""                                        # empty: the question does not arise


def first_call(thing):
    """The arguments of the first call of a function in its own example; None where there is none."""
    seen = []

    def spy(*arguments, **named):
        if not seen:
            seen.append((arguments, named))
        return thing.value(*arguments, **named)
    places = [(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2]) for name in thing.names]
    spaces = examples.names()
    try:
        for module, name in places:
            setattr(module, name, spy)
        with contextlib.redirect_stdout(io.StringIO()), examples.scratch():
            for source, _ in examples.of(thing.value):
                if not seen:
                    exec(compile(source, "<example>", "single"), spaces)
    except Exception:       # the tests say that an example fails, and why
        pass
    finally:
        for module, name in places:
            setattr(module, name, thing.value)
    return seen[0] if seen else None


def asked(arguments):
    """The arguments that the questions vary: all but a random key, which is of one dtype."""
    positional, named = arguments
    return positional, {name: value for name, value in named.items() if name != "key"}


def tensors(tree):
    return [leaf for leaf in flatten(tree)[0] if isinstance(leaf, weft.Tensor)]


def varied(leaves):
    """The places of the arguments whose dtype is the question: the floating ones beside indices, numbers beside conditions, else all."""
    kinds = {i: leaf.dtype.kind for i, leaf in enumerate(leaves) if isinstance(leaf, weft.Tensor)}
    for asked_first in ("fc", "iu"):
        if found := [i for i, kind in kinds.items() if kind in asked_first]:
            return found
    return list(kinds)


def computed(values):
    return [weft.eval(value) for value in values if isinstance(value, weft.Tensor)]


def ask_dtypes(thing, arguments, answers):
    leaves, build, _ = flatten(asked(arguments))
    rest = {name: value for name, value in arguments[1].items() if name == "key"}
    at = varied(leaves)
    for dtype in DTYPES if at else []:
        given = list(leaves)
        for i in at:
            given[i] = weft.astype(leaves[i] if "complex" in dtype else weft.real(leaves[i]), dtype)
        positional, named = build(given)
        try:
            results = tensors(thing.value(*positional, **named, **rest))
            computed(results)
        except Exception:    # the dtype is refused; or a number, which says nothing of the dtype and is left out as well
            continue
        if results:
            answers.takes.setdefault(", ".join(dict.fromkeys(x.dtype.name for x in results)), []).append(dtype)


def ask_creation(thing, arguments, answers):
    if "dtype" not in inspect.signature(thing.value).parameters:
        return
    positional, named = arguments
    for dtype in DTYPES:
        try:
            results = tensors(thing.value(*positional, **{**named, "dtype": dtype}))
            computed(results)
        except Exception:
            continue
        if results and all(x.dtype.name == dtype for x in results):
            answers.makes.append(dtype)


def ask_derivative(thing, arguments, answers):
    leaves, build, _ = flatten(arguments)
    at = varied(leaves)
    if not at or "key" in arguments[1]:
        return
    for i in at:    # an example with integers asks the same of floating numbers
        leaves[i] = leaves[i] if leaves[i].dtype.kind in "fc" else weft.astype(leaves[i], "float32")

    def total(*inputs):
        given = list(leaves)
        for i, x in zip(at, inputs):
            given[i] = x
        positional, named = build(given)
        every = tensors(thing.value(*positional, **named))
        results = [x for x in every if x.dtype.kind in "fc"]
        if not results:
            raise LookupError if every else TypeError
        parts = [weft.sum(weft.real(x) if x.dtype.kind == "c" else weft.astype(x, "float64")) for x in results]
        return sum(parts[1:], parts[0])
    try:
        computed(weft.grad(total, argnums=tuple(range(len(at))))(*(leaves[i] for i in at)))
        answers.derivative = "yes"
    except LookupError:
        answers.derivative = "none: what comes out is not floating"
    except weft.NotDifferentiable as error:
        answers.derivative = "no: " + str(error).splitlines()[0]
    except Exception:
        answers.derivative = ""


def describe_shapes(thing, arguments):
    def shown(found):
        return ", ".join(str(x.shape) for x in found)
    positional, named = arguments
    given = tensors(asked(arguments))
    try:
        results = tensors(thing.value(*positional, **named))
    except Exception:
        return ""
    return f"{shown(given)} → {shown(results)}" if given and results else ""


def ask(thing):
    """What can be found out of a function."""
    answers = Answers()
    arguments = first_call(thing)
    if arguments is None:
        return answers
    with warnings.catch_warnings(), examples.scratch():
        warnings.simplefilter("ignore")
        ask_dtypes(thing, arguments, answers)
        if not answers.takes:
            ask_creation(thing, arguments, answers)
        ask_derivative(thing, arguments, answers)
        answers.shapes = describe_shapes(thing, arguments)
    return answers
