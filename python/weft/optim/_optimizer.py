"""What optimizers have in common, and clipping."""
import contextlib

from .. import _core
from .._trees import flatten

__all__ = ["Optimizer", "clip_grad_norm", "clip_grad_value"]


def _group(match, lr=1.0, weight_decay=None):
    return _core.Group(match, lr, weight_decay)


def _constraint(match="*", max_col_norm=None, min_col_norm=None, max_row_norm=None, max_kernel_norm=None, max_abs=None, non_negative=False):
    return _core.Constraint(match, max_col_norm, min_col_norm, max_row_norm, max_kernel_norm, max_abs, non_negative)


def _average(decay=None, start=0):
    return decay, start


class Optimizer:
    """What optimizers have in common. The parameters are given once; step() takes their gradients in the same order (any tree of them)."""

    def __init__(self, params, core, maximize=False):
        self.parameters = list(params)
        for parameter in self.parameters:
            if not isinstance(parameter, _core.Parameter):
                raise TypeError(f"{type(self).__name__}: parameters are wanted, not a {type(parameter).__name__}; weft.Parameter(value) makes one")
        if not self.parameters:
            raise ValueError(f"{type(self).__name__}: there is no parameter")
        self._core, self._maximize = core, maximize
        if maximize:
            self.configure()

    def configure(self, *, groups=(), accumulate=1, clip_value=0.0, clip_each_norm=0.0, clip_norm=0.0, constraints=(), average=None):
        """What is done around every step; said once, before the first. It gives the optimizer itself.

        groups: parameters with rates of their own by a glob of their names, [{"match": "*.bias", "lr": 2, "weight_decay": 0}]: the first that
        matches counts, lr is times the optimizer's. accumulate: how many calls of step() make one, of their mean gradient. clip_value,
        clip_each_norm, clip_norm: bounds of each number, of each parameter's gradient, of all together. constraints: what holds after a step,
        [{"match": "*.weight", "max_col_norm": 2}] (also min_col_norm, max_row_norm, max_kernel_norm, max_abs, non_negative). average: {"decay": 0.999} or
        {}: a mean of the parameters over the steps, exponential or of all alike, after "start" of them; averaged() puts it in their place.

        >>> w = wf.Parameter(wf.asarray([1., 2.]), name="w")
        >>> wf.optim.SGD([w], lr=1.0).configure(clip_value=0.5).step([wf.asarray([9., -9.])])
        >>> w.value
        array([0.5, 2.5], dtype=float32)
        """
        mean = _average(**(average or {}))
        self._core.configure(self._maximize, accumulate, float(clip_value), float(clip_each_norm), float(clip_norm),
                             [_constraint(**one) for one in constraints], average is not None, *mean, [_group(**one) for one in groups])
        return self

    @contextlib.contextmanager
    def averaged(self):
        """Within it the parameters are their means over the steps: to evaluate them, or to save them.

        >>> w = wf.Parameter(wf.asarray([0.]), name="w")
        >>> optimizer = wf.optim.SGD([w], lr=1.0).configure(average={})
        >>> for _ in range(3):
        ...     optimizer.step([wf.asarray([-1.])])
        >>> with optimizer.averaged():
        ...     print(w.value)
        [2.]
        >>> print(w.value)
        [3.]
        """
        self._core.use_averages(True)
        try:
            yield self
        finally:
            self._core.use_averages(False)

    def step(self, grads):
        """Gives every parameter its new value. grads: a gradient a parameter, in their order: a list, or a tree such as value_and_grad gives.

        >>> p = wf.Parameter(wf.asarray([1., 2.]))
        >>> wf.optim.SGD([p], lr=0.5).step([wf.asarray([2., 2.])])
        >>> p.value
        array([0., 1.], dtype=float32)
        """
        self._core.update(self.parameters, flatten(grads)[0])

    @property
    def lr(self):
        """The learning rate; may be set between steps."""
        return self._core.get("lr")

    @lr.setter
    def lr(self, value):
        self._core.set("lr", float(value))

    def state_dict(self):
        """Rates, counts and running values, by name, as arrays: what a checkpoint holds.

        >>> sorted(wf.optim.SGD([wf.Parameter(wf.ones(2), name="w")], momentum=0.9).state_dict())
        ['lr', 'momentum', 'w.momentum_buffer']
        """
        return {cell.name: cell.value for cell in self._cells()}

    def load_state_dict(self, state):
        """Takes over what state_dict() gave. ValueError names what is missing or too much; then nothing has changed."""
        cells = {cell.name: cell for cell in self._cells()}
        if set(cells) != set(state):
            wrong = sorted(set(cells) ^ set(state))[0]
            raise ValueError(f"{type(self).__name__}: {wrong!r} is {'missing' if wrong in cells else 'not known'}")
        for name, cell in cells.items():
            if tuple(state[name].shape) != tuple(cell.shape):
                raise ValueError(f"{type(self).__name__}: {name!r} has the shape {tuple(state[name].shape)}, not {tuple(cell.shape)}")
        for name, cell in cells.items():
            cell.value = state[name]

    def _cells(self):
        self._core.prepare(self.parameters)
        return self._core.cells()

    def __repr__(self):
        rates = ", ".join(f"{rate}={self._core.get(rate):g}" for rate in self._core.rates())
        return f"{type(self).__name__}({len(self.parameters)} parameters, {rates})"


def clip_grad_norm(grads, max_norm):
    """Gradients, as they are or scaled down together so that the root of the sum of all squares is at most max_norm.

    >>> wf.optim.clip_grad_norm([wf.asarray([3., 4.])], 1.0)
    [array([0.6, 0.8], dtype=float32)]
    """
    leaves, build, _ = flatten(grads)
    return build(_core.clip_norm(leaves, max_norm))


def clip_grad_value(grads, clip_value):
    """Gradients, every number held between -clip_value and clip_value.

    >>> wf.optim.clip_grad_value([wf.asarray([3., -0.5])], 1.0)
    [array([ 1. , -0.5], dtype=float32)]
    """
    leaves, build, _ = flatten(grads)
    return build(_core.clip_value(leaves, clip_value))
