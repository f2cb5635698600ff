"""Functions of functions: derivatives and compilation. Arguments and results may be trees (weft/_trees.py)."""
import collections
import functools
from numbers import Integral

from . import _core
from ._trees import flatten, inexact, is_array, places, spread

__all__ = ["Parameter", "compile", "grad", "gradient", "hessian", "jacfwd", "jacobian", "jacrev", "jvp", "value_and_grad", "vjp",
           "vmap"]

Parameter = _core.Parameter


def gradient(loss: "Any", *varargs, axis=None, edge_order=1, wrt=None, consider_constant=(), known_grads=()):
    """d loss / d x for each x of a list (or for one), gradient(loss, wrt), of a loss without axes: zeros where it does not depend on it. Take it before
    the numbers are asked for. Through what is in consider_constant no derivative goes; known_grads, pairs (or a dict of declared tensors), says d loss / d x of values on
    the way, in the place of what the loss gives (which may then be None). With respect to a Parameter, every value of it that the loss has read counts.

    Of an array with axes, NumPy's gradient: differences along each axis (a list, or one array for one axis) of points a number apart, one
    number an axis, or at coordinates; axis and edge_order as there.

    >>> x = wf.asarray([1., 2., 3.])
    >>> wf.gradient(wf.sum(x * x), x)
    array([2., 4., 6.], dtype=float32)
    >>> wf.gradient(wf.asarray([1., 2., 4., 7.]))
    array([1. , 1.5, 2.5, 3. ], dtype=float32)
    >>> y = x * x
    >>> wf.gradient(wf.sum(x * y), wrt=x, consider_constant=[y])
    array([1., 4., 9.], dtype=float32)
    >>> wf.gradient(None, wrt=[x], known_grads=[(y, wf.asarray([1., 0., 10.]))])
    [array([ 2.,  0., 60.], dtype=float32)]
    """
    loss = loss if loss is None else _core.asarray(loss, None, None)
    if wrt is not None or loss is None or loss.ndim == 0:
        wrt = wrt if wrt is not None else varargs[0] if varargs else []
        one = isinstance(wrt, (_core.Tensor, _core.Parameter))
        known = known_grads.items() if isinstance(known_grads, dict) else known_grads
        found = _core.declared_gradient(loss, [wrt] if one else wrt, list(consider_constant), list(known))
        return found[0] if one else found
    axes = list(range(loss.ndim)) if axis is None else [axis] if isinstance(axis, Integral) else list(axis)
    spacings = varargs or (1.0,)
    if len(spacings) == 1:
        spacings = spacings * len(axes)
    if len(spacings) != len(axes):
        raise TypeError(f"gradient: {len(spacings)} distances for {len(axes)} axes")
    found = [_core.differences(loss, spacing, along, edge_order) for spacing, along in zip(spacings, axes)]
    return found[0] if len(found) == 1 else found


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


def enter(name, arguments, numbers):
    """Those arguments of a call that are differentiated, entered, and all arguments with these in their places."""
    for number in numbers:
        if not -len(arguments) <= number < len(arguments):
            raise ValueError(f"{name}: argument {number} of a call with {len(arguments)} arguments")
    entered = Entered([arguments[number] for number in numbers])
    given = list(arguments)
    for number, argument in zip(numbers, entered.arguments()):
        given[number] = argument
    return entered, given


