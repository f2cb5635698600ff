"""Methods that ask for the loss at several points before they move, for the whole of the data or large batches without noise. Their step takes a
closure that gives the loss and its gradients for the parameters as they are: lambda: wf.value_and_grad(loss)(model, x, y)."""
from .. import _core
from .._trees import flatten
from ._optimizer import Optimizer

__all__ = ["LBFGS", "ConjugateGradient"]


class _BatchMethod(Optimizer):
    def step(self, closure):
        """Several iterations. closure: no arguments, gives (loss, gradients), the gradients in the parameters' order in any tree. The loss
        before the step is given. Where no lower loss is found, or the loss is not finite, parameters stay as they are."""
        def measure():
            loss, grads = closure()
            return float(loss), flatten(grads)[0]
        return self._core.minimise(self.parameters, measure)


class LBFGS(_BatchMethod):
    """L-BFGS (Nocedal, 1980; Liu & Nocedal, 1989). Without line_search_fn steps are PyTorch's; with "strong_wolfe", "armijo" or "exhaustive" the
    searches are weft's own.

    >>> w = wf.Parameter(wf.asarray([-1.2, 1.], dtype=wf.float64), name="w")
    >>> valley = wf.value_and_grad(lambda w: (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2)
    >>> optimizer = wf.optim.LBFGS([w], max_iter=100, line_search_fn="strong_wolfe")
    >>> round(optimizer.step(lambda: valley(w.value)), 6)
    24.2
    >>> wf.round(w.value, decimals=4)
    array([1., 1.], dtype=float64)
    """

    def __init__(self, params, lr=1.0, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100, line_search_fn=None):
        super().__init__(params, _core.LBFGS(lr, max_iter, max_eval or 0, tolerance_grad, tolerance_change, history_size, line_search_fn or "none"))


class ConjugateGradient(_BatchMethod):
    """Nonlinear conjugate gradients: "polak_ribiere" (PR+) or "fletcher_reeves"; with formula=None gradient descent with a line search
    ("strong_wolfe", "armijo", "exhaustive"). lr: the step that is tried first; then it is the step that was taken. across_steps: directions go on
    from one call to the next, where the closure stays the same.

    >>> w = wf.Parameter(wf.zeros(2, dtype=wf.float64), name="w")
    >>> bowl = wf.value_and_grad(lambda w: wf.sum(wf.asarray([1., 9.]) * (w - 1) ** 2))
    >>> optimizer = wf.optim.ConjugateGradient([w], iterations=20)
    >>> optimizer.step(lambda: bowl(w.value))
    10.0
    >>> wf.round(w.value, decimals=4)
    array([1., 1.], dtype=float64)
    """

    def __init__(self, params, formula="polak_ribiere", line_search="strong_wolfe", iterations=10, lr=0.1, across_steps=False):
        if formula not in (None, "polak_ribiere", "fletcher_reeves"):
            raise ValueError(f"ConjugateGradient: formula is {formula!r}; it is 'polak_ribiere', 'fletcher_reeves' or None")
        super().__init__(params, _core.ConjugateGradient(formula or "none", line_search, iterations, lr, across_steps))
