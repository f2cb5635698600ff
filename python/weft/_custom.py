"""Functions that say themselves how they are differentiated: by a rule of the user's, or by being computed again."""
import functools
from _thread import get_ident
from numbers import Integral

from . import _core
from ._trees import children, flatten, inexact, is_array

__all__ = ["checkpoint", "custom_vjp"]


class custom_vjp:
    """f with a reverse derivative of its own, as a decorator.

    f.defvjp(fwd, bwd) gives it: fwd(*arguments) -> (result, residuals), a result like f's and any tree to remember; bwd(residuals,
    cotangent) -> a tuple with a cotangent for each argument, a tree like it (None: zero). From then on values are fwd's, and what only
    residuals need is computed where bwd reads it. Arguments of nondiff_argnums (numbers, strings, functions) are handed to bwd in front, and
    have no cotangent. Forward mode (jvp) is refused by name, and so is a derivative with respect to what fwd reads from outside of its
    arguments. It is differentiated further through bwd, and may be mapped and compiled.

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
        self.within = set()      # threads that are in fwd: f itself is what it calls there, with the same rule
        self.fixed = (nondiff_argnums,) if isinstance(nondiff_argnums, Integral) else tuple(nondiff_argnums)

    def defvjp(self, fwd, bwd):
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *arguments, **named):
        name = getattr(self.f, "__name__", "custom_vjp")
        if self.bwd is None:
            raise ValueError(f"custom_vjp: {name} has no derivative yet; give it one with {name}.defvjp(fwd, bwd)")
        given = list(self._positional(name, arguments, named))
        moving = [i for i in range(len(given)) if i not in self.fixed]
        with _core.KeepPending():
            call = Rule(self, name, given, moving)
            later = get_ident() in self.within
            outputs, build = call.plain_values() if later else call.values()
            at = [i for i, output in enumerate(outputs) if is_array(output)]
            shown = _core.with_rule([outputs[i] for i in at], call.entered.inputs, call.kept, name, call.pull_later if later else call.pull)
        for i, value in zip(at, shown):
            outputs[i] = value
        return build(outputs)

    def _positional(self, name, arguments, named):
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
    """One call of a custom_vjp function: its values, and what its backward pass needs."""

    def __init__(self, function, name, given, moving):
        self.function, self.name, self.moving = function, name, moving
        self.entered = Traced([given[i] for i in moving])
        self.fixed = [given[i] for i in function.fixed]
        for i, argument in zip(moving, self.entered.around(self.entered.inputs)):
            given[i] = argument
        self.given, self.kept = given, []

    def plain_values(self):
        outputs, build, _ = flatten(self.function.f(*self.given))
        return outputs, build

    def pull_later(self, inputs, cotangents):
        """pull, of values that are f's: fwd is called now."""
        given = list(self.given)
        for i, argument in zip(self.moving, self.entered.around(inputs)):
            given[i] = argument
        call = Rule(self.function, self.name, given, self.moving)
        call.values()
        return call.pull(call.entered.inputs + call.kept, cotangents)[:len(inputs)]

    def run_fwd(self):
        within, thread = self.function.within, get_ident()
        if thread in within:
            return self.function.fwd(*self.given)
        within.add(thread)
        try:
            return self.function.fwd(*self.given)
        finally:
            within.discard(thread)

    def values(self):
        """The leaves of fwd's result, and the function that builds it around others."""
        pair = self.run_fwd()
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(f"custom_vjp: fwd of {self.name} must give a pair of a result and residuals, not {type(pair).__name__}")
        self.outputs, self.build, _ = flatten(pair[0])
        self.residuals, self.build_residuals, _ = flatten(pair[1])
        self.at = [i for i, x in enumerate(self.residuals) if is_array(x)]
        self.kept = [self.residuals[i] for i in self.at]
        # Of results only shapes are needed later.
        shapes = [(x.shape, x.dtype) if is_array(x) else x for x in self.outputs]
        outputs, self.outputs = self.outputs, shapes
        return outputs, self.build

    def pull(self, inputs, cotangents):
        """The cotangents of the inputs, and of the residuals, which have none of their own."""
        residuals = list(self.residuals)
        for i, x in zip(self.at, inputs[len(self.entered.at):]):
            residuals[i] = x
        pulled = self.function.bwd(*self.fixed, self.build_residuals(residuals), self.build(self.filled(iter(cotangents))))
        if not isinstance(pulled, (tuple, list)) or len(pulled) != len(self.moving):
            raise ValueError(f"custom_vjp: bwd of {self.name} must give a tuple of {len(self.moving)} cotangents, one for each argument")
        leaves = []
        for tree, argument in zip(pulled, self.entered.build(self.entered.leaves)):
            parts = cotangent_leaves(tree, argument)
            if len(parts) != len(flatten(argument)[0]):
                raise ValueError(f"custom_vjp: bwd of {self.name} gives a cotangent that is no tree like its argument")
            leaves += parts
        return [leaves[i] if inexact(self.entered.leaves[i]) else None for i in self.entered.at] + [None] * len(self.at)

    def filled(self, cotangents):
        """The result's leaves with cotangents in the place of floating ones, zeros in that of others."""
        leaves = []
        for leaf in self.outputs:
            if isinstance(leaf, tuple):
                shape, dtype = leaf
                leaf = next(cotangents) if _core.as_dtype(dtype).kind in "fc" else _core.full(shape, 0, dtype)
            leaves.append(leaf)
        return leaves


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