def value_and_grad(f, argnums=0, has_aux=False, holomorphic=False):
    """A function that gives (f(...), the derivative of f with respect to the argument argnums, or to several: a tuple).

    f returns a floating tensor without axes; with has_aux, a pair of it and anything else, which is handed on: ((value, aux), grads).

    Of a complex argument z = x + iy the gradient is d f / dx - i d f / dy, JAX's convention: the conjugate of the direction of steepest
    ascent. With holomorphic=True f takes and returns complex numbers, and the derivative is f'(z).

    >>> def loss(w, x):
    ...     return wf.sum((x @ w["weight"] + w["bias"]) ** 2)
    >>> w = {"weight": wf.asarray([1., 2.]), "bias": wf.asarray(0.5)}
    >>> value, slopes = wf.value_and_grad(loss)(w, wf.asarray([[1., 0.], [0., 1.]]))
    >>> value
    array(8.5, dtype=float32)
    >>> slopes["weight"]
    array([3., 5.], dtype=float32)
    >>> wf.grad(lambda z: wf.abs(z) ** 2)(wf.asarray(1 + 1j))
    array(2.-2.j, dtype=complex64)
    """
    several = isinstance(argnums, (tuple, list))
    numbers = tuple(argnums) if several else (argnums,)

    @functools.wraps(f)
    def call(*arguments, **named):
        with _core.KeepPending():
            entered, given = enter("grad", arguments, numbers)
            result = f(*given, **named)
            value = result[0] if has_aux else result
            if holomorphic:
                require_holomorphic("grad", [value], entered.inputs)
                found = _core.pullback([value], [_core.full(value.shape, 1, value.dtype)], entered.inputs)
            else:
                found = _core.gradient(value, entered.inputs)
            grads = entered.around(found)
        return result, tuple(grads) if several else grads[0]
    return call


def is_complex(x):
    return _core.as_dtype(x.dtype).kind == "c"


def require_holomorphic(name, values, inputs):
    for what, tensors in (("argument", inputs), ("result", values)):
        for x in tensors:
            if not is_complex(x):
                raise TypeError(f"{name}: holomorphic=True takes complex arguments and results, but a{'n' if what[0] == 'a' else ''} {what} is {x.dtype}")


def grad(f, argnums=0, has_aux=False, holomorphic=False):
    """The derivative of f, which returns a floating tensor without axes. It nests: grad(grad(f)). With has_aux: (grads, aux).
    Complex arguments and holomorphic=True as for value_and_grad.

    >>> wf.grad(lambda x: wf.sum(x ** 3))(wf.asarray([1., 2.]))
    array([ 3., 12.], dtype=float32)
    """
    both = value_and_grad(f, argnums, has_aux, holomorphic)

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

    >>> wf.jvp(lambda x: x ** 2, (wf.asarray([1., 3.]),), (wf.asarray([1., 10.]),))
    (array([1., 9.], dtype=float32), array([ 2., 60.], dtype=float32))
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


def vmap(f, in_axes=0, out_axes=0):
    """f for a whole batch of examples at once: written for one example, called with many, without a loop.

    in_axes says where the examples of each argument lie: an int for all arguments, or a tuple with an entry for each, which is an int, None
    (the same for every example), or a tree of them that begins as the argument does. Arguments given by name are mapped along axis 0.
    out_axes says likewise where those of the results go; None is for results that are the same for every example. It nests, over any
    operation, and composes with grad, jvp, vjp, jacobian, hessian and compile in any order.

    f runs once, on placeholders with the shape of one example: it may ask for their shape and dtype, not for their numbers (`float(x)`,
    `if x > 0` are a ValueError: use where). Random numbers drawn with one key are the same for every example; give each its own with
    keys = wf.random.split(key, n) and map over them. ValueError if numbers of examples differ.

    >>> wf.vmap(lambda row, b: row @ b, in_axes=(0, None))(wf.ones((3, 2)), wf.asarray([1., 2.]))
    array([3., 3., 3.], dtype=float32)
    """
    @functools.wraps(f)
    def call(*arguments, **named):
        each = list(in_axes) if isinstance(in_axes, (tuple, list)) else in_axes
        axes = spread(each, list(arguments), "vmap: in_axes") + spread(0, named, "vmap: in_axes")
        leaves, build, _ = flatten((arguments, named))
        names = places(list(arguments), "argument") + places(named, "arguments")
        at = [i for i, axis in enumerate(axes) if axis is not None]
        for i in at:
            if not is_array(leaves[i]):
                raise ValueError(f"vmap: {names[i]} is {leaves[i]!r}, which has no axis {axes[i]} to map over; give it in_axes None")
        with _core.KeepPending():
            mapping = _core.Vmap([leaves[i] for i in at], [axes[i] for i in at], [names[i] for i in at])
            for i, x in zip(at, mapping.examples()):
                leaves[i] = x
            inner, named_inner = build(leaves)
            result = f(*inner, **named_inner)
            outputs, build_result, _ = flatten(result)
            out = spread(out_axes, result, "vmap: out_axes")
            mapped = [i for i, axis in enumerate(out) if axis is not None or is_array(outputs[i])]
            found = mapping.results([outputs[i] if is_array(outputs[i]) else _core.asarray(outputs[i], None, None) for i in mapped], [out[i] for i in mapped])
        for i, x in zip(mapped, found):
            outputs[i] = x
        return build_result(outputs)
    return call


