"""Loops and conditionals as operations: a step is written once and run as often as it is told, or as its condition holds; of two branches one
is computed. What goes in and out may be trees."""
import operator

from . import _core
from ._trees import flatten, is_array, places

__all__ = ["cond", "scan", "while_loop"]


def refuse_other_form(what, form, form_after):
    if form_after != form:
        raise ValueError(f"{what}: {form_after} instead of {form}")


# Of a plain number the kinds of dtypes that hold its like.
HOLD = {bool: "biufc", int: "iufc", float: "fc", complex: "c"}


def like(leaves, others):
    """Tensors; a plain number takes the dtype of what stands in its place, where that holds numbers of its kind."""
    def dtype(leaf, other):
        return other.dtype if is_array(other) and _core.as_dtype(other.dtype).kind in HOLD.get(type(leaf), "") else None
    return [leaf if is_array(leaf) else _core.asarray(leaf, dtype(leaf, other), None) for leaf, other in zip(leaves, others)]


def scan(f, init: "Any", xs: "Any" = None, length: "int | None" = None, reverse=False):
    """(carry after the last step, ys): f(carry, x) -> (carry, y), step after step along the first axis of xs.

    carry begins as init and keeps its form, shapes and dtypes; x is a slice of each array of xs (None: there are none, and length says how
    many steps there are). ys are the y of all steps, with the steps' axis first, at the places of their x; with reverse the steps go from the
    last slice to the first. All of them may be trees.

    f is called once, with placeholders: it may ask for their shape and dtype, not for their numbers (`if x > 0` is a ValueError: use where).
    What else it reads is the same in each step. The loop is one operation, so programs are as small for a thousand steps as for two; it is
    differentiated in both modes and to any order, and composes with grad, vmap and compile. Reverse mode keeps of each step what the derivative
    reads; wrap f in wf.checkpoint to keep its arguments alone. A cotangent that it carries from step to step counts as 0 once it is nearer to 0
    than the least normal number of its type (float32, float64, bfloat16). Numbers drawn at random without a key of the step's own are the same
    in each step: carry a key, or scan over wf.random.split(key, n).

    ValueError without xs and length, or where carry changes its form, shape or dtype, or xs differ in length.

    >>> wf.scan(lambda total, x: (total + x, total), wf.asarray(0.), wf.asarray([1., 2., 3.]))
    (array(6., dtype=float32), array([0., 1., 3.], dtype=float32))
    >>> wf.scan(lambda state, _: ({"a": state["b"], "b": state["a"] + state["b"]}, state["a"]), {"a": wf.asarray(0), "b": wf.asarray(1)}, length=8)[1]
    array([ 0,  1,  1,  2,  3,  5,  8, 13])
    >>> wf.grad(lambda w: wf.scan(lambda h, x: (wf.tanh(w * h + x), None), wf.asarray(0.), wf.asarray([1., 2., 3.]))[0])(wf.asarray(0.5))
    array(0.00368762, dtype=float32)
    """
    carried, build_carry, form = flatten(init)
    carried = [_core.asarray(leaf, None, None) for leaf in carried]
    slices, build_x, _ = flatten(xs)
    for name, leaf in zip(places(xs, "xs"), slices):
        if not is_array(leaf):
            raise TypeError(f"scan: {name} is {leaf!r}, which has no axis to go along; what is the same in every step is simply used by the function")
    if length is not None:
        length = operator.index(length)
    with _core.KeepPending():
        loop = _core.LoopTrace(carried, slices, length, bool(reverse), places(init, "init"), places(xs, "xs"))
        result = f(build_carry(loop.carry()), build_x(loop.x()))
        if not isinstance(result, tuple) or len(result) != 2:
            raise ValueError(f"scan: the function must give (carry, y), but gave {type(result).__name__}"
                             + (f" of {len(result)}" if isinstance(result, (tuple, list)) else ""))
        following, _, form_after = flatten(result[0])
        refuse_other_form("scan: carry has another form after a step than before it", form, form_after)
        following = like(following, carried)
        ys, build_y, _ = flatten(result[1])
        last, collected = loop.results(following, [leaf if is_array(leaf) else _core.asarray(leaf, None, None) for leaf in ys])
    return build_carry(last), build_y(collected)


