"""One step of training as one compiled program."""
from . import _core
from ._trees import flatten, is_array

__all__ = ["train_step"]


def train_step(model, optimizer, loss_fn):
    """A function of a batch that takes one step: the loss of loss_fn(model, *batch), its gradients, the parameters' new values, all one program.
    It gives the loss before the step; where loss_fn gives a tuple, its first is the loss and the rest is handed on.

    The program is traced once for each form, shapes and dtypes of the batch; numbers in it are written into the program.

    >>> w = wf.Parameter(wf.zeros(2))
    >>> step = wf.train_step(w, wf.optim.SGD([w], lr=0.1), lambda w, x: wf.sum((w - x) ** 2))
    >>> float(step(wf.ones(2)))
    2.0
    >>> w.value
    array([0.2, 0.2], dtype=float32)
    """
    programs = {}

    def call(*batch):
        leaves, build, form = flatten(batch)
        at = [i for i, leaf in enumerate(leaves) if is_array(leaf)]
        inputs = [leaves[i] for i in at]
        fixed = tuple((type(leaf), leaf) for i, leaf in enumerate(leaves) if i not in at)
        key = (form, tuple(at), fixed, tuple((tuple(x.shape), str(x.dtype)) for x in inputs), getattr(model, "training", None))
        program = programs.get(key)
        if program is None:
            program = programs[key] = Step(model, optimizer, loss_fn, leaves, build, at)
        return program(inputs)
    return call


class Step:
    def __init__(self, model, optimizer, loss_fn, leaves, build, at):
        self.more = None
        leaves = list(leaves)
        for i in at:
            leaves[i] = None

        def body(inputs):
            filled = list(leaves)
            for i, x in zip(at, inputs):
                filled[i] = x
            found = loss_fn(model, *build(filled))
            loss, *rest = found if isinstance(found, tuple) else (found,)
            values = [parameter.value for parameter in optimizer.parameters]
            optimizer.step(_core.gradient(loss, values))
            others, self.more, _ = flatten(rest)
            return [loss, *others]
        self.run = _core.Compiled(body)

    def __call__(self, inputs):
        loss, *others = self.run(inputs)
        rest = self.more(others)
        return (loss, *rest) if rest else loss
