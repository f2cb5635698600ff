"""Functions of functions: derivatives and compilation. Arguments and results may be trees (weft/_trees.py)."""
import functools

from . import _core
from ._trees import children, flatten, is_array, places, spread

__all__ = ["Parameter", "checkpoint", "compile", "custom_vjp", "grad", "gradient", "hessian", "jacfwd", "jacobian", "jacrev", "jvp", "value_and_grad", "vjp",
           "vmap"]

Parameter = _core.Parameter


def gradient(loss, wrt):
    """d loss / d x for each x of a list (or for one): zeros where the loss does not depend on it. Take it before the numbers are asked for."""
    one = isinstance(wrt, (_core.Tensor, _core.Parameter))
    found = _core.gradient(loss, [x.value if isinstance(x, _core.Parameter) else x for x in ([wrt] if one else wrt)])
    return found[0] if one else found


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


def value_and_grad(f, argnums=0, has_aux=False, holomorphic=False):
    """A function that gives (f(...), the derivative of f with respect to the argument argnums, or to several: a tuple).

    f returns a floating tensor without axes; with has_aux, a pair of it and anything else, which is handed on: ((value, aux), grads).

    Of a complex argument z = x + iy the gradient is d f / dx - i d f / dy, JAX's convention: the conjugate of the direction of steepest
    ascent. With holomorphic=True f takes and returns complex numbers, and the derivative is f'(z).

    >>> wf.grad(lambda z: wf.abs(z) ** 2)(wf.asarray(1 + 1j))
    array(2.-2.j, dtype=complex64)
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
    Complex arguments and holomorphic=True as for value_and_grad."""
    both = value_and_grad(f, argnums, has_aux, holomorphic)

    @functools.wraps(f)
    def call(*arguments, **named):
        result, grads = both(*arguments, **named)
        return (grads, result[1]) if has_aux else grads
    return call


