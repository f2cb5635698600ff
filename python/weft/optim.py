"""Optimizers: they give parameters new values by gradients, by themselves or inside of one compiled step (weft.train_step). Names, arguments
and defaults are PyTorch's.

    model = wf.nn.Linear(3, 1)
    optimizer = wf.optim.Adam(model.parameters(), lr=1e-2)
    loss, grads = wf.value_and_grad(loss_function)(model, x, y)
    optimizer.step(grads)
"""
from . import _core
from ._trees import flatten

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "clip_grad_norm"]


class Optimizer:
    """What optimizers have in common. The parameters are given once; step() takes their gradients in the same order (any tree of them)."""

    def __init__(self, params, core):
        self.parameters = list(params)
        for parameter in self.parameters:
            if not isinstance(parameter, _core.Parameter):
                raise TypeError(f"{type(self).__name__}: parameters are wanted, not a {type(parameter).__name__}; weft.Parameter(value) makes one")
        if not self.parameters:
            raise ValueError(f"{type(self).__name__}: there is no parameter")
        self._core = core

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


class SGD(Optimizer):
    """Stochastic gradient descent: v = momentum * v + (1 - dampening) * g, p -= lr * v (nesterov: p -= lr * (g + momentum * v)).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> optimizer = wf.optim.SGD([w], lr=0.1, momentum=0.5)
    >>> for _ in range(2):
    ...     optimizer.step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.75, 4.5 ], dtype=float32)
    """

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False):
        super().__init__(params, _core.SGD(lr, momentum, dampening, weight_decay, nesterov))


class Adam(Optimizer):
    """Adam (Kingma & Ba, 2015): running means of the gradient and of its square.

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> wf.optim.Adam([w], lr=0.1).step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.9, 2.1], dtype=float32)
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0):
        super().__init__(params, _core.Adam(lr, *betas, eps, weight_decay))


class AdamW(Optimizer):
    """Adam with decoupled weight decay (Loshchilov & Hutter, 2019).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> wf.optim.AdamW([w], lr=0.1, weight_decay=0.5).step([wf.asarray([0., -10.])])
    >>> w.value
    array([0.95, 2.  ], dtype=float32)
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        super().__init__(params, _core.AdamW(lr, *betas, eps, weight_decay))


class RMSprop(Optimizer):
    """Divides by the root of the running mean of squares (Tieleman & Hinton, 2012); centered: by the deviation (Graves, 2013).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> wf.optim.RMSprop([w], lr=0.1, alpha=0.75).step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.8, 2.2], dtype=float32)
    """

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False):
        super().__init__(params, _core.RMSprop(lr, alpha, eps, weight_decay, momentum, centered))


class Adagrad(Optimizer):
    """Divides by the root of the sum of squares (Duchi, Hazan & Singer, 2011).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> optimizer = wf.optim.Adagrad([w], lr=0.1)
    >>> for _ in range(2):
    ...     optimizer.step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.8292893, 2.1707106], dtype=float32)
    """

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10):
        super().__init__(params, _core.Adagrad(lr, lr_decay, weight_decay, initial_accumulator_value, eps))


def clip_grad_norm(grads, max_norm):
    """Gradients, as they are or scaled down together so that the root of the sum of all squares is at most max_norm.

    >>> wf.optim.clip_grad_norm([wf.asarray([3., 4.])], 1.0)
    [array([0.6, 0.8], dtype=float32)]
    """
    leaves, build, _ = flatten(grads)
    return build(_core.clip_norm(leaves, max_norm))