def jacobian(f, argnums=0, holomorphic=False):
    """A function that gives d f / d argument: of the result's shape followed by the argument's. One reverse pass, mapped over the
    elements of the result; see jacfwd for results with many more elements than the argument. Results are real, or everything is complex
    and f holomorphic, which is then said.

    >>> wf.jacobian(lambda x: x * x[0])(wf.asarray([1., 2., 3.]))
    array([[2., 0., 0.],
           [2., 1., 0.],
           [3., 0., 1.]], dtype=float32)
    """
    return jacobian_by(f, argnums, holomorphic, False)


jacrev = jacobian


def jacfwd(f, argnums=0, holomorphic=False):
    """What jacobian gives, by a forward pass mapped over the elements of the argument. Arguments are real, or f is holomorphic.

    >>> wf.jacfwd(lambda t: wf.stack([t, t ** 2, t ** 3]))(wf.asarray(2.))
    array([ 1.,  4., 12.], dtype=float32)
    """
    return jacobian_by(f, argnums, holomorphic, True)


def jacobian_by(f, argnums, holomorphic, forward):
    several = isinstance(argnums, (tuple, list))
    numbers = tuple(argnums) if several else (argnums,)

    @functools.wraps(f)
    def call(*arguments, **named):
        with _core.KeepPending():
            entered, given = enter("jacobian", arguments, numbers)
            outputs, build, _ = flatten(f(*given, **named))
            outputs = [x if is_array(x) else _core.asarray(x, None, None) for x in outputs]
            if holomorphic:
                require_holomorphic("jacobian", outputs, entered.inputs)
            elif any(is_complex(x) for x in (entered.inputs if forward else outputs)):
                raise TypeError(f"jacobian: complex {'arguments' if forward else 'results'} have one only if the function is holomorphic; "
                                "pass holomorphic=True, or take real and imaginary parts")
            found = [entered.around(_core.jacobian(output, entered.inputs, forward)) for output in outputs]
        return build([tuple(trees) if several else trees[0] for trees in found])
    return call


def hessian(f, argnums=0, holomorphic=False):
    """The second derivative of f, which returns a floating tensor without axes: the jacobian of its gradient.

    >>> wf.hessian(lambda x: x[0] ** 2 * x[1])(wf.asarray([1., 3.]))
    array([[6., 2.],
           [2., 0.]], dtype=float32)
    """
    return jacobian(grad(f, argnums, holomorphic=holomorphic), argnums, holomorphic)


