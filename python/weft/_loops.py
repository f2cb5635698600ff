"""Loops as operations: a step is written once and run as often as it is told. Carried values, slices and results may be trees."""
import operator

from . import _core
from ._trees import flatten, is_array, places

__all__ = ["scan"]


def scan(f, init: "Any", xs: "Any" = None, length: "int | None" = None, reverse=False):
    """(carry after the last step, ys): f(carry, x) -> (carry, y), step after step along the first axis of xs.

    carry begins as init and keeps its form, shapes and dtypes; x is a slice of each array of xs (None: there are none, and length says how
    many steps there are). ys are the y of all steps, with the steps' axis first, at the places of their x; with reverse the steps go from the
    last slice to the first. All of them may be trees.

    f is called once, with placeholders: it may ask for their shape and dtype, not for their numbers (`if x > 0` is a ValueError: use where).
    What else it reads is the same in each step. The loop is one operation, so programs are as small for a thousand steps as for two; it is
    differentiated in both modes and to any order, and composes with grad, vmap and compile. Reverse mode keeps of each step what the derivative
    reads; wrap f in wf.checkpoint to keep its arguments alone. Numbers drawn at random without a key of the step's own are the same in each
    step: carry a key, or scan over wf.random.split(key, n).

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
        if form_after != form:
            raise ValueError(f"scan: carry has another form after a step than before it: {form_after} instead of {form}")
        following = [leaf if is_array(leaf) else _core.asarray(leaf, begin.dtype, None) for leaf, begin in zip(following, carried)]
        ys, build_y, _ = flatten(result[1])
        last, collected = loop.results(following, [leaf if is_array(leaf) else _core.asarray(leaf, None, None) for leaf in ys])
    return build_carry(last), build_y(collected)
