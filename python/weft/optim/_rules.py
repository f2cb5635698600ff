"""Rules: how one gradient a parameter becomes a step. Names, arguments, defaults and formulas are PyTorch's."""
from .. import _core
from ._optimizer import Optimizer

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Lion", "Muon", "NAdam", "RAdam", "RMSprop"]


class SGD(Optimizer):
    """Stochastic gradient descent: v = momentum * v + (1 - dampening) * g, p -= lr * v (nesterov: p -= lr * (g + momentum * v)).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> optimizer = wf.optim.SGD([w], lr=0.1, momentum=0.5)
    >>> for _ in range(2):
    ...     optimizer.step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.75, 4.5 ], dtype=float32)
    """

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False):
        super().__init__(params, _core.SGD(lr, momentum, dampening, weight_decay, nesterov), maximize)


class Adam(Optimizer):
    """Adam (Kingma & Ba, 2015): running means of the gradient and of its square.

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> wf.optim.Adam([w], lr=0.1).step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.9, 2.1], dtype=float32)
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, maximize=False,
                 decoupled_weight_decay=False):
        super().__init__(params, _core.Adam(lr, *betas, eps, weight_decay, amsgrad, decoupled_weight_decay), maximize)


class AdamW(Optimizer):
    """Adam with decoupled weight decay (Loshchilov & Hutter, 2019).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> wf.optim.AdamW([w], lr=0.1, weight_decay=0.5).step([wf.asarray([0., -10.])])
    >>> w.value
    array([0.95, 2.  ], dtype=float32)
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False):
        super().__init__(params, _core.AdamW(lr, *betas, eps, weight_decay, amsgrad), maximize)


class RMSprop(Optimizer):
    """Divides by the root of the running mean of squares (Tieleman & Hinton, 2012); centered: by the deviation (Graves, 2013).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> wf.optim.RMSprop([w], lr=0.1, alpha=0.75).step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.8, 2.2], dtype=float32)
    """

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, *, maximize=False):
        super().__init__(params, _core.RMSprop(lr, alpha, eps, weight_decay, momentum, centered), maximize)


class Adagrad(Optimizer):
    """Divides by the root of the sum of squares (Duchi, Hazan & Singer, 2011).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> optimizer = wf.optim.Adagrad([w], lr=0.1)
    >>> for _ in range(2):
    ...     optimizer.step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.8292893, 2.1707106], dtype=float32)
    """

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, *, maximize=False):
        super().__init__(params, _core.Adagrad(lr, lr_decay, weight_decay, initial_accumulator_value, eps), maximize)


class Adadelta(Optimizer):
    """Steps as large as past steps were, over the size of past gradients (Zeiler, 2012).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> wf.optim.Adadelta([w], eps=0.1).step([wf.asarray([0., 3.])])
    >>> w.value
    array([1. , 1.05131674], dtype=float32)
    """

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, *, maximize=False):
        super().__init__(params, _core.Adadelta(lr, rho, eps, weight_decay), maximize)


class NAdam(Optimizer):
    """Adam with Nesterov's momentum (Dozat, 2016).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> wf.optim.NAdam([w], lr=0.1).step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.8943548, 2.1056452], dtype=float32)
    """

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3, decoupled_weight_decay=False, *,
                 maximize=False):
        super().__init__(params, _core.NAdam(lr, *betas, eps, weight_decay, momentum_decay, decoupled_weight_decay), maximize)


class RAdam(Optimizer):
    """Adam that trusts its mean of squares only when it is one of many (Liu et al., 2020): at first steps are lr times the mean gradient.

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> wf.optim.RAdam([w], lr=0.1).step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.9, 3. ], dtype=float32)
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *, maximize=False):
        super().__init__(params, _core.RAdam(lr, *betas, eps, weight_decay, decoupled_weight_decay), maximize)


class Adamax(Optimizer):
    """Adam with the largest gradient in place of the mean of squares (Kingma & Ba, 2015, section 7).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> wf.optim.Adamax([w], lr=0.1).step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.9, 2.1], dtype=float32)
    """

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, *, maximize=False):
        super().__init__(params, _core.Adamax(lr, *betas, eps, weight_decay), maximize)


class Lion(Optimizer):
    """Every number moves by the rate, up or down: p -= lr * (sign(b1 * m + (1 - b1) * g) + weight_decay * p), m = b2 * m + (1 - b2) * g (Chen et
    al., 2023).

    >>> w = wf.Parameter(wf.asarray([1., 2.]))
    >>> wf.optim.Lion([w], lr=0.5).step([wf.asarray([1., -10.])])
    >>> w.value
    array([0.5, 2.5], dtype=float32)
    """

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0, *, maximize=False):
        super().__init__(params, _core.Lion(lr, *betas, weight_decay), maximize)


class Muon(Optimizer):
    """The velocity of a matrix, made nearly orthogonal by Newton and Schulz's iteration (Jordan et al., 2024), computed in the parameter's type
    (PyTorch iterates in bfloat16). adjust_lr_fn: "original" or "match_rms_adamw". others_lr: the rate at which AdamW trains what is no matrix;
    ShapeError for it without.

    >>> w = wf.Parameter(wf.asarray([[3., 0.], [0., 1.]]), name="w")
    >>> wf.optim.Muon([w], lr=1.0, weight_decay=0).step([wf.asarray([[2., 0.], [0., 2.]])])
    >>> wf.round(w.value - wf.asarray([[3., 0.], [0., 1.]]), decimals=2)
    array([[-1.11,  0.  ],
           [ 0.  , -1.11]], dtype=float32)
    """

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5,
                 adjust_lr_fn=None, *, others_lr=None, maximize=False):
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Muon: adjust_lr_fn is {adjust_lr_fn!r}; it is 'original' or 'match_rms_adamw'")
        super().__init__(params, _core.Muon(lr, weight_decay, momentum, nesterov, *ns_coefficients, eps, ns_steps,
                                            adjust_lr_fn == "match_rms_adamw", others_lr), maximize)
