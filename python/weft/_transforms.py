"""Functions of functions: derivatives and compilation. Arguments and results may be trees (weft/_trees.py)."""
import functools

from . import _core
from ._trees import flatten, is_array

__all__ = ["Parameter", "compile", "grad", "gradient", "hessian", "jacobian", "jvp", "value_and_grad", "vjp"]

Parameter = _core.Parameter


def gradient(loss, *wrt, axis=None, edge_order=1, **named):
    """d loss / d x for each x of a list (or for one), of a loss without axes: zeros where it does not depend on it. Take it before the numbers
    are asked for. wrt may be named.

    Of an array with axes, NumPy's gradient: differences along each axis (a list, or one array for one axis) of points a number apart, one
    number an axis, or at coordinates; axis and edge_order as there.

    >>> x = wf.asarray([1., 2., 3.])
    >>> wf.gradient(wf.sum(x * x), x)
    array([2., 4., 6.], dtype=float32)
    >>> wf.gradient(wf.asarray([1., 2., 4., 7.]))
    array([1. , 1.5, 2.5, 3. ], dtype=float32)
    """
    if set(named) - {"wrt"}:
        raise TypeError(f"gradient: no argument {sorted(set(named) - {'wrt'})[0]!r}")
    if "wrt" in named or _core.asarray(loss, None, None).ndim == 0:
        wrt = named["wrt"] if "wrt" in named else wrt[0] if wrt else []
        one = isinstance(wrt, (_core.Tensor, _core.Parameter))
        found = _core.gradient(loss, [x.value if isinstance(x, _core.Parameter) else x for x in ([wrt] if one else wrt)])
        return found[0] if one else found
    axes = list(range(loss.ndim)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    spacings = wrt or (1.0,)
    if len(spacings) == 1:
        spacings = spacings * len(axes)
    if len(spacings) != len(axes):
        raise TypeError(f"gradient: {len(spacings)} distances for {len(axes)} axes")
    found = [_core.differences(loss, spacing, along, edge_order) for spacing, along in zip(spacings, axes)]
    return found[0] if len(found) == 1 else found


def inexact(leaf):
    return (is_array(leaf) and _core.as_dtype(leaf.dtype).kind in "fc") or isinstance(leaf, (float, complex))


class Entered:
    """Arguments whose floating tensors have become fresh nodes: what f does with them, and with nothing else, is differentiated."""

    def __init__(self, trees):
        self.leaves, self.build, _ = flatten(trees)
        self.at = [i for i, leaf in enumerate(self.leaves) if inexact(leaf)]
        self.inputs = [_core.fresh(self.leaves[i]) for i in self.at]

    def arguments(self):
        leaves = list(self.leaves)
        for i, node in zip(self.at, self.inputs):
            leaves[i] = node
        return self.build(leaves)

    def around(self, values):
        """A tree like the arguments, of these values for floating leaves and zeros for the others."""
        leaves = [_core.full(leaf.shape, 0, leaf.dtype) if is_array(leaf) else 0 for leaf in self.leaves]
        for i, value in zip(self.at, values):
            leaves[i] = value
        return self.build(leaves)


def value_and_grad(f, argnums=0, has_aux=False):
    """A function that gives (f(...), the derivative of f with respect to the argument argnums, or to several: a tuple).

    f returns a floating tensor without axes; with has_aux, a pair of it and anything else, which is handed on: ((value, aux), grads).

    >>> def loss(w, x):
    ...     return wf.sum((x @ w["weight"] + w["bias"]) ** 2)
    >>> w = {"weight": wf.asarray([1., 2.]), "bias": wf.asarray(0.5)}
    >>> value, slopes = wf.value_and_grad(loss)(w, wf.asarray([[1., 0.], [0., 1.]]))
    >>> value
    array(8.5, dtype=float32)
    >>> slopes["weight"]
    array([3., 5.], dtype=float32)
    """
    several = isinstance(argnums, (tuple, list))
    numbers = tuple(argnums) if several else (argnums,)

    @functools.wraps(f)
    def call(*arguments, **named):
        for number in numbers:
            if not -len(arguments) <= number < len(arguments):
                raise ValueError(f"grad: argument {number} of a call with {len(arguments)} arguments")
        with _core.KeepPending():
            entered = Entered([arguments[number] for number in numbers])
            given = list(arguments)
            for number, argument in zip(numbers, entered.arguments()):
                given[number] = argument
            result = f(*given, **named)
            value = result[0] if has_aux else result
            grads = entered.around(_core.gradient(value, entered.inputs))
        return result, tuple(grads) if several else grads[0]
    return call


def grad(f, argnums=0, has_aux=False):
    """The derivative of f, which returns a floating tensor without axes. It nests: grad(grad(f)). With has_aux: (grads, aux).

    >>> wf.grad(lambda x: wf.sum(x ** 3))(wf.asarray([1., 2.]))
    array([ 3., 12.], dtype=float32)
    """
    both = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f)
    def call(*arguments, **named):
        result, grads = both(*arguments, **named)
        return (grads, result[1]) if has_aux else grads
    return call


