"""One step of training as one compiled program."""
from . import _core
from ._transforms import compile

__all__ = ["train_step"]


def train_step(model, optimizer, loss_fn, *, matmul_precision=None):
    """A function of a batch that takes one step: the loss of loss_fn(model, *batch), its gradients, the parameters' new values, all one program.
    It gives the loss before the step; where loss_fn gives a tuple, its first is the loss and the rest is handed on.

    The program is traced once for each form, shapes and dtypes of the batch; numbers in it are written into the program.
    matmul_precision="bfloat16", "bfloat16x3", "bfloat16x6": as for wf.compile.

    >>> w = wf.Parameter(wf.zeros(2))
    >>> step = wf.train_step(w, wf.optim.SGD([w], lr=0.1), lambda w, x: wf.sum((w - x) ** 2))
    >>> float(step(wf.ones(2)))
    2.0
    >>> w.value
    array([0.2, 0.2], dtype=float32)
    """
    _core.check_matmul_precision(matmul_precision)

    def step(*batch):
        found = loss_fn(model, *batch)
        loss = found[0] if isinstance(found, tuple) else found
        values = [parameter.value for parameter in optimizer.parameters]
        optimizer.step(_core.gradient(loss, values))
        return found
    modes = {}      # while training or not: layers do different things then

    def call(*batch):
        mode = getattr(model, "training", None)
        if mode not in modes:
            modes[mode] = compile(step, matmul_precision=matmul_precision)
        return modes[mode](*batch)
    return call
