"""Declared expressions, as Theano's users know them: inputs have names and shapes before there are numbers, functions are made of expressions.
What is checked when an expression is written is checked here too; named sizes are bound when a function is called."""
from collections.abc import Iterable

from . import _core
from ._trees import flatten

__all__ = ["function", "input", "lop", "rop"]


def input(name, shape: "Any" = (), dtype=_core.float32) -> "Tensor":
    """A declared input: a tensor without numbers, for expressions that a function computes. A size may be a name ("batch"): the same name is the
    same size, and is bound when the function is called.

    >>> x = wf.input("x", ("batch", 2))
    >>> x.shape, (x + 1).shape, wf.sum(x, axis=0).shape
    (('batch', 2), ('batch', 2), (2,))
    >>> double = wf.function([x], 2 * x)
    >>> double([[1., 2.]])
    array([[2., 4.]], dtype=float32)
    """
    return _core.input(name, shape, dtype)


def function(inputs, outputs=None, updates=(), givens=(), *, on_unused_input="raise"):
    """A compiled function of declared inputs: of one output what it is, of a tree of them such a tree, of none an empty list.

    updates, a dict or pairs, gives Parameters new values: all of them, and all outputs, are computed with the values before the call, and take
    effect together, after the outputs. givens, a dict or pairs, computes something else in the place of an input, a Parameter or any tensor of the
    expressions. Parameters are read anew at each call. Arguments are given in order or by name; plain numbers and lists become the declared
    dtype, arrays must have it.

    Here: ValueError for an input that is needed but not among the inputs, that is not used (on_unused_input="ignore" allows it), or for two
    updates of one Parameter; ShapeError, DTypeError for an update or a replacement that does not fit. At a call: DTypeError, ShapeError for an
    argument that is not as declared, both named. Take derivatives, and declare functions, before asking for the value of what they are made of.
    A draw of random numbers without a key has taken its key when it was written: give functions that draw a key as an input.

    >>> x, y = wf.input("x", ("batch", 2)), wf.input("y", ("batch",))
    >>> w = wf.Parameter(wf.zeros(2), name="w")
    >>> loss = wf.mean((x @ w - y) ** 2)
    >>> step = wf.function([x, y], loss, updates={w: w - 0.5 * wf.gradient(loss, w)})
    >>> step([[1., 0.], [0., 1.]], [1., 2.])      # with w as it was
    array(2.5, dtype=float32)
    >>> w.value
    array([0.5, 1. ], dtype=float32)
    """
    return Function(inputs, outputs, updates, givens, on_unused_input)


class Function:
    """What wf.function gives."""

    def __init__(self, inputs, outputs, updates, givens, on_unused_input):
        if on_unused_input not in ("raise", "ignore"):
            raise ValueError(f"function: on_unused_input is 'raise' or 'ignore', not {on_unused_input!r}")
        if not isinstance(inputs, (_core.Tensor, Iterable)):
            raise TypeError(f"function: inputs are a list of declared ones (wf.input), not a {type(inputs).__name__}" +
                            ("; wf.compile compiles a Python function" if callable(inputs) else ""))
        inputs = [inputs] if isinstance(inputs, _core.Tensor) else list(inputs)
        for i, x in enumerate(inputs):
            if not isinstance(x, _core.Tensor) or _core.input_name(x) is None:
                raise TypeError(f"function: input {i} is not a declared one, but a {type(x).__name__}: wf.input(name, shape, dtype) makes one")
        updates, givens = pairs(updates, "updates"), pairs(givens, "givens")
        for parameter, _ in updates:
            if not isinstance(parameter, _core.Parameter):
                raise TypeError(f"function: updates are of Parameters, not of a {type(parameter).__name__}")
        leaves, self._build, _ = flatten([] if outputs is None else outputs)
        self._declared = _core.Declared(inputs, leaves, updates, givens, on_unused_input == "ignore")
        self._names = [_core.input_name(x) for x in inputs]
        self._text = (f"weft.function({', '.join(f'{name}: {x.dtype} {x.shape}' for name, x in zip(self._names, inputs))}; "
                      f"{len(leaves)} output{'s' * (len(leaves) != 1)}, {len(updates)} update{'s' * (len(updates) != 1)})")

    def __call__(self, *arguments, **named):
        given = list(arguments) + [named.pop(name) for name in self._names[len(arguments):] if name in named]
        if named:
            name = next(iter(named))
            raise TypeError(f"function: the input {name!r} is given twice" if name in self._names else
                            f"function: there is no input {name!r}; they are {', '.join(self._names)}")
        # Inside another transformation it is part of its program.
        inside = _core.keeps_pending() or any(_core.is_symbolic(x) for x in given)
        return self._build(self._declared.expressions(given) if inside else self._declared(given))

    def __repr__(self):
        return self._text


def pairs(given, what):
    found = list(given.items() if isinstance(given, dict) else given)
    for pair in found:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"function: {what} is a dict or a list of pairs, and holds a {type(pair).__name__}")
    return found


def rop(y, wrt, v):
    """The derivative of expressions in the direction v of wrt (the Jacobian times v): Theano's R-operator. y, and wrt with v, are one or lists.

    >>> x = wf.input("x", (2,))
    >>> along = wf.function([x], wf.rop(x ** 2, x, wf.asarray([1., 10.])))
    >>> along([1., 3.])
    array([ 2., 60.], dtype=float32)
    """
    found = _core.rop(listed(y), listed(wrt), listed(v))
    return found if isinstance(y, (list, tuple)) else found[0]


def lop(y, wrt, v):
    """What v, a cotangent of y, is for wrt (v times the Jacobian): Theano's L-operator. y with v, and wrt, are one or lists.

    >>> x = wf.input("x", (2,))
    >>> back = wf.function([x], wf.lop(x ** 2, x, wf.asarray([1., 10.])))
    >>> back([1., 3.])
    array([ 2., 60.], dtype=float32)
    """
    found = _core.lop(listed(y), listed(wrt), listed(v))
    return found if isinstance(wrt, (list, tuple)) else found[0]


def listed(given):
    return list(given) if isinstance(given, (list, tuple)) else [given]