def compile(f=None, *, matmul_precision=None):
    """f as a program: traced once for each form, shapes and dtypes of its arguments, optimised, and run.

    Tensors in the arguments (trees of them) are its inputs; everything else (numbers, strings) is written into the program: another
    number is another program. Of up to 256 programs, half a GB together, those that were not called for the longest time are let go of, and
    traced again when they are called again.

    matmul_precision="bfloat16" makes all products of float32 matrices in it, derivatives' too, as matmul(precision="bfloat16") does: up to
    twice as fast where the processor has AVX512_BF16, three times and more by AMX, with 8 significant bits in what is multiplied. Sums, parameters
    and all else stay float32; so do convolutions, and products of fewer than 16 rows, columns, or numbers along the sum. Called within another compiled function,
    f is part of that one and goes by its precision. "bfloat16x3" and "bfloat16x6" are nearer to float32, by AMX (wf.matmul). Without f: a decorator.
    ValueError for another precision.

    >>> @wf.compile
    ... def step(x, y):
    ...     return wf.sum(wf.exp(x) * y)
    >>> step(wf.asarray([0., 1.]), wf.asarray([1., 2.]))
    array(6.4365635, dtype=float32)
    """
    if f is None:
        return functools.partial(compile, matmul_precision=matmul_precision)
    _core.check_matmul_precision(matmul_precision)
    programs = collections.OrderedDict()    # those that were called since one last went stand last
    most = 256      # of numbers that change at every call only the last
    known = _core.Calls()
    known_call = known.short_way()
    allowance = _core.Allowance()   # what they may take together: those of shapes that did not come for long are traced again

    def long_way(arguments, named):
        leaves, build, form = flatten((arguments, named))
        at = [i for i, leaf in enumerate(leaves) if is_array(leaf)]
        inputs = [leaves[i] for i in at]
        if _core.keeps_pending() or any(_core.is_symbolic(x) for x in inputs):
            return f(*arguments, **named)      # inside another transformation: part of its program
        fixed = tuple((type(leaf), leaf) for leaf in leaves if not is_array(leaf))
        key = (form, tuple(at), fixed, tuple((x.shape, str(x.dtype)) for x in inputs))
        program = programs.get(key)
        if program is None:
            if len(programs) >= most:
                programs.popitem(last=False)
                known.clear()   # so that each of the others comes by here once more, and moves to the end
            program = programs[key] = Program(f, leaves, build, at, allowance, matmul_precision)
        else:
            try:
                programs.move_to_end(key)
            except KeyError:    # another thread has let go of it
                pass
        results = program(inputs)
        known.remember(arguments, named, program)
        return results

    @functools.wraps(f)
    def call(*arguments, **named):
        found = known_call(arguments, named)
        return long_way(arguments, named) if found is known else found
    return call


def form_of(results):
    """"tensor", or "tuple" or "list" of tensors; "tree" of what is put together by weft/_trees.py."""
    if isinstance(results, _core.Tensor):
        return "tensor"
    flat = type(results) in (tuple, list) and all(isinstance(x, _core.Tensor) for x in results)
    return type(results).__name__ if flat else "tree"


class Form:
    """How a program's results are put together, known once its body has run."""
    __slots__ = ("outputs", "build", "results", "at")


class Program:
    """A compiled function for one form, and shapes and dtypes, of its arguments: what is fixed, and how results are put together."""

    def __init__(self, f, leaves, build, at, allowance, matmul_precision=None):
        form = self.form = Form()   # not self: C++ holds the body, and no collector of Python's sees through that

        def body(inputs):
            filled = list(leaves)
            for i, x in zip(at, inputs):
                filled[i] = x
            arguments, named = build(filled)
            made = f(*arguments, **named)
            results, form.build, _ = flatten(made)
            form.results = form_of(made)
            form.outputs = [x if not is_array(x) else None for x in results]
            form.at = [i for i, x in enumerate(results) if is_array(x)]
            return [results[i] for i in form.at]
        for i in at:
            leaves[i] = None
        self.run = _core.Compiled(body, allowance, matmul_precision)

    results = property(lambda self: self.form.results)

    def __call__(self, inputs):
        return self.around(self.run(inputs))

    def around(self, results):
        filled = list(self.form.outputs)
        for i, x in zip(self.form.at, results):
            filled[i] = x
        return self.form.build(filled)