def while_loop(cond, body, init: "Any"):
    """carry, when cond(carry) no longer holds: carry begins as init, and body(carry) -> carry gives it after each step.

    carry may be a tree; it keeps its form, shapes and dtypes. cond gives one truth value (0-d, bool); where it does not hold for init there is
    no step at all. Both functions are called once, with placeholders, as scan's is: they may ask for shapes and dtypes, not for numbers, and
    what else they read is the same in each step. The loop is one operation, outside of compiled functions and within them.

    It is differentiated in forward mode (jvp, jacfwd), to any order. Reverse mode (grad, vjp) is refused: it would have to keep what each
    step computed, and nobody knows how many there will be; scan with a length has it, and stop_gradient of the result needs none. Under vmap
    the loop runs until all examples are done, and those that are keep their values.

    DTypeError or ShapeError (a TypeError, a ValueError) where cond does not give one truth value; ValueError, DTypeError or ShapeError where
    carry changes its form, dtype or shape; NotDifferentiable in reverse mode.

    >>> wf.while_loop(lambda x: x < 100, lambda x: x * 2, wf.asarray(3))
    array(192)
    >>> wf.while_loop(lambda s: abs(s["x"] ** 2 - 2) > 1e-6, lambda s: {"x": (s["x"] + 2 / s["x"]) / 2, "steps": s["steps"] + 1}, {"x": wf.asarray(1.), "steps": wf.asarray(0)})["steps"]
    array(4)
    >>> wf.vmap(lambda n: wf.while_loop(lambda x: x < 10, lambda x: x * n, n))(wf.asarray([2, 3, 20]))
    array([16, 27, 20])
    """
    carried, build, form = flatten(init)
    carried = [_core.asarray(leaf, None, None) for leaf in carried]
    with _core.KeepPending():
        loop = _core.WhileTrace(carried, places(init, "init"))
        condition = cond(build(loop.carry()))
        if not is_array(condition) and not isinstance(condition, (bool, int, float, complex)):
            raise TypeError(f"while_loop: cond must give one truth value, but gave {type(condition).__name__}")
        following, _, form_after = flatten(body(build(loop.carry())))
        refuse_other_form("while_loop: carry has another form after a step than before it", form, form_after)
        return build(loop.results(_core.asarray(condition, None, None), like(following, carried)))


def cond(pred, true_f, false_f, *args: "Any"):
    """true_f(*args) where pred, one truth value (0-d, bool), holds, else false_f(*args); the other one is not computed.

    Arguments and results may be trees; both functions give the same form, shapes and dtypes (a plain number takes the dtype of what the other
    gives in its place). Both are called once, with placeholders, as scan's is: they may ask for shapes and dtypes, not for numbers. What they
    compute belongs to them, whether of args or of what they read besides; what was written before is read, and computed in any case.

    The conditional is one operation, outside of compiled functions and within them; it is differentiated in both modes and to any order (reverse
    mode computes the branch that was taken once more). Under vmap both branches are computed, and each example takes its own, where pred
    differs between examples; else it stays a conditional.

    DTypeError or ShapeError (a TypeError, a ValueError) where pred is not one truth value, or a result is not of the same dtype or shape in
    both; ValueError where their forms differ.

    >>> wf.cond(wf.asarray(3) > 2, lambda x: x * 2, lambda x: x - 1, wf.asarray([1., 2.]))
    array([2., 4.], dtype=float32)
    >>> wf.grad(lambda x: wf.cond(x > 0, lambda: wf.sin(x), lambda: x * x))(wf.asarray(-3.))
    array(-6., dtype=float32)
    >>> wf.vmap(lambda x: wf.cond(x > 0, wf.sqrt, lambda x: x * 0, x))(wf.asarray([4., -4.]))
    array([ 2., -0.], dtype=float32)
    """
    leaves, build, _ = flatten(args)
    with _core.MadeNodes() as made:
        trace = _core.CondTrace(_core.asarray(pred, None, None), [_core.asarray(leaf, None, None) for leaf in leaves])
        given = trace.arguments()
        result = true_f(*build(given))
        yes, build_result, form = flatten(result)
        no, _, form_of_other = flatten(false_f(*build(given)))
        refuse_other_form("cond: false_f gives another form than true_f", form, form_of_other)
        yes, no = like(yes, no), like(no, yes)
        return build_result(trace.results(yes, no, made, places(result, "the result")))