def vjp(f, *primals):
    """(f(*primals), a function from a cotangent of the result to a tuple of those of the primals)."""
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
    """(f(*primals), the derivative of the result in the direction of the tangents)."""
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
    and f holomorphic, which is then said."""
    return jacobian_by(f, argnums, holomorphic, False)


jacrev = jacobian


def jacfwd(f, argnums=0, holomorphic=False):
    """What jacobian gives, by a forward pass mapped over the elements of the argument. Arguments are real, or f is holomorphic."""
    return jacobian_by(f, argnums, holomorphic, True)


def jacobian_by(f, argnums, holomorphic, forward):
    several = isinstance(argnums, (tuple, list))
    numbers = tuple(argnums) if several else (argnums,)

    @functools.wraps(f)
    def call(*arguments, **named):
        for number in numbers:
            if not -len(arguments) <= number < len(arguments):
                raise ValueError(f"jacobian: argument {number} of a call with {len(arguments)} arguments")
        with _core.KeepPending():
            entered = Entered([arguments[number] for number in numbers])
            given = list(arguments)
            for number, argument in zip(numbers, entered.arguments()):
                given[number] = argument
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
    """The second derivative of f, which returns a floating tensor without axes: the jacobian of its gradient."""
    return jacobian(grad(f, argnums, holomorphic=holomorphic), argnums, holomorphic)


class custom_vjp:
    """f with a reverse derivative of its own, as a decorator.

    f.defvjp(fwd, bwd) gives it: fwd(*arguments) -> (result, residuals), a result like f's and any tree to remember; bwd(residuals,
    cotangent) -> a tuple with a cotangent for each argument, a tree like it (None: zero). Arguments of nondiff_argnums (numbers, strings,
    functions) are handed to bwd in front, and have none. Forward mode (jvp) is refused by name, and so is a derivative with respect to
    what f reads from outside of its arguments. It is differentiated further through bwd, and may be mapped and compiled.

    >>> @wf.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, cotangent: (wf.clip(cotangent, -1, 1),))
    >>> wf.grad(lambda x: (5 * clipped(x)).sum())(wf.ones(2))
    array([1., 1.], dtype=float32)
    """

    def __init__(self, f, nondiff_argnums=()):
        functools.update_wrapper(self, f)
        self.f, self.fwd, self.bwd = f, None, None
        self.fixed = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)

    def defvjp(self, fwd, bwd):
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *arguments, **named):
        name = getattr(self.f, "__name__", "custom_vjp")
        if self.bwd is None:
            raise ValueError(f"custom_vjp: {name} has no derivative yet; give it one with {name}.defvjp(fwd, bwd)")
        given = list(self.positional(name, arguments, named))
        moving = [i for i in range(len(given)) if i not in self.fixed]
        with _core.KeepPending():
            entered = Traced([given[i] for i in moving])
            call = Rule(self, given, moving, entered)
            outputs, build, _ = flatten(self.f(*call.arguments(entered.inputs)))
            at = [i for i, output in enumerate(outputs) if is_array(output)]
            shown = _core.with_rule([outputs[i] for i in at], entered.inputs, name, lambda *pulled: call.pull(*pulled, len(outputs), at))
        for i, value in zip(at, shown):
            outputs[i] = value
        return build(outputs)

    def positional(self, name, arguments, named):
        """All arguments by place, defaults filled in: rules know no names."""
        if not named and not self.fixed:
            return arguments
        import inspect      # takes milliseconds, which `import weft` need not
        bound = inspect.signature(self.f).bind(*arguments, **named)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(f"custom_vjp: {name} takes {', '.join(bound.kwargs)} by name alone; rules know arguments by place")
        for number in self.fixed:
            if not 0 <= number < len(bound.args):
                raise ValueError(f"custom_vjp: nondiff_argnums names argument {number} of {len(bound.args)} of {name}")
        return bound.args


class Traced:
    """Arguments all of whose tensors have become fresh nodes, which a rule, or a second computation, can stand on."""

    def __init__(self, trees):
        self.leaves, self.build, _ = flatten(trees)
        self.at = [i for i, leaf in enumerate(self.leaves) if is_array(leaf)]
        self.inputs = [_core.fresh(self.leaves[i]) for i in self.at]

    def around(self, values):
        leaves = list(self.leaves)
        for i, value in zip(self.at, values):
            leaves[i] = value
        return self.build(leaves)


class Rule:
    """One call of a custom_vjp function, as its backward pass needs it."""

    def __init__(self, function, given, moving, entered):
        self.function, self.given, self.moving, self.entered = function, given, moving, entered

    def arguments(self, inputs):
        given = list(self.given)
        for i, argument in zip(self.moving, self.entered.around(inputs)):
            given[i] = argument
        return given

    def pull(self, inputs, cotangents, count, at):
        """The cotangents of the inputs: fwd for what it remembers, then bwd."""
        name = self.function.__name__
        result, residuals = self.function.fwd(*self.arguments(inputs))
        outputs, build, _ = flatten(result)
        if len(outputs) != count:
            raise ValueError(f"custom_vjp: fwd of {name} gives {len(outputs)} results where {name} gives {count}")
        given = iter(cotangents)
        for i in at:
            exact = not inexact(outputs[i])
            outputs[i] = _core.full(outputs[i].shape, 0, outputs[i].dtype) if exact else next(given)
        pulled = self.function.bwd(*(self.given[i] for i in self.function.fixed), residuals, build(outputs))
        if not isinstance(pulled, (tuple, list)) or len(pulled) != len(self.moving):
            raise ValueError(f"custom_vjp: bwd of {name} must give a tuple of {len(self.moving)} cotangents, one for each argument")
        leaves = []
        for tree, argument in zip(pulled, self.entered.build(self.entered.leaves)):
            parts = [None] * len(flatten(argument)[0]) if tree is None else cotangent_leaves(tree, argument)
            if len(parts) != len(flatten(argument)[0]):
                raise ValueError(f"custom_vjp: bwd of {name} gives a cotangent that is no tree like its argument")
            leaves += parts
        return [leaves[i] if inexact(self.entered.leaves[i]) else None for i in self.entered.at]


def cotangent_leaves(tree, like):
    """The leaves of a cotangent, with None for each leaf of the argument below a None."""
    parts, of_like = children(tree), children(like)
    if tree is None:
        return [None] * len(flatten(like)[0])
    if parts is None or of_like is None or len(parts) != len(of_like):
        return [tree] if parts is None else flatten(tree)[0]
    return [leaf for part, below in zip(parts, of_like) for leaf in cotangent_leaves(part, below)]


def checkpoint(f):
    """f, of which a backward pass keeps the arguments alone: what it needs of f is computed again when it gets there. So a program takes
    less memory, for the time to compute f twice. Values and derivatives are the same; it nests, and composes with every transformation.

    >>> layer = wf.checkpoint(lambda x: wf.sin(wf.sin(wf.sin(x))))
    >>> wf.grad(lambda x: layer(x).sum())(wf.zeros(2))
    array([1., 1.], dtype=float32)
    """
    @functools.wraps(f)
    def call(*arguments, **named):
        with _core.KeepPending():
            entered = Traced((arguments, named))
            inner, named_inner = entered.around(entered.inputs)
            outputs, build, _ = flatten(f(*inner, **named_inner))
            at = [i for i, output in enumerate(outputs) if is_array(output)]
            shown = _core.recomputed([outputs[i] for i in at], entered.inputs)
        for i, value in zip(at, shown):
            outputs[i] = value
        return build(outputs)
    return call


def compile(f):
    """f as a program: traced once for each form, shapes and dtypes of its arguments, optimised, and run.

    Tensors in the arguments (trees of them) are its inputs; everything else (numbers, strings) is written into the program: another
    number is another program.
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