def vjp(f, *primals):
    """(f(*primals), a function from a cotangent of the result to a tuple of those of the primals).

    >>> value, pull = wf.vjp(lambda x, y: x * y, wf.asarray([1., 2.]), wf.asarray([3., 4.]))
    >>> pull(wf.asarray([1., 1.]))
    (array([3., 4.], dtype=float32), array([1., 2.], dtype=float32))
    """
    with _core.KeepPending():
        entered = Entered(list(primals))
        result = f(*entered.arguments())
        outputs, build, _ = flatten(result)
        shown = build([_core.fresh(output) for output in outputs])

    def pull(cotangent):
        cotangents, _, _ = flatten(cotangent)
        if len(cotangents) != len(outputs):
            raise ValueError(f"vjp: {len(cotangents)} cotangents for {len(outputs)} results")
        return tuple(entered.around(_core.pullback(outputs, cotangents, entered.inputs)))
    return shown, pull


def jvp(f, primals, tangents):
    """(f(*primals), the derivative of the result in the direction of the tangents).

    >>> value, slope = wf.jvp(wf.sin, (wf.asarray(0.),), (wf.asarray(2.),))
    >>> slope
    array(2., dtype=float32)
    """
    with _core.KeepPending():
        entered = Entered(list(primals))
        result = f(*entered.arguments())
        outputs, build, _ = flatten(result)
        directions, _, _ = flatten(list(tangents))
        if len(directions) != len(entered.leaves):
            raise ValueError(f"jvp: {len(directions)} tangents for {len(entered.leaves)} primals")
        moved = _core.pushforward(outputs, entered.inputs, [directions[i] for i in entered.at])
    return result, build(moved)


def jacobian(f, argnums=0):
    """A function that gives d f / d argument: of the result's shape followed by the argument's. A reverse pass for each element of the
    result, all in one program.

    >>> wf.jacobian(lambda x: x * x)(wf.asarray([1., 2., 3.]))
    array([[2., 0., 0.],
           [0., 4., 0.],
           [0., 0., 6.]], dtype=float32)
    """
    @functools.wraps(f)
    def call(*arguments):
        def partly(x):
            given = list(arguments)
            given[argnums] = x
            return f(*given)
        with _core.KeepPending():
            entered = Entered([arguments[argnums]])
            output = partly(entered.arguments()[0])
            count = output.size
            basis = _core.reshape(_core.eye(count, count, 0, output.dtype), (count, *output.shape))
            rows = [_core.pullback([output], [basis[i]], entered.inputs) for i in range(count)]

            def column(j):
                x = entered.inputs[j]
                if count == 0:
                    return _core.full((*output.shape, *x.shape), 0, x.dtype)
                return _core.reshape(_core.stack([row[j] for row in rows], 0), (*output.shape, *x.shape))
            leaves = [column(j) for j in range(len(entered.inputs))]
        return entered.around(leaves)[0]
    return call


def hessian(f, argnums=0):
    """The second derivative of f, which returns a floating tensor without axes: the jacobian of its gradient.

    >>> wf.hessian(lambda x: wf.sum(x ** 3))(wf.asarray([1., 2.]))
    array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    return jacobian(grad(f, argnums), argnums)


def compile(f):
    """f as a program: traced once for each form, shapes and dtypes of its arguments, optimised, and run.

    Tensors in the arguments (trees of them) are its inputs; everything else (numbers, strings) is written into the program: another
    number is another program.

    >>> @wf.compile
    ... def step(x, y):
    ...     return wf.sum(wf.exp(x) * y)
    >>> step(wf.asarray([0., 1.]), wf.asarray([1., 2.]))
    array(6.4365635, dtype=float32)
    """
    programs = {}
    most = 256      # programs kept: of numbers that change at every call only the last

    @functools.wraps(f)
    def call(*arguments, **named):
        leaves, build, form = flatten((arguments, named))
        at = [i for i, leaf in enumerate(leaves) if is_array(leaf)]
        inputs = [leaves[i] for i in at]
        if any(_core.is_symbolic(x) or isinstance(x, _core.Tensor) and not x.computed for x in inputs):
            return f(*arguments, **named)      # inside another transformation: part of its program
        fixed = tuple((type(leaf), leaf) for i, leaf in enumerate(leaves) if i not in at)
        key = (form, tuple(at), fixed, tuple((x.shape, str(x.dtype)) for x in inputs))
        program = programs.get(key)
        if program is None:
            if len(programs) >= most:
                programs.pop(next(iter(programs)), None)
            program = programs[key] = Program(f, leaves, build, at)
        return program(inputs)
    return call


class Program:
    """A compiled function for one form, and shapes and dtypes, of its arguments: what is fixed, and how results are put together."""

    def __init__(self, f, leaves, build, at):
        self.outputs = None

        def body(inputs):
            filled = list(leaves)
            for i, x in zip(at, inputs):
                filled[i] = x
            arguments, named = build(filled)
            results, self.build, _ = flatten(f(*arguments, **named))
            self.outputs = [x if not is_array(x) else None for x in results]
            self.at = [i for i, x in enumerate(results) if is_array(x)]
            return [results[i] for i in self.at]
        for i in at:
            leaves[i] = None
        self.run = _core.Compiled(body)

    def __call__(self, inputs):
        results = self.run(inputs)
        filled = list(self.outputs)
        for i, x in zip(self.at, results):
            filled[i] = x
        return self.build(filled)
